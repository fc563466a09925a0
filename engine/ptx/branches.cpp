// Where branches lead (PTX ISA 9.7.12).
#include <fmt/format.h>

#include "ptx/lowering.hpp"

namespace wgrun::ptx {

void Lowering::jump(const Statement& statement, Reg guard) {
    const Node* target = statement.operands == nothing ? nullptr : &module_.nodes[statement.operands];
    const int* to = target == nullptr ? nullptr : frame_->labels.target(module_.at(target->text));
    if (to == nullptr)
        error(statement.text, target == nullptr
                                  ? "a branch without a label"
                                  : fmt::format("no label is called `{}` here", module_.at(target->text)));
    else
        text().jump(*to, guard, statement.guard_negated, where(statement.text));
}

void Lowering::leave(const Statement& statement, Reg guard) {
    const bool returns = active_.size() > 1 && module_.at(statement.name).starts_with("ret");
    if (!guard && !returns) return text().leave(Leave::kernel, where(statement.text));
    // What leaves the kernel from inside a function goes to the end of the entry.
    Frame* frame = frame_;
    if (!returns && active_.size() > 1) {
        const int behind = text().label({});
        text().jump(behind, guard, !statement.guard_negated, where(statement.text));
        text().leave(Leave::kernel, where(statement.text));
        return text().place(behind, where(statement.text));
    }
    text().jump(frame->end, guard, statement.guard_negated, where(statement.text));
    frame->end_used = true;
}

/// Returns the .branchtargets behind the label of that name; null: there is none.
const Statement* Lowering::targets_called(std::string_view name) const {
    const Function& function = frame_->function;
    for (std::uint32_t i = function.first; i + 1 < function.last; ++i) {
        const Statement &label = module_.statements[i], &list = module_.statements[i + 1];
        if (label.kind == Statement::Kind::label && module_.at(label.name) == name &&
            list.kind == Statement::Kind::directive && module_.at(list.text).starts_with(".branchtargets"))
            return &list;
    }
    return nullptr;
}

/// brx.idx index, list: as comparisons with one index after the other. What lies beyond the list is undefined
/// (9.7.12.3), and taken for its last label. Returns false for a list that is not known.
bool Lowering::jump_by_index(const Statement& statement, Reg guard) {
    const Node* index = statement.operands == nothing ? nullptr : &module_.nodes[statement.operands];
    if (index == nullptr || index->next == nothing) return false;
    const auto found = symbols_.reg(module_.at(index->text));
    const Statement* list = targets_called(module_.at(module_.nodes[index->next].text));
    if (!found || isa::bits(type_of(*found)) != 32 || list == nullptr) return false;
    std::vector<int> targets;
    for (const std::string_view name : branch_targets(module_.at(list->text))) {
        const int* to = frame_->labels.target(name);
        if (to == nullptr) return error(list->text, fmt::format("no label is called `{}` here", name)), true;
        targets.push_back(*to);
    }
    if (targets.empty()) return false;
    const Where here = where(statement.text);
    const int behind = guard ? text().label({}) : -1;
    if (guard) text().jump(behind, guard, !statement.guard_negated, here);
    const isa::Form equal = isa::Form()
                                .set(isa::Field::cmp, isa::parse_value(isa::Field::cmp, "eq").value())
                                .set(isa::Field::type, Type::u32);
    for (std::size_t i = 0; i + 1 < targets.size(); ++i) {
        const Reg here_it_goes = reg(Type::pred);
        add(made(*isa::find("setp"), equal,
                 {Operand::of(here_it_goes), Operand::of(*found),
                  Operand::immediate(static_cast<std::int64_t>(i))},
                 here));
        text().jump(targets[i], here_it_goes, false, here);
    }
    text().jump(targets.back(), {}, false, here);
    if (guard) text().place(behind, here);
    return true;
}

}  // namespace wgrun::ptx
