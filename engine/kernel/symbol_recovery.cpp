#include "kernel/symbol_recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernel/first_values.hpp"
#include "kernel/shared_allocations.hpp"

namespace wgrun {
namespace {

using emit::LuaMeanings;
using emit::LuaPlace;

/// %r12, %rd3, %f7: what compilers call registers.
bool is_numbered(std::string_view name) {
    if (name.empty()) return true;
    if (name.starts_with('%')) name.remove_prefix(1);
    const std::size_t digits = name.find_first_of("0123456789");
    return digits <= 2 && name.find_first_not_of("0123456789", digits) == std::string_view::npos;
}

bool is_integer(isa::Type type) {
    return type != isa::Type::pred && !isa::is_float(type) && isa::bits(type) >= 32;
}

/// Compilers call a parameter by the kernel's name and its number.
std::vector<std::string> names_of_params(const Program& program) {
    constexpr std::string_view between = "_param_";
    std::vector<std::string> out;
    for (const Param& param : program.params()) {
        const std::size_t at = param.name.rfind(between);
        const std::string number =
            at == std::string::npos || at == 0 ? "" : param.name.substr(at + between.size());
        const bool numbered = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
        const bool map = param.type == isa::Type::tensormap;
        out.push_back(numbered ? (map ? "map_" : "arg_") + number : param.name);
    }
    return out;
}

class Recogniser {
  public:
    Recogniser(const Program& program, const SharedUse& seen, std::vector<std::string>& texts)
        : program_(program),
          texts_(texts),
          first_(program),
          params_(names_of_params(program)),
          shared_(program, first_, seen, params_) {
        texts_.resize(program.registers().size());
        out_.registers.resize(program.registers().size());
        out_.allocations = shared_.allocations();
        out_.params = params_;
    }

    LuaMeanings run() {
        for_each_step(program_, [&](const Step& step) { follow(step); });
        for (std::uint32_t id = 0; id < program_.registers().size(); ++id) name_counter({id});
        return std::move(out_);
    }

  private:
    void name(Reg reg, const std::string& wanted) {
        if (!is_numbered(texts_[reg.id]) || !out_.registers[reg.id].empty()) return;
        const int count = ++given_[wanted];
        out_.registers[reg.id] = count == 1 ? wanted : fmt::format("{}_{}", wanted, count);
    }

    void follow(const Step& step) {
        name_result(step);
        if (step.op->effects == nullptr) return;
        const NamedPlaces named(step);
        for (const NamedPlaces::Mbarrier& one : named.mbarriers) address(step, *one.address, true);
        for (const NamedPlaces::Copy& one : named.copies) address(step, *one.address, false);
        for (const NamedPlaces::Matrix& one : named.matrices) descriptor(*one.descriptor);
        for (const std::vector<Reg>* const regs : named.accumulators) name_accumulators(*regs);
        for (std::size_t i = 0; i < step.operands.size(); ++i)
            if (step.op->operands[i].name == "parity" && step.operands[i].reg &&
                !first_.fixed(step.operands[i].reg))
                name(step.operands[i].reg, "phase");
    }

    /// Names what a step reads that has no other source.
    void name_result(const Step& step) {
        Reg result;
        const Operand* source = nullptr;
        for (std::size_t i = 0; i < step.operands.size(); ++i) {
            const Operand& operand = step.operands[i];
            if (step.op->operands[i].access != isa::Access::in) {
                if (result || !operand.reg) return;
                result = operand.reg;
            } else if (operand.kind != Operand::Kind::none) {
                if (source != nullptr || operand.reg || !operand.list.empty()) return;
                source = &operand;
            }
        }
        if (!result) return;
        if (step.form.has(isa::Field::sreg)) {
            std::string special(isa::spelled(isa::Field::sreg, step.form.get(isa::Field::sreg)));
            std::ranges::replace(special, '.', '_');
            name(result, special);
        }
        if (source == nullptr || source->offset != 0 || source->index < 0) return;
        const auto index = static_cast<std::size_t>(source->index);
        if (source->kind == Operand::Kind::param)
            name(result, out_.params[index]);
        else if (is_integer(program_.registers()[result.id].type) && program_.shared().size() == 1)
            name(result, program_.shared()[index].name);
    }

    void name_accumulators(const std::vector<Reg>& regs) {
        constexpr int most = 26;
        if (accumulators_ == most || !std::ranges::all_of(regs, [&](Reg reg) {
                return is_numbered(texts_[reg.id]) && renamed_.count(reg.id) == 0;
            }))
            return;
        const std::string stem =
            accumulators_ == 0 ? "acc" : fmt::format("acc_{}", static_cast<char>('a' + accumulators_));
        ++accumulators_;
        for (std::size_t i = 0; i < regs.size(); ++i) {
            renamed_.insert(regs[i].id);
            texts_[regs[i].id] = fmt::format("{}{}", stem, i + 1);
        }
    }

    std::string name_of(const LuaPlace& place, bool fixed) const {
        const emit::LuaAllocation& allocation = out_.allocations[place.allocation];
        if (allocation.places.size() == 1) return allocation.name + "_at";
        return fixed ? fmt::format("{}_{}", allocation.name, place.part) : allocation.name + "_at";
    }

    /// The number that is the place, from the beginning of its buffer.
    std::int64_t number_of(const LuaPlace& place) const {
        return out_.allocations[place.allocation].places[place.part] + place.more;
    }

