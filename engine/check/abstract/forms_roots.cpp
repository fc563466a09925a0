// The numbers of a launch that an abstract execution meets, and those that are computed of them alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

#include "check/abstract/forms.hpp"
#include "isa/known_bits.hpp"
#include "isa/registers.hpp"
#include "isa/special.hpp"

namespace wgrun::check::abstract {

int Forms::meet(int root) {
    if (std::ranges::find(met_, root) == met_.end()) met_.push_back(root);
    return root;
}

int Forms::given(Root::Kind kind, int index) {
    const auto [at, added] =
        symbols_.root({fmt::format("given {}", static_cast<int>(kind)), {Source{{}, index}}});
    Root& root = symbols_.roots[static_cast<std::size_t>(at)];
    if (added) {
        root.kind = symbols_.places ? Root::Kind::number : kind;
        root.given = true;
        root.where = execution_.op->where;
        root.of_grid = kind != Root::Kind::number;
        if (kind == Root::Kind::number) {
            const Param& param = execution_.program.params()[static_cast<std::size_t>(index)];
            root.name = param.name;
            root.least = root.value = param.pointee ? 0 : param.taken_least();
            root.wide = isa::bits(param.type) == 64;
        } else {
            // The first CTA of the grid, and one after the other: see strided().
            root.name = kind == Root::Kind::first ? "ctaid" : "nctaid";
            root.least = root.value = root.of_machine = kind == Root::Kind::first ? 0 : 1;
            if (!symbols_.places) root.most = root.value;
        }
    }
    return meet(at);
}

Form Forms::form_of_root(int root) const {
    Form form{{variable(root, Variable::excess), 1}};
    if (const auto growth = growth_.find(root); growth != growth_.end()) add(form, growth->second);
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
    const Dim3 size = execution_.program.cluster();
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
    return at == room_.end() ? INT64_MAX : at->second;
}

const Stop* Forms::stopped(int root) const {
    const auto at = stopped_.find(root);
    return at == stopped_.end() ? nullptr : &at->second;
}

/// What depends on these variables is not followed: the abstract execution stands for their values alone.
void Forms::lose(const Form& form, Where where, std::string_view what) {
    for (const auto& [variable, slope] : form) {
        const int root = root_of(variable);
        plain_.insert(root);
        grid_lost_ |= symbols_.roots[static_cast<std::size_t>(root)].kind != Root::Kind::number;
        const auto stop_turns = [&](int turns) {
            stop(turns, where,
                 fmt::format("{} depends on the turn of a loop in a way that is not followed", what));
        };
        if (which_of(variable) != Variable::excess) {
            stop_turns(root);
            continue;
        }
        room_[root] = 0;
        std::ranges::for_each(turns_of(root), stop_turns);
    }
}

// --- results that become roots -------------------------------------------------------------------------

/// A source as a sum of roots and a constant; nothing where it is none, or differs between lanes.
std::optional<Source> Forms::source(const Operand& operand, const Form& form) {
    Source out;
    Form rest = form;
    for (const auto& [variable, slope] : form)
        if (which_of(variable) == Variable::excess) {
            out.roots[root_of(variable)] = slope;
            add(rest, form_of_root(root_of(variable)), -slope);
        }
    if (!rest.empty()) return std::nullopt;
    if (operand.kind == Operand::Kind::param) return out;
    if (operand.kind == Operand::Kind::shared) return std::nullopt;
    if (!operand.reg) {
        out.constant = operand.imm;
        return out;
    }
    if (operand.negated) return std::nullopt;
    const Wide value = get(operand.reg);
    const int first = std::countr_zero(execution_.active);
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

/// Whether a polynomial is less where one of these variables is 1 more: it is one of numbers that are not
/// below 0, with no negative products.
bool Forms::falls(const Step& step, const std::vector<Sourced>& sources, const Form& from) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(execution_.active));
    const std::int64_t before = outcome(step, sources, from)[lane];
    return std::ranges::any_of(from, [&](const auto& one) {
        Form more = from;
        ++more[one.first];
        return outcome(step, sources, more)[lane] < before;
    });
}

