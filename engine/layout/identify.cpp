#include "wgrun/identify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

constexpr std::array candidates{SwizzleMode::b128, SwizzleMode::b64, SwizzleMode::b32, SwizzleMode::none};

/// The byte offset of every element.
class Bytes {
  public:
    Bytes(const Layout& layout, Dtype dtype)
        : bits_(bits(dtype)), rows_(static_cast<int>(layout.mode(0).size())) {
        ptx_notation_ =
            layout.swizzle() && bits_ != 8 && layout.swizzle()->base() == 4 && layout.swizzle()->shift() == 3;
        offsets_ = (ptx_notation_ ? Layout(layout.shape(), layout.stride()) : layout).offsets();
        for (std::int64_t& offset : offsets_) {
            if (ptx_notation_) offset += layout.offset();
            offset = offset * bits_ / 8;
            if (ptx_notation_) offset = (*layout.swizzle())(offset);
        }
    }

    std::int64_t operator()(int row, int k) const {
        return offsets_[static_cast<std::size_t>(k) * static_cast<std::size_t>(rows_) +
                        static_cast<std::size_t>(row)];
    }
    /// Whether the swizzle acts on bytes.
    bool ptx_notation() const { return ptx_notation_; }
    /// Two elements at one place (b1 shares bytes and is not looked at).
    bool overlaps() const {
        if (bits_ < 8) return false;
        std::vector<std::int64_t> sorted = offsets_;
        std::ranges::sort(sorted);
        return std::ranges::adjacent_find(sorted) != sorted.end();
    }

  private:
    int bits_;
    int rows_;
    bool ptx_notation_ = false;
    std::vector<std::int64_t> offsets_;
};

struct Matrix {
    const Bytes& byte;
    int rows;
    int columns;
    int element_bits;
};

/// `byte` before the swizzle of `mode`; -1 where no descriptor could hold it.
std::int64_t linear(SwizzleMode mode, std::int64_t byte) {
    return byte < 0 || byte >= 1 << 18 ? -1 : swizzled(mode, static_cast<std::uint32_t>(byte));
}

/// Compares the matrix with the canonical layout of (major, mode), its strides read off the matrix.
Identity compare(const Matrix& m, Major major, SwizzleMode mode) {
    Identity out{.canonical = false,
                 .operand = false,
                 .major = major,
                 .swizzle = mode,
                 .lbo = 16,
                 .sbo = 8 * width(mode),
                 .mismatches = 0,
                 .difference = {},
                 .text = {}};
    const int unit = 128 / m.element_bits;
    const int line = width(mode) * 8 / m.element_bits;
    const auto at = [&](int row, int k) { return linear(mode, m.byte(row, k)); };
    const auto stride = [&](int row, int k, int otherwise) {
        return row < m.rows && k < m.columns ? static_cast<int>(at(row, k) - at(0, 0)) : otherwise;
    };
    const bool plain = mode == SwizzleMode::none;
    if (major == Major::k) {
        out.sbo = stride(8, 0, 8 * width(mode));
        if (plain) out.lbo = stride(0, unit, 128);
    } else {
        const int from_mn = stride(line, 0, 8 * width(mode));
        const int from_k = stride(0, 8, 8 * width(mode));
        out.lbo = plain ? from_k : from_mn;
        out.sbo = plain ? from_mn : from_k;
    }
    const auto fits = [](std::int64_t bytes) { return bytes >= 0 && bytes % 16 == 0 && bytes < 1 << 18; };
    const int step = 256 / m.element_bits;
    for (int first = 0; first < m.columns; first += step) {
        const std::int64_t start = at(0, first);
        const bool describable = fits(start) && fits(out.lbo) && fits(out.sbo);
        const Descriptor d{.start = static_cast<std::uint32_t>(describable ? start : 0),
                           .lbo = static_cast<std::uint32_t>(describable ? out.lbo : 0),
                           .sbo = static_cast<std::uint32_t>(describable ? out.sbo : 0),
                           .base_offset = 0,
                           .swizzle = mode};
        for (int k = first; k < std::min(first + step, m.columns); ++k)
            for (int row = 0; row < m.rows; ++row) {
                const std::int64_t expected = walk(d, major, m.element_bits, row, k - first);
                if (describable && expected == m.byte(row, k)) continue;
                if (out.mismatches++ == 0) out.difference = {row, k, m.byte(row, k), expected};
            }
    }
    return out;
}

/// The swizzle of `mode` on offsets in elements.
Swizzle on_elements(SwizzleMode mode, int element_bits) {
    return element_bits < 8 ? byte_swizzle(mode).downcast(8 / element_bits)
                            : byte_swizzle(mode).upcast(element_bits / 8);
}

