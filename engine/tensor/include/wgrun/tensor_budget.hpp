// A bound of the memory that tensors take together.
#pragma once

#include <cstdint>
#include <memory>

#include "wgrun/tensor.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// A bound in bytes on the tensors that a thread makes while it has a Scope, wherever they are freed; those
/// of wrap() and map() do not count. Copies share the budget. Thread-safe.
class TensorBudget {
  public:
    explicit TensorBudget(std::uint64_t bytes);
    std::uint64_t used() const;
    /// Changes the bound, for every copy. Tensors that exceed it already stay.
    void set_limit(std::uint64_t bytes);

    /// Makes it this thread's budget until the end of the scope. Making a tensor beyond the bound then throws
    /// EnvironmentError ELIMIT.
    class Scope {
      public:
        explicit Scope(TensorBudget budget);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        std::shared_ptr<void> before_;
    };

    /// Takes the tensor's bytes from this thread's budget until the result is destroyed; throws ELIMIT. Null
    /// if the thread has no budget.
    static std::shared_ptr<void> charge(const Tensor& tensor);

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace wgrun

#pragma GCC visibility pop
