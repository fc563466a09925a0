#include "program/rewriting.hpp"

#include <algorithm>

namespace wgrun {

using isa::Type;

Rewriting::Rewriting(const Program& from) : from_(from) {
    to_.name_ = from.name_;
    to_.threads_ = from.threads_;
    to_.cluster_ = from.cluster_;
    to_.registers_ = from.registers_;
    to_.params_ = from.params_;
    to_.shared_ = from.shared_;
    to_.messages_ = from.messages_;
    to_.names_ = from.names_;
    to_.where_ = from.where_;
}

void Rewriting::copy(const Loop& loop, Block& to) {
    auto out = std::make_unique<Loop>();
    out->condition = loop.condition;
    out->where = loop.where;
    copy(loop.head, out->head);
    copy(loop.body, out->body);
    copy(loop.next, out->next);
    out->continues = loop.continues;
    to.emplace_back(std::move(out));
}

void Rewriting::copy(const Branch& branch, Block& to) {
    auto out = std::make_unique<Branch>();
    out->condition = branch.condition;
    out->negated = branch.negated;
    out->where = branch.where;
    copy(branch.then_body, out->then_body);
    copy(branch.else_body, out->else_body);
    to.emplace_back(std::move(out));
}

void Rewriting::copy(const Block& block, Block& to) {
    for (const Node& node : block) copy(node, to);
}

void Rewriting::copy(const Node& node, Block& to) {
    if (const auto* step = std::get_if<Step>(&node))
        copy(*step, to);
    else if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&node))
        copy(**loop, to);
    else if (const auto* leave = std::get_if<Leave>(&node))
        to.emplace_back(*leave);
    else
        copy(*std::get<std::unique_ptr<Branch>>(node), to);
}

Reg Rewriting::reg(Type type) {
    to_.registers_.push_back({isa::register_type(type), from_.where_});
    return {static_cast<std::uint32_t>(to_.registers_.size() - 1)};
}

int Rewriting::parameter(std::string name, Type type, std::optional<Dtype> pointee) {
    while (std::ranges::any_of(to_.params_, [&](const Param& other) { return other.name == name; }))
        name += "_";
    to_.params_.push_back({std::move(name), type, pointee, {}, !pointee, from_.where_});
    return static_cast<int>(to_.params_.size() - 1);
}

Reg Rewriting::loaded(int parameter, Block& to) {
    const Type type = to_.params_[static_cast<std::size_t>(parameter)].type;
    return computed("ld.param", type, {Operand::param(parameter)}, from_.where_, to);
}

Step Rewriting::made(const isa::Instruction& op, const isa::Form& asked, std::vector<Operand> operands,
                     Where where) {
    Step step;
    step.op = &op;
    step.form = isa::resolve(op, asked);
    step.operands = std::move(operands);
    step.where = where;
    return step;
}

Reg Rewriting::computed(const char* op, Type type, std::vector<Operand> operands, Where where, Block& to,
                        Type source) {
    const Reg out = reg(type);
    operands.insert(operands.begin(), Operand::of(out));
    isa::Form form = isa::Form().set(isa::Field::type, type);
    if (source != Type::none) form.set(isa::Field::from, source);
    to.emplace_back(made(*isa::find(op), form, std::move(operands), where));
    return out;
}

Reg Rewriting::address_in(const Operand& operand, Type type, Where where, Block& to) {
    if (!operand.reg) {
        Operand shared = operand;
        shared.kind = Operand::Kind::shared;
        return computed("mov", type, {shared}, where, to);
    }
    if (operand.offset == 0) return operand.reg;
    return computed("add", type, {Operand::of(operand.reg), Operand::immediate(operand.offset)}, where, to);
}

Reg Rewriting::shared_base(Where where, Block& to) {
    return computed("mov", Type::u32, {Operand::shared(0, -from_.shared().front().offset)}, where, to);
}

Block& Rewriting::where_it_holds(Reg predicate, bool negated, Where where, Block& to) {
    auto branch = std::make_unique<Branch>();
    branch->condition = predicate;
    branch->negated = negated;
    branch->where = where;
    Block& inside = branch->then_body;
    to.emplace_back(std::move(branch));
    return inside;
}

}  // namespace wgrun
