// Calls of functions (PTX ISA 7.1, 9.7.12.6): a body is read in place of the call, and what is passed lies in
// local memory.
#include <algorithm>
#include <array>

#include "isa/library.hpp"
#include "ptx/lowering.hpp"
#include "ptx/variables.hpp"

namespace wgrun::ptx {
namespace {

using isa::Field;
using isa::Form;

/// How many statements of functions are read in place of calls: so many, and so many for each one of the
/// text.
constexpr std::size_t most_statements = 100'000, most_for_each = 8, deepest = 32;

}  // namespace

/// The address of what is passed to a function.
Reg Lowering::base_of(const Symbol& symbol, std::int64_t offset, Where here) {
    return computed("local.address", Type::u64, {Operand::immediate(symbol.offset + offset)}, here);
}

/// An access to what is passed to a function, or what it returns: st.param.b32 [param0], %r1. Returns false
/// for any other instruction.
bool Lowering::passes(const Statement& statement, Reg guard) {
    std::string opcode = module_.opcode(statement);
    const bool loads = opcode.starts_with("ld.param");
    if (!loads && !opcode.starts_with("st.param")) return false;
    const std::uint32_t first = statement.operands;
    const std::uint32_t second = first == nothing ? nothing : module_.nodes[first].next;
    if (second == nothing) return false;
    const Node &place = module_.nodes[loads ? second : first], &data = module_.nodes[loads ? first : second];
    if (place.kind != Node::Kind::address || place.child == nothing) return false;
    const Node& name = module_.nodes[place.child];
    const Symbol* symbol = name.kind == Node::Kind::name ? symbols_.find(module_.at(name.text)) : nullptr;
    if (symbol == nullptr || symbol->kind != Symbol::Kind::argument) return false;

    std::string_view rest = std::string_view(opcode).substr(std::string_view("ld.param").size());
    Form form = Form().set(Field::space, static_cast<int>(isa::Space::local));
    for (const int vec : {2, 4})
        if (rest.starts_with(vec == 2 ? ".v2" : ".v4")) {
            form.set(Field::vec, vec);
            rest.remove_prefix(3);
        }
    const auto type = rest.starts_with('.') ? isa::parse_type(rest.substr(1)) : std::nullopt;
    if (!type) return false;
    form.set(Field::type, *type);
    Operand value;
    if (data.kind == Node::Kind::integer || data.kind == Node::Kind::f32 || data.kind == Node::Kind::f64) {
        value = Operand::immediate(data.value);
    } else {
        std::vector<Reg> regs;
        registers(data, regs);
        if (static_cast<int>(regs.size()) != form.get(Field::vec, 1)) return false;
        value = data.kind == Node::Kind::vector ? Operand::of(std::move(regs)) : Operand::of(regs.front());
    }
    const Where here = where(statement.text);
    const Operand address = Operand::address(base_of(*symbol, name.value, here), 0);
    try {
        Step step = loads ? made(*isa::find("ld"), form, {value, address, Operand::immediate(0)}, here)
                          : made(*isa::find("st"), form, {address, value, Operand::immediate(0)}, here);
        step.guard = guard;
        step.guard_negated = statement.guard_negated;
        add(std::move(step));
    } catch (const ArgumentError&) {
        return false;
    }
    return true;
}

/// Returns the function of that name, or of which that name is an alias (PTX ISA 11.6.6).
const Function* Lowering::function_called(std::string_view name) const {
    for (const Directive& directive : module_.directives) {
        const std::string_view text = module_.at(directive.text);
        if (module_.at(directive.name) != ".alias") continue;
        const std::size_t comma = text.find(',');
        const auto word = [](std::string_view part) {
            const std::size_t end = part.find_last_not_of(" \t\r\n");
            part = part.substr(0, end + 1);
            return part.substr(part.find_last_of(" \t\r\n,") + 1);
        };
        if (comma != std::string_view::npos && word(text.substr(0, comma)) == name) {
            name = word(text);
            break;
        }
    }
    const auto found = std::ranges::find_if(module_.functions, [&](const Function& function) {
        return !function.entry && function.body && module_.at(function.name) == name;
    });
    return found == module_.functions.end() ? nullptr : &*found;
}

/// Reads what a call names for what a function declares: places in the space of parameters, registers, and
/// numbers for registers. Returns false if they are not as many, or of another kind.
bool Lowering::passed(const std::vector<Variable>& declared, std::uint32_t given, std::vector<Passed>& out) {
    std::uint32_t at = given;
    for (const Variable& variable : declared) {
        if (at == nothing) return false;
        const Node& node = module_.nodes[at];
        at = node.next;
        Passed one;
        one.formal.type = declared_type(module_, variable);
        one.name = module_.at(variable.name);
        if (module_.at(variable.space) == ".reg") {
            one.formal.kind = Symbol::Kind::registers;
            const auto found =
                node.kind == Node::Kind::name ? symbols_.reg(module_.at(node.text)) : std::nullopt;
            const bool number = node.kind == Node::Kind::integer || node.kind == Node::Kind::f32 ||
                                node.kind == Node::Kind::f64;
            if (!found && !number) return false;
            one.actual = found ? Operand::of(*found) : Operand::immediate(node.value);
        } else {
            if (node.kind != Node::Kind::name) return false;
            const Symbol* symbol = symbols_.find(module_.at(node.text));
            if (symbol == nullptr || symbol->kind != Symbol::Kind::argument) return false;
            one.formal = *symbol;
        }
        out.push_back(std::move(one));
    }
    return at == nothing;
}

/// Moves between the register that a function declares and what the call names for it.
void Lowering::hand_over(const Passed& one, bool result, Where here) {
    if (one.formal.kind != Symbol::Kind::registers) return;
    const Operand formal = Operand::of(*symbols_.reg(one.name));
    add(made(*isa::find("mov"), Form().set(Field::type, isa::register_type(one.formal.type)),
             {result ? one.actual : formal, result ? formal : one.actual}, here));
}

/// call (result), name, (arguments); Returns false for a function whose body is elsewhere, and for one that
/// calls itself.
bool Lowering::call(const Statement& statement, Reg guard) {
    std::uint32_t result = nothing, arguments = nothing;
    std::uint32_t at = statement.operands;
    if (at != nothing && module_.nodes[at].kind == Node::Kind::list) {
        result = module_.nodes[at].child;
        at = module_.nodes[at].next;
    }
    if (at == nothing || module_.nodes[at].kind != Node::Kind::name) return false;
    const Function* callee = function_called(module_.at(module_.nodes[at].text));
    at = module_.nodes[at].next;
    if (at != nothing && module_.nodes[at].kind == Node::Kind::list) arguments = module_.nodes[at].child;
    if (callee == nullptr || std::ranges::find(active_, callee) != active_.end() || active_.size() > deepest)
        return false;
    expanded_ += callee->last - callee->first;
    if (expanded_ > most_statements + most_for_each * module_.statements.size()) return false;
    std::vector<Passed> taken, returned;
    if (!passed(callee->params, arguments, taken) || !passed(callee->results, result, returned)) return false;
    const Where here = where(statement.text);
    const int behind = guard ? text().label({}) : -1;
    if (guard) text().jump(behind, guard, !statement.guard_negated, here);
    symbols_.open();
    for (const std::vector<Passed>* const list : {&taken, &returned})
        for (const Passed& one : *list) symbols_.declare(one.name, one.formal);
    for (const Passed& one : taken) hand_over(one, false, here);
    Frame inner = frame_of(*callee);
    body(inner);
    for (const Passed& one : returned) hand_over(one, true, here);
    if (guard) text().place(behind, here);
    symbols_.close();
    return true;
}

/// call (result), vprintf, (format, values); and call __assertfail, (message, file, line, function, size);
/// Returns false for other functions, and where the text is wanted as it is.
bool Lowering::calls_library(const Statement& statement, Reg guard) {
    if (whole_) return false;
    std::vector<const Symbol*> passed;
    std::string_view callee;
    bool returns = false;
    for (std::uint32_t at = statement.operands; at != nothing; at = module_.nodes[at].next) {
        const Node& node = module_.nodes[at];
        if (node.kind == Node::Kind::name) callee = module_.at(node.text);
        if (node.kind != Node::Kind::list) continue;
        returns |= callee.empty();
        for (std::uint32_t i = node.child; i != nothing; i = module_.nodes[i].next) {
            const Node& name = module_.nodes[i];
            passed.push_back(name.kind == Node::Kind::name ? symbols_.find(module_.at(name.text)) : nullptr);
        }
    }
    const bool prints = callee == "vprintf";
    if (!prints && callee != "__assertfail") return false;
    if (passed.size() != (prints ? 2U : 5U) + (returns ? 1 : 0)) return false;
    for (const Symbol* symbol : passed)
        if (symbol == nullptr || symbol->kind != Symbol::Kind::argument) return false;

    const Where here = where(statement.text);
    const auto add_guarded = [&](Step step) {
        step.guard = guard;
        step.guard_negated = statement.guard_negated;
        add(std::move(step));
    };
    const auto access = [&](const Symbol& symbol, Reg data, bool loads) {
        const Form form = Form()
                              .set(Field::space, static_cast<int>(isa::Space::local))
                              .set(Field::type, isa::bits(type_of(data)) == 64 ? Type::b64 : Type::b32);
        const Operand address = Operand::address(base_of(symbol, 0, here), 0), value = Operand::of(data);
        add_guarded(loads ? made(*isa::find("ld"), form, {value, address, Operand::immediate(0)}, here)
                          : made(*isa::find("st"), form, {address, value, Operand::immediate(0)}, here));
    };
    const auto value = [&](std::size_t index, Type type) {
        const Reg out = reg(type);
        access(*passed[index + (returns ? 1 : 0)], out, true);
        return Operand::of(out);
    };
    if (prints) {
        const Reg count = reg(Type::u32);
        const Operand format = value(0, Type::u64), values = value(1, Type::u64);
        add_guarded(made(isa::library::print(), {}, {Operand::of(count), format, values}, here));
        if (returns) access(*passed.front(), count, false);
        return true;
    }
    const Operand message = value(0, Type::u64), file = value(1, Type::u64), line = value(2, Type::u32),
                  function = value(3, Type::u64);
    add_guarded(made(isa::library::fail(), {}, {message, file, line, function}, here));
    return true;
}

}  // namespace wgrun::ptx
