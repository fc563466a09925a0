#include "sim/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/reduce.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/target.hpp"

namespace wgrun::sim {
namespace {

constexpr std::uint32_t unit_bytes = 16;  // the unit that a swizzle keeps together
constexpr std::size_t most_row_bytes = sm_90a.tensor_maps.side * 8;

/// One row of a box, along dimension 0.
struct Row {
    std::uint32_t address;    ///< of its first byte before the swizzle
    std::int64_t begin, end;  ///< range of its bytes inside the tensor
    std::int64_t global;      ///< offset of byte `begin` in the tensor
};

/// Returns the part along dimension 0 of the row at an address, at the start of the tensor.
Row first_row(const TensorMap& map, const Coordinates& at, Reached reached, std::uint32_t address) {
    const std::int64_t element = bits(map.box->dtype) / 8, side = map.box->extents[0];
    std::int64_t extent = map.extents[0];
    if (const std::int64_t unit = unit_bytes / element; reached == Reached::units)
        extent = (extent + unit - 1) / unit * unit;
    const std::int64_t first = std::clamp<std::int64_t>(-std::int64_t{at[0]}, 0, side);
    const std::int64_t last = std::clamp<std::int64_t>(extent - at[0], first, side);
    return {address, first * element, last * element, (at[0] + first) * element};
}

std::int64_t step_of(const TensorBox& box, std::size_t d) { return box.steps.empty() ? 1 : box.steps[d]; }

/// Moves a row to place x of dimension d; outside the tensor nothing is left of it.
void move_row(const TensorMap& map, std::size_t d, std::int64_t x, Row& row) {
    if (x >= 0 && x < map.extents[d])
        row.global += x * map.strides[d - 1];
    else
        row.end = row.begin;
}

/// Calls f(place) for the pixels of an im2col map, by dimension, before the offsets are added. They go along
/// the lines of the bounding box, which the corners of the map name, from its first plane to its last, and
/// from image to image.
template <class F>
void for_each_place(const TensorMap& map, const Coordinates& at, F f) {
    const TensorBox& box = *map.box;
    const std::size_t images = box.extents.size() - 1;  // the dimension of the images
    std::array<std::int64_t, 5> x{};
    std::copy(at.begin(), at.end(), x.begin());
    for (std::int64_t pixel = 0; pixel < box.extents[1]; ++pixel) {
        f(x);
        std::size_t d = 1;
        for (; d < images; ++d) {
            x[d] += step_of(box, d);
            if (x[d] <= map.extents[d] - 1 + box.pixels->upper[d - 1]) break;
            x[d] = box.pixels->lower[d - 1];
        }
        if (d == images) ++x[d];
    }
}

/// The same for the rows, a pixel each.
template <class F>
void for_each_pixel(const TensorMap& map, const Coordinates& at, const Row& first, F f) {
    const TensorBox& box = *map.box;
    const std::size_t images = box.extents.size() - 1;
    std::uint32_t address = first.address;
    for_each_place(map, at, [&](const std::array<std::int64_t, 5>& x) {
        Row row = first;
        row.address = address;
        for (std::size_t d = 1; d < images; ++d) move_row(map, d, x[d] + at.offsets[d - 1], row);
        move_row(map, images, x[images], row);
        f(row, box.extents[0] * bits(box.dtype) / 8);
        address += static_cast<std::uint32_t>(box.pitch());
    });
}

/// Calls f(row, bytes of a whole one) for the rows of a box, or for the pixels.
template <class F>
void for_each_row(const TensorMap& map, const Coordinates& at, Reached reached, std::uint32_t address, F f) {
    const TensorBox& box = *map.box;
    const Row first = first_row(map, at, reached, address);
    if (box.pixels) return for_each_pixel(map, at, first, f);
    std::array<std::int64_t, 5> index{};
    for (;;) {
        Row row = first;
        row.address = address;
        for (std::size_t d = 1; d < box.extents.size(); ++d)
            move_row(map, d, at[d] + index[d] * step_of(box, d), row);
        f(row, box.extents[0] * bits(box.dtype) / 8);
        address += static_cast<std::uint32_t>(box.pitch());
        std::size_t d = 1;
        while (d < box.extents.size() && ++index[d] == box.extents[d]) index[d++] = 0;
        if (d >= box.extents.size()) return;
    }
}

/// Calls f(memory, offset in the row, bytes) for the pieces of a row that stay together.
template <class Byte, class F>
void for_each_piece(SwizzleMode swizzle, const BoxPlace<Byte>& place, std::uint32_t address,
                    std::int64_t bytes, F f) {
    if (swizzle == SwizzleMode::none)
        return f(place.memory + (address - place.base), std::int64_t{0}, static_cast<std::size_t>(bytes));
    for (std::int64_t i = 0; i < bytes; i += unit_bytes)
        f(place.memory + (swizzled(swizzle, address + static_cast<std::uint32_t>(i)) - place.base), i,
          unit_bytes);
}

/// Fills in the bytes of elements outside the tensor. The NaN is 0x7FF7 in every 16 bits, whatever the type
/// (tests/gpu/async.lua).
void fill(const TensorBox& box, std::byte* row, std::int64_t bytes) {
    for (std::int64_t i = 0; i < bytes; ++i) row[i] = std::byte(!box.nan_fill ? 0 : i % 2 == 0 ? 0xF7 : 0x7F);
}

}  // namespace

isa::Type element_type(const MappedTensor& tensor) {
    return isa::parse_type(to_string(tensor.map->box->dtype)).value_or(isa::Type::none);
}

std::optional<BelowZero> below_zero(const TensorMap& map, const Coordinates& at) {
    std::optional<BelowZero> out;
    const auto look = [&](const auto& x) {
        for (std::size_t d = 0; !out && d < map.extents.size(); ++d)
            if (x[d] < 0) out = {static_cast<int>(d), static_cast<std::int32_t>(x[d])};
    };
    look(at);
    if (map.box->pixels) for_each_place(map, at, look);
    return out;
}

void load_box(const MappedTensor& tensor, const Coordinates& at, const BoxPlace<std::byte>& place) {
    const TensorBox& box = *tensor.map->box;
    std::array<std::byte, most_row_bytes> edge;
    for_each_row(*tensor.map, at, Reached::elements, place.address, [&](const Row& row, std::int64_t bytes) {
        const std::byte* from = edge.data();
        const std::int64_t inside = row.end - row.begin;
        if (inside == bytes) {
            from = tensor.data + row.global;
        } else {
            fill(box, edge.data(), bytes);
            if (inside != 0)
                std::memcpy(edge.data() + row.begin, tensor.data + row.global,
                            static_cast<std::size_t>(inside));
        }
        for_each_piece(box.swizzle, place, row.address, bytes,
                       [&](std::byte* memory, std::int64_t offset, std::size_t size) {
                           std::memcpy(memory, from + offset, size);
                       });
    });
}

void store_box(const MappedTensor& tensor, const Coordinates& at, const BoxPlace<const std::byte>& place,
               isa::BulkCopy::Reduction op) {
    const TensorBox& box = *tensor.map->box;
    const isa::Type type = element_type(tensor);
    const bool plain = op == isa::BulkCopy::Reduction::none;
    std::array<std::byte, most_row_bytes> whole;
    for_each_row(*tensor.map, at, Reached::units, place.address, [&](const Row& row, std::int64_t bytes) {
        if (row.begin == row.end) return;
        for_each_piece(box.swizzle, place, row.address, bytes,
                       [&](const std::byte* memory, std::int64_t offset, std::size_t size) {
                           std::memcpy(whole.data() + offset, memory, size);
                       });
        std::byte* to = tensor.data + row.global;
        if (plain)
            std::memcpy(to, whole.data() + row.begin, static_cast<std::size_t>(row.end - row.begin));
        else
            reduce(op, type, to, whole.data() + row.begin, (row.end - row.begin) * 8 / bits(box.dtype));
    });
}

void for_each_run(const MappedTensor& tensor, const Coordinates& at, Reached reached,
                  const std::function<void(std::uint64_t, const std::byte*, std::uint64_t)>& f) {
    for_each_row(*tensor.map, at, reached, 0, [&](const Row& row, std::int64_t) {
        if (row.begin != row.end)
            f(tensor.map->address + static_cast<std::uint64_t>(row.global), tensor.data + row.global,
              static_cast<std::uint64_t>(row.end - row.begin));
    });
}

void for_each_stored_run(const MappedTensor& tensor, const Coordinates& at, std::uint32_t address,
                         const std::function<void(std::uint32_t, std::uint32_t)>& f) {
    const TensorBox& box = *tensor.map->box;
    bool inside = !box.pixels;
    for (std::size_t d = 0; inside && d < box.extents.size(); ++d) {
        const std::int64_t step = d == 0 ? 1 : step_of(box, d);
        inside = at[d] >= 0 && at[d] + (box.extents[d] - 1) * step < tensor.map->extents[d];
    }
    if (inside) return box.for_each_run(address, f);
    for_each_row(*tensor.map, at, Reached::units, address, [&](const Row& row, std::int64_t) {
        for (std::int64_t i = row.begin; i < row.end; i += unit_bytes)
            f(swizzled(box.swizzle, row.address + static_cast<std::uint32_t>(i)), unit_bytes);
    });
}

std::int64_t bytes_of(const TensorMap& map) {
    std::int64_t bytes = bits(map.box->dtype) / 8;
    for (std::size_t d = 0; d < map.extents.size(); ++d)
        bytes += (map.extents[d] - 1) * (d == 0 ? bits(map.box->dtype) / 8 : map.strides[d - 1]);
    return bytes;
}

void check_map(const TensorMap& map) {
    const auto refuse = [](const std::string& why) {
        throw rules::refusal(rules::WG_TMA_04, "tensor map: " + why);
    };
    const std::size_t rank = map.box->extents.size();
    if (map.extents.size() != rank || map.strides.size() + 1 != rank)
        refuse(fmt::format("the box has {}, the tensor {} and {} strides", count_of(rank, "dimension"),
                           map.extents.size(), map.strides.size()));
    constexpr Target::TensorMaps limits = sm_90a.tensor_maps;
    for (std::size_t d = 0; d < rank; ++d) {
        if (map.extents[d] < 1 || map.extents[d] > limits.extent)
            refuse(fmt::format("extent {} is not 1 to 2^32", map.extents[d]));
        const std::int64_t stride = d == 0 ? bits(map.box->dtype) / 8 : map.strides[d - 1];
        if (stride < 0 || stride >= limits.stride || (d > 0 && stride % limits.unit != 0))
            refuse(fmt::format("stride {} is not a multiple of {} below 2^40", stride, limits.unit));
        constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
        if (stride != 0 && map.extents[d] - 1 > most_bytes / stride)
            refuse("the tensor is larger than any memory");
    }
}

void check_tensor_maps(const Program& program, const SimulatedLaunch& launch) {
    for (const TensorMap& map : launch.tensor_maps) {
        const auto refuse = [&](const std::string& why) {
            throw ArgumentError(
                fmt::format("kernel {}: tensor map {:#x}: {}", program.name(), map.handle, why));
        };
        if (map.box == nullptr) refuse("it has no box");
        check_box(*map.box);
        check_map(map);
        const std::int64_t bytes = bytes_of(map);
        const auto holds = [&](const GlobalBuffer& buffer) {
            return map.address >= buffer.address && buffer.bytes >= bytes &&
                   map.address - buffer.address <= static_cast<std::uint64_t>(buffer.bytes - bytes);
        };
        if (std::none_of(launch.buffers.begin(), launch.buffers.end(), holds))
            refuse(fmt::format("its {} from {:#x} lie in no buffer of the launch", count_of(bytes, "byte"),
                               map.address));
    }
}

}  // namespace wgrun::sim
