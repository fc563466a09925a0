#include "check/abstract/shown_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "check/drawn_numbers.hpp"
#include "isa/effects.hpp"
#include "isa/generic.hpp"
#include "machine/peers.hpp"
#include "wgrun/target.hpp"

namespace wgrun::check::abstract {
namespace {

constexpr std::uint32_t bytes_of_number = 4;
constexpr std::size_t most_shown = 64;

/// The accesses of a step that may be to shared memory.
struct Stores final : isa::Effects {
    explicit Stores(const Step& step) { isa::visit_effects(step, *this); }
    void memory(const isa::MemoryAccess& access) override {
        if (isa::is_shared(access.space) || access.space == isa::Space::generic) all.push_back(access);
    }
    void copy_async(const isa::AsyncCopy& access) override {
        all.push_back(access);
        copies = true;
    }
    std::vector<isa::MemoryAccess> all;
    bool copies = false;
};

/// What a load finds that begins so many bytes into a number; nothing where that is not known.
std::optional<Forms::Shown> part(const Step& load, const Forms::Shown& number, std::uint32_t within) {
    const isa::Type type = load.form.type();
    const auto bytes = static_cast<std::uint32_t>(isa::bits(type)) / 8;
    if (bytes == bytes_of_number) return within == 0 ? std::optional(number) : std::nullopt;
    if (within + bytes > bytes_of_number || !number.form.empty()) return std::nullopt;
    const auto bits = static_cast<std::uint32_t>(number.value) >> 8 * within;
    const int others = 32 - isa::bits(type);
    if (isa::is_signed(type)) return Forms::Shown{static_cast<std::int32_t>(bits << others) >> others, {}};
    return Forms::Shown{bits << others >> others, {}};
}

}  // namespace

ShownNumbers::ShownNumbers(ExecutionState& execution, const Values& values, Forms& forms)
    : execution_(execution),
      values_(values),
      forms_(forms),
      taken_(static_cast<std::size_t>(execution.ctas)) {
    for_each_step(execution.program,
                  [&](const Step& step) { makes_generic_ |= isa::makes_generic_of_own(step); });
}

bool ShownNumbers::is_after(const Access& before, isa::Mask lanes) const {
    for (isa::Mask left = lanes; left != 0; left &= left - 1)
        if (!execution_.comes_after(before.warp, before.lanes, before.clock, left & (~left + 1)))
            return false;
    return true;
}
bool ShownNumbers::is_after(const std::vector<Access>& before, isa::Mask lanes) const {
    return std::ranges::all_of(before, [&](const Access& access) { return is_after(access, lanes); });
}
bool ShownNumbers::is_after(const Accesses& before, isa::Mask lanes) const {
    return is_after(before.stores, lanes) && is_after(before.loads, lanes);
}

/// Adds the access of the active lanes.
void ShownNumbers::add(std::vector<Access>& to) const {
    const Access by{execution_.warp->number, execution_.active, execution_.warp->accesses};
    const auto key = [](const Access& access) { return std::pair(access.warp, access.lanes); };
    const auto same = std::ranges::lower_bound(to, key(by), {}, key);
    if (same != to.end() && key(*same) == key(by))
        *same = by;
    else
        to.insert(same, by);
}

bool ShownNumbers::is_free(int cta, std::uint32_t address) const {
    return !lost_ && address % bytes_of_number == 0 &&
           std::ranges::none_of(taken_[static_cast<std::size_t>(cta)], [&](const auto& one) {
               return one.first < address + bytes_of_number && address < one.second;
           });
}

void ShownNumbers::take(int cta, std::uint32_t lo, std::uint32_t hi) {
    auto& all = taken_[static_cast<std::size_t>(cta)];
    const auto apart = [&](const auto& other) { return other.second < lo || hi < other.first; };
    for (const auto& other : all) {
        if (apart(other)) continue;
        lo = std::min(lo, other.first);
        hi = std::max(hi, other.second);
    }
    std::erase_if(all, [&](const auto& other) { return !apart(other); });
    all.emplace_back(lo, hi);
}

void ShownNumbers::overwrite(int cta, std::uint32_t lo, std::uint32_t hi) {
    const auto met = std::ranges::find_if(followed_, [&](const Forms::Place& place) {
        return place.first == cta && place.second < hi && lo < place.second + bytes_of_number;
    });
    if (met != followed_.end())
        execution_.stop(execution_.op->where,
                        fmt::format("it changes a number that decides, in {}",
                                    execution_.place(met->second - sm_90a.shared_base)));
    take(cta, lo, hi);
}

void ShownNumbers::lost() {
    if (!followed_.empty())
        execution_.stop(execution_.op->where, "it may change a number in shared memory that decides");
    lost_ = true;
}

void ShownNumbers::store(const Op& op, bool unclear) {
    const Stores stores(*op.step);
    static const std::vector<Operand> none;
    const auto& known = execution_.skeleton.drawn().stores;
    const auto its = known.find(op.step);
    const std::vector<Operand>& numbers = its == known.end() ? none : its->second;
    for (const isa::MemoryAccess& access : stores.all) {
        if (!access.write && !stores.copies) continue;
        const auto address = values_.addresses(*access.address);
        if (!address || unclear) {
            if (access.space == isa::Space::generic && !makes_generic_) continue;
            return lost();
        }
        const bool followed = follows(numbers, *address);
        for (isa::Mask left = execution_.active; left != 0; left &= left - 1) {
            const auto place = execution_.shared_place(
                access.space, (*address)[static_cast<std::size_t>(std::countr_zero(left))]);
            if (!place) continue;
            if (place->whose == machine::SharedPlace::Whose::nobodys) return lost();
            const auto cta = static_cast<int>(place->rank);
            const auto lo = static_cast<std::uint32_t>(place->address);
            if (!followed) {
                overwrite(cta, lo, lo + static_cast<std::uint32_t>(access.bytes));
                continue;
            }
            for (std::uint32_t at = lo; const Operand& number : numbers) {
                show(op, {cta, at}, number);
                at += bytes_of_number;
            }
            break;
        }
    }
    execution_.warp->touched |= execution_.active;
}

/// Whether the active lanes store numbers at one place: a lane any number, else numbers that depend on
/// nothing.
bool ShownNumbers::follows(const std::vector<Operand>& numbers, const Values::Lanes& address) {
    if (numbers.empty()) return false;
    if (std::has_single_bit(execution_.active) && numbers.size() == 1) return true;
    const auto first = static_cast<std::size_t>(std::countr_zero(execution_.active));
    for (isa::Mask left = execution_.active; left != 0; left &= left - 1)
        if (address[static_cast<std::size_t>(std::countr_zero(left))] != address[first]) return false;
    return std::ranges::all_of(numbers, [&](const Operand& number) {
        const std::optional<Forms::Shown> stored = forms_.stored(number);
        return stored && stored->form.empty();
    });
}

/// The active lanes store a number, all at one place.
void ShownNumbers::show(const Op& op, Forms::Place place, const Operand& operand) {
    const auto [cta, lo] = place;
    if (!is_free(cta, lo) || (!followed_.contains(place) && followed_.size() == most_shown))
        return overwrite(cta, lo, lo + bytes_of_number);
    const std::optional<Forms::Shown> number = forms_.stored(operand);
    const auto shown = forms_.shown().find(place);
    const bool is_there = number && shown != forms_.shown().end() && shown->second == *number;
    Accesses& accesses = places_[place];
    if (!is_there) {
        if (!is_after(accesses, execution_.active))
            return execution_.stop(
                op.where,
                fmt::format(
                    "the proof knows of nothing that orders this store behind what loads or stores the "
                    "number in {}",
                    execution_.place(lo - sm_90a.shared_base)));
        accesses = {};
    }
    followed_.insert(place);
    if (forms_.symbols().users[place].store.emplace(execution_.warp->number, execution_.active).second &&
        forgotten_.contains(place))
        forms_.begin_anew();
    add(accesses.stores);
    forms_.show(place, number);
}

bool ShownNumbers::load(const Op& op) {
    execution_.warp->touched |= execution_.active;
    const Stores stores(*op.step);
    const auto address = values_.addresses(*stores.all.front().address);
    if (!address || lost_) return false;
    const auto first = (*address)[static_cast<std::size_t>(std::countr_zero(execution_.active))];
    for (isa::Mask left = execution_.active; left != 0; left &= left - 1)
        if ((*address)[static_cast<std::size_t>(std::countr_zero(left))] != first) return false;
    const machine::SharedPlace place =
        machine::locate(first, static_cast<std::uint32_t>(execution_.warp->cta), taken_.size());
    const auto lo = static_cast<std::uint32_t>(place.address), within = lo % bytes_of_number;
    const Forms::Place its{static_cast<int>(place.rank), lo - within};
    const auto at = places_.find(its);
    const auto number = forms_.shown().find(its);
    if (forms_.symbols().users[its].load.emplace(execution_.warp->number, execution_.active).second &&
        forgotten_.contains(its))
        forms_.begin_anew();
    if (place.whose == machine::SharedPlace::Whose::nobodys || at == places_.end() ||
        number == forms_.shown().end() || !is_after(at->second.stores, execution_.active))
        return false;
    add(at->second.loads);
    const auto found = part(*op.step, number->second, within);
    if (found) forms_.receive(op, *found);
    return found.has_value();
}

/// Whether all who ever store there come after the access.
bool ShownNumbers::is_before(const Access& access, const Symbols::Users& users) const {
    return std::ranges::all_of(users.store, [&](const auto& one) {
        const Warp& warp = execution_.warps[static_cast<std::size_t>(one.first)];
        return ExecutionState::comes_after(warp, access.warp, access.lanes, access.clock, one.second);
    });
}

void ShownNumbers::forget() {
    for (auto at = places_.begin(); at != places_.end();) {
        auto& [place, accesses] = *at;
        const Symbols::Users& users = forms_.symbols().users[place];
        const bool over = std::ranges::all_of(users.load, [&](const auto& one) {
            return std::ranges::any_of(accesses.loads, [&](const Access& load) {
                return load.warp == one.first && load.lanes == one.second;
            });
        });
        if (!over || users.load.empty()) {
            ++at;
            continue;
        }
        forgotten_.insert(place);
        forms_.hide(place);
        const bool settled =
            std::ranges::all_of(accesses.stores,
                                [&](const Access& store) { return is_before(store, users); }) &&
            std::ranges::all_of(accesses.loads, [&](const Access& load) { return is_before(load, users); });
        at = settled ? places_.erase(at) : std::next(at);
    }
}

void ShownNumbers::encode(Encoder& to) const {
    const auto write = [&](const Access& access) {
        const bool together =
            access.clock <= execution_.warps[static_cast<std::size_t>(access.warp)].together;
        to.number(std::uint64_t{static_cast<std::uint32_t>(access.warp)} << 32 |
                  (together ? 0 : access.lanes));
        to.clock(Encoder::accesses_of(access.warp), access.clock);
    };
    to.number(places_.size());
    for (const auto& [place, accesses] : places_) {
        to.number(std::uint64_t{static_cast<std::uint32_t>(place.first)} << 32 | place.second);
        to.number(accesses.loads.size() << 1 | (forms_.shown().contains(place) ? 1 : 0));
        to.number(accesses.stores.size());
        for (const Access& store : accesses.stores) write(store);
        for (const Access& load : accesses.loads) write(load);
    }
}

}  // namespace wgrun::check::abstract
