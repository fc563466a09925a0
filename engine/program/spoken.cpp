#include "program/spoken.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/say.hpp"
#include "program/messages.hpp"

namespace wgrun {
namespace {

using isa::Type;

Step made(const isa::Instruction& op, const isa::Form& asked, std::vector<Operand> operands, Where where) {
    Step step;
    step.op = &op;
    step.form = isa::resolve(op, asked);
    step.operands = std::move(operands);
    step.where = where;
    return step;
}

}  // namespace

/// Copies a program, messages spelled out.
class Speaking {
  public:
    explicit Speaking(const Program& program) : from_(program) {}

    Program run() {
        to_.name_ = from_.name_;
        to_.threads_ = from_.threads_;
        to_.cluster_ = from_.cluster_;
        to_.registers_ = from_.registers_;
        to_.params_ = from_.params_;
        to_.shared_ = from_.shared_;
        to_.messages_ = from_.messages_;
        to_.names_ = from_.names_;
        to_.where_ = from_.where_;
        std::string name = "messages";
        while (std::ranges::any_of(to_.params_, [&](const Param& other) { return other.name == name; }))
            name += "_";
        to_.params_.push_back({std::move(name), Type::u64, {}, {}, true, from_.where_});
        copy(from_.body_, to_.body_);
        return std::move(to_);
    }

  private:
    Reg reg(Type type) {
        to_.registers_.push_back({isa::register_type(type), from_.where_});
        return {static_cast<std::uint32_t>(to_.registers_.size() - 1)};
    }

    /// The value as a register that say.word can store.
    std::pair<Reg, Type> storable(Reg value, Where where, Block& to) {
        const Type type = to_.registers_[value.id].type;
        if (type == Type::pred) {
            const Reg number = reg(Type::b32);
            to.emplace_back(
                made(*isa::find("selp"), isa::Form().set(isa::Field::type, Type::b32),
                     {Operand::of(number), Operand::immediate(1), Operand::immediate(0), Operand::of(value)},
                     where));
            return {number, Type::b32};
        }
        if (type == Type::f32 || type == Type::f64) return {value, type};
        const int bits = isa::bits(type);
        return {value, bits == 16 ? Type::b16 : bits == 32 ? Type::b32 : Type::b64};
    }

    void say(const Step& step, Block& to) {
        const std::int64_t index = step.operand("message").imm;
        const Where where = step.where;
        const Operand slot = Operand::of(reg(Type::u64)), there = Operand::of(reg(Type::pred));
        const Operand control = Operand::of(reg(Type::u64));
        const auto add = [&](const isa::Instruction& op, const isa::Form& form,
                             std::vector<Operand> operands) {
            to.emplace_back(made(op, form, std::move(operands), where));
        };
        add(*isa::find("ld.param"), isa::Form().set(isa::Field::type, Type::u64),
            {control, Operand::param(static_cast<int>(to_.params_.size() - 1))});
        add(isa::say::slot(), {},
            {slot, there, control, Operand::immediate(static_cast<std::int64_t>(message_bytes(from_)))});
        std::int64_t offset = isa::say::header_bytes;
        for (Reg value : step.operand("values").list) {
            const auto [stored, type] = storable(value, where, to);
            add(isa::say::word(), isa::Form().set(isa::Field::type, type),
                {slot, there, Operand::of(stored), Operand::immediate(offset)});
            offset += isa::say::value_bytes;
        }
        add(isa::say::publish(), {}, {slot, there, Operand::immediate(index + 1)});
        if (step.op != &isa::say::print()) add(isa::say::end(), {}, {});
    }

    /// Adds a branch and returns what it does where the predicate holds.
    static Block& where_it_holds(Reg predicate, bool negated, Where where, Block& to) {
        auto branch = std::make_unique<Branch>();
        branch->condition = predicate;
        branch->negated = negated;
        branch->where = where;
        Block& inside = branch->then_body;
        to.emplace_back(std::move(branch));
        return inside;
    }

    void copy(const Step& step, Block& to) {
        if (!isa::say::speaks(*step.op)) {
            to.emplace_back(step);
            return;
        }
        Block* inside = &to;
        if (step.guard) inside = &where_it_holds(step.guard, step.guard_negated, step.where, *inside);
        if (step.op == &isa::say::assertion()) {
            const Operand& condition = step.operand("condition");
            inside = &where_it_holds(condition.reg, !condition.negated, step.where, *inside);
        }
        say(step, *inside);
    }

    void copy(const Block& block, Block& to) {
        for (const Node& node : block) {
            if (const auto* step = std::get_if<Step>(&node)) {
                copy(*step, to);
            } else if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&node)) {
                auto out = std::make_unique<Loop>();
                out->condition = (*loop)->condition;
                out->where = (*loop)->where;
                copy((*loop)->head, out->head);
                copy((*loop)->body, out->body);
                to.emplace_back(std::move(out));
            } else {
                const Branch& branch = *std::get<std::unique_ptr<Branch>>(node);
                auto out = std::make_unique<Branch>();
                out->condition = branch.condition;
                out->negated = branch.negated;
                out->where = branch.where;
                copy(branch.then_body, out->then_body);
                copy(branch.else_body, out->else_body);
                to.emplace_back(std::move(out));
            }
        }
    }

    const Program& from_;
    Program to_;
};

Program spoken(const Program& program) { return Speaking(program).run(); }

void refuse_messages(const Program& program, std::string_view where) {
    if (!speaks(program)) return;
    Diagnostic finding;
    finding.where = program.messages().front().where;
    finding.message =
        fmt::format("kernel {} has k:print, k:assert or k:trap here: {} has no host that hears them",
                    program.name(), where);
    finding.fix = "leave them out, or run the kernel with kernel:run";
    throw ArgumentError(std::move(finding));
}

}  // namespace wgrun
