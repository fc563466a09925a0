// What the names in a body stand for.
#include <algorithm>

#include "ptx/lowering.hpp"
#include "ptx/variables.hpp"

namespace wgrun::ptx {

using isa::Field;
using isa::Form;

Operand Lowering::find(std::string_view name, std::int64_t added) {
    if (const auto found = symbols_.reg(name)) return Operand::of(*found);
    const Symbol* symbol = symbols_.find(name);
    if (symbol == nullptr) return {};
    switch (symbol->kind) {
        case Symbol::Kind::parameter: {
            if (symbol->index < 0) return {};
            Operand param = Operand::param(symbol->index);
            param.offset = added;
            return param;
        }
        case Symbol::Kind::shared: return shared(*symbol, symbol->offset + added);
        case Symbol::Kind::local: return Operand::immediate(symbol->offset + added);
        case Symbol::Kind::variable: {
            const int parameter = variable(static_cast<std::uint32_t>(symbol->index));
            if (parameter < 0) return {};
            made_.push_back({Made::How::address, reg(Type::u64), added, {}, parameter});
            return Operand::address(made_.back().reg, 0);
        }
        default: return {};
    }
}

/// Returns the parameter that points to a variable of the module; -1: nobody knows how it begins.
int Lowering::variable(std::uint32_t index) {
    const auto known = variables_.find(index);
    if (known != variables_.end()) return known->second;
    const Variable& variable = module_.variables[index];
    int& out = variables_[index];
    out = -1;
    std::optional<std::vector<std::byte>> bytes = initial_bytes(module_, variable);
    if (!bytes) return out;
    const std::string name(module_.at(variable.name));
    const bool constant = module_.at(variable.space) == ".const";
    out = Rewriting::variable(name, constant);
    out_.variables.push_back({out, name, std::move(*bytes), constant});
    return out;
}

Reg Lowering::constant(std::int64_t bits, Type type) {
    made_.push_back({Made::How::constant, reg(type), bits});
    return made_.back().reg;
}

Reg Lowering::converted(Reg from, Type type) {
    made_.push_back({Made::How::conversion, reg(type), 0, from});
    return made_.back().reg;
}

Reg Lowering::extended(Reg wide, Type type, bool is_signed) {
    extensions_.push_back({reg(type), wide, is_signed});
    return extensions_.back().narrow;
}

void Lowering::extend(const Step& step) {
    const auto type = [&](Reg reg, bool is_signed) {
        const int bits = isa::bits(type_of(reg));
        return bits == 64   ? (is_signed ? Type::s64 : Type::u64)
               : bits == 32 ? (is_signed ? Type::s32 : Type::u32)
                            : (is_signed ? Type::s16 : Type::u16);
    };
    for (const auto& [narrow, wide, is_signed] : extensions_) {
        const bool written = std::ranges::any_of(step.operands, [&, made = narrow](const Operand& operand) {
            return operand.reg == made || std::ranges::find(operand.list, made) != operand.list.end();
        });
        if (!written) continue;  // of another reading
        Step conversion =
            made(*isa::find("cvt"),
                 Form().set(Field::type, type(wide, is_signed)).set(Field::from, type(narrow, is_signed)),
                 {Operand::of(wide), Operand::of(narrow)}, step.where);
        conversion.guard = step.guard;
        conversion.guard_negated = step.guard_negated;
        add(std::move(conversion));
    }
    extensions_.clear();
}

Reg Lowering::placed(const Operand& place, Type type) {
    made_.push_back({Made::How::place,
                     reg(type),
                     place.kind == Operand::Kind::imm ? place.imm : place.offset,
                     {},
                     place.kind == Operand::Kind::imm ? -1 : place.index});
    return made_.back().reg;
}

Reg Lowering::special(int sreg) {
    const isa::Instruction& op = *isa::find("special");
    for (const Type type : {Type::u32, Type::u64}) try {
            (void)isa::resolve(op, Form().set(Field::sreg, sreg).set(Field::type, type));
            made_.push_back({Made::How::special, reg(type), sreg});
            return made_.back().reg;
        } catch (const ArgumentError&) {  // it has another type, or is a clock
        }
    return {};
}

Reg Lowering::condition_code() {
    if (!condition_code_) condition_code_ = reg(Type::pred);
    return condition_code_;
}

void Lowering::prepare(const Step& step) {
    const auto takes = [&](Reg reg) {
        return std::ranges::any_of(step.operands, [&](const Operand& operand) {
            return operand.reg == reg || std::ranges::find(operand.list, reg) != operand.list.end();
        });
    };
    for (const Made& one : made_) {
        if (!takes(one.reg)) continue;
        const Operand to = Operand::of(one.reg);
        const Type type = type_of(one.reg);
        if (one.how == Made::How::constant) {
            add(made(*isa::find("mov"), Form().set(Field::type, type), {to, Operand::immediate(one.bits)},
                     step.where));
        } else if (one.how == Made::How::place) {
            const bool local = one.parameter < 0;
            add(made(*isa::find(local ? "local.address" : "mov"), Form().set(Field::type, type),
                     {to, local ? Operand::immediate(one.bits) : Operand::shared(one.parameter, one.bits)},
                     step.where));
        } else if (one.how == Made::How::special) {
            const Form form = Form().set(Field::sreg, static_cast<int>(one.bits)).set(Field::type, type);
            add(made(*isa::find("special"), form, {to}, step.where));
        } else if (one.how == Made::How::conversion) {
            const bool narrows = isa::bits(type) == 32;
            add(made(*isa::find("cvt"),
                     Form().set(Field::type, type).set(Field::from, narrows ? Type::u64 : Type::u32),
                     {to, Operand::of(one.from)}, step.where));
        } else {
            const Operand base = Operand::of(loaded(one.parameter));
            add(made(*isa::find("add"), Form().set(Field::type, type),
                     {to, base, Operand::immediate(one.bits)}, step.where));
        }
    }
    made_.clear();
}

/// Returns the buffer that the byte of a variable lies in. The dynamic memory of wgrun's own texts has
/// several.
Operand Lowering::shared(const Symbol& symbol, std::int64_t offset) const {
    const std::vector<SharedBuffer>& buffers = from().shared();
    const auto index = static_cast<std::size_t>(symbol.index);
    const std::int64_t at = buffers[index].offset + offset;
    for (std::size_t i = index; i < buffers.size(); ++i)
        if (at >= buffers[i].offset && at < buffers[i].offset + buffers[i].bytes)
            return Operand::shared(static_cast<int>(i), at - buffers[i].offset);
    return Operand::shared(symbol.index, offset);
}

/// The registers of .reg .v2 .f32 pair: pair.x, also called pair.r, and pair.y. Returns how many they are.
int Lowering::declare_components(const Variable& variable) {
    Symbol symbol;
    symbol.type = declared_type(module_, variable);
    if (isa::register_type(symbol.type) == Type::none) return 0;
    symbol.kind = Symbol::Kind::registers;
    constexpr std::string_view names = "xyzw", colours = "rgba";
    const int count = std::min(module_.at(variable.vector)[2] - '0', 4);
    const std::string vector = std::string(module_.at(variable.name)) + '.';
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const std::string& name = components_.emplace_back(vector + names[i]);
        symbols_.declare(name, symbol);
        symbols_.alias(components_.emplace_back(vector + colours[i]), name);
    }
    return count;
}

