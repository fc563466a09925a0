// Tensors as text: print(t), and what the prompt shows of one.
#pragma once

#include <string>

#include "wgrun/tensor.hpp"

namespace wgrun::lua {

/// Dtype, shape and elements: the first and last few of each of the last two dimensions, and the first few
/// matrices of the other dimensions, in lines of at most `width` columns, at least 20. Each but the last ends
/// with a newline.
std::string text_of_tensor(const Tensor& tensor, int width = 80);

}  // namespace wgrun::lua
