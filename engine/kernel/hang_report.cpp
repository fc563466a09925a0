#include "kernel/hang_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <tuple>

#include "isa/awaited.hpp"
#include "isa/guard.hpp"
#include "isa/warp.hpp"
#include "program/wait_words.hpp"
#include "rules/saying.hpp"
#include "rules/wait_words.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun {
namespace {

using isa::Awaits;

/// The `count` bits of `word` from `first` on.
std::int64_t field(std::uint64_t word, int first, int count) {
    return static_cast<std::int64_t>(word >> first & ((std::uint64_t{1} << count) - 1));
}

/// A negative number as its two's complement of `count` bits.
std::int64_t negated(std::int64_t value, int count) { return -value & ((std::int64_t{1} << count) - 1); }

/// The information of one slot about lanes of a warp.
struct Witness {
    std::size_t site = 0;  ///< from 0
    std::uint32_t x = 0, y = 0, z = 0, warp = 0;
    bool reports = false;
    std::uint32_t wanted = 0;
    std::uint64_t place = 0, word = 0;
};

std::vector<Witness> witnesses(std::span<const std::byte> block, std::size_t sites) {
    std::vector<Witness> out;
    for (std::size_t at = 0; at + isa::guard::slot_bytes <= block.size(); at += isa::guard::slot_bytes) {
        std::array<std::uint32_t, isa::guard::slot_bytes / 4> w;
        std::memcpy(w.data(), block.data() + at, sizeof w);
        const auto with = [&](std::uint32_t site, std::size_t row) {
            return Witness{site - 1, w[row + 1], w[row + 2] & 0xFFFF, w[row + 2] >> 16, w[row + 3], false, 0,
                           0,        0};
        };
        if (w[4] != 0 && w[4] <= sites) {
            Witness reports = with(w[4], 12);
            reports.reports = true;
            reports.wanted = w[7];
            std::memcpy(&reports.place, &w[8], sizeof reports.place);
            std::memcpy(&reports.word, &w[10], sizeof reports.word);
            out.push_back(reports);
        }
        if (w[0] != 0 && w[0] <= sites && w[0] != w[4]) out.push_back(with(w[0], 0));
    }
    return out;
}

/// "", or " of CTA {1, 0, 0}", or " of 3 CTAs, the first {0, 0, 0}"
std::string of_ctas(const std::vector<Dim3>& ctas, Dim3 grid) {
    if (grid.volume() == 1) return "";
    const Dim3 first = ctas.front();
    const std::string place = fmt::format("{{{}, {}, {}}}", first.x, first.y, first.z);
    if (ctas.size() == 1) return " of CTA " + place;
    return fmt::format(" of {}, the first {}", count_of(ctas.size(), "CTA"), place);
}

std::string address_text(std::uint64_t address, std::span<const DeviceRange> tensors) {
    for (const DeviceRange& tensor : tensors)
        if (address >= tensor.address && address - tensor.address < tensor.bytes)
            return fmt::format("`{}` + {}", tensor.name, count_of(address - tensor.address, "byte"));
    return fmt::format("{:#x}", address);
}

}  // namespace

MbarrierState mbarrier_state(std::uint64_t word) {
    MbarrierState out;
    out.parity = static_cast<int>(field(word, 63, 1));
    out.pending = negated(field(word, 43, 20), 20);
    out.expected = negated(field(word, 1, 20), 20);
    const std::int64_t bytes = field(word, 21, 21);
    out.outstanding = -(bytes >= 1 << 20 ? bytes - (1 << 21) : bytes);
    return out;
}

/// Lanes of some warps of some CTAs in the same state.
struct HangReport::Place {
    const GuardSite* site;
    std::string text;                                 ///< "warps 4-7 of CTA {0, 0, 0} wait for ..."
    std::tuple<bool, Awaits, int, std::size_t> rank;  ///< the likeliest cause first
};

