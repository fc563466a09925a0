// Copies of boxes of tensors between global and shared memory (PTX ISA 5.5).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "isa/bulk_copy.hpp"
#include "sim/sim.hpp"

namespace wgrun::sim {

/// Where a copy begins, in elements. Of pixels, each is copied from the place at these offsets, W first.
struct Coordinates : std::array<std::int32_t, 5> {
    std::array<std::uint16_t, 3> offsets{};
    bool operator==(const Coordinates&) const = default;
};

/// A tensor map, and where the simulator holds its tensor.
struct MappedTensor {
    const TensorMap* map = nullptr;
    std::byte* data = nullptr;
};

/// Shared memory, for a box: `memory` is the byte at address `base` of the shared window. Byte is const when
/// the box is read.
template <class Byte>
struct BoxPlace {
    Byte* memory;
    std::uint32_t base;
    std::uint32_t address;  ///< of the box, bytes, a multiple of 128
};

/// Which bytes of a line of the tensor a copy reaches. Of a line that ends within a unit of 16 bytes, what
/// loads reads the elements alone; what stores or reduces writes the unit whole (tests/gpu/tma_starts.lua).
enum class Reached : std::uint8_t { elements, units };

/// A coordinate that a copy reaches, and its dimension.
struct BelowZero {
    int dimension;
    std::int32_t coordinate;
};
/// Returns one below 0, at which no store may begin, and which none of its pixels may have
/// (tests/gpu/im2col.lua). Nothing: there is none.
std::optional<BelowZero> below_zero(const TensorMap& map, const Coordinates& at);

/// Returns the type of its elements.
isa::Type element_type(const MappedTensor& tensor);

/// Copies the box at `at` (elements; it may lie partly outside the tensor) into shared memory, permuted by
/// the swizzle of the map. Elements outside the tensor become zero or NaN, as the map says.
void load_box(const MappedTensor& tensor, const Coordinates& at, const BoxPlace<std::byte>& place);

/// Copies a box from shared memory into the tensor, or combines them if the elements have such a reduction.
/// Units of 16 bytes outside the tensor are skipped.
void store_box(const MappedTensor& tensor, const Coordinates& at, const BoxPlace<const std::byte>& place,
               isa::BulkCopy::Reduction op);

/// Calls f(address, bytes of the tensor there, number of bytes) for each row of the box inside the tensor.
void for_each_run(const MappedTensor& tensor, const Coordinates& at, Reached reached,
                  const std::function<void(std::uint64_t, const std::byte*, std::uint64_t)>& f);

/// Calls f(address, bytes) for each piece of shared memory from which a store takes elements that lie inside
/// the tensor, in whole units of 16 bytes.
void for_each_stored_run(const MappedTensor& tensor, const Coordinates& at, std::uint32_t address,
                         const std::function<void(std::uint32_t, std::uint32_t)>& f);

/// Returns the bytes from the first element of the tensor to the end of the last one.
std::int64_t bytes_of(const TensorMap& map);

/// Throws ArgumentError (WG-TMA-04) for extents and strides that no tensor map can have.
void check_map(const TensorMap& map);

/// Throws ArgumentError when a map does not fit its tensor, or a tensor does not fit its buffer.
void check_tensor_maps(const Program& program, const SimulatedLaunch& launch);

}  // namespace wgrun::sim