    void address(const Step& step, const Operand& operand, bool mbarrier) {
        if (!first_.points(operand)) return;
        const std::optional<std::int64_t> byte = first_.of(operand);
        const std::optional<LuaPlace> place = byte ? shared_.at(*byte) : std::nullopt;
        if (!place) return;
        if (operand.offset != 0 && operand.offset == number_of(*place)) {
            out_.numbers[{&step, static_cast<std::size_t>(&operand - step.operands.data())}] = *place;
            return;
        }
        if (!operand.reg) return;
        if (operand.offset == 0 && place->more == 0)
            name(operand.reg, name_of(*place, first_.fixed(operand.reg)));
        trace(operand.reg, mbarrier);
    }

    void descriptor(const Operand& operand) {
        if (!operand.reg || !first_.points(operand.reg)) return;
        const std::optional<std::int64_t> start = start_of(first_.of(operand.reg));
        const std::optional<LuaPlace> place = start ? shared_.at(*start) : std::nullopt;
        if (!place) return;
        name(operand.reg, out_.allocations[place->allocation].name + "_desc");
        in_units(operand.reg, *start);
    }

    /// Follows a descriptor to the address that it is made of.
    void in_units(Reg reg, std::int64_t start) {
        if (!units_.insert(reg.id).second) return;
        const Step* const step = first_.writer(reg);
        if (step == nullptr) return;
        for_each_source(*step, [&](Reg source) {
            if (!first_.points(source)) return;
            if ((first_.of(source) & 0x3FFFF) == start)
                trace(source, false);
            else
                in_units(source, start);
        });
    }

    template <class Visit>
    static void for_each_source(const Step& step, Visit visit) {
        for (std::size_t i = 0; i < step.operands.size(); ++i)
            if (step.op->operands[i].access != isa::Access::out)
                isa::for_each_register(step.operands[i], visit);
    }

    /// Follows an address to the numbers and registers that it is the sum of.
    void trace(Reg reg, bool mbarrier) {
        if (!traced_.insert(reg.id).second) return;
        const Step* const step = first_.writer(reg);
        if (step == nullptr) return;
        const std::optional<LuaPlace> place = shared_.at(first_.of(reg));
        for (std::size_t i = 0; i < step->operands.size(); ++i) {
            const Operand& operand = step->operands[i];
            if (step->op->operands[i].access != isa::Access::in) continue;
            if (place && operand.kind == Operand::Kind::imm) {
                name_number({step, i}, operand.imm, first_.of(reg), first_.points(reg), *place);
                continue;
            }
            if (!operand.reg) continue;
            if (mbarrier && steps_by_stage(*step, operand.reg)) name(operand.reg, "stage");
            trace(operand.reg, mbarrier);
        }
    }

    /// Names a number that an address, or its distance from the beginning of shared memory, has been computed
    /// with. `place`: of the result.
    void name_number(std::pair<const Step*, std::size_t> where, std::int64_t number, std::int64_t result,
                     bool points, const LuaPlace& place) {
        const emit::LuaAllocation& allocation = out_.allocations[place.allocation];
        const std::optional<LuaPlace> own = number == 0 ? std::nullopt : shared_.at(number + allocation.base);
        if (!is_sum(*where.first, number)) return;
        if (!own || own->allocation != place.allocation || (own->more != 0 && !points)) return;
        // What is added to a place of the thing is a distance in it.
        const std::optional<LuaPlace> before = shared_.at(result - number);
        if (before && before->allocation == place.allocation && allocation.places.front() > 0) return;
        out_.numbers[where] = *own;
    }

    /// Returns whether the number is the step's result where its register is zero.
    bool is_sum(const Step& step, std::int64_t number) const {
        Reg source;
        int count = 0;
        for_each_source(step, [&](Reg reg) { source = reg, ++count; });
        return count == 0 || (count == 1 && first_.result(step, source, 0) == number);
    }

    /// Returns whether the step makes of a stage's number where its mbarrier is.
    bool steps_by_stage(const Step& step, Reg reg) const {
        if (first_.fixed(reg) || first_.points(reg)) return false;
        const auto one = first_.result(step, reg, 1), none = first_.result(step, reg, 0);
        return one && none && (*one - *none == 8 || *one - *none == 16);
    }

    /// A counter is set, and a number is added to it.
    void name_counter(Reg reg) {
        if (first_.writers(reg).size() < 2 || !is_integer(program_.registers()[reg.id].type)) return;
        for (const Step* const step : first_.writers(reg)) {
            if (counts(*step, reg)) return name(reg, "count");
            for_each_source(*step, [&](Reg next) {
                const Step* const sum = next == reg ? nullptr : first_.writer(next);
                if (sum == nullptr || !counts(*sum, reg) || first_.result(*step, next, 5) != 5) return;
                name(reg, "count");
                if (!out_.registers[reg.id].empty()) name(next, out_.registers[reg.id] + "_next");
            });
        }
    }

    bool counts(const Step& step, Reg reg) const {
        bool reads = false, others = false;
        for_each_source(step, [&](Reg source) { (source == reg ? reads : others) = true; });
        if (!reads || others || step.operands.empty() || step.operands[0].kind != Operand::Kind::reg)
            return false;
        const auto zero = first_.result(step, reg, 0), five = first_.result(step, reg, 5);
        return zero && five && *zero != 0 && *five - *zero == 5;
    }

    const Program& program_;
    std::vector<std::string>& texts_;
    const FirstValues first_;
    const std::vector<std::string> params_;
    const SharedAllocations shared_;
    LuaMeanings out_;
    std::map<std::string, int> given_;
    std::set<std::uint32_t> traced_, units_, renamed_;
    int accumulators_ = 0;
};

}  // namespace

LuaMeanings recovered_symbols(const Program& program, const SharedUse& seen,
                              std::vector<std::string>& names) {
    return Recogniser(program, seen, names).run();
}

}  // namespace wgrun
