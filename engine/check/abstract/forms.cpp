#include "check/abstract/forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "isa/known_bits.hpp"
#include "isa/registers.hpp"
#include "isa/special.hpp"
#include "isa/token.hpp"

namespace wgrun::check::abstract {

/// Returns the result in each lane if the sources are greater by the variables `by`, of their own slopes, and
/// leaves all registers as they were.
Forms::Wide Forms::outcome(const Step& step, const std::vector<Sourced>& sources, const Form& by) {
    std::vector<std::pair<Reg, Wide>> before;
    Reg result;
    isa::for_each_written(step, [&](Reg reg) {
        if (!result) result = reg;
    });
    for (const Sourced& source : sources) {
        std::int64_t more = 0;
        for (const auto& [variable, times] : by)
            if (const auto at = source.form.find(variable); at != source.form.end())
                more += at->second * times;
        if (source.operand->kind == Operand::Kind::param) {
            beyond_ = more;
        } else if (source.operand->reg && more != 0 && std::ranges::none_of(before, [&](const auto& one) {
                       return one.first.id == source.operand->reg.id;
                   })) {
            const Wide lanes = get(source.operand->reg);
            before.emplace_back(source.operand->reg, lanes);
            Wide greater = lanes;
            for (std::int64_t& lane : greater) lane += more;
            set(source.operand->reg, greater);
        }
    }
    const bool is_source =
        std::ranges::any_of(before, [&](const auto& one) { return one.first.id == result.id; });
    const int index = execution_.skeleton.slots[result.id];
    const bool was_known =
        (values_.known(execution_.warp->number)[static_cast<std::size_t>(index)] & execution_.active) != 0;
    if (!is_source && was_known) before.emplace_back(result, get(result));
    step.op->run(step, machine_);
    const Wide out = get(result);
    beyond_ = 0;
    for (const auto& [reg, lanes] : before) set(reg, lanes);
    return out;
}

/// Returns by how much the result is greater for each variable; nothing where that differs between lanes.
std::optional<Form> Forms::difference(const Step& step, const std::vector<Sourced>& sources,
                                      const Form& all) {
    Form out;
    const Wide base = outcome(step, sources, {});
    for (const auto& [variable, unused] : all) {
        const Wide more = outcome(step, sources, {{variable, 1}});
        std::optional<std::int64_t> slope;
        for (int lane = 0; lane < isa::lanes; ++lane) {
            if (!active(lane)) continue;
            const std::int64_t here =
                more[static_cast<std::size_t>(lane)] - base[static_cast<std::size_t>(lane)];
            if (slope && *slope != here) return std::nullopt;
            slope = here;
        }
        if (slope && *slope != 0) out[variable] = *slope;
    }
    return out;
}

/// Whether a polynomial of degree 2 has no terms of that degree.
bool Forms::is_linear(const Step& step, const std::vector<Sourced>& sources, const Form& all,
                      const Form& slopes) {
    if (std::ranges::count_if(sources, [](const Sourced& one) { return !one.form.empty(); }) < 2) return true;
    const Wide base = outcome(step, sources, {});
    const auto slope = [&](int variable) {
        const auto at = slopes.find(variable);
        return at == slopes.end() ? 0 : at->second;
    };
    for (const auto& [one, unused] : all)
        for (const auto& [other, also_unused] : all) {
            Form both{{one, 1}};
            ++both[other];
            const Wide more = outcome(step, sources, both);
            for (int lane = 0; lane < isa::lanes; ++lane) {
                const auto l = static_cast<std::size_t>(lane);
                if (active(lane) && more[l] - base[l] != slope(one) + slope(other)) return false;
            }
        }
    return true;
}

/// Of an instruction that works on each bit by itself: what varies is left out, or passed on.
std::optional<Form> Forms::of_low_bits(const Step& step, const std::vector<Sourced>& sources,
                                       const Form& form) {
    int low = 64;
    for (const auto& [variable, slope] : form)
        low = std::min(low, std::countr_zero(static_cast<std::uint64_t>(slope)));
    const auto varying = std::ranges::find_if(sources, [](const Sourced& one) { return !one.form.empty(); });
    if (std::ranges::count_if(sources, [](const Sourced& one) { return !one.form.empty(); }) != 1 ||
        !varying->operand->reg || low > 31)
        return std::nullopt;
    const Reg reg = varying->operand->reg;
    const Wide value = get(reg);
    const std::int64_t high = ~((std::int64_t{1} << low) - 1);
    const auto with = [&](auto change) {
        Wide changed = value;
        for (std::int64_t& lane : changed) lane = change(lane);
        set(reg, changed);
        const Wide out = outcome(step, sources, {});
        return out;
    };
    const Wide zeros = with([&](std::int64_t lane) { return lane & ~high; });
    const Wide ones = with([&](std::int64_t lane) { return lane | high; });
    set(reg, value);
    bool left_out = true, passed_on = true;
    for (int lane = 0; lane < isa::lanes; ++lane) {
        if (!active(lane)) continue;
        const auto l = static_cast<std::size_t>(lane);
        left_out &= zeros[l] == ones[l];
        passed_on &=
            (zeros[l] & high) == 0 && (ones[l] & high) == high && (zeros[l] & ~high) == (ones[l] & ~high);
    }
    if (left_out) return Form();
    return passed_on ? std::optional(form) : std::nullopt;
}

/// Of an instruction whose result is known where the low bits are that do not vary: nothing varies.
std::optional<Form> Forms::of_known_bits(const Step& step, const std::vector<Sourced>& sources,
                                         const Form& form) {
    if (step.op->known_bits == nullptr) return std::nullopt;
    std::uint64_t varying = 0;
    for (const auto& [variable, slope] : form)
        varying |= ~UINT64_C(0) << std::countr_zero(static_cast<std::uint64_t>(slope));
    for (std::size_t lane = 0; lane < isa::lanes; ++lane) {
        if (!active(static_cast<int>(lane))) continue;
        const auto of = [&](const Operand& operand) {
            const auto source = std::ranges::find(sources, &operand, &Sourced::operand);
            if (source == sources.end()) return isa::KnownBits();
            const auto bits = static_cast<std::uint64_t>(value_of(operand, step.form.type())[lane]);
            return source->form.empty() ? isa::KnownBits::of(bits) : isa::KnownBits{bits & ~varying, varying};
        };
        if (!step.op->known_bits(step, of).value()) return std::nullopt;
    }
    return Form();
}

namespace {

/// The greatest number of an integer type.
std::int64_t greatest(isa::Type type) {
    const int bits = isa::bits(type) - (isa::is_signed(type) ? 1 : 0);
    return bits >= 63 ? INT64_MAX : (std::int64_t{1} << bits) - 1;
}

}  // namespace

/// The result where the register that is the first source has that number in all lanes, which stays there.
Forms::Wide Forms::of_first(const Step& step, const std::vector<Sourced>& sources, std::int64_t number) {
    Wide lanes;
    lanes.fill(number);
    set(sources[0].operand->reg, lanes);
    return outcome(step, sources, {});
}

/// Of a quotient or a remainder: multiples of the divisor are added to the dividend.
std::optional<Form> Forms::of_division(const Step& step, const std::vector<Sourced>& sources,
                                       const Form& form) {
    if (!only_first(sources.size(), [&](std::size_t i) { return !sources[i].form.empty(); }) ||
        !sources[0].operand->reg || !stays_positive(sources[0].form, sources[0].operand->reg, step.where))
        return std::nullopt;
    const Reg reg = sources[0].operand->reg;
    const Wide value = get(reg);
    const bool quotient = step.op->shape(step.form) == isa::Shape::quotient;
    const auto of = [&](std::int64_t number) { return of_first(step, sources, number); };
    const auto alike = [&](const Wide& a, const Wide& b) {
        for (int lane = 0; lane < isa::lanes; ++lane)
            if (active(lane) && a[static_cast<std::size_t>(lane)] != b[static_cast<std::size_t>(lane)])
                return false;
        return true;
    };
    // What the greatest number has the same quotient as 0 of, has no other: the sign of what is not below 0.
    if (quotient && alike(of(0), of(greatest(step.form.type())))) {
        set(reg, value);
        return Form();
    }
    bool whole = true;
    for (const auto& [variable, slope] : form) {
        const std::int64_t size = slope < 0 ? -slope : slope;
        const Wide at = of(size), before = of(size - 1);
        for (int lane = 0; lane < isa::lanes; ++lane) {
            const auto l = static_cast<std::size_t>(lane);
            if (active(lane)) whole &= quotient ? at[l] != before[l] : at[l] == 0;
        }
    }
    set(reg, value);
    if (!whole) return std::nullopt;
    return quotient ? difference(step, sources, form) : std::optional(Form());
}

/// Whether what a result of more bits is made of are numbers that are not below 0: else an unsigned one is
/// another.
bool Forms::widens(const Step& step, const std::vector<Sourced>& sources) {
    int width = 0;
    isa::for_each_written(step,
                          [&](Reg reg) { width = isa::bits(execution_.program.registers()[reg.id].type); });
    return std::ranges::all_of(sources, [&](const Sourced& one) {
        const Reg reg = one.operand->reg;
        return !reg || isa::bits(execution_.program.registers()[reg.id].type) >= width ||
               stays_positive(one.form, reg, step.where);
    });
}

/// The sources of 64 bits, if some are states of mbarriers in some lanes: those lanes.
std::vector<std::pair<Forms::Wide, isa::Mask>> Forms::states(const Step& step) const {
    std::vector<std::pair<Wide, isa::Mask>> out;
    bool any = false;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Reg reg = step.operands[i].reg;
        if (!reg || step.op->operands[i].access == isa::Access::out ||
            isa::bits(execution_.program.registers()[reg.id].type) != 64)
            continue;
        auto& [lanes, of_state] = out.emplace_back(get(reg), 0);
        for (int lane = 0; lane < isa::lanes; ++lane)
            if (active(lane) &&
                isa::state_of(static_cast<std::uint64_t>(lanes[static_cast<std::size_t>(lane)])))
                of_state |= isa::Mask{1} << lane;
        any |= of_state != 0;
    }
    if (!any) out.clear();
    return out;
}

