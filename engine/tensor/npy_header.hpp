// The header of a .npy file: its text, and what its `descr` means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wgrun/tensor.hpp"

namespace wgrun {

/// The contents of the dictionary in a .npy header.
struct NpyHeader {
    std::string descr;
    bool fortran_order = false;
    TensorShape shape;
};

/// Parses the dictionary, `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`, keys in any order.
/// Throws ArgumentError, the message beginning with `file`, if it is not one, or its descr is a record.
NpyHeader parse_npy_header(std::string_view text, const std::string& file);

/// The whole preamble of a format 1.0 file: magic, version, length, dictionary, padding to 64 bytes.
/// Throws ArgumentError for b1, for which .npy has no type.
std::string npy_preamble(const Tensor& tensor, const std::string& file);

/// The dtype of elements that numpy calls `descr`; `wanted` is the caller's type, if any.
/// Throws ArgumentError, the message beginning with `file`, if there is none or it cannot be `wanted`.
Dtype npy_dtype(std::string_view descr, std::optional<Dtype> wanted, const std::string& file);

}  // namespace wgrun
