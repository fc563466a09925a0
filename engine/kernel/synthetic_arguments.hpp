// The arguments of a launch that nobody has made, for a GPU: what the simulator has without memory
// (synthetic.hpp) lies in tensors here.
#pragma once

#include <list>
#include <vector>

#include "wgrun/kernel.hpp"

namespace wgrun {

/// Arguments for a launch that a finding names. Its tensors live as long as it.
class SyntheticArguments {
  public:
    /// `program` has the numbers that the launch names (with_numbers). All other numbers, and all words of
    /// memory, are `launch.others`; without it they are 1, and memory is 0. Throws ArgumentError for a tensor
    /// map whose boxes the text leaves to the launch.
    SyntheticArguments(const Program& program, const FoundIn& launch);

    const std::vector<Argument>& all() const { return all_; }

  private:
    Tensor* memory();
    Argument structure(std::span<const std::byte> bytes);

    std::optional<std::uint32_t> word_;  ///< what memory holds
    std::list<Tensor> tensors_;
    std::vector<Argument> all_;
};

}  // namespace wgrun