std::string strides_of(const Identity& id) {
    if (id.major == Major::k && id.swizzle != SwizzleMode::none)
        return fmt::format("SBO {}, LBO not used", count_of(id.sbo, "byte"));
    return fmt::format("LBO {}, SBO {}", count_of(id.lbo, "byte"), count_of(id.sbo, "byte"));
}

/// If only the swizzle is wrong, the right one.
std::string remedy(const Layout& layout, Dtype dtype) {
    const int b = bits(dtype);
    const auto rows = static_cast<int>(layout.mode(0).size());
    const auto columns = static_cast<int>(layout.mode(1).size());
    for (const SwizzleMode mode : candidates) {
        const Layout plain = layout.unswizzled();
        const Layout other = mode == SwizzleMode::none ? plain : Layout(on_elements(mode, b), plain);
        const Bytes bytes(other, dtype);
        for (const Major major : {Major::k, Major::mn})
            if ((major == Major::k || b == 16) &&
                compare({bytes, rows, columns, b}, major, mode).mismatches == 0)
                return fmt::format("; it would be {}-major, swizzle {} {}", to_string(major), to_string(mode),
                                   mode == SwizzleMode::none
                                       ? "without a swizzle"
                                       : "with " + on_elements(mode, b).to_string() + " (on elements)");
    }
    return "";
}

}  // namespace

std::string canonical_form(Major major, SwizzleMode swizzle) {
    const int w = width(swizzle) / 16;
    const std::string times = w == 1 ? "1T" : fmt::format("{}T", w);
    if (major == Major::k)
        return fmt::format("Swizzle<{},4,3> o ((8,m),(T,2k)):(({},SBO),(1,{}))", static_cast<int>(swizzle),
                           times, w == 1 ? "LBO" : "T");
    return fmt::format("Swizzle<{},4,3> o ((T,{},m),(8,k)):((1,T,{}),({},{}))", static_cast<int>(swizzle), w,
                       w == 1 ? "SBO" : "LBO", times, w == 1 ? "LBO" : "SBO");
}

Identity identify(const Layout& layout, Dtype dtype) {
    const auto refuse = [&](const std::string& why, const std::string& fix) {
        throw ArgumentError(fmt::format("identify {}: {}", layout.to_string(), why), fix);
    };
    const int b = bits(dtype);
    if (layout.rank() != 2 || layout.shape().is_leaf())
        refuse("an operand has two modes", "(mn, k), such as (64,16):(16,1)");
    if (b > 32)
        refuse(fmt::format("{} is not a type of wgmma's A or B", to_string(dtype)),
               "an element of 1 to 32 bits");
    if (layout.size() > 1 << 21)
        refuse(fmt::format("{}", count_of(layout.size(), "element")), "at most 2097152");
    const Bytes bytes(layout, dtype);
    const Matrix m{bytes, static_cast<int>(layout.mode(0).size()), static_cast<int>(layout.mode(1).size()),
                   b};
    const int step = 256 / b;

    Identity best;
    bool first = true;
    for (const Major major : {Major::k, Major::mn})
        for (const SwizzleMode mode : candidates) {
            if (major == Major::mn && b < 8) continue;
            Identity candidate = compare(m, major, mode);
            if (!first && candidate.mismatches >= best.mismatches) continue;
            best = std::move(candidate);
            first = false;
        }
    const std::string name =
        fmt::format("{}-major, swizzle {}", to_string(best.major), to_string(best.swizzle));
    const bool whole = m.rows % 8 == 0 && m.columns % step == 0;
    best.canonical = best.mismatches == 0 && whole;
    best.operand = best.canonical && (best.major == Major::k || b == 16) && dtype != Dtype::f32 &&
                   dtype != Dtype::s32 && dtype != Dtype::u32;
    if (best.canonical) {
        best.text =
            fmt::format("{}: {}; {}", name, strides_of(best), canonical_form(best.major, best.swizzle));
        if (best.major == Major::mn && b != 16)
            best.text += fmt::format("; but wgmma takes MN-major operands of f16 and bf16 only, not of {}",
                                     to_string(dtype));
        if (bytes.overlaps()) best.text += "; but some elements share an address";
    } else if (best.mismatches == 0) {
        best.text = fmt::format(
            "{}x{} is not canonical: wgmma reads 8 rows and {} {} elements (32 bytes) of K at a time; "
            "otherwise {}",
            m.rows, m.columns, step, to_string(dtype), name);
    } else {
        const auto& d = *best.difference;
        best.text =
            fmt::format(
                "not a canonical layout; the nearest is {} ({}): {} of {} elements differ, first (row {}, k "
                "{}), "
                "which the layout puts at byte {} and wgmma reads at byte {}",
                name, strides_of(best), best.mismatches, layout.size(), d.row, d.k, d.given, d.expected) +
            (whole ? remedy(layout, dtype) : "");
    }
    if (bytes.ptx_notation()) best.text += " (the swizzle is taken as in the PTX ISA, on bytes)";
    return best;
}

}  // namespace wgrun
