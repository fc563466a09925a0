// What tensors may take together.
#pragma once

#include <cstdint>
#include <memory>

#include "wgrun/tensor.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// A bound in bytes. It holds for the tensors that a thread makes while it has a Scope, wherever they are
/// freed; those of wrap() and map() do not count. Copies are the same budget. Thread-safe.
class TensorBudget {
  public:
    explicit TensorBudget(std::uint64_t bytes);
    std::uint64_t used() const;
    /// Changes the bound, for every copy. What is beyond it already stays.
    void set_limit(std::uint64_t bytes);

    /// Makes it the budget of this thread for a while. A tensor that does not fit in is an EnvironmentError
    /// ELIMIT.
    class Scope {
      public:
        explicit Scope(TensorBudget budget);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        std::shared_ptr<void> before_;
    };

    /// Takes the tensor's bytes from this thread's budget; they come back when what is returned goes. Null
    /// where there is no budget.
    static std::shared_ptr<void> charge(const Tensor& tensor);

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace wgrun

#pragma GCC visibility pop
