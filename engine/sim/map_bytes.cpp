#include "sim/map_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/tensor.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::sim {
namespace {

constexpr std::uint64_t mark = 0x70616D6E75726777;  // "wgrunmap"
constexpr std::uint8_t other_elements = 0xFF;

constexpr std::uint32_t no_extent = UINT32_MAX;

struct Raw {
    std::uint64_t mark = sim::mark, address = 0;
    const std::byte* data = nullptr;
    std::array<std::uint64_t, 4> strides{};  ///< bytes
    std::array<std::uint32_t, 5> extents{};  ///< less one; no_extent: without a value
    std::array<std::uint32_t, 5> box{};
    std::array<std::uint8_t, 5> steps{1, 1, 1, 1, 1};
    std::uint8_t rank = 0;  ///< less one
    std::uint8_t elements = 0, interleave = 0, swizzle = 0, fill = 0;
    std::uint8_t pixels = 0;  ///< 1: an im2col map
    std::array<std::int16_t, 3> lower{}, upper{};
};
static_assert(sizeof(Raw) <= isa::map_bytes);

Raw read(const std::byte* bytes) {
    Raw raw;
    std::memcpy(&raw, bytes, sizeof raw);
    return raw;
}
void write(std::byte* bytes, const Raw& raw) { std::memcpy(bytes, &raw, sizeof raw); }

/// The elements of a number of tensormap.replace (PTX ISA 9.7.9.26.1). The simulator's tensors have none of
/// 16 bits that are integers, and none whose subnormals are flushed.
std::uint8_t elements_of(std::uint64_t number) {
    using enum Dtype;
    switch (number) {
        case 0: return static_cast<std::uint8_t>(u8);
        case 2: return static_cast<std::uint8_t>(u32);
        case 3: return static_cast<std::uint8_t>(s32);
        case 4: return static_cast<std::uint8_t>(u64);
        case 5: return static_cast<std::uint8_t>(s64);
        case 6: return static_cast<std::uint8_t>(f16);
        case 7: return static_cast<std::uint8_t>(f32);
        case 9: return static_cast<std::uint8_t>(f64);
        case 10: return static_cast<std::uint8_t>(bf16);
        case 11: return static_cast<std::uint8_t>(tf32);
        default: return other_elements;
    }
}

/// Refuses zeros where no field has them.
void check_values(const Raw& raw) {
    const auto refuse = [](const std::string& field) {
        throw rules::refusal(rules::WG_TMA_04, fmt::format("tensor map in memory: its {} is 0", field),
                             fmt::format("tensormap.replace.tile.{} before the copy", field));
    };
    if (raw.address == 0) refuse("global_address");
    for (std::size_t d = 0; d <= raw.rank; ++d)
        for (const auto& [field, missing] : {std::pair{"box_dim", raw.box[d] == 0},
                                             {"global_dim", raw.extents[d] == no_extent},
                                             {"element_stride", raw.steps[d] == 0}})
            if (missing) refuse(fmt::format("{} of dimension {}", field, d));
}

}  // namespace

MapBytes to_bytes(const TensorMap& map, const std::byte* data) {
    const TensorBox& box = *map.box;
    Raw raw;
    raw.address = map.address;
    raw.data = data;
    raw.rank = static_cast<std::uint8_t>(box.extents.size() - 1);
    for (std::size_t d = 0; d < box.extents.size(); ++d) {
        raw.extents[d] = static_cast<std::uint32_t>(map.extents[d] - 1);
        raw.box[d] = static_cast<std::uint32_t>(box.extents[d]);
        if (d > 0) raw.strides[d - 1] = static_cast<std::uint64_t>(map.strides[d - 1]);
        if (box.steps.empty()) continue;
        raw.steps[d] = static_cast<std::uint8_t>(box.steps[d]);
        // What a program replaces is the extent in the tensor.
        if (d > 0 && !box.pixels) raw.box[d] *= raw.steps[d];
    }
    raw.elements = static_cast<std::uint8_t>(box.dtype);
    raw.swizzle = static_cast<std::uint8_t>(box.swizzle);
    raw.fill = static_cast<std::uint8_t>(box.nan_fill);
    if (box.pixels) {
        raw.pixels = 1;
        for (std::size_t d = 0; d < box.pixels->lower.size(); ++d) {
            raw.lower[d] = static_cast<std::int16_t>(box.pixels->lower[d]);
            raw.upper[d] = static_cast<std::int16_t>(box.pixels->upper[d]);
        }
    }
    MapBytes out{};
    write(out.data(), raw);
    return out;
}

