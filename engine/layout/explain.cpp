#include "wgrun/tile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "wgrun/bank.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/identify.hpp"

namespace wgrun {
namespace {

std::string head(const Tile& t) {
    return fmt::format("tile {} {}x{}, {}-major, swizzle {}: {} at a multiple of {}\n", to_string(t.dtype()),
                       t.mn(), t.k(), to_string(t.major()), to_string(t.swizzle()),
                       count_of(t.bytes(), "byte"), t.align());
}

std::string layout_lines(const Tile& t) {
    const int element_bits = bits(t.dtype());
    return fmt::format(
        "  layout     {}  (offsets in elements)\n"
        "  PTX ISA    {}  (swizzle on bytes), T = {}\n"
        "  atom       {}x{} elements, {}; {} along mn, {} along k, next one first along {}\n",
        t.layout().to_string(), canonical_form(t.major(), t.swizzle()), 128 / element_bits, t.atom_mn(),
        t.atom_k(), count_of(t.atom_bytes(), "byte"), t.mn() / t.atom_mn(), t.k() / t.atom_k(),
        to_string(t.order()));
}

std::string stride_lines(const Tile& t) {
    const bool plain = t.swizzle() == SwizzleMode::none;
    std::string lbo;
    std::string sbo;
    if (t.major() == Major::k) {
        lbo = plain ? "from a 16-byte column of K to the next"
                    : "not used: the K step stays inside a swizzled line";
        sbo = "from 8 rows to the next 8";
    } else {
        lbo = plain ? "from 8 k to the next 8"
                    : fmt::format("from {} (one atom) to the next {}", count_of(t.atom_mn(), "row"),
                                  t.atom_mn());
        sbo = plain ? fmt::format("from {} (16 bytes) to the next {}", count_of(t.atom_mn(), "row"),
                                  t.atom_mn())
                    : "from 8 k to the next 8";
    }
    return fmt::format("  LBO        {} (field {}): {}\n  SBO        {} (field {}): {}\n",
                       count_of(t.lbo(), "byte"), t.lbo() >> 4, lbo, count_of(t.sbo(), "byte"), t.sbo() >> 4,
                       sbo);
}

std::string kstep_line(const Tile& t) {
    constexpr int shown = 12;
    std::string starts;
    for (int i = 0; i < std::min(t.ksteps(), shown); ++i)
        starts += fmt::format("{}+{}", i == 0 ? "" : ", ", t.descriptor(0, i).start);
    if (t.ksteps() > shown) starts += ", ...";
    return fmt::format("  K steps    {} of {} elements (32 bytes): start address {}\n", t.ksteps(),
                       t.kstep_elements(), starts);
}

std::string tma_line(const Tile& t) {
    const TmaBox box = t.tma_box();
    std::string line = fmt::format("  TMA        {} of {}x{} elements, tensor map swizzle {}\n",
                                   count_of(static_cast<int>(box.panels.size()), "box", "boxes"), box.inner,
                                   box.outer, to_string(t.swizzle()));
    const AtomOrder other = t.order() == AtomOrder::mn ? AtomOrder::k : AtomOrder::mn;
    const Tile turned({t.dtype(), t.mn(), t.k(), t.major(), t.swizzle(), other});
    if (const auto fewer = turned.tma_box().panels.size(); fewer < box.panels.size())
        line += fmt::format("             order = \"{}\" would need {} only\n", to_string(other),
                            count_of(static_cast<int>(fewer), "box", "boxes"));
    return line;
}

/// The swizzles that this tile could have, and why the others are not legal.
std::string choices(const Tile& t) {
    const std::vector<SwizzleMode> legal = legal_swizzles(t.dtype(), t.mn(), t.k(), t.major());
    const int line = (t.major() == Major::k ? t.k() : t.mn()) * bits(t.dtype()) / 8;
    const std::string_view along = t.major() == Major::k ? "K" : "M/N";
    std::string out = "  swizzles\n";
    for (const SwizzleMode mode :
         {SwizzleMode::b128, SwizzleMode::b64, SwizzleMode::b32, SwizzleMode::none}) {
        out += fmt::format("    {}{:<5}", mode == t.swizzle() ? "* " : "  ", to_string(mode));
        if (std::ranges::find(legal, mode) == legal.end()) {
            out += fmt::format("not legal: {} of {} are not a whole number of {}-byte atoms\n",
                               count_of(line, "byte"), along, width(mode));
            continue;
        }
        const Tile other({t.dtype(), t.mn(), t.k(), t.major(), mode, t.order()});
        std::string conflicts;
        for (const BankConflicts& found : bank_conflicts(other))
            if (found.degree > 1)
                conflicts += fmt::format("{}{} {}-way", conflicts.empty() ? "conflicts: " : ", ",
                                         to_string(found.access), found.degree);
        out += fmt::format("{} contiguous bytes a global request, {}, {}{}\n", width(mode),
                           count_of(static_cast<int>(other.tma_box().panels.size()), "TMA box", "TMA boxes"),
                           conflicts.empty() ? "no bank conflicts" : conflicts,
                           mode == legal.front() ? "; the widest that fits" : "");
    }
    if (bits(t.dtype()) != 16)
        out += fmt::format(
            "    MN-major is not legal: wgmma has transpose immediates for f16 and bf16 only, not {}\n",
            to_string(t.dtype()));
    return out;
}

}  // namespace

std::string explain(const Tile& tile) {
    std::string out = head(tile) + layout_lines(tile) + stride_lines(tile) + kstep_line(tile) +
                      tma_line(tile) + choices(tile);
    out += "  banks\n";
    for (const BankConflicts& conflicts : bank_conflicts(tile)) out += "    " + conflicts.to_string() + "\n";
    return out;
}

std::string explain(const Descriptor& d) {
    const bool plain = d.swizzle == SwizzleMode::none;
    std::string out = fmt::format("matrix descriptor 0x{:016x}\n", d.encode());
    const auto row = [&](std::string_view where, std::string_view name, std::uint32_t field,
                         const std::string& meaning) {
        out += fmt::format("  bits {:<6} {:<28} {:>5}  {}\n", where, name, field, meaning);
    };
    row("0-13", "start address >> 4", d.start >> 4, fmt::format("byte 0x{:x} of the shared window", d.start));
    row("16-29", "leading byte offset >> 4", d.lbo >> 4,
        fmt::format("{}: {}", count_of(d.lbo, "byte"),
                    plain ? "K-major: to the next 16-byte column; MN-major: to the next 8 k"
                          : "K-major: not used; MN-major: to the next atom along M/N"));
    row("32-45", "stride byte offset >> 4", d.sbo >> 4,
        fmt::format("{}: {}", count_of(d.sbo, "byte"),
                    plain ? "K-major: to the next 8 rows; MN-major: to the next 16 bytes of M/N"
                          : "K-major: to the next 8 rows; MN-major: to the next 8 k"));
    const auto period = static_cast<std::uint32_t>(8 * width(d.swizzle));
    row("49-51", "base offset", d.base_offset,
        plain ? "no pattern without a swizzle"
              : fmt::format("{}", d.base_offset == 0 ? fmt::format("the pattern starts on a multiple of {}",
                                                                   count_of(period, "byte"))
                                                     : "the pattern starts (address >> 7) & 7 rows late"));
    row("62-63", "swizzle", static_cast<std::uint32_t>(encoding(d.swizzle)),
        fmt::format("{}: Swizzle<{},4,3> on byte addresses", to_string(d.swizzle),
                    static_cast<int>(d.swizzle)));
    return out;
}

}  // namespace wgrun
