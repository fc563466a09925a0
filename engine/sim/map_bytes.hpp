// The 128 bytes of a tensor map in memory, which are opaque to programs (PTX ISA 5.5.8): the simulator's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "isa/map_field.hpp"
#include "sim/sim.hpp"

namespace wgrun::sim {

using MapBytes = std::array<std::byte, isa::map_bytes>;

/// Returns the bytes of a map with a box. data: where the host has the tensor, which another launch may see
/// at another address.
MapBytes to_bytes(const TensorMap& map, const std::byte* data);

/// Returns whether these 128 bytes are those of a tensor map.
bool is_map(const std::byte* bytes);

/// Makes a map of 128 zero bytes, none of whose fields has a value yet. Returns false for other bytes.
bool make_of_zeros(std::byte* bytes);

/// Replaces a field of the map there. Of a value that no tensor map can have, the copies tell. data: what the
/// host has at an address that is the value.
void replace(std::byte* map, isa::MapField field, int dimension, std::uint64_t value, const std::byte* data);

/// A map in memory, and its box.
struct DecodedMap {
    TensorMap map;  ///< its box is the one below
    TensorBox box;
    const std::byte* data;  ///< where the host has, or had, the tensor; null: in no buffer
};

/// Returns what the map there describes. Nothing: elements or an interleaving that the simulator does not
/// have. Throws ArgumentError (WG-TMA-04) for what no tensor map can describe, also where a field has no
/// value.
std::optional<DecodedMap> decoded(const std::byte* map);
/// Returns what such a map has that only tensormap.replace makes, and no tensor map of a launch.
std::string_view beyond_launches(const std::byte* map);

}  // namespace wgrun::sim
