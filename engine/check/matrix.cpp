#include "check/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include "rules/phrases.hpp"

namespace wgrun::check {

namespace {

int stages(const SharedBuffer& buffer) {
    return buffer.tile ? static_cast<int>(std::max<std::int64_t>(1, buffer.bytes / buffer.tile->bytes())) : 1;
}

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
    return fmt::format("has LBO {} and SBO {}, but the tile's are {} and {} bytes", got.lbo, got.sbo,
                       wanted.lbo, wanted.sbo);
}

}  // namespace

std::vector<std::uint32_t> units(const Descriptor& descriptor, const Matrix& matrix) {
    const int k = matrix.k_bytes * 8 / matrix.element_bits, lines = matrix.lines();
    const int along = matrix.mn_major ? matrix.rows : k;
    const int per_line = (along * matrix.element_bits + 127) / 128;
    std::vector<std::uint32_t> out(static_cast<std::size_t>(lines) * static_cast<std::size_t>(per_line));
    walk_units(descriptor, matrix.mn_major ? Major::mn : Major::k, lines, per_line, out);
    return out;
}

Cells::Cells(const Program& program) : program_(program) {
    for (const SharedBuffer& buffer : program.shared()) {
        first_.push_back(count_);
        owners_.insert(owners_.end(), static_cast<std::size_t>(stages(buffer)),
                       static_cast<int>(first_.size()) - 1);
        count_ += stages(buffer);
    }
}

Region Cells::somewhere(int buffer) const {
    const SharedBuffer& info = program_.shared()[static_cast<std::size_t>(buffer)];
    if (stages(info) > 1) return {};
    return {first_[static_cast<std::size_t>(buffer)], 0, 0, info.tile.has_value()};
}

Region Cells::access(int buffer, std::int64_t lo, std::int64_t hi, bool all) const {
    const SharedBuffer& info = program_.shared()[static_cast<std::size_t>(buffer)];
    if (lo < 0 || hi > info.bytes) return {};
    if (!info.tile)
        return all ? Region{first_[static_cast<std::size_t>(buffer)], lo, hi, false} : somewhere(buffer);
    const std::int64_t stage = lo / info.tile->bytes();
    if (stage >= stages(info) || (hi - 1) / info.tile->bytes() != stage) return {};
    return {first_[static_cast<std::size_t>(buffer)] + static_cast<int>(stage), 0, 0, true};
}

void MatrixCheck::alignment(const Step& step, const SharedBuffer& buffer, SwizzleMode swizzle) {
    // The hardware swizzles by address bits, so the pattern must start where they are zero.
    const std::int64_t needed = swizzle == SwizzleMode::none ? 16 : 8 * width(swizzle);
    if (buffer.offset % needed == 0 && program_.shared_align() % needed == 0) return;
    findings_.add(rules::WG_DESC_04, buffer.where,
                  fmt::format("shared buffer `{}` is aligned to {} bytes, but a wgmma reads it with {} "
                              "swizzle, whose pattern starts on {} bytes",
                              buffer.name, buffer.align, to_string(swizzle), needed),
                  {fmt::format("align = {} for `{}`", needed, buffer.name),
                   {{set_option(buffer.where, rules::align_option(), std::to_string(buffer.align),
                                std::to_string(needed))}}},
                  {{step.where, "read here"}});
}

bool MatrixCheck::tile_fits(const Step& step, const Matrix& matrix, const SharedBuffer& buffer) {
    const Tile& tile = *buffer.tile;
    const std::vector<Note> notes{{buffer.where, fmt::format("`{}` is declared here", buffer.name)}};
    if (bits(tile.dtype()) != matrix.element_bits) {
        findings_.add(
            rules::WG_DESC_03, step.where,
            fmt::format("operand {} points into `{}`, a tile of {}-bit elements ({}), but the "
                        "instruction reads {}-bit elements",
                        matrix.name, buffer.name, bits(tile.dtype()), describe(tile), matrix.element_bits),
            "give the tile the type of the operand", notes);
        return false;
    }
    if ((tile.major() == Major::mn) != matrix.mn_major) {
        const char lower = static_cast<char>(matrix.name - 'A' + 'a');
        const bool may_transpose = matrix.element_bits == 16;
        findings_.add(
            rules::WG_DESC_01, step.where,
            fmt::format("operand {} points into `{}`, which is {}-major, but trans_{} = {} reads it "
                        "as {}-major",
                        matrix.name, buffer.name, to_string(tile.major()), lower, matrix.mn_major ? 1 : 0,
                        matrix.mn_major ? "MN" : "K"),
            may_transpose ? Fix(fmt::format("trans_{} = {}", lower, matrix.mn_major ? 0 : 1),
                                {{set_option(step.where, rules::transpose_option(lower),
                                             matrix.mn_major ? "1" : "0", matrix.mn_major ? "0" : "1")}})
                          : Fix("a K-major tile"),
            notes);
        return false;
    }
    return true;
}

