#include "machine/mma_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "rules/phrases.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::machine {

namespace {

std::string describe(const Tile& tile) {
    return fmt::format(
        "{} {}x{} {}-major {}", to_string(tile.dtype()), tile.mn(), tile.k(), to_string(tile.major()),
        tile.swizzle() == SwizzleMode::none ? std::string("without a swizzle")
                                            : fmt::format("with {} swizzle", to_string(tile.swizzle())));
}

/// Returns the K step and first row whose descriptor starts `offset` bytes into the tile.
std::optional<OperandBlock> block_at(const Tile& tile, std::int64_t offset) {
    for (int mn_offset = 0; mn_offset < tile.mn(); mn_offset += 8)
        for (int kstep = 0; kstep < tile.ksteps(); ++kstep) {
            const OperandBlock block{.kstep = kstep, .ksteps = 1, .mn_offset = mn_offset, .mn = 8};
            if (tile.descriptor(0, block).start == offset) return block;
        }
    return std::nullopt;
}

/// Describes the field in which two descriptors differ.
std::string difference(const Descriptor& got, const Descriptor& wanted) {
    if (got.swizzle != wanted.swizzle)
        return fmt::format("has swizzle {}, but the tile's is {}", to_string(got.swizzle),
                           to_string(wanted.swizzle));
    if (got.base_offset != wanted.base_offset)
        return fmt::format("has base offset {}, but the tile's pattern starts aligned: 0", got.base_offset);
    return fmt::format("has LBO {} and SBO {}, but the tile's are {} and {}", got.lbo, got.sbo, wanted.lbo,
                       count_of(wanted.sbo, "byte"));
}

}  // namespace

int stages(const SharedBuffer& buffer) {
    return buffer.tile ? static_cast<int>(std::max<std::int64_t>(1, buffer.bytes / buffer.tile->bytes())) : 1;
}

std::vector<std::uint32_t> units(const Descriptor& descriptor, const Matrix& matrix) {
    const int k = matrix.k_bytes * 8 / matrix.element_bits, lines = matrix.lines();
    const int along = matrix.mn_major ? matrix.rows : k;
    const int per_line = (along * matrix.element_bits + 127) / 128;
    std::vector<std::uint32_t> out(static_cast<std::size_t>(lines) * static_cast<std::size_t>(per_line));
    walk_units(descriptor, matrix.mn_major ? Major::mn : Major::k, lines, per_line, out);
    return out;
}

std::optional<Misfit> misaligned(const SharedBuffer& buffer, SwizzleMode swizzle, const Program& program) {
    // The hardware swizzles by address bits, so the pattern must start where they are zero.
    const std::int64_t needed = swizzle == SwizzleMode::none ? 16 : 8 * width(swizzle);
    if (buffer.offset % needed == 0 && program.shared_align() % needed == 0) return std::nullopt;
    Misfit out{{rules::WG_DESC_04,
                fmt::format("shared buffer `{}` is aligned to {}, but a wgmma reads it with {} "
                            "swizzle, whose pattern starts on {}",
                            buffer.name, count_of(buffer.align, "byte"), to_string(swizzle),
                            count_of(needed, "byte")),
                {fmt::format("align = {} for `{}`", needed, buffer.name),
                 {{set_option(buffer.where, rules::align_option(), std::to_string(buffer.align),
                              std::to_string(needed))}}}},
               true};
    // What stands behind another variable lies where that ends.
    if (program.shared().size() == 1) out.message.facts = {{"place", buffer.name}, {"needed_align", needed}};
    return out;
}

std::optional<std::string> granted_place(std::span<const Fact> facts) {
    const auto needed = std::ranges::find(facts, "needed_align", &Fact::name);
    const auto place = std::ranges::find(facts, "place", &Fact::name);
    if (needed == facts.end() || place == facts.end()) return std::nullopt;
    return fmt::format("`{}` begins at a multiple of {} bytes", std::get<std::string>(place->value),
                       std::get<std::int64_t>(needed->value));
}

