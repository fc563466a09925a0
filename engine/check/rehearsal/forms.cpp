#include "check/rehearsal/forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <tuple>

#include "isa/effects.hpp"
#include "isa/known_bits.hpp"
#include "isa/registers.hpp"
#include "isa/special.hpp"
#include "machine/lanes.hpp"

namespace wgrun::check::rehearsal {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

void add(Form& to, const Form& form, std::int64_t times = 1) {
    for (const auto& [variable, slope] : form)
        if ((to[variable] += slope * times) == 0) to.erase(variable);
}

bool is_signed_type(isa::Type type) {
    using enum isa::Type;
    return type == s8 || type == s16 || type == s32 || type == s64;
}

}  // namespace

Forms::Forms(const Scene& scene, Values& values, isa::Machine& machine, Symbols& symbols)
    : scene_(scene), values_(values), machine_(machine), symbols_(symbols) {
    slots_.assign(scene.warps.size(), std::vector<Slot>(static_cast<std::size_t>(scene.skeleton.slot_count)));
}

// --- roots ---------------------------------------------------------------------------------------------

int Forms::meet(int root) {
    if (std::ranges::find(met_, root) == met_.end()) met_.push_back(root);
    return root;
}

int Forms::given(Root::Kind kind, int index) {
    const auto [at, added] =
        symbols_.root({fmt::format("given {}", static_cast<int>(kind)), {Source{{}, index}}});
    Root& root = symbols_.roots[static_cast<std::size_t>(at)];
    if (added) {
        root.kind = kind;
        root.given = true;
        root.where = scene_.op->where;
        if (kind == Root::Kind::number) {
            root.name = scene_.program.params()[static_cast<std::size_t>(index)].name;
            root.least = root.value = 1;
            root.wide = isa::bits(scene_.program.params()[static_cast<std::size_t>(index)].type) == 64;
        } else {
            // The first CTA of the grid, and one after the other: see strided().
            root.name = kind == Root::Kind::first ? "ctaid" : "nctaid";
            root.least = root.value = root.most = kind == Root::Kind::first ? 0 : 1;
        }
    }
    return meet(at);
}

Form Forms::form_of_root(int root) const {
    Form form{{variable(root, Variable::excess), 1}};
    if (const std::int64_t step = symbols_.roots[static_cast<std::size_t>(root)].step; step != 0)
        form[variable(root, Variable::repeats)] = step;
    return form;
}

std::uint64_t Forms::param(int index) {
    const int root = given(Root::Kind::number, index);
    return static_cast<std::uint64_t>(symbols_.roots[static_cast<std::size_t>(root)].value + beyond_);
}

/// The cluster of a dimension is a root, and so is how many there are: a CTA's place and their number follow.
Forms::OfGrid Forms::of_grid(isa::Special which) {
    using enum isa::Special;
    if (symbols_.place) return {};
    const Dim3 size = scene_.program.cluster();
    const std::array dims{size.x, size.y, size.z};
    for (const auto& [begin, kind, of_ctas] :
         {std::tuple(ctaid_x, Root::Kind::first, true), std::tuple(nctaid_x, Root::Kind::stride, true),
          std::tuple(clusterid_x, Root::Kind::first, false),
          std::tuple(nclusterid_x, Root::Kind::stride, false)}) {
        const int dim = static_cast<int>(which) - static_cast<int>(begin);
        if (dim < 0 || dim > 2) continue;
        return {given(kind, dim), of_ctas ? std::int64_t{dims.at(static_cast<std::size_t>(dim))} : 1};
    }
    return {};
}

void Forms::stop(int root, Where where, std::string reason) {
    stopped_.try_emplace(root, Stop{where, std::move(reason)});
}

std::int64_t Forms::room(int root) const {
    const auto at = room_.find(root);
    return at == room_.end() ? unlimited : at->second;
}

const Stop* Forms::stopped(int root) const {
    const auto at = stopped_.find(root);
    return at == stopped_.end() ? nullptr : &at->second;
}