bool is_map(const std::byte* bytes) { return read(bytes).mark == mark; }

bool make_of_zeros(std::byte* bytes) {
    if (std::any_of(bytes, bytes + isa::map_bytes, [](std::byte byte) { return byte != std::byte{0}; }))
        return false;
    Raw raw;
    raw.elements = elements_of(0);
    raw.extents.fill(no_extent);
    raw.steps.fill(0);
    write(bytes, raw);
    return true;
}

void replace(std::byte* map, isa::MapField field, int dimension, std::uint64_t value, const std::byte* data) {
    using enum isa::MapField;
    Raw raw = read(map);
    const auto d = static_cast<std::size_t>(dimension);
    const auto byte = static_cast<std::uint8_t>(std::min<std::uint64_t>(value, UINT8_MAX));
    const auto word = static_cast<std::uint32_t>(value);
    switch (field) {
        case global_address: raw.address = value, raw.data = data; break;
        case rank: raw.rank = byte; break;
        case box_dim: raw.box[d] = word; break;
        case global_dim: raw.extents[d] = word - 1; break;
        case global_stride: raw.strides[d] = value; break;
        case element_stride: raw.steps[d] = byte; break;
        case elemtype: raw.elements = elements_of(value); break;
        case interleave_layout: raw.interleave = byte; break;
        case swizzle_mode: raw.swizzle = byte; break;
        case fill_mode: raw.fill = byte; break;
    }
    write(map, raw);
}

std::string_view beyond_launches(const std::byte* map) {
    return read(map).interleave != 0 ? "interleaved elements" : "elements of u16, f32.ftz or tf32.ftz";
}

std::optional<DecodedMap> decoded(const std::byte* map) {
    const Raw raw = read(map);
    if (raw.elements == other_elements || raw.interleave != 0) return std::nullopt;
    if (const std::size_t dims = std::size_t{raw.rank} + 1; dims > sm_90a.tensor_maps.dims)
        throw rules::refusal(rules::WG_TMA_04,
                             fmt::format("tensor map: {}: must be 1 to {}", count_of(dims, "dimension"),
                                         sm_90a.tensor_maps.dims));
    check_values(raw);
    DecodedMap out;
    out.map.address = raw.address;
    out.data = raw.data;
    out.box.dtype = static_cast<Dtype>(raw.elements);
    out.box.swizzle = static_cast<SwizzleMode>(raw.swizzle);
    out.box.nan_fill = raw.fill != 0;
    bool steps = false;
    for (std::size_t d = 0; d <= raw.rank; ++d) {
        out.map.extents.push_back(std::int64_t{raw.extents[d]} + 1);
        const std::int64_t step = raw.steps[d];
        const bool skips = d > 0 && step > 1 && raw.pixels == 0;
        out.box.extents.push_back(skips ? (std::int64_t{raw.box[d]} + step - 1) / step : raw.box[d]);
        out.box.steps.push_back(step);
        steps |= d > 0 && step != 1;
        if (d > 0) out.map.strides.push_back(static_cast<std::int64_t>(raw.strides[d - 1]));
    }
    if (!steps) out.box.steps.clear();
    if (raw.pixels != 0) {
        const auto end = static_cast<std::ptrdiff_t>(raw.rank) - 1;
        out.box.pixels = {{raw.lower.begin(), raw.lower.begin() + end},
                          {raw.upper.begin(), raw.upper.begin() + end}};
    }
    check_box(out.box);
    return out;
}

}  // namespace wgrun::sim