// A K step moves the start within a line of the pattern, stages and groups of eight rows by whole patterns.
// What starts at another line says so by its base offset.
std::optional<Misfit> inside_pattern(const Matrix& matrix, const SharedBuffer& buffer, std::int64_t offset,
                                     const Descriptor& descriptor) {
    if (descriptor.swizzle == SwizzleMode::none || descriptor.base_offset != 0) return std::nullopt;
    const std::int64_t line = width(descriptor.swizzle), pattern = 8 * line;
    const std::int64_t row = (buffer.offset + offset) % pattern / line;
    if (row == 0) return std::nullopt;
    return Misfit{
        {rules::WG_DESC_04,
         fmt::format(
             "operand {} starts {} into `{}`, in line {} of the pattern of {} swizzle, which starts on "
             "{}",
             matrix.name, count_of(offset, "byte"), buffer.name, row, to_string(descriptor.swizzle),
             count_of(pattern, "byte")),
         fmt::format("stages whose sizes are multiples of {}", count_of(pattern, "byte"))}};
}

std::optional<Misfit> unlike(const Matrix& matrix, const SharedBuffer& buffer, Where step) {
    const Tile& tile = *buffer.tile;
    if (bits(tile.dtype()) != matrix.element_bits)
        return Misfit{
            {rules::WG_DESC_03,
             fmt::format("operand {} points into `{}`, a tile of {}-bit elements ({}), but the "
                         "instruction reads {}-bit elements",
                         matrix.name, buffer.name, bits(tile.dtype()), describe(tile), matrix.element_bits),
             "give the tile the type of the operand"}};
    if ((tile.major() == Major::mn) == matrix.mn_major) return std::nullopt;
    const char lower = static_cast<char>(matrix.name - 'A' + 'a');
    const bool may_transpose = matrix.element_bits == 16;
    return Misfit{{rules::WG_DESC_01,
                   fmt::format("operand {} points into `{}`, which is {}-major, but trans_{} = {} reads it "
                               "as {}-major",
                               matrix.name, buffer.name, to_string(tile.major()), lower,
                               matrix.mn_major ? 1 : 0, matrix.mn_major ? "MN" : "K"),
                   may_transpose
                       ? Fix(fmt::format("trans_{} = {}", lower, matrix.mn_major ? 0 : 1),
                             {{set_option(step, rules::transpose_option(lower), matrix.mn_major ? "1" : "0",
                                          matrix.mn_major ? "0" : "1")}})
                       : Fix("a K-major tile")}};
}

std::optional<Misfit> misplaced(const Matrix& matrix, const SharedBuffer& buffer, std::int64_t offset,
                                const std::optional<Descriptor>& fields) {
    const Tile& tile = *buffer.tile;
    std::optional<OperandBlock> block = block_at(tile, offset % tile.bytes());
    if (!block)
        return Misfit{
            {rules::WG_DESC_02,
             fmt::format("operand {} starts {} into the tile `{}` ({}), where no K step of 32 "
                         "bytes and no 8-row group starts",
                         matrix.name, count_of(offset % tile.bytes(), "byte"), buffer.name, describe(tile)),
             "take the start from tile:descriptor(address, kstep)"}};
    block->mn = matrix.rows;
    block->ksteps = std::max(1, matrix.k_bytes / 32);
    Descriptor wanted;
    try {
        wanted = tile.descriptor(0, *block);
    } catch (const ArgumentError& error) {
        return Misfit{{rules::WG_DESC_02,
                       fmt::format("operand {} reads {} from row {} of `{}`: {}", matrix.name,
                                   count_of(matrix.rows, "row"), block->mn_offset, buffer.name, error.what()),
                       error.finding().fix}};
    }
    if (!fields) return std::nullopt;
    Descriptor got = *fields;
    got.start = wanted.start;
    if (got == wanted || units(got, matrix) == units(wanted, matrix)) return std::nullopt;
    return Misfit{{rules::WG_DESC_01,
                   fmt::format("the descriptor of operand {} {} (`{}`, {})", matrix.name,
                               difference(got, wanted), buffer.name, describe(tile)),
                   "take the descriptor from the tile: tile:descriptor(address, kstep)"}};
}

std::optional<Misfit> astray(const Matrix& matrix, const SharedBuffer& buffer, std::int64_t offset) {
    if (offset >= 0 && offset < buffer.bytes) return std::nullopt;
    return Misfit{{rules::WG_DESC_03,
                   fmt::format("operand {} starts {} into `{}`, which has {}", matrix.name,
                               count_of(offset, "byte"), buffer.name, count_of(buffer.bytes, "byte")),
                   "check the K step or the stage that the descriptor is advanced by"}};
}

}  // namespace wgrun::machine
