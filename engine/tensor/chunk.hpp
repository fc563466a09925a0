// A chunk of a tensor's elements, as bytes. For b1, `begin` is a multiple of eight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "number/number.hpp"
#include "wgrun/tensor.hpp"

namespace wgrun {

/// `TensorType` is Tensor or const Tensor; the bytes are const accordingly.
template <class TensorType>
auto chunk_bytes(TensorType& tensor, std::int64_t begin, std::size_t count) {
    return tensor.bytes().subspan(
        static_cast<std::size_t>(bytes_of(tensor.dtype(), begin)),
        static_cast<std::size_t>(bytes_of(tensor.dtype(), static_cast<std::int64_t>(count))));
}

}  // namespace wgrun
