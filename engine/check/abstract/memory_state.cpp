#include "check/abstract/memory_state.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "check/abstract/encoder.hpp"

namespace wgrun::check::abstract {
namespace {

using Kind = MemoryAccess::Kind;

class Covering {
  public:
    Covering(const Encoded& general, const Encoded& special) : general_(general), special_(special) {}

    bool holds() {
        if (general_.memory.size() != special_.memory.size()) return false;
        for (std::size_t cta = 0; cta < general_.memory.size(); ++cta)
            if (!holds(general_.memory[cta], special_.memory[cta])) return false;
        return true;
    }

  private:
    bool holds(const MemoryOfCta& general, const MemoryOfCta& special) {
        static const MemoryBytes nobodys{};
        auto a = general.begin(), b = special.begin();
        for (std::uint32_t at = 0; a != general.end() || b != special.end();) {
            const auto next = [&](const MemoryOfCta& of, auto& part) {
                while (part != of.end() && part->hi <= at) ++part;
                return part == of.end() ? UINT32_MAX : part->lo > at ? part->lo : part->hi;
            };
            const std::uint32_t end = std::min(next(general, a), next(special, b));
            const auto here = [&](const MemoryOfCta& of, auto part) -> const MemoryBytes& {
                return part == of.end() || part->lo > at ? nobodys : *part;
            };
            if (!covers(here(general, a), here(special, b))) return false;
            at = end;
        }
        return true;
    }

    bool covers(const MemoryBytes& general, const MemoryBytes& special) {
        const bool settled = special.written.kind == Kind::settled;
        return (settled || same(general.written, special.written)) &&
               std::ranges::all_of(special.read, [&](const MemoryAccess& read) {
                   return std::ranges::any_of(general.read,
                                              [&](const MemoryAccess& other) { return same(other, read); });
               });
    }

    /// Whether the special access may be taken for the general one.
    bool same(const MemoryAccess& general, const MemoryAccess& special) {
        if (general.kind != special.kind || general.over != special.over || general.actor != special.actor)
            return false;
        const bool of_lanes =
            general.kind == Kind::generic || general.kind == Kind::by_thread || general.kind == Kind::store;
        if (of_lanes && special.lanes != 0 && general.lanes != special.lanes) return false;
        switch (general.kind) {
            case Kind::none:
            case Kind::settled: return true;
            case Kind::copy: return known_less(general.actor, general.clock, special.clock);
            case Kind::generic:
                return known_less_of_warp(general.actor, general.clock, special.clock) &&
                       known_less(Encoder::fences_of(general.actor), general.clock, special.clock);
            case Kind::by_thread: return general.clock == special.clock;
            case Kind::store:
                return general.over ? known_less_of_warp(general.actor, general.clock, special.clock)
                                    : general.clock == special.clock;
            case Kind::product: break;
        }
        if (general.clock != special.clock) return false;
        for (std::size_t i = 0; i < general.waited.size(); ++i)
            if ((general.waited[i] == 0) != (special.waited[i] == 0) ||
                !known_less(Encoder::waits_of(general.group + static_cast<int>(i)), general.waited[i],
                            special.waited[i]))
                return false;
        return true;
    }

    bool known_less_of_warp(int warp, std::uint32_t general, std::uint32_t special) {
        return known_less(Encoder::accesses_of(warp), general, special);
    }
    /// Whether all who know of the general clock of an actor know of the special one.
    bool known_less(int actor, std::uint32_t general, std::uint32_t special) {
        const auto& known = known_of(actor);
        const auto at = std::ranges::lower_bound(known, general, {}, &Known::general);
        return at == known.end() || at->special >= special;
    }

    /// Up to which clock somebody knows of an actor, and the least up to which those who know as much know of
    /// it in the special state.
    struct Known {
        std::uint32_t general, special;
    };
    const std::vector<Known>& known_of(int actor) {
        if (known_.empty())
            for (std::size_t i = 0; i < general_.known.size(); ++i)
                known_[general_.known[i].actor].push_back({general_.known[i].value, special_.known[i].value});
        std::vector<Known>& out = known_[actor];
        if (!sorted_[actor]) {
            std::ranges::sort(out, {}, &Known::general);
            for (std::size_t i = out.size(); i-- > 1;)
                out[i - 1].special = std::min(out[i - 1].special, out[i].special);
            sorted_[actor] = true;
        }
        return out;
    }

    const Encoded &general_, &special_;
    std::map<int, std::vector<Known>> known_;
    std::map<int, bool> sorted_;
};

}  // namespace

bool memory_covers(const Encoded& general, const Encoded& special) {
    return Covering(general, special).holds();
}

}  // namespace wgrun::check::abstract