/// Where all sources are the launch's, the result is a number of the launch, too: whatever it is, all who
/// compute it get the same. Its relation to its sources is given up.
bool Forms::becomes_root(const Step& step, const std::vector<Sourced>& sources) {
    constexpr std::size_t most_roots = 64;
    std::vector<Source> of;
    Form to_least;
    bool grows = true, any_positive = false, all_positive = true, of_tile = false;
    for (const Sourced& one : sources) {
        const std::optional<Source> source = this->source(*one.operand, one.form);
        if (!source) return false;
        of.push_back(*source);
        std::int64_t least = source->constant;
        bool positive = true;
        for (const auto& [root, slope] : source->roots) {
            least += slope * symbols_.roots[static_cast<std::size_t>(root)].least;
            const Root& its = symbols_.roots[static_cast<std::size_t>(root)];
            to_least[variable(root, Variable::excess)] = its.least - its.value;
            positive &= slope > 0 && !its.great;
            of_tile |= is_tile(its);
            grows &= its.kind == Root::Kind::number;
        }
        positive &= least >= 0;
        any_positive |= positive;
        all_positive &= positive;
    }
    Reg result;
    int results = 0;
    isa::for_each_written(step, [&](Reg reg) {
        result = reg;
        ++results;
    });
    if (results != 1 || execution_.skeleton.slots[result.id] < 0) return false;
    const isa::Type type = execution_.program.registers()[result.id].type;
    if (of_tile && type != isa::Type::pred) return false;
    const isa::Shape shape = step.op->shape == nullptr ? isa::Shape::other : step.op->shape(step.form);
    // It has to be known from which number on it may be anything.
    // A quotient falls where its divisor grows.
    const bool divided = (shape == isa::Shape::quotient || shape == isa::Shape::share) &&
                         only_first(of.size(), [&](std::size_t i) { return !of[i].roots.empty(); });
    const bool monotone = grows && all_positive &&
                          (divided || (shape == isa::Shape::polynomial && !falls(step, sources, to_least)));
    const bool is_unsigned = !isa::is_signed(step.form.type());
    const bool masked = step.op->known_bits != nullptr && shape == isa::Shape::bits &&
                        step.op->known_bits(step, numbers_alone).greatest() <= INT32_MAX;
    const bool one = shape == isa::Shape::smaller || shape == isa::Shape::greater;
    const bool from_zero =
        one ? all_positive || (any_positive && is_unsigned == (shape == isa::Shape::smaller))
            : is_unsigned && (shape == isa::Shape::remainder || shape == isa::Shape::quotient ||
                              shape == isa::Shape::share);
    std::optional<Recurring> function;
    if (type != isa::Type::pred) function = recurring(step, sources, of);
    const bool bounded = function && function->more == 0;
    if (type != isa::Type::pred && !monotone && !masked && !from_zero && !bounded) return false;
    // What is below 0 is a great number to it.
    const bool great = from_zero && !one && !all_positive && !bounded && !masked &&
                       !(shape == isa::Shape::quotient && of.back().roots.empty() && of.back().constant > 1);
    const bool residue = type != isa::Type::pred && !monotone && !one && shape != isa::Shape::share;
    if (residue && symbols_.residues) return false;
    const Origin origin{fmt::format("{} {}", isa::method_of(*step.op, step.form), step.op->name), of};
    if (symbols_.roots.size() >= most_roots && !symbols_.found.contains(origin)) return false;
    const auto [at, added] = symbols_.root(origin);
    Root& root = symbols_.roots[static_cast<std::size_t>(at)];
    if (added) {
        root.name = fmt::format("what line {} computes", step.where.line);
        root.where = step.where;
        root.residue = residue;
        root.great = great && !monotone;
        if (type == isa::Type::pred) root.most = 1;
        if (bounded) {
            const auto [least, most] = std::ranges::minmax(function->values);
            root.least = least, root.most = most;
        }
        root.function = std::move(function);
        if (monotone)
            root.least = outcome(step, sources,
                                 to_least)[static_cast<std::size_t>(std::countr_zero(execution_.active))];
        root.value = root.least;
    }
    become(step, at);
    if (type == isa::Type::pred) {
        room_[at] = 0;
        give(step, {});
    } else {
        give(step, form_of_root(at));
    }
    return true;
}

/// The active lanes of the result get the value of a root.
void Forms::become(const Step& step, int at) {
    meet(at);
    isa::for_each_written(step, [&](Reg result) {
        Wide lanes = get(result);
        for (int lane = 0; lane < isa::lanes; ++lane)
            if (active(lane))
                lanes[static_cast<std::size_t>(lane)] = symbols_.roots[static_cast<std::size_t>(at)].value;
        set(result, lanes);
    });
}

bool Forms::load(const Op& op) {
    const Step& step = *op.step;
    const Operand& address = step.operands[1];
    std::optional<Source> of = source(address, form_of(address.reg, step.where));
    if (!of) return false;
    of->constant += address.offset;
    const auto [at, added] = symbols_.root({"what memory holds", {*of}});
    if (added) {
        Root& root = symbols_.roots[static_cast<std::size_t>(at)];
        root.given = true;
        root.loaded_from = op.of_launch;
        root.name = fmt::format("what line {} loads", step.where.line);
        root.where = step.where;
    }
    become(step, at);
    give(step, form_of_root(at));
    return true;
}

}  // namespace wgrun::check::abstract