void Forms::compute(const Op& op) {
    const auto states = this->states(*op.step);
    follow(*op.step);
    if (states.empty()) return;
    // A state counts phases, which rounds that are taken for equal do not: it may be passed on alone.
    isa::Mask of_state = 0;
    for (const auto& [lanes, mask] : states) of_state |= mask;
    isa::for_each_written(*op.step, [&](Reg reg) {
        if (execution_.skeleton.slots[reg.id] < 0) return;
        const Wide result = get(reg);
        for (int lane = 0; lane < isa::lanes; ++lane) {
            const auto l = static_cast<std::size_t>(lane);
            const auto is_result = [&](const auto& source) { return source.first[l] == result[l]; };
            if ((of_state >> lane & 1U) != 0 && std::ranges::none_of(states, is_result))
                return execution_.stop(op.where, "it computes with the state of an mbarrier");
        }
    });
}

namespace {

/// Whether a shift to the left by so much may be there to cut off what is above, as in (n << 29) >> 29.
bool cuts_off(const std::pair<const int, std::int64_t>& slope) {
    constexpr std::int64_t most = 1 << 16;
    return slope.second >= most || slope.second <= -most;
}

}  // namespace

/// Lanes get what other lanes have. Which ones these are shows where each lane has its own number.
void Forms::exchange(const Step& step) {
    const Operand& from = step.operands[1];
    for (const Sourced& source : sources(step, &from))
        lose(source.form, step.where, "from which lane it reads");
    unpack(execution_.warp->number, static_cast<std::size_t>(execution_.skeleton.slots[from.reg.id]),
           step.where);
    const Slot slot = slots_[static_cast<std::size_t>(execution_.warp->number)]
                            [static_cast<std::size_t>(execution_.skeleton.slots[from.reg.id])];
    Form form;
    if (!slot.form.empty()) {
        const Wide value = get(from.reg);
        Wide numbers;
        std::iota(numbers.begin(), numbers.end(), 0);
        set(from.reg, numbers);
        const Wide lanes = outcome(step, {}, {});
        set(from.reg, value);
        isa::Mask having = 0;
        for (int lane = 0; lane < isa::lanes; ++lane)
            if (active(lane)) having |= (slot.lanes >> lanes[static_cast<std::size_t>(lane)] & 1U) << lane;
        if (having == execution_.active)
            form = slot.form;
        else if (having != 0)
            lose(slot.form, step.where, "what some lanes get from others");
    }
    if (step.operand("p").reg) lose(std::exchange(form, {}), step.where, "what lanes get from others");
    step.op->run(step, machine_);
    give(step, std::move(form));
}