bool MatrixCheck::position(const Step& step, const Matrix& matrix, const SharedBuffer& buffer,
                           std::int64_t offset, const std::optional<Descriptor>& fields) {
    const Tile& tile = *buffer.tile;
    const std::vector<Note> notes{{buffer.where, fmt::format("`{}` is declared here", buffer.name)}};
    std::optional<OperandBlock> block = block_at(tile, offset % tile.bytes());
    if (!block) {
        findings_.add(rules::WG_DESC_02, step.where,
                      fmt::format("operand {} starts {} bytes into the tile `{}` ({}), where no K step of 32 "
                                  "bytes and no 8-row group starts",
                                  matrix.name, offset % tile.bytes(), buffer.name, describe(tile)),
                      "take the start from tile:descriptor(address, kstep)", notes);
        return false;
    }
    block->mn = matrix.rows;
    block->ksteps = std::max(1, matrix.k_bytes / 32);
    Descriptor wanted;
    try {
        wanted = tile.descriptor(0, *block);
    } catch (const ArgumentError& error) {
        findings_.add(rules::WG_DESC_02, step.where,
                      fmt::format("operand {} reads {} rows from row {} of `{}`: {}", matrix.name,
                                  matrix.rows, block->mn_offset, buffer.name, error.what()),
                      error.finding().fix, notes);
        return false;
    }
    if (!fields) return true;
    Descriptor got = *fields;
    got.start = wanted.start;
    if (got == wanted || units(got, matrix) == units(wanted, matrix)) return true;
    findings_.add(rules::WG_DESC_01, step.where,
                  fmt::format("the descriptor of operand {} {} (`{}`, {})", matrix.name,
                              difference(got, wanted), buffer.name, describe(tile)),
                  "take the descriptor from the tile: tile:descriptor(address, kstep)", notes);
    return false;
}

Region MatrixCheck::footprint(const Step& step, const Matrix& matrix, int buffer, const Descriptor& fields) {
    const SharedBuffer& info = program_.shared()[static_cast<std::size_t>(buffer)];
    const std::vector<std::uint32_t> read = units(fields, matrix);
    const auto [lowest, highest] = std::minmax_element(read.begin(), read.end());
    const std::int64_t lo = *lowest, hi = std::int64_t{*highest} + 16;
    if (info.offset + hi > program_.shared_bytes()) {
        findings_.add(rules::WG_DESC_03, step.where,
                      fmt::format("operand {} reads up to byte {} of `{}`, which has {} bytes", matrix.name,
                                  hi, info.name, info.bytes),
                      "check start, LBO and SBO of the descriptor, or make the buffer larger",
                      {{info.where, fmt::format("`{}` is declared here", info.name)}});
        return {};
    }
    Region region = cells_.access(buffer, lo, std::min(hi, info.bytes), true);
    region.whole =
        region.cell >= 0 && static_cast<std::int64_t>(read.size()) * 16 == info.bytes && hi <= info.bytes;
    return region;
}

Region MatrixCheck::operator()(const Step& step, const Matrix& matrix, const Known& descriptor) {
    int buffer = descriptor.value.is_descriptor ? descriptor.value.buffer : -1;
    std::optional<Descriptor> fields;
    const std::optional<std::int64_t> bits = descriptor.exact.uniform();
    if (bits && descriptor.origin >= 0) {
        // This covers descriptors that a script assembles with and, shr and or.
        try {
            fields = Descriptor::decode(static_cast<std::uint64_t>(*bits));
            buffer = descriptor.origin;
        } catch (const ArgumentError& error) {
            if (buffer >= 0)
                findings_.add(rules::WG_DESC_01, step.where,
                              fmt::format("operand {}: {}", matrix.name, error.what()), error.finding().fix);
        }
    }
    if (buffer < 0) return {};
    const SharedBuffer& info = program_.shared()[static_cast<std::size_t>(buffer)];
    std::optional<std::int64_t> offset = descriptor.value.offset;
    if (fields) offset = fields->start;
    const auto key = std::tuple(&info, offset.value_or(-1), static_cast<std::uint64_t>(fields ? *bits : 0),
                                matrix.rows, matrix.mn_major);
    if (offset && (*offset < 0 || *offset >= info.bytes)) {
        findings_.add(rules::WG_DESC_03, step.where,
                      fmt::format("operand {} starts {} bytes into `{}`, which has {} bytes", matrix.name,
                                  *offset, info.name, info.bytes),
                      "check the K step or the stage that the descriptor is advanced by",
                      {{info.where, fmt::format("`{}` is declared here", info.name)}});
        return {};
    }
    if (!info.tile) {
        if (!fields) return {};
        if (fields->base_offset == 0) alignment(step, info, fields->swizzle);
        return footprint(step, matrix, buffer, *fields);
    }
    alignment(step, info, info.tile->swizzle());
    if (!right_.contains(key) && tile_fits(step, matrix, info) &&
        (!offset || position(step, matrix, info, *offset, fields)))
        right_.insert(key);
    return offset ? cells_.access(buffer, *offset, *offset + 16, true) : cells_.somewhere(buffer);
}

}  // namespace wgrun::check
