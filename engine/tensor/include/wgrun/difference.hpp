// Where two tensors differ, in words and as a picture. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wgrun/tensor.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// Where the elements of two matrices differ, and what the pattern suggests. Tensors of more than two
/// dimensions are treated as matrices with rows of their last dimension, tensors of rank 1 as a row.
struct Difference {
    Comparison comparison;
    std::string places;               ///< "every second row, from row 1"; empty if nothing differs
    std::vector<std::string> causes;  ///< explanations of every wrong element, the simplest first
    std::string picture;  ///< lines of `.` right, `#` wrong and `+` both; empty if nothing differs
};

/// Compares as compare() does, and looks for a pattern. Throws ArgumentError as compare() does.
Difference difference(const Tensor& got, const Tensor& want,
                      std::optional<Tolerance> tolerance = std::nullopt);

/// As text: how many elements differ, the worst, where, why, and the picture. One line if none differs.
std::string to_string(const Difference& difference, const Tensor& got);

}  // namespace wgrun

#pragma GCC visibility pop