void Forms::follow(const Step& step) {
    if (step.op->shape != nullptr && step.op->shape(step.form) == isa::Shape::lanes) return exchange(step);
    if (step.form.has(isa::Field::sreg)) {
        step.op->run(step, machine_);
        const OfGrid place = of_grid(isa::special_of(step.form));
        Form form;
        if (place.root >= 0) {
            // The machine's grid has one cluster.
            const Root& root = symbols_.roots[static_cast<std::size_t>(place.root)];
            isa::for_each_written(step, [&](Reg reg) {
                Wide lanes = get(reg);
                for (std::int64_t& lane : lanes) lane += (root.value - root.of_machine) * place.times;
                set(reg, lanes);
            });
            add(form, form_of_root(place.root), place.times);
        }
        return give(step, std::move(form));
    }
    const std::vector<Sourced> sources = this->sources(step);
    Form all;
    bool launchs = false;  // it depends on what the launch gives, and not on what is computed of that alone
    for (const Sourced& source : sources)
        for (const auto& [variable, slope] : source.form) {
            all[variable] = slope;
            launchs |= symbols_.roots[static_cast<std::size_t>(root_of(variable))].given;
        }
    if (all.empty()) {
        step.op->run(step, machine_);
        return give(step, {});
    }
    isa::Shape shape = step.op->shape == nullptr ? isa::Shape::other : step.op->shape(step.form);
    const bool is_multiple = shape == isa::Shape::multiple;
    if (is_multiple)
        shape = only_first(sources.size(), [&](std::size_t i) { return !sources[i].form.empty(); })
                    ? isa::Shape::polynomial
                    : isa::Shape::other;
    if (shape == isa::Shape::order) return compare(step, sources);
    std::optional<Form> result;
    if (shape == isa::Shape::polynomial) {
        if (widens(step, sources)) result = difference(step, sources, all);
        if (result && !is_linear(step, sources, all, *result)) result.reset();
        if (result && is_multiple && std::ranges::any_of(*result, cuts_off)) result.reset();
        // A drawn number may be anything: so may its sums with others, of which comparisons say more than of
        // sums.
        if (result && draws_of(*result) == Draws::and_others && becomes_root(step, sources)) return;
        if (!result && becomes_root(step, sources)) return;
    } else if (shape == isa::Shape::other || shape == isa::Shape::share) {
        if (becomes_root(step, sources)) return;
        result =
            shape == isa::Shape::share ? of_share(step, sources, all) : of_known_bits(step, sources, all);
    } else if (shape == isa::Shape::smaller || shape == isa::Shape::greater) {
        // Which of two numbers it is says little about one that may be anything.
        if (draws_of(all) != Draws::none && becomes_root(step, sources)) return;
        result = of_extremum(step, sources, shape);
        if (!result && (becomes_root(step, sources) || becomes_distance(step, sources, shape))) return;
    } else {
        const auto rule = [&](const std::vector<Sourced>& of, const Form& form) {
            return shape == isa::Shape::bits ? of_low_bits(step, of, form) : of_division(step, of, form);
        };
        result = rule(sources, all);
        if (!result && (launchs || loops_ != nullptr) && becomes_root(step, sources)) return;
        if (!result) {
            // The excess of roots does not go through; repeated periods may.
            Form excess, rest;
            for (const auto& [variable, slope] : all)
                (which_of(variable) == Variable::excess ? excess : rest)[variable] = slope;
            std::vector<Sourced> without = sources;
            for (Sourced& source : without)
                std::erase_if(source.form,
                              [](const auto& one) { return which_of(one.first) == Variable::excess; });
            result = rest.empty() ? std::optional(Form()) : rule(without, rest);
            if ((!result || depends_on_any(excess)) && becomes_any(step, sources)) return;
            lose(excess, step.where, "");
            all = rest;
        }
    }
    if (!result && becomes_any(step, sources)) return;
    if (!result) lose(all, step.where, fmt::format("what {} computes", step.op->name));
    step.op->run(step, machine_);
    give(step, result.value_or(Form()));
}

}  // namespace wgrun::check::abstract
