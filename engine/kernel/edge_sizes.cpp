// Sizes are drawn from what stands in the program, so that the same kernel is always tried with the same
// ones.
#include "wgrun/edge_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace wgrun {
namespace {

constexpr std::int64_t largest_extent = std::int64_t{1} << 16;

/// The numbers of a program that sizes may be divided by.
struct Extents {
    std::set<std::int64_t> tiles;   ///< of tiles, boxes and CTAs
    std::set<std::int64_t> others;  ///< what the program computes with: steps, divisors, masks, shifts
    std::set<std::int64_t> counts;  ///< small ones among them: the stages of a ring
};

void add(std::set<std::int64_t>& to, std::int64_t value) {
    if (value >= 2 && value <= largest_extent) to.insert(value);
}

void add_number(Extents& to, std::int64_t value) {
    add(to.others, value);
    if (value > 2 && std::has_single_bit(static_cast<std::uint64_t>(value) + 1))
        add(to.others, value + 1);  // a mask, or what rounds a quotient up
    if (value >= 3 && value <= 12) add(to.others, std::int64_t{1} << value);  // a shift by so many bits
    if (value >= 2 && value <= 8) to.counts.insert(value);
}

Extents extents_of(const Program& program) {
    Extents out;
    add(out.tiles, program.threads());
    for (const std::uint32_t threads : {program.block().x, program.block().y, program.block().z})
        add(out.tiles, threads);
    for (const SharedBuffer& buffer : program.shared())
        if (buffer.tile)
            for (const int extent : {buffer.tile->mn(), buffer.tile->k()}) add(out.tiles, extent);
    for (const Param& param : program.params())
        if (param.box)
            for (const std::int64_t extent : param.box->extents) add(out.tiles, extent);
    for_each_step(program, [&](const Step& step) {
        for (std::size_t i = 0; i < step.operands.size(); ++i) {
            const isa::OperandRule& rule = step.op->operands[i];
            const bool number = rule.type == nullptr || !isa::is_float(rule.type(step.form));
            if (step.operands[i].kind == isa::Operand::Kind::imm && number && !rule.by_name)
                add_number(out, step.operands[i].imm);
        }
    });
    return out;
}

/// Values in the order in which they are worth a launch, each once.
class Values {
  public:
    explicit Values(const SizeRange& range) : range_(range) {}
    /// Adds a value, or the legal ones nearest to it.
    void add(std::int64_t value) {
        const std::int64_t below = value / range_.multiple_of * range_.multiple_of;
        add_legal(below);
        if (below != value) add_legal(below + range_.multiple_of);
    }
    void add_around(std::int64_t extent) {
        for (const std::int64_t value : {extent + 1, extent - 1, extent}) add(value);
    }
    const std::vector<std::int64_t>& all() const { return all_; }

  private:
    void add_legal(std::int64_t value) {
        if (value >= range_.least && value <= range_.most && std::ranges::find(all_, value) == all_.end())
            all_.push_back(value);
    }
    const SizeRange& range_;
    std::vector<std::int64_t> all_;
};

std::vector<std::int64_t> edges(const SizeRange& range, const Extents& extents,
                                std::span<const std::uint64_t> grids) {
    Values values(range);
    values.add(range.least);
    values.add(range.least + range.multiple_of);
    for (const std::int64_t extent : extents.tiles) values.add_around(extent);
    for (const std::int64_t extent : extents.tiles)
        for (const std::uint64_t grid : grids)
            if (grid <= static_cast<std::uint64_t>(largest_extent))
                values.add(extent * static_cast<std::int64_t>(grid) + 1);
    for (const std::int64_t extent : extents.others) values.add_around(extent);
    for (const std::int64_t extent : extents.tiles)
        for (const std::int64_t count : extents.counts) values.add(extent * count + 1);
    return values.all();
}

/// A legal value of a middling size that is no multiple of a tile's extent, where one is legal.
std::int64_t usual(const SizeRange& range, const Extents& extents) {
    std::int64_t value = range.least;
    for (const std::int64_t extent : extents.tiles)
        if (extent < range.most && extent <= 256) value = std::max(value, extent + 1);
    return std::clamp((value + range.multiple_of - 1) / range.multiple_of * range.multiple_of, range.least,
                      range.most);
}

}  // namespace

void check_size(const SizeRange& range) {
    const auto fail = [&](const std::string& what) {
        throw ArgumentError(fmt::format("kernel:sizes: size `{}`: {}", range.name, what),
                            "n = { 1, 4096 }, k = { 64, 1024, multiple_of = 64 }");
    };
    if (range.multiple_of < 1) fail(fmt::format("multiple_of = {}: it is 1 or more", range.multiple_of));
    if (range.least < 0 || range.most < range.least)
        fail(fmt::format("{{ {}, {} }}: no size is in this range", range.least, range.most));
    for (const std::int64_t limit : {range.least, range.most})
        if (limit % range.multiple_of != 0)
            fail(fmt::format("the limit {} is no multiple of {}", limit, range.multiple_of));
}

std::vector<std::vector<std::int64_t>> edge_sizes(const Program& program, std::span<const SizeRange> ranges,
                                                  std::span<const std::uint64_t> grids, std::size_t most) {
    const Extents extents = extents_of(program);
    std::vector<std::int64_t> small, middling;
    std::vector<std::vector<std::int64_t>> values, out;
    for (const SizeRange& range : ranges) {
        small.push_back(range.least);
        middling.push_back(usual(range, extents));
        values.push_back(edges(range, extents, grids));
    }
    const auto try_out = [&](std::vector<std::int64_t> launch) {
        if (out.size() < most && std::ranges::find(out, launch) == out.end())
            out.push_back(std::move(launch));
    };
    try_out(small);
    try_out(middling);
    // Large extents cost time: only one size is large at a time.
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        std::vector<std::int64_t> launch = small;
        launch[i] = ranges[i].most;
        try_out(std::move(launch));
    }
    std::size_t longest = 0;
    for (const auto& list : values) longest = std::max(longest, list.size());
    for (std::size_t at = 0; at < longest; ++at)
        for (const auto* others : {&middling, &small})
            for (std::size_t i = 0; i < ranges.size(); ++i) {
                if (at >= values[i].size()) continue;
                std::vector<std::int64_t> launch = *others;
                launch[i] = values[i][at];
                try_out(std::move(launch));
            }
    return out;
}

std::uint64_t count_sizes(std::span<const SizeRange> ranges) {
    std::uint64_t out = 1;
    for (const SizeRange& range : ranges) {
        const auto values = static_cast<std::uint64_t>((range.most - range.least) / range.multiple_of) + 1;
        if (out > UINT64_MAX / values) return UINT64_MAX;
        out *= values;
    }
    return out;
}

std::vector<std::vector<std::int64_t>> all_sizes(std::span<const SizeRange> ranges) {
    std::vector<std::vector<std::int64_t>> out{{}};
    for (const SizeRange& range : ranges) {
        std::vector<std::vector<std::int64_t>> longer;
        for (const std::vector<std::int64_t>& launch : out)
            for (std::int64_t value = range.least; value <= range.most; value += range.multiple_of) {
                longer.push_back(launch);
                longer.back().push_back(value);
            }
        out = std::move(longer);
    }
    return out;
}

std::string text_of(std::span<const SizeRange> ranges, std::span<const std::int64_t> values) {
    std::string out;
    for (std::size_t i = 0; i < ranges.size(); ++i)
        out += fmt::format("{}{} = {}", i == 0 ? "" : ", ", ranges[i].name, values[i]);
    return out;
}

}  // namespace wgrun
