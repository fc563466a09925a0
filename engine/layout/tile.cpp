#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/tile.hpp"

namespace wgrun {
namespace {

constexpr std::int64_t window = 262144;  // bytes of shared memory that a descriptor reaches
constexpr int kstep_bytes = 32;          // of K that one dense wgmma reads, whatever the type
constexpr std::array operand_types{Dtype::f16,  Dtype::bf16, Dtype::tf32, Dtype::e4m3,
                                   Dtype::e5m2, Dtype::s8,   Dtype::u8,   Dtype::b1};
constexpr std::array widest_first{SwizzleMode::b128, SwizzleMode::b64, SwizzleMode::b32, SwizzleMode::none};

std::string describe(const TileSpec& spec) {
    return fmt::format("tile {} {}x{} {}-major", to_string(spec.dtype), spec.mn, spec.k,
                       to_string(spec.major));
}

/// Refuses tiles that are not legal with any swizzle.
void check(const TileSpec& spec) {
    const auto refuse = [&](const std::string& why, const std::string& fix) {
        throw rules::refusal(rules::WG_LAYOUT_01, describe(spec) + ": " + why, fix);
    };
    if (std::ranges::find(operand_types, spec.dtype) == operand_types.end()) {
        std::string legal;
        for (Dtype dtype : operand_types)
            legal += fmt::format("{}{}", legal.empty() ? "" : ", ", to_string(dtype));
        refuse(fmt::format("{} is not a type of wgmma's A or B", to_string(spec.dtype)),
               "one of " + legal + (spec.dtype == Dtype::f32 ? " (f32 data is read as tf32)" : ""));
    }
    if (spec.mn < 1 || spec.k < 1) refuse("extents must be at least 1", "mn and k count elements");
    const int b = bits(spec.dtype);
    if (spec.major == Major::mn && b != 16)
        refuse(fmt::format("wgmma has a transpose immediate for f16 and bf16 only, so {} must be K-major",
                           to_string(spec.dtype)),
               "major = \"K\"");
    const int kstep = wgmma_k(spec.dtype);
    if (spec.k % kstep != 0) {
        const std::int64_t below = spec.k / kstep * kstep;
        refuse(
            fmt::format("k is not a multiple of {}, the {} elements (32 bytes) of K that one wgmma reads",
                        kstep, to_string(spec.dtype)),
            below > 0 ? fmt::format("k = {} or k = {}", below, below + kstep) : fmt::format("k = {}", kstep));
    }
    if (spec.mn % 8 != 0)
        refuse("mn is not a multiple of 8, the rows of a swizzle atom",
               fmt::format("mn = {}", (std::int64_t{spec.mn} + 7) / 8 * 8));
    // Divided, because the product of the extents may overflow.
    if (spec.mn > window * 8 / b / spec.k)
        refuse(fmt::format("it is larger than the {} that a matrix descriptor reaches",
                           count_of(window, "byte")),
               "smaller extents");
}

/// Bytes of a whole line of the contiguous dimension.
int line_bytes(const TileSpec& spec) {
    return (spec.major == Major::k ? spec.k : spec.mn) * bits(spec.dtype) / 8;
}

std::vector<SwizzleMode> legal(const TileSpec& spec) {
    std::vector<SwizzleMode> out;
    for (SwizzleMode mode : widest_first)
        if (line_bytes(spec) % width(mode) == 0) out.push_back(mode);
    return out;
}

SwizzleMode pick(const TileSpec& spec) {
    const std::vector<SwizzleMode> modes = legal(spec);
    if (!spec.swizzle) return modes.front();
    if (std::ranges::find(modes, *spec.swizzle) != modes.end()) return *spec.swizzle;
    std::string names;
    for (SwizzleMode mode : modes)
        names += fmt::format("{}\"{}\"", names.empty() ? "" : " or ", to_string(mode));
    throw rules::refusal(rules::WG_LAYOUT_01,
                         fmt::format("{}: {} of {} are not a whole number of {}-byte swizzle atoms",
                                     describe(spec), count_of(line_bytes(spec), "byte"),
                                     spec.major == Major::k ? "K" : "M/N", width(*spec.swizzle)),
                         fmt::format("swizzle = {}, or omit it for the widest that fits", names));
}

}  // namespace

std::span<const Dtype> wgmma_types() { return operand_types; }
int wgmma_k(Dtype dtype) { return kstep_bytes * 8 / bits(dtype); }

std::vector<SwizzleMode> legal_swizzles(Dtype dtype, int mn, int k, Major major) {
    const TileSpec spec{
        .dtype = dtype, .mn = mn, .k = k, .major = major, .swizzle = {}, .order = AtomOrder::mn};
    check(spec);
    return legal(spec);
}

Tile::Tile(const TileSpec& spec)
    : dtype_(spec.dtype),
      major_(spec.major),
      swizzle_((check(spec), pick(spec))),
      order_(spec.order),
      mn_(spec.mn),
      k_(spec.k) {
    const int line = width(swizzle_) * 8 / wgrun::bits(dtype_);
    atom_mn_ = major_ == Major::k ? 8 : line;
    atom_k_ = major_ == Major::k ? line : 8;
    bytes_ = mn_ * (k_ * wgrun::bits(dtype_) / 8);
    stride_mn_ = order_ == AtomOrder::mn ? atom_bytes() : atom_bytes() * (k_ / atom_k_);
    stride_k_ = order_ == AtomOrder::k ? atom_bytes() : atom_bytes() * (mn_ / atom_mn_);
}

Layout Tile::atom() const {
    const int line = width(swizzle_) * 8 / wgrun::bits(dtype_);
    const Layout plain = major_ == Major::k ? Layout(IntTuple{atom_mn_, atom_k_}, IntTuple{line, 1})
                                            : Layout(IntTuple{atom_mn_, atom_k_}, IntTuple{1, line});
    return swizzle_ == SwizzleMode::none ? plain : Layout(element_swizzle(), plain);
}

Layout Tile::layout() const {
    const int b = wgrun::bits(dtype_);
    const int line = width(swizzle_) * 8 / b;
    const int count_mn = mn_ / atom_mn_;
    const int count_k = k_ / atom_k_;
    // CuTe gives a mode of extent 1 the stride 0.
    const int outer_mn = count_mn == 1 ? 0 : static_cast<int>(std::int64_t{stride_mn_} * 8 / b);
    const int outer_k = count_k == 1 ? 0 : static_cast<int>(std::int64_t{stride_k_} * 8 / b);
    const bool k_major = major_ == Major::k;
    const Layout plain(
        IntTuple{IntTuple{atom_mn_, count_mn}, IntTuple{atom_k_, count_k}},
        IntTuple{IntTuple{k_major ? line : 1, outer_mn}, IntTuple{k_major ? 1 : line, outer_k}});
    return swizzle_ == SwizzleMode::none ? plain : Layout(element_swizzle(), plain);
}

Swizzle Tile::element_swizzle() const {
    // For b1 an element is an eighth of a byte.
    const int b = wgrun::bits(dtype_);
    return b < 8 ? byte_swizzle(swizzle_).downcast(8 / b) : byte_swizzle(swizzle_).upcast(b / 8);
}

int Tile::lbo() const {
    if (major_ == Major::k) return swizzle_ == SwizzleMode::none ? stride_k_ : 16;
    return swizzle_ == SwizzleMode::none ? stride_k_ : stride_mn_;
}

int Tile::sbo() const {
    if (major_ == Major::k) return stride_mn_;
    return swizzle_ == SwizzleMode::none ? stride_mn_ : stride_k_;
}

int Tile::linear(int row, int col) const {
    const int line = (major_ == Major::k ? row : col) % 8;
    const int along = major_ == Major::k ? col % atom_k_ : row % atom_mn_;
    return row / atom_mn_ * stride_mn_ + col / atom_k_ * stride_k_ + line * width(swizzle_) +
           along * wgrun::bits(dtype_) / 8;
}

int Tile::offset(int row, int col) const {
    if (row < 0 || row >= mn_ || col < 0 || col >= k_)
        throw ArgumentError(fmt::format("element ({}, {}) is outside the {}x{} tile", row, col, mn_, k_),
                            "rows and columns count from 0");
    return static_cast<int>(swizzled(swizzle_, static_cast<std::uint32_t>(linear(row, col))));
}

int Tile::kstep_elements() const { return wgmma_k(dtype_); }

void Tile::check_block(const OperandBlock& block) const {
    const auto refuse = [&](const std::string& why, const std::string& fix) {
        throw rules::refusal(rules::WG_DESC_02,
                             "descriptor of " + describe({dtype_, mn_, k_, major_, swizzle_, order_}) + " " +
                                 std::string(to_string(swizzle_)) + ": " + why,
                             fix);
    };
    const int last = ksteps() - 1;
    if (block.ksteps < 1 || block.kstep < 0 || block.kstep > last || block.ksteps > ksteps() - block.kstep)
        refuse(
            fmt::format(
                "K step {}{} is outside the tile's {} of {}", block.kstep,
                block.ksteps > 1 ? fmt::format(" to {}", std::int64_t{block.kstep} + block.ksteps - 1) : "",
                count_of(ksteps(), "step"), count_of(kstep_elements(), "element")),
            last == 0 ? "kstep = 0" : fmt::format("kstep = 0 .. {}", last));
    if (block.mn_offset < 0 || block.mn_offset >= mn_ || block.mn < 0 || block.mn > mn_ - block.mn_offset)
        refuse(fmt::format("rows {} to {} are outside the tile's {}", block.mn_offset,
                           block.mn == 0 ? mn_ - 1 : std::int64_t{block.mn_offset} + block.mn - 1,
                           count_of(mn_, "row")),
               "mn_offset + mn <= " + std::to_string(mn_));
    if (block.mn_offset % 8 != 0 || block.mn % 8 != 0)
        refuse(fmt::format("rows from {} cut an 8-row group", block.mn_offset),
               fmt::format("mn_offset = {}", block.mn_offset / 8 * 8));
    const int mn = block.mn == 0 ? mn_ - block.mn_offset : block.mn;
    if (major_ == Major::mn && block.mn_offset % atom_mn_ != 0 && block.mn_offset % atom_mn_ + mn > atom_mn_)
        refuse(fmt::format("rows {} to {} start inside an atom of {} and end outside it", block.mn_offset,
                           block.mn_offset + mn - 1, atom_mn_),
               fmt::format("mn_offset = {}, or fewer rows", block.mn_offset / atom_mn_ * atom_mn_));
    if (major_ == Major::k && swizzle_ != SwizzleMode::none &&
        block.kstep * kstep_bytes % width(swizzle_) + block.ksteps * kstep_bytes > width(swizzle_))
        refuse(fmt::format("{} K steps from step {} span two {}-byte swizzle atoms, whose distance the PTX "
                           "ISA gives no field for",
                           block.ksteps, block.kstep, width(swizzle_)),
               "swizzle 64B or 128B and an even first step (B of a sparse wgmma reads two steps)");
}

Descriptor Tile::descriptor(std::uint32_t address, const OperandBlock& block) const {
    check_block(block);
    const bool plain = swizzle_ == SwizzleMode::none;
    const auto alignment = static_cast<std::uint32_t>(plain ? 16 : block.base_offset ? 128 : align());
    if (address % alignment != 0)
        throw rules::refusal(
            rules::WG_DESC_04,
            fmt::format("tile address 0x{:x} is not a multiple of {}, on which the {} pattern starts",
                        address, count_of(alignment, "byte"), to_string(swizzle_)),
            fmt::format("align the tile to {}", count_of(align(), "byte")));
    if (address >= window || bytes_ > window - address)
        throw rules::refusal(
            rules::WG_DESC_03,
            fmt::format("tile address 0x{:x}: a descriptor reaches the first 262144 bytes of the "
                        "shared window only",
                        address),
            "pass the address in .shared, not a generic or cluster address");
    return {.start =
                address + static_cast<std::uint32_t>(linear(block.mn_offset, block.kstep * kstep_elements())),
            .lbo = static_cast<std::uint32_t>(lbo()),
            .sbo = static_cast<std::uint32_t>(sbo()),
            .base_offset = plain ? 0 : address % static_cast<std::uint32_t>(align()) >> 7,
            .swizzle = swizzle_};
}

TmaBox Tile::tma_box() const {
    const bool k_major = major_ == Major::k;
    // Atoms that follow each other along the strided dimension are one box; a box has at most 256 lines.
    const bool runs =
        k_major ? order_ == AtomOrder::mn || k_ == atom_k_ : order_ == AtomOrder::k || mn_ == atom_mn_;
    const int groups = (k_major ? mn_ : k_) / 8;
    int together = 1;
    if (runs)
        for (int n = 1; n <= std::min(groups, 32); ++n)
            if (groups % n == 0) together = n;
    TmaBox box{.inner = k_major ? atom_k_ : atom_mn_, .outer = 8 * together, .panels = {}};
    const int step_mn = k_major ? box.outer : box.inner;
    const int step_k = k_major ? box.inner : box.outer;
    for (int k = 0; k < k_; k += step_k)
        for (int mn = 0; mn < mn_; mn += step_mn) box.panels.push_back({linear(mn, k), mn, k});
    std::ranges::sort(box.panels, {}, &TmaPanel::offset);
    return box;
}

}  // namespace wgrun