std::vector<Reg> Lowering::components(std::string_view name) {
    const Symbol* symbol = symbols_.find(name);
    std::vector<Reg> out;
    for (int i = 0; symbol != nullptr && i < symbol->components; ++i)
        out.push_back(*symbols_.reg(std::string(name) + '.' + "xyzw"[i]));
    return out;
}

void Lowering::declare(const Statement& statement) {
    for (std::uint32_t i = 0; i < statement.count; ++i) {
        const Variable& variable = module_.variables[statement.index + i];
        const std::string_view space = module_.at(variable.space);
        if (space == ".shared") continue;  // they are in the head
        Symbol symbol;
        if (space == ".reg" && variable.vector) {
            symbol.components = declare_components(variable);
        } else if (space == ".reg") {
            symbol.kind = Symbol::Kind::registers;
            symbol.type = declared_type(module_, variable);
            symbol.counted = variable.counted;
            symbol.count = variable.count;
            if (isa::register_type(symbol.type) == Type::none) symbol.kind = Symbol::Kind::other;
        }
        // What is passed to a function is where the thread alone can reach it.
        const std::int64_t bytes = bytes_of(module_, variable);
        if ((space == ".local" || space == ".param") && bytes > 0) {
            symbol.kind = space == ".local" ? Symbol::Kind::local : Symbol::Kind::argument;
            symbol.offset = local(
                bytes,
                std::max<std::int64_t>({variable.align, isa::bits(declared_type(module_, variable)) / 8, 1}));
        }
        symbols_.declare(module_.at(variable.name), symbol);
    }
}

}  // namespace wgrun::ptx
