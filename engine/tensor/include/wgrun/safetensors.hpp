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

/// The contents of a .safetensors file: its tensors and its metadata (`__metadata__`), as pairs with their
/// names, in the order of the file.
struct Safetensors {
    std::vector<std::pair<std::string, Tensor>> tensors;
    std::vector<std::pair<std::string, std::string>> metadata;
};

/// Reads a .safetensors file. By default the file is mapped, and the tensors share the mapping: see Loading
/// for what that means. Tensors that are not aligned in the file are read. Thread-safe.
///
/// Types without a Dtype are loaded as their bytes, so that nothing of a file is lost:
///
///   BOOL, F8_E8M0      u8
///   C64                f32 with a last dimension of 2
///   I16, U16           u8 with a last dimension of 2
///   F4, F6_E2M3, ...   u8 of one dimension, the packed bytes
///
/// Throws EnvironmentError ENOENT or EIO; ArgumentError, which names file and tensor, for another or a
/// damaged file: a header beyond 100 MB or the file's end, invalid JSON, duplicate names or keys, unknown
/// types, offsets that overlap, leave holes, lead out of the file or do not fit the shape.
Safetensors load_safetensors(const std::filesystem::path& path, Loading loading = Loading::map);

}  // namespace wgrun

#pragma GCC visibility pop
