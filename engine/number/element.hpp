// What is known of an element type: a row each, in dtype.cpp. Whoever needs a fact of a type looks here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "wgrun/dtype.hpp"

namespace wgrun {

/// How values become elements and elements become values, by arrays of equal length (number/codec.hpp).
struct Coding {
    void (*encode)(std::span<const double>, std::span<std::byte>);
    void (*encode_single)(std::span<const float>, std::span<std::byte>);
    void (*decode)(std::span<const std::byte>, std::span<double>);
    void (*decode_single)(std::span<const std::byte>, std::span<float>);
};

struct Element {
    enum class Kind : std::uint8_t { floating, signed_integer, unsigned_integer, bit };

    Dtype dtype;
    std::string_view name;
    Kind kind;
    int bits;       ///< of storage
    int precision;  ///< bits of the significand: integers of up to 2^precision are represented without gaps
    Coding coding;
    double absolute, relative;  ///< the tolerance with which results are compared (wgrun/difference.hpp)
    std::string_view npy;       ///< the descr that a .npy file gets; empty: it cannot hold the type
    int dlpack;                 ///< DLDataTypeCode; -1: it has none
    std::string_view safetensors = {};  ///< empty: it has none
    int tensor_map = 0;                 ///< CUtensorMapDataType; as bytes (0) where it does not have the type
    std::string_view cuda = "unsigned char", cuda_header = {};  ///< in CUDA C++, and where that is declared
};

/// Of every type, in the order of the enumeration.
std::span<const Element> elements();

inline const Element& element(Dtype dtype) { return elements()[static_cast<std::size_t>(dtype)]; }

}  // namespace wgrun