/// What depends on these variables is not followed: the rehearsal stands for their values alone.
void Forms::lose(const Form& form, Where where, std::string_view what) {
    for (const auto& [variable, slope] : form) {
        const int root = root_of(variable);
        plain_.insert(root);
        grid_lost_ |= symbols_.roots[static_cast<std::size_t>(root)].kind != Root::Kind::number;
        if (which_of(variable) == Variable::excess)
            room_[root] = 0;
        else
            stop(root, where,
                 fmt::format("{} depends on the turn of a loop in a way that is not followed", what));
    }
}

// --- registers -----------------------------------------------------------------------------------------

Forms::Wide Forms::get(Reg reg) const {
    Wide out{};
    const auto index = static_cast<std::size_t>(scene_.skeleton.slots[reg.id]);
    const std::uint64_t* data = values_.lanes_of(scene_.warp->number, index);
    const isa::Type type = scene_.program.registers()[reg.id].type;
    for (std::size_t lane = 0; lane < out.size(); ++lane) {
        if (isa::bits(type) > 32)
            out[lane] = static_cast<std::int64_t>(data[lane]);
        else
            out[lane] = reinterpret_cast<const std::int32_t*>(data)[lane];
    }
    return out;
}

void Forms::set(Reg reg, const Wide& lanes) {
    void* data = values_.write(reg);
    const isa::Type type = scene_.program.registers()[reg.id].type;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        if (isa::bits(type) > 32)
            static_cast<std::int64_t*>(data)[lane] = lanes[lane];
        else
            static_cast<std::int32_t*>(data)[lane] = static_cast<std::int32_t>(lanes[lane]);
    }
}

Form Forms::form_of(Reg reg, Where where) {
    const int index = scene_.skeleton.slots[reg.id];
    if (index < 0) return {};
    const Slot& slot = slots_[static_cast<std::size_t>(scene_.warp->number)][static_cast<std::size_t>(index)];
    if (slot.form.empty() || (slot.lanes & scene_.active) == 0) return {};
    if ((scene_.active & ~slot.lanes) == 0) return slot.form;
    lose(slot.form, where, "a value of some lanes");
    return {};
}

void Forms::give(const Step& step, Form form) {
    isa::for_each_written(step, [&](Reg reg) {
        const int index = scene_.skeleton.slots[reg.id];
        if (index < 0) return;
        Slot& slot = slots_[static_cast<std::size_t>(scene_.warp->number)][static_cast<std::size_t>(index)];
        const isa::Mask others = slot.form.empty() ? 0 : slot.lanes & ~scene_.active;
        if (slot.form == form) {
            slot.lanes = form.empty() ? 0 : others | scene_.active;
        } else if (others == 0) {
            slot = {form, form.empty() ? 0 : scene_.active};
        } else if (form.empty()) {
            slot.lanes = others;
        } else {
            lose(slot.form, step.where, "a value of some lanes");
            lose(form, step.where, "a value of some lanes");
            slot = {};
        }
    });
}

void Forms::forget(const Op& op) { give(*op.step, {}); }

void Forms::rename(int from, int to, std::int64_t times) {
    for (auto& warp : slots_)
        for (Slot& slot : warp) {
            const auto at = slot.form.find(from);
            if (at == slot.form.end()) continue;
            const std::int64_t slope = at->second;
            slot.form.erase(at);
            add(slot.form, {{to, slope * times}});
        }
}

std::vector<Forms::Sourced> Forms::sources(const Step& step) {
    std::vector<Sourced> out;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const isa::OperandRule& rule = step.op->operands[i];
        const Operand& operand = step.operands[i];
        if (rule.access == isa::Access::out) continue;
        Form form;
        if (operand.kind == Operand::Kind::param) {
            const Param& param = scene_.program.params()[static_cast<std::size_t>(operand.index)];
            const bool number = !param.pointee && !param.box && param.structure == 0 &&
                                !isa::is_float(param.type) && param.type != isa::Type::tensormap;
            if (number) form = form_of_root(given(Root::Kind::number, operand.index));
        } else if (operand.reg) {
            form = form_of(operand.reg, step.where);
        }
        out.push_back({&operand, std::move(form)});
    }
    return out;
}

