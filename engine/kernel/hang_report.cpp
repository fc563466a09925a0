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
#include "rules/rule_message.hpp"
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

namespace {

/// The slots of a launch, which say together what each warp waits for.
class Witnesses {
  public:
    Witnesses(const Program& program, const GuardedProgram& guarded, std::span<const std::byte> block,
              std::span<const DeviceRange> tensors)
        : program_(program),
          guarded_(guarded),
          tensors_(tensors),
          all_(witnesses(block, guarded.sites.size())) {}

    const std::vector<Witness>& all() const { return all_; }
    const GuardSite& site_of(const Witness& who) const { return guarded_.sites[who.site]; }

    /// "for 24 registers a thread"
    std::string awaited(const Witness& who) const {
        switch (site_of(who).awaits) {
            case Awaits::mbarrier: return phase(who);
            case Awaits::memory: return change(who);
            case Awaits::barrier: return barrier(who);
            case Awaits::cluster: return cluster(who);
            case Awaits::registers:
                return fmt::format("for {} a thread",
                                   count_of(*isa::awaited(site_of(who).step).registers, "register"));
            case Awaits::lanes: return "for other lanes of the warp";
            case Awaits::grids: return "for the grids before";
            case Awaits::nothing: break;
        }
        return "";
    }

    /// How likely the wait is the cause, the likeliest first: a phase that has begun and cannot complete is a
    /// likelier one than a phase that no warp has reached.
    int rank(const Witness& who) const {
        if (site_of(who).awaits != Awaits::mbarrier) return 2;
        const MbarrierState state = mbarrier_state(who.word);
        if (state.pending == 0 || state.outstanding != 0) return 0;
        return state.pending < state.expected ? 1 : 2;
    }

  private:
    std::string phase(const Witness& who) const {
        const MbarrierState state = mbarrier_state(who.word);
        const std::string place = wait_words::place(program_, static_cast<std::uint32_t>(who.place));
        // Nobody waits for the phase of a state that is complete: it is the phase at hand.
        const bool by_parity = isa::awaited(site_of(who).step).parity != nullptr;
        const int wanted = by_parity ? static_cast<int>(who.wanted & 1) : state.parity;
        if (state.parity != wanted)
            return fmt::format("for the phase of parity {} of the mbarrier {}, which has completed meanwhile",
                               wanted, place);
        return fmt::format(
            "for the phase of parity {} of the mbarrier {}: {}", wanted, place,
            rules::what_has_come(state.expected - state.pending, state.expected, state.outstanding));
    }

    std::string change(const Witness& who) const {
        const bool global =
            site_of(who).step.form.get(isa::Field::space) == static_cast<int>(isa::Space::global);
        const std::string place =
            global ? address_text(who.place, tensors_) : fmt::format("shared memory at {:#x}", who.place);
        return fmt::format("for {} to change{}", place,
                           who.wanted != 0 ? fmt::format(", which holds {}", who.word) : "");
    }

    std::string barrier(const Witness& who) const {
        const isa::Awaited by = isa::awaited(site_of(who).step);
        const Operand &id = *by.barrier, &threads = *by.threads;
        if (id.kind != Operand::Kind::imm) return "at a barrier of the CTA";
        std::uint32_t there = 0;
        for (const Witness& other : all_) {
            const GuardSite& at = site_of(other);
            const bool same_cta = who.x == other.x && who.y == other.y && who.z == other.z;
            if (!other.reports && same_cta && at.awaits == Awaits::barrier &&
                isa::awaited(at.step).barrier->imm == id.imm)
                there |= 1U << (other.warp & 31);
        }
        const bool counted = threads.kind == Operand::Kind::imm;
        const std::int64_t expected = counted && threads.imm == 0 ? program_.threads() : threads.imm;
        return fmt::format("at barrier {}: {}{} threads wait there", id.imm,
                           std::min<std::int64_t>(std::popcount(there) * isa::lanes, program_.threads()),
                           counted ? fmt::format(" of {}", expected) : "");
    }

    std::string cluster(const Witness& who) const {
        const Dim3 size = program_.cluster();
        const auto there = std::ranges::count_if(all_, [&](const Witness& other) {
            return site_of(other).awaits == Awaits::cluster && who.x / size.x == other.x / size.x &&
                   who.y / size.y == other.y / size.y && who.z / size.z == other.z / size.z;
        });
        const int warps_per_cta = (program_.threads() + isa::lanes - 1) / isa::lanes;
        const std::uint64_t all_warps = size.volume() * static_cast<std::uint64_t>(warps_per_cta);
        return fmt::format("at the barrier of the cluster: {} there",
                           part_of(there, all_warps, "warps", "waits", "wait"));
    }

    const Program& program_;
    const GuardedProgram& guarded_;
    std::span<const DeviceRange> tensors_;
    std::vector<Witness> all_;
};

/// "warps 4-7 of CTA {0, 0, 0} wait for the phase of ..."
std::string sentence_of(const GuardSite& site, std::uint32_t warps, const std::vector<Dim3>& ctas, Dim3 grid,
                        const std::string& awaited) {
    const bool one = std::has_single_bit(warps) && ctas.size() == 1;
    const std::string who = rules::names_of_warps(warps) + of_ctas(ctas, grid);
    switch (site.kind) {
        case GuardSite::Kind::loop: return who + (one ? " still runs" : " still run") + " this loop";
        case GuardSite::Kind::access: return fmt::format("{} at {}", who, site.step.op->name);
        default: return fmt::format("{} {} {}", who, one ? "waits" : "wait", awaited);
    }
}

}  // namespace

/// Lanes of some warps of some CTAs in the same state.
struct HangReport::Place {
    const GuardSite* site;
    std::string text;                                 ///< "warps 4-7 of CTA {0, 0, 0} wait for ..."
    std::tuple<bool, Awaits, int, std::size_t> rank;  ///< the likeliest cause first
};

HangReport::HangReport(const Program& program, const GuardedProgram& guarded, Dim3 grid,
                       std::span<const std::byte> block, std::span<const DeviceRange> tensors) {
    const Witnesses witnesses(program, guarded, block, tensors);
    // Groups warps of each CTA that wait at the same line for the same reason, and then CTAs with equal
    // groups.
    using Awaiting = std::pair<std::size_t, std::string>;
    std::map<Awaiting, std::map<std::array<std::uint32_t, 3>, std::uint32_t>> said;
    std::map<Awaiting, int> ranks;
    for (const Witness& who : witnesses.all()) {
        overdue_ = overdue_ || who.reports;
        const Awaiting awaiting{who.site, witnesses.awaited(who)};
        said[awaiting][{who.z, who.y, who.x}] |= 1U << (who.warp & 31);
        int& rank = ranks.try_emplace(awaiting, witnesses.rank(who)).first->second;
        rank = std::min(rank, witnesses.rank(who));
    }
    for (const auto& [awaiting, ctas] : said) {
        std::map<std::uint32_t, std::vector<Dim3>> agree;
        for (const auto& [cta, warps] : ctas) agree[warps].push_back({cta[2], cta[1], cta[0]});
        const GuardSite& site = guarded.sites[awaiting.first];
        for (const auto& [warps, where] : agree)
            places_.push_back(
                {&site,
                 sentence_of(site, warps, where, grid, awaiting.second),
                 {site.kind == GuardSite::Kind::loop, site.awaits, ranks[awaiting], awaiting.first}});
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
