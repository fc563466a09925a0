// The checked contents of the header of a .safetensors file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wgrun/tensor.hpp"

namespace wgrun {

/// One tensor of the file.
struct SafetensorsEntry {
    std::string name;
    Dtype dtype = Dtype::u8;
    TensorShape shape;
    std::uint64_t begin = 0, end = 0;  ///< bytes, from the end of the header
};

struct SafetensorsHeader {
    std::vector<SafetensorsEntry> entries;  ///< by `begin`: one begins where the last one ends
    std::vector<std::pair<std::string, std::string>> metadata;
};

/// Parses and checks the JSON of a header that is followed by `data_bytes` bytes. Throws ArgumentError, the
/// message beginning with `file`.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                           const std::string& file);

}  // namespace wgrun