HangReport::HangReport(const Program& program, const GuardedProgram& guarded, Dim3 grid,
                       std::span<const std::byte> block, std::span<const DeviceRange> tensors) {
    const std::vector<Witness> all = witnesses(block, guarded.sites.size());
    const auto site_of = [&](const Witness& who) -> const GuardSite& { return guarded.sites[who.site]; };
    const auto same_cta = [](const Witness& a, const Witness& b) {
        return a.x == b.x && a.y == b.y && a.z == b.z;
    };
    const Dim3 cluster = program.cluster();
    const auto same_cluster = [&](const Witness& a, const Witness& b) {
        return a.x / cluster.x == b.x / cluster.x && a.y / cluster.y == b.y / cluster.y &&
               a.z / cluster.z == b.z / cluster.z;
    };
    const int warps_per_cta = (program.threads() + isa::lanes - 1) / isa::lanes;

    const auto awaited = [&](const Witness& who) -> std::string {
        const GuardSite& site = site_of(who);
        switch (site.awaits) {
            case Awaits::mbarrier: {
                const MbarrierState state = mbarrier_state(who.word);
                const std::string place = wait_words::place(program, static_cast<std::uint32_t>(who.place));
                // Nobody waits for the phase of a state that is complete: it is the phase at hand.
                const bool by_parity = isa::awaited(site.step).parity != nullptr;
                const int wanted = by_parity ? static_cast<int>(who.wanted & 1) : state.parity;
                if (state.parity != wanted)
                    return fmt::format(
                        "for the phase of parity {} of the mbarrier {}, which has completed "
                        "since",
                        wanted, place);
                return fmt::format(
                    "for the phase of parity {} of the mbarrier {}: {}", wanted, place,
                    rules::what_has_come(state.expected - state.pending, state.expected, state.outstanding));
            }
            case Awaits::memory: {
                const bool global =
                    site.step.form.get(isa::Field::space) == static_cast<int>(isa::Space::global);
                const std::string place = global ? address_text(who.place, tensors)
                                                 : fmt::format("shared memory at {:#x}", who.place);
                return fmt::format("for {} to change{}", place,
                                   who.wanted != 0 ? fmt::format(", which holds {}", who.word) : "");
            }
            case Awaits::barrier: {
                const isa::Awaited by = isa::awaited(site.step);
                const Operand &id = *by.barrier, &threads = *by.threads;
                if (id.kind != Operand::Kind::imm) return "at a barrier of the CTA";
                std::uint32_t there = 0;
                for (const Witness& other : all) {
                    const GuardSite& at = site_of(other);
                    if (!other.reports && same_cta(who, other) && at.awaits == Awaits::barrier &&
                        isa::awaited(at.step).barrier->imm == id.imm)
                        there |= 1U << (other.warp & 31);
                }
                const bool counted = threads.kind == Operand::Kind::imm;
                const std::int64_t expected = counted && threads.imm == 0 ? program.threads() : threads.imm;
                return fmt::format(
                    "at barrier {}: {}{} threads wait there", id.imm,
                    std::min<std::int64_t>(std::popcount(there) * isa::lanes, program.threads()),
                    counted ? fmt::format(" of {}", expected) : "");
            }
            case Awaits::cluster: {
                const auto there = std::ranges::count_if(all, [&](const Witness& other) {
                    return site_of(other).awaits == Awaits::cluster && same_cluster(who, other);
                });
                const std::uint64_t all_warps = cluster.volume() * static_cast<std::uint64_t>(warps_per_cta);
                return fmt::format("at the barrier of the cluster: {} there",
                                   part_of(there, all_warps, "warps", "waits", "wait"));
            }
            case Awaits::registers:
                return fmt::format("for {} a thread",
                                   count_of(*isa::awaited(site.step).registers, "register"));
            case Awaits::lanes: return "for other lanes of the warp";
            case Awaits::grids: return "for the grids before";
            case Awaits::nothing: break;
        }
        return "";
    };

    // Groups warps of each CTA that wait at the same line for the same reason, and then CTAs with equal
    // groups.
    using Saying = std::pair<std::size_t, std::string>;
    std::map<Saying, std::map<std::array<std::uint32_t, 3>, std::uint32_t>> said;
    std::map<Saying, int> progress;
    for (const Witness& who : all) {
        overdue_ = overdue_ || who.reports;
        const Saying saying{who.site, awaited(who)};
        said[saying][{who.z, who.y, who.x}] |= 1U << (who.warp & 31);
        int& begun = progress.try_emplace(saying, 2).first->second;
        if (site_of(who).awaits != Awaits::mbarrier) continue;
        // A phase that has begun and cannot complete is a likelier cause than one that no warp has reached.
        const MbarrierState state = mbarrier_state(who.word);
        if (state.pending == 0 || state.outstanding != 0)
            begun = 0;
        else if (state.pending < state.expected)
            begun = std::min(begun, 1);
    }
    for (const auto& [saying, ctas] : said) {
        std::map<std::uint32_t, std::vector<Dim3>> agree;
        for (const auto& [cta, warps] : ctas) agree[warps].push_back({cta[2], cta[1], cta[0]});
        const GuardSite& site = guarded.sites[saying.first];
        for (const auto& [warps, where] : agree) {
            const bool one = std::has_single_bit(warps) && where.size() == 1;
            const std::string who = rules::names_of_warps(warps) + of_ctas(where, grid);
            const std::string does = site.kind == GuardSite::Kind::loop ? (one ? " still runs" : " still run")
                                     : site.kind == GuardSite::Kind::access
                                         ? fmt::format(" at {}", site.step.op->name)
                                         : fmt::format("{} {}", one ? " waits" : " wait", saying.second);
            const std::string rest = site.kind == GuardSite::Kind::loop ? " this loop" : "";
            places_.push_back(
                {&site,
                 who + does + rest,
                 {site.kind == GuardSite::Kind::loop, site.awaits, progress[saying], saying.first}});
        }
    }
    std::ranges::stable_sort(places_, {}, &Place::rank);
}

HangReport::~HangReport() = default;

std::optional<Diagnostic> HangReport::hang() const {
    std::optional<Diagnostic> out;
    for (const Place& place : places_) {
        if (place.site->kind == GuardSite::Kind::access) continue;
        if (out) {
            out->notes.push_back({place.site->where, place.text});
            continue;
        }
        const wait_words::Law law = wait_words::law(place.site->awaits);
        out = rules::finding(*law.rule, place.site->where, rules::kernel_hangs(place.text),
                             std::string(law.fix));
    }
    return out;
}

std::vector<Note> HangReport::accesses() const {
    std::vector<Note> out;
    for (const Place& place : places_)
        if (place.site->kind == GuardSite::Kind::access) out.push_back({place.site->where, place.text});
    return out;
}

}  // namespace wgrun
