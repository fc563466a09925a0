#include "check/cells.hpp"
#include "wgrun/count_of.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wgrun::check {

using machine::stages;

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

bool MatrixCheck::fits(const Step& step, const SharedBuffer& buffer, std::optional<machine::Misfit> misfit) {
    if (!misfit) return true;
    misfit->at_buffer ? findings_.add(std::move(misfit->message), buffer.where, {{step.where, "read here"}})
                      : findings_.add(std::move(misfit->message), step.where,
                                      {{buffer.where, fmt::format("`{}` is declared here", buffer.name)}});
    return false;
}

Region MatrixCheck::footprint(const Step& step, const Matrix& matrix, int buffer, const Descriptor& fields) {
    const SharedBuffer& info = program_.shared()[static_cast<std::size_t>(buffer)];
    const std::vector<std::uint32_t> read = units(fields, matrix);
    const auto [lowest, highest] = std::minmax_element(read.begin(), read.end());
    const std::int64_t lo = *lowest, hi = std::int64_t{*highest} + 16;
    if (info.offset + hi > program_.shared_bytes()) {
        findings_.add(rules::WG_DESC_03, step.where,
                      fmt::format("operand {} reads up to byte {} of `{}`, which has {}", matrix.name, hi,
                                  info.name, count_of(info.bytes, "byte")),
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
    if (offset && !fits(step, info, machine::astray(matrix, info, *offset))) return {};
    if (!info.tile) {
        if (!fields) return {};
        if (fields->base_offset == 0 &&
            fits(step, info, machine::misaligned(info, fields->swizzle, program_)))
            fits(step, info, machine::inside_pattern(matrix, info, fields->start, *fields));
        return footprint(step, matrix, buffer, *fields);
    }
    fits(step, info, machine::misaligned(info, info.tile->swizzle(), program_));
    if (!right_.contains(key) && fits(step, info, machine::unlike(matrix, info, step.where)) &&
        (!offset || fits(step, info, machine::misplaced(matrix, info, *offset, fields))))
        right_.insert(key);
    return offset ? cells_.access(buffer, *offset, *offset + 16, true) : cells_.somewhere(buffer);
}

}  // namespace wgrun::check
