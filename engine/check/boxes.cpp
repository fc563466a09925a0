// Checks bulk copies of a rehearsal against the shared memory that they access (WG-TMA-01, WG-MEM-03), and
// boxes of tensor maps against what wgmma reads of them (WG-TMA-05).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "check/rehearsal.hpp"
#include "rules/copy_words.hpp"

namespace wgrun::check {

namespace {

constexpr std::uint32_t box_align = 128, unit = 16;  // bytes, in shared memory
constexpr int core_matrix = 128;                     // bytes: 8 contiguous rows of 16

constexpr const char* as_the_tile = "k:tensor_map(name, tile) of the tile that the descriptor is made from";

/// "{64, 32} of bf16"
std::string describe(const TensorBox& box) {
    return fmt::format("{{{}}} of {}", fmt::join(box.extents, ", "), to_string(box.dtype));
}

std::int64_t line_bytes(const TensorBox& box) { return box.extents[0] * bits(box.dtype) / 8; }

/// Returns whether wgmma may read elements of a tensor map of `brought` as `multiplied`. An integer may hold
/// any bits.
bool stands_for(Dtype brought, isa::Type multiplied) {
    return !is_float(brought) || to_string(brought) == isa::to_string(multiplied) ||
           (brought == Dtype::f32 && multiplied == isa::Type::tf32);
}

/// Returns whether the lines of the box can be those of the descriptor. With a swizzle, their pitch is its
/// width. Lines of whole core matrices may come from a tensor that is already laid out as the tile.
bool lines_fit(const TensorBox& box) {
    const std::int64_t line = line_bytes(box);
    return box.swizzle != SwizzleMode::none || line == width(SwizzleMode::none) || line % core_matrix == 0;
}

}  // namespace

void Rehearsal::Cta::bring(std::uint32_t lo, std::uint32_t hi) {
    const auto apart = [&](const auto& other) { return other.second < lo || hi < other.first; };
    for (const auto& other : brought) {
        if (apart(other)) continue;
        lo = std::min(lo, other.first);
        hi = std::max(hi, other.second);
    }
    std::erase_if(brought, [&](const auto& other) { return !apart(other); });
    brought.emplace_back(lo, hi);
}

bool Rehearsal::Cta::has_brought(std::uint32_t address) const {
    return std::ranges::any_of(
        brought, [&](const auto& part) { return address >= part.first && address < part.second; });
}

/// Returns whether the shared memory that the copy reads or writes suits it; reports what does not.
bool Rehearsal::fits_shared(const isa::BulkCopy& copy, const TensorBox* box) {
    if (box != nullptr && static_cast<std::size_t>(copy.dims) != box->extents.size()) {
        add(rules::copy_of_other_dimensions(copy.dims, box->extents.size()), op_->step);
        return false;
    }
    if (!copy.known.shared || (box == nullptr && !copy.known.bytes)) return true;
    const std::uint32_t address = copy.shared & isa::peer_window, offset = address - base;
    const std::uint32_t align = box != nullptr ? box_align : unit;
    if (address % align != 0) {
        add(rules::copy_misaligned(place(offset), align), op_->step);
        return false;
    }
    const std::int64_t bytes = box != nullptr ? box->span() : copy.bytes;
    const auto holder = std::ranges::find_if(program_.shared(), [&](const SharedBuffer& buffer) {
        return offset >= buffer.offset && offset < buffer.offset + buffer.bytes;
    });
    if (holder == program_.shared().end() || offset + bytes <= holder->offset + holder->bytes) return true;
    const std::int64_t left = holder->offset + holder->bytes - offset;
    add(rules::WG_MEM_03, op_->step,
        box != nullptr ? fmt::format("a box of {} is {} bytes, and from {} on there are {}", describe(*box),
                                     bytes, place(offset), left)
                       : fmt::format("the copy is {} bytes long, and from {} on there are {}", bytes,
                                     place(offset), left),
        "a smaller box, or a larger buffer",
        {{holder->where, fmt::format("`{}` is declared here", holder->name)}});
    return false;
}

/// Compares the box of a copy with the matrix that the current wgmma reads. The copy has filled the first
/// byte of the matrix, and no thread has written there.
void Rehearsal::compare(const Written& written, const Matrix& read, std::uint64_t bits) {
    if (!compared_.insert({op_->step, written.step, bits}).second) return;
    const TensorBox& box = *written.box;
    const Descriptor descriptor = Descriptor::decode(bits);
    const std::string matrix = place(descriptor.start - base);
    const auto tell = [&](std::string message, std::string fix) {
        add(rules::WG_TMA_05, written.step, std::move(message), std::move(fix),
            {{op_->where, "multiplied here"}});
    };
    if (descriptor.swizzle != box.swizzle)
        return tell(
            fmt::format("the copy fills {} with {} swizzle, and the wgmma that multiplies it reads {}",
                        matrix, to_string(box.swizzle), to_string(descriptor.swizzle)),
            "make the tensor map and the descriptor from the same tile");
    const isa::Type type = op_->step->form.type(read.name == 'A' ? isa::Field::a : isa::Field::b);
    if (!stands_for(box.dtype, type))
        return tell(fmt::format("the copy brings {} to {}, and the wgmma that multiplies it reads {}",
                                to_string(box.dtype), matrix, isa::to_string(type)),
                    fmt::format("a tensor of {}, and a tensor map of it", isa::to_string(type)));
    if (!lines_fit(box))
        return tell(
            fmt::format("the box of {} fills {} in lines of {} bytes, and the wgmma that multiplies it "
                        "reads lines of {}",
                        describe(box), matrix, line_bytes(box), width(descriptor.swizzle)),
            as_the_tile);
    const std::vector<std::uint32_t> all = units(descriptor, read);
    const auto missing = [&](std::uint32_t address) {
        return !maybe_stored(address - base) && !warp_->cta->has_brought(address);
    };
    const auto first = std::ranges::find_if(all, missing);
    if (first == all.end()) return;
    const auto per_line = all.size() / static_cast<std::size_t>(read.lines());
    tell(fmt::format(
             "the box of {} fills a part of what the wgmma reads of {}: nothing brings {} of {} bytes, "
             "from {} {} of operand {} on",
             describe(box), matrix, std::ranges::count_if(all, missing) * unit, all.size() * unit,
             read.mn_major ? "column" : "row", static_cast<std::size_t>(first - all.begin()) / per_line,
             read.name),
         as_the_tile);
}

}  // namespace wgrun::check
