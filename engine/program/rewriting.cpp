#include "program/rewriting.hpp"

#include <algorithm>
#include <map>

namespace wgrun {

using isa::Type;

namespace {

bool of_construct(const Label& label) {
    return label.kind != Label::Kind::none && label.kind != Label::Kind::place;
}

std::uint32_t constructs(const Program& program) {
    std::uint32_t count = 0;
    for (const BasicBlock& block : program.blocks())
        if (of_construct(block.label)) count = std::max(count, block.label.number + 1);
    return count;
}

/// Numbers the constructs in the order in which they begin.
void renumber(std::vector<BasicBlock>& blocks) {
    std::map<std::uint32_t, std::uint32_t> numbers;
    const auto seen = [&](const Label& label) {
        if (of_construct(label))
            numbers.try_emplace(label.number, static_cast<std::uint32_t>(numbers.size()));
    };
    for (const BasicBlock& block : blocks) {
        seen(block.label);
        if (block.end == BasicBlock::End::branch) seen(blocks[block.otherwise].label);
    }
    for (BasicBlock& block : blocks)
        if (of_construct(block.label)) block.label.number = numbers.at(block.label.number);
}

}  // namespace

Rewriting::Rewriting(const Program& from) : from_(from), text_(constructs(from)) {
    to_.name_ = from.name_;
    to_.threads_ = from.threads_;
    to_.block_ = from.block_;
    to_.local_bytes_ = from.local_bytes_;
    to_.local_align_ = from.local_align_;
    to_.cluster_ = from.cluster_;
    to_.grid_ = from.grid_;
    to_.registers_ = from.registers_;
    to_.params_ = from.params_;
    to_.shared_ = from.shared_;
    to_.messages_ = from.messages_;
    to_.names_ = from.names_;
    to_.translated_ = from.translated_;
    to_.where_ = from.where_;
}

void Rewriting::copy_blocks() {
    const std::vector<BasicBlock>& blocks = from_.blocks();
    for (BlockId id = 0; id < blocks.size(); ++id) {
        const BasicBlock& block = blocks[id];
        if (id > 0 || block.label.kind != Label::Kind::none) text_.add(block.label);
        first_.push_back(text_.current());
        begins(id);
        for (const Step& step : block.steps) copy(step);
        ends(id);
        last_.push_back(text_.current());
    }
}

Program Rewriting::take() {
    to_.blocks_ = text_.take({});
    if (first_.front() > 0) {  // something precedes the first label
        to_.blocks_.front().end = BasicBlock::End::jump;
        to_.blocks_.front().taken = first_.front();
    }
    for (BlockId id = 0; id < first_.size(); ++id) {
        const BasicBlock& old = from_.blocks()[id];
        BasicBlock& block = to_.blocks_[last_[id]];
        block.end = old.end;
        block.negated = old.negated;
        block.condition = old.condition;
        block.where = old.where;
        if (old.taken != no_block) block.taken = first_[old.taken];
        if (old.otherwise != no_block) block.otherwise = first_[old.otherwise];
    }
    renumber(to_.blocks_);
    return std::move(to_);
}

Program Rewriting::take_text(Where end) {
    to_.blocks_ = text_.take(end);
    return std::move(to_);
}

std::int64_t Rewriting::local(std::int64_t bytes, std::int64_t align) {
    const std::int64_t offset = (to_.local_bytes_ + align - 1) / align * align;
    to_.local_bytes_ = offset + bytes;
    to_.local_align_ = std::max(to_.local_align_, align);
    return offset;
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

int Rewriting::variable(std::string name, bool constant) {
    Param param{std::move(name), Type::u64, {}, {}, constant, from_.where_};
    param.variable = true;
    to_.params_.push_back(std::move(param));
    return static_cast<int>(to_.params_.size() - 1);
}

Reg Rewriting::loaded(int parameter) {
    const Type type = to_.params_[static_cast<std::size_t>(parameter)].type;
    return computed("ld.param", type, {Operand::param(parameter)}, from_.where_);
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

Reg Rewriting::computed(const char* op, Type type, std::vector<Operand> operands, Where where, Type source) {
    const Reg out = reg(type);
    operands.insert(operands.begin(), Operand::of(out));
    isa::Form form = isa::Form().set(isa::Field::type, type);
    if (source != Type::none) form.set(isa::Field::from, source);
    add(made(*isa::find(op), form, std::move(operands), where));
    return out;
}

Reg Rewriting::address_in(const Operand& operand, Type type, Where where) {
    if (!operand.reg) {
        Operand shared = operand;
        shared.kind = Operand::Kind::shared;
        return computed("mov", type, {shared}, where);
    }
    if (operand.offset == 0) return operand.reg;
    return computed("add", type, {Operand::of(operand.reg), Operand::immediate(operand.offset)}, where);
}

Reg Rewriting::shared_base(Where where) {
    return computed("mov", Type::u32, {Operand::shared(0, -from_.shared().front().offset)}, where);
}

}  // namespace wgrun