// --- steps ---------------------------------------------------------------------------------------------

namespace {

/// The operands of a step that decide about synchronisation: neither where in global memory something is, nor
/// what is stored.
class Deciding final : public isa::Effects {
  public:
    explicit Deciding(const Step& step) { isa::tell(step, *this); }
    bool operator()(const Operand& operand) const {
        if (accesses_) return &operand == address_;
        return &operand != global_ && &operand != coordinates_;
    }

  private:
    void memory(const isa::MemoryAccess& access) override {
        accesses_ = true;
        if (access.space == isa::Space::shared_cluster || access.space == isa::Space::generic)
            address_ = access.address;
    }
    void bulk_copy(const isa::BulkAccess& copy) override {
        global_ = copy.global;
        coordinates_ = copy.coordinates;
    }

    bool accesses_ = false;
    const Operand *address_ = nullptr, *global_ = nullptr, *coordinates_ = nullptr;
};

}  // namespace

void Forms::use_addresses(const Op& op) {
    struct Told final : isa::Effects {
        void memory(const isa::MemoryAccess& access) override { addresses.push_back(access.address); }
        std::vector<const Operand*> addresses;
    } told;
    isa::tell(*op.step, told);
    for (const Operand* address : told.addresses)
        if (address->reg)
            lose(form_of(address->reg, op.where), op.where, "where in shared memory it accesses");
}

void Forms::use(const Op& op) {
    const Deciding decides(*op.step);
    for (std::size_t i = 0; i < op.step->operands.size(); ++i) {
        const Operand& operand = op.step->operands[i];
        if (op.step->op->operands[i].access == isa::Access::out || !decides(operand)) continue;
        isa::for_each_register(operand, [&](Reg reg) {
            lose(form_of(reg, op.where), op.where,
                 fmt::format("what {} is executed with", op.step->op->name));
        });
    }
}

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
    const int index = scene_.skeleton.slots[result.id];
    const bool was_known =
        (values_.known(scene_.warp->number)[static_cast<std::size_t>(index)] & scene_.active) != 0;
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

namespace {

/// The source whose value varies, if it is the first one and no other does.
bool only_first(std::size_t count, auto varies) {
    for (std::size_t i = 0; i < count; ++i)
        if (varies(i) != (i == 0)) return false;
    return true;
}

}  // namespace

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

