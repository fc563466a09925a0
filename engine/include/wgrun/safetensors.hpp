// .safetensors files: https://github.com/huggingface/safetensors#format
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "wgrun/tensor.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// What a .safetensors file holds: tensors in the order of the file, and its free words (`__metadata__`),
/// each by name.
struct Safetensors {
    std::vector<std::pair<std::string, Tensor>> tensors;
    std::vector<std::pair<std::string, std::string>> metadata;
};

/// Reads a .safetensors file. Mapped, as by default, the tensors are the file's own pages, and share the
/// mapping: see Loading for what that means. Those that do not lie aligned in the file are read.
///
/// Types that no Dtype has come as what their bytes are, so that nothing of a file is lost:
///
///   BOOL, F8_E8M0      u8
///   C64                f32 with a last dimension of 2
///   I16, U16           u8 with a last dimension of 2
///   F4, F6_E2M3, ...   u8 of one dimension, the packed bytes
///
/// Throws EnvironmentError ENOENT or EIO; ArgumentError, which names file and tensor, for what is no such
/// file or a damaged one: a header beyond 100 MB or the file, no JSON, names or keys that are there twice,
/// unknown types, offsets that overlap, leave holes, lead out of the file or do not fit the shape.
Safetensors load_safetensors(const std::filesystem::path& path, Loading loading = Loading::map);

}  // namespace wgrun

#pragma GCC visibility pop
