// Arguments of a launch against the parameters of the kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "wgrun/kernel.hpp"

namespace wgrun {

/// Throws ArgumentError when the number, kind, dtype or range of an argument does not fit its parameter, or
/// the grid is empty or too large.
void check_arguments(const Program& program, const RunOptions& options);

/// The raw value of each parameter, in its low bytes. Pointers and tensor maps are taken from
/// `addresses`, in the order of the tensors.
std::vector<std::uint64_t> raw_arguments(const Program& program, const std::vector<Argument>& args,
                                         const std::vector<std::uint64_t>& addresses);

/// A tensor as a tensor map sees it: extents in elements, the contiguous dimension first, and the strides of
/// the others in bytes.
struct MapGeometry {
    std::vector<std::int64_t> extents, strides;
};
MapGeometry geometry_of(const Tensor& tensor);

/// The tensors among the arguments, in order.
std::vector<Tensor*> tensors_of(const std::vector<Argument>& args);

}  // namespace wgrun