/// Whether the value is not below 0, so that it is one number as a signed and as an unsigned one, and limits
/// what it depends on to where it stays so.
bool Forms::stays_positive(const Form& form, Reg reg, Where where) {
    if (form.empty()) return true;
    Wide value = get(reg);
    for (int lane = 0; lane < isa::lanes; ++lane) {
        if (active(lane) && value[static_cast<std::size_t>(lane)] < 0) return false;
        value[static_cast<std::size_t>(lane)] = 2 * value[static_cast<std::size_t>(lane)] + 1;
    }
    Form twice = form;
    for (auto& [variable, slope] : twice) slope *= 2;
    limit(twice, value, where);
    return true;
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
    const auto of = [&](std::int64_t number) {
        Wide lanes;
        lanes.fill(number);
        set(reg, lanes);
        return outcome(step, sources, {});
    };
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

/// A source as a sum of roots and a constant; nothing where it is none, or differs between lanes.
std::optional<Source> Forms::source(const Operand& operand, const Form& form) {
    Source out;
    for (const auto& [variable, slope] : form) {
        const int root = root_of(variable);
        const std::int64_t step = symbols_.roots[static_cast<std::size_t>(root)].step;
        const auto excess = form.find(rehearsal::variable(root, Variable::excess));
        if (excess == form.end() || which_of(variable) == Variable::repeated) return std::nullopt;
        if (which_of(variable) == Variable::repeats && slope != excess->second * step) return std::nullopt;
        if (step != 0 && !form.contains(rehearsal::variable(root, Variable::repeats))) return std::nullopt;
        out.roots[root] = excess->second;
    }
    if (operand.kind == Operand::Kind::param) return out;
    if (operand.kind == Operand::Kind::shared) return std::nullopt;
    if (!operand.reg) {
        out.constant = operand.imm;
        return out;
    }
    if (operand.negated) return std::nullopt;
    const Wide value = get(operand.reg);
    const int first = std::countr_zero(scene_.active);
    for (int lane = 0; lane < isa::lanes; ++lane)
        if (active(lane) && value[static_cast<std::size_t>(lane)] != value[static_cast<std::size_t>(first)])
            return std::nullopt;
    out.constant = value[static_cast<std::size_t>(first)];
    for (const auto& [root, slope] : out.roots)
        out.constant -= slope * symbols_.roots[static_cast<std::size_t>(root)].value;
    return out;
}

namespace {

/// What is known of an operand before a register is.
isa::KnownBits numbers_alone(const Operand& operand) {
    return operand.kind == Operand::Kind::imm ? isa::KnownBits::of(static_cast<std::uint64_t>(operand.imm))
                                              : isa::KnownBits();
}

}  // namespace

/// Where all sources are the launch's, the result is a number of the launch, too: whatever it is, all who
/// compute it get the same. Its relation to its sources is given up.
bool Forms::becomes_root(const Step& step, const std::vector<Sourced>& sources) {
    constexpr std::size_t most_roots = 24;
    std::vector<Source> of;
    Form to_least;
    bool grows = true;
    for (const Sourced& one : sources) {
        const std::optional<Source> source = this->source(*one.operand, one.form);
        if (!source) return false;
        of.push_back(*source);
        std::int64_t least = source->constant;
        for (const auto& [root, slope] : source->roots) {
            least += slope * symbols_.roots[static_cast<std::size_t>(root)].least;
            const Root& its = symbols_.roots[static_cast<std::size_t>(root)];
            to_least[variable(root, Variable::excess)] = its.least - its.value;
            grows &= slope > 0 && its.kind == Root::Kind::number;
        }
        grows &= least >= 0;
    }
    Reg result;
    int results = 0;
    isa::for_each_written(step, [&](Reg reg) {
        result = reg;
        ++results;
    });
    if (results != 1 || scene_.skeleton.slots[result.id] < 0) return false;
    const isa::Type type = scene_.program.registers()[result.id].type;
    const isa::Shape shape = step.op->shape == nullptr ? isa::Shape::other : step.op->shape(step.form);
    if (symbols_.roots.size() >= most_roots) return false;
    // It has to be known from which number on it may be anything.
    const bool monotone = grows && (shape == isa::Shape::quotient || shape == isa::Shape::polynomial);
    const bool is_unsigned = !is_signed_type(step.form.type());
    const bool masked = step.op->known_bits != nullptr && shape == isa::Shape::bits &&
                        step.op->known_bits(step, numbers_alone).greatest() <= INT32_MAX;
    const bool from_zero = is_unsigned && (shape == isa::Shape::remainder || shape == isa::Shape::quotient);
    if (type != isa::Type::pred && !monotone && !masked && !from_zero) return false;
    const auto [at, added] =
        symbols_.root({fmt::format("{} {}", isa::method_of(*step.op, step.form), step.op->name), of});
    Root& root = symbols_.roots[static_cast<std::size_t>(at)];
    if (added) {
        root.name = fmt::format("what line {} computes", step.where.line);
        root.where = step.where;
        if (type == isa::Type::pred) root.most = 1;
        if (monotone)
            root.least =
                outcome(step, sources, to_least)[static_cast<std::size_t>(std::countr_zero(scene_.active))];
        root.value = root.least;
    }
    meet(at);
    Wide lanes = get(result);
    for (int lane = 0; lane < isa::lanes; ++lane)
        if (active(lane)) lanes[static_cast<std::size_t>(lane)] = root.value;
    set(result, lanes);
    if (type == isa::Type::pred) {
        room_[at] = 0;
        give(step, {});
    } else {
        give(step, form_of_root(at));
    }
    return true;
}

/// Whether what a result of more bits is made of are numbers that are not below 0: else an unsigned one is
/// another.
bool Forms::widens(const Step& step, const std::vector<Sourced>& sources) {
    int width = 0;
    isa::for_each_written(step, [&](Reg reg) { width = isa::bits(scene_.program.registers()[reg.id].type); });
    return std::ranges::all_of(sources, [&](const Sourced& one) {
        const Reg reg = one.operand->reg;
        return !reg || isa::bits(scene_.program.registers()[reg.id].type) >= width ||
               stays_positive(one.form, reg, step.where);
    });
}

void Forms::compute(const Op& op) {
    const Step& step = *op.step;
    if (step.form.has(isa::Field::sreg)) {
        step.op->run(step, machine_);
        const OfGrid place = of_grid(isa::special_of(step.form));
        Form form;
        if (place.root >= 0) add(form, form_of_root(place.root), place.times);
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
    const isa::Shape shape = step.op->shape == nullptr ? isa::Shape::other : step.op->shape(step.form);
    if (shape == isa::Shape::order) return compare(step, sources);
    std::optional<Form> result;
    if (shape == isa::Shape::polynomial) {
        if (widens(step, sources)) result = difference(step, sources, all);
        if (result && !is_linear(step, sources, all, *result)) result.reset();
        if (!result && becomes_root(step, sources)) return;
    } else if (shape == isa::Shape::other) {
        if (becomes_root(step, sources)) return;
    } else {
        const auto rule = [&](const std::vector<Sourced>& of, const Form& form) {
            return shape == isa::Shape::bits ? of_low_bits(step, of, form) : of_division(step, of, form);
        };
        result = rule(sources, all);
        if (!result && launchs && becomes_root(step, sources)) return;
        if (!result) {
            // The excess of roots does not go through; repeated periods may.
            Form excess, rest;
            for (const auto& [variable, slope] : all)
                (which_of(variable) == Variable::excess ? excess : rest)[variable] = slope;
            lose(excess, step.where, "");
            std::vector<Sourced> without = sources;
            for (Sourced& source : without)
                std::erase_if(source.form,
                              [](const auto& one) { return which_of(one.first) == Variable::excess; });
            all = rest;
            result = rest.empty() ? std::optional(Form()) : rule(without, rest);
        }
    }
    if (!result) lose(all, step.where, fmt::format("what {} computes", step.op->name));
    step.op->run(step, machine_);
    give(step, result.value_or(Form()));
}

// --- comparisons ---------------------------------------------------------------------------------------

/// Whether CTA `first` of a grid of `stride` compares its tile of some turn with a number of tiles, so that
/// for each grid there is one number of turns: what the values 0 and 1 have for first and stride shows.
bool Forms::strided(const Form& form, const Wide& difference) const {
    std::int64_t first = 0, stride = 0, number = 0, of = 0;
    for (const auto& [variable, slope] : form) {
        if (which_of(variable) != Variable::excess) continue;
        const Root& root = symbols_.roots[static_cast<std::size_t>(root_of(variable))];
        switch (root.kind) {
            case Root::Kind::first: first += slope; break;
            case Root::Kind::stride: stride += slope; break;
            case Root::Kind::number:
                if (number != 0) return false;
                number = slope;
                of = root.value;
        }
    }
    if ((first != 1 && first != -1) || number != -first) return false;
    for (int lane = 0; lane < isa::lanes; ++lane)
        if (active(lane) && difference[static_cast<std::size_t>(lane)] != stride + number * of) return false;
    return true;
}

void Forms::compare(const Step& step, const std::vector<Sourced>& sources) {
    const isa::Type type = step.form.type();
    const auto value = [&](const Operand& operand) {
        Wide out;
        out.fill(operand.imm);
        if (operand.kind == Operand::Kind::param) out.fill(static_cast<std::int64_t>(param(operand.index)));
        if (operand.reg) out = get(operand.reg);
        if (!is_signed_type(type) && isa::bits(type) <= 32)
            for (std::int64_t& lane : out) lane = static_cast<std::uint32_t>(lane);
        return out;
    };
    Form form = sources[0].form;
    add(form, sources[1].form, -1);
    const Wide a = value(*sources[0].operand), b = value(*sources[1].operand);
    Wide difference;
    for (std::size_t lane = 0; lane < difference.size(); ++lane) difference[lane] = a[lane] - b[lane];
    std::set<int> roots;
    bool grid = false;
    for (const auto& [variable, slope] : form) {
        if (which_of(variable) != Variable::excess) continue;
        const Root& root = symbols_.roots[static_cast<std::size_t>(root_of(variable))];
        roots.insert(root_of(variable));
        grid |= root.kind != Root::Kind::number;
    }
    // An unsigned number that is below 0 for some sizes is a great one there.
    if (!is_signed_type(type))
        for (std::size_t i = 0; i < 2; ++i)
            if (sources[i].operand->reg &&
                !stays_positive(sources[i].form, sources[i].operand->reg, step.where)) {
                lose(sources[0].form, step.where, "an unsigned number");
                lose(sources[1].form, step.where, "an unsigned number");
                step.op->run(step, machine_);
                return give(step, {});
            }
    if (grid && strided(form, difference)) {
        std::erase_if(form, [&](const auto& one) {
            return symbols_.roots[static_cast<std::size_t>(root_of(one.first))].kind != Root::Kind::number;
        });
        const int turns = root_of(form.begin()->first);
        strided_.insert(turns);
        // A CTA may have no turn at all.
        if (symbols_.roots[static_cast<std::size_t>(turns)].least > 0) {
            symbols_.roots[static_cast<std::size_t>(turns)].least = 0;
            restart_ = true;
        }
    } else if (roots.size() > 1 || grid) {
        if (becomes_root(step, sources)) return;
        Form excess;
        for (const int root : roots) excess[variable(root, Variable::excess)] = 1;
        lose(excess, step.where, "");
    } else {
        for (const int root : roots) plain_.insert(root);
    }
    // Twice the difference, with which no comparison but that for equality is between two numbers.
    const std::string_view how = isa::spelled(isa::Field::cmp, step.form.get(isa::Field::cmp));
    const bool zero_is_above = how == "lt" || how == "ge" || how == "lo" || how == "hs";
    const bool zero_is_below = how == "le" || how == "gt" || how == "ls" || how == "hi";
    for (std::int64_t& lane : difference) lane = 2 * lane + (zero_is_above ? 1 : 0) - (zero_is_below ? 1 : 0);
    for (auto& [variable, slope] : form) slope *= 2;
    order(form, difference, step.where);
    step.op->run(step, machine_);
    give(step, {});
}

/// The comparison comes out alike as long as the sign of the difference stays.
void Forms::order(const Form& form, const Wide& difference, Where where) {
    if (form.empty()) return;
    events_.push_back({form, difference[static_cast<std::size_t>(std::countr_zero(scene_.active))] > 0});
    limit(form, difference, where);
}

/// The sign of the difference is to stay.
void Forms::limit(const Form& form, const Wide& difference, Where where) {
    std::set<int> roots;
    for (const auto& [variable, slope] : form) roots.insert(root_of(variable));
    const auto slope = [&](int root, Variable which) {
        const auto at = form.find(variable(root, which));
        return at == form.end() ? 0 : at->second;
    };
    for (int lane = 0; lane < isa::lanes; ++lane) {
        if (!active(lane)) continue;
        const std::int64_t here = difference[static_cast<std::size_t>(lane)];
        const auto turns = [&](std::int64_t by) {
            return here == 0 ? by != 0 : (here > 0) != (by > 0) && by != 0;
        };
        for (const int root : roots) {
            if (const std::int64_t by = slope(root, Variable::excess); turns(by)) {
                const std::int64_t size = here < 0 ? -here : here, rate = by < 0 ? -by : by;
                const std::int64_t room = here == 0 ? 0 : (size - 1) / rate;
                auto [at, added] = room_.try_emplace(root, room);
                at->second = std::min(at->second, room);
            }
            if (symbols_.roots[static_cast<std::size_t>(root)].step == 0) continue;
            const std::int64_t none = slope(root, Variable::repeats),
                               some = none + slope(root, Variable::repeated);
            if (turns(none) || turns(some))
                stop(root, where, "the comparison comes out otherwise after more turns of a loop");
        }
    }
}

}  // namespace wgrun::check::rehearsal
