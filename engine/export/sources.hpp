// The texts of an export: host code beside the kernel, for CUDA's runtime and for its driver.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "export/facts.hpp"

namespace wgrun::exporting {

namespace runtime {
/// NAME.cu: the kernel, called NAME_kernel, and NAME_launch. nvcc compiles it alone.
std::string source(const Facts& facts);
}  // namespace runtime

namespace driver {
/// NAME.h, for C99 and C++.
std::string header(const Facts& facts);
/// NAME.c: `image`, a cubin or PTX, and what NAME.h declares.
std::string source(const Facts& facts, std::span<const std::byte> image, bool is_ptx);
}  // namespace driver

}  // namespace wgrun::exporting
