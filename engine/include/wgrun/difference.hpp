// Where two tensors differ, in words and as a picture: what a wrong kernel looks like.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wgrun/tensor.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// Where the elements of two matrices differ, and what the pattern suggests. Tensors of more than two
/// dimensions are taken as matrices of their last dimension, one of rank 1 as a row.
struct Difference {
    Comparison comparison;
    std::string places;               ///< "every second row, from row 1"; empty if nothing differs
    std::vector<std::string> causes;  ///< what would explain every wrong element, the simplest first
    std::string picture;  ///< lines of `.` right, `#` wrong and `+` both; empty if nothing differs
};

/// Compares as compare() does, and looks for a pattern. Throws ArgumentError as compare() does.
Difference difference(const Tensor& got, const Tensor& want,
                      std::optional<Tolerance> tolerance = std::nullopt);

/// The whole as text: how many differ, the worst, where, why, and the picture. One line if nothing differs.
std::string to_string(const Difference& difference, const Tensor& got);

}  // namespace wgrun

#pragma GCC visibility pop
