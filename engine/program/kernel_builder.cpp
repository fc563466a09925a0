#include "wgrun/kernel_builder.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "wgrun/isa.hpp"
#include "wgrun/nearest.hpp"

namespace wgrun {
namespace {

using isa::Access;
using isa::Field;

Where place_of(const SourceLine& at) { return Where::at(at.file, at.line); }

isa::Type type_named(std::string_view name) {
    if (const auto type = isa::parse_type(name)) return *type;
    throw ArgumentError(fmt::format(
        "unknown register type `{}` (pred, b16, b32, u32, s32, f32, b64, u64, s64, f64, ...)", name));
}

}  // namespace

Value::Value(const std::vector<Value>& list) {
    operand_.kind = Operand::Kind::list;
    operand_.index = 0;
    for (const Value& value : list) {
        switch (value.operand_.kind) {
            case Operand::Kind::reg: operand_.list.push_back(value.operand_.reg); break;
            case Operand::Kind::number:
                operand_.list.emplace_back();
                numbers_.push_back(value.operand_);
                break;
            default: throw ArgumentError("a list takes registers and numbers");
        }
        if (of_ != nullptr && value.of_ != nullptr && of_ != value.of_)
            throw ArgumentError("a list has registers of two kernels");
        if (value.of_ != nullptr) of_ = value.of_;
    }
}

Value Value::operator[](std::size_t index) const {
    if (index >= operand_.list.size() || !operand_.list[index])
        throw ArgumentError(
            fmt::format("there is no register {} in a list of {}", index, operand_.list.size()));
    Value out;
    out.operand_ = Operand::of(operand_.list[index]);
    out.of_ = of_;
    return out;
}

isa::Type Value::type() const {
    if (of_ == nullptr || operand_.kind != Operand::Kind::reg)
        throw ArgumentError("only registers have a type");
    return of_->builder_.type_of(operand_.reg);
}

Value Value::operator!() const {
    if (type() != isa::Type::pred)
        throw ArgumentError("! is for predicates", "~x gives the complement of the bits of x");
    Value out = *this;
    out.operand_.negated = !operand_.negated;
    return out;
}

KernelBuilder::KernelBuilder(const std::string& name, const Shape& shape, At at)
    : builder_(name, shape.block, shape.cluster, place_of(at)) {}

KernelBuilder::~KernelBuilder() = default;

void KernelBuilder::locate(ArgumentError& error) const {
    if (!error.finding().where) error.finding().where = builder_.where();
}

/// Does work at a line of the host, which errors then name.
template <class Work>
auto KernelBuilder::at(const At& where, Work&& work) {
    builder_.at(place_of(where));
    try {
        return work();
    } catch (ArgumentError& error) {
        locate(error);
        throw;
    }
}

Operand KernelBuilder::operand_of(const Value& value) const {
    if (value.of_ != nullptr && value.of_ != this)
        throw ArgumentError("a register or buffer of one kernel is used in another");
    return value.operand_;
}

Operand KernelBuilder::operand_of(Call& call, const Value& value) const {
    Operand out = operand_of(value);
    if (out.kind == Operand::Kind::list) {
        out.index = static_cast<int>(call.numbers.size());
        call.numbers.insert(call.numbers.end(), value.numbers_.begin(), value.numbers_.end());
    }
    return out;
}

Reg KernelBuilder::predicate_of(const Value& value, bool& negated) const {
    const Operand operand = operand_of(value);
    if (operand.kind != Operand::Kind::reg || builder_.type_of(operand.reg) != isa::Type::pred)
        throw ArgumentError("a condition of the kernel is a predicate",
                            "x < y, x == 0 and the like give predicates");
    negated = operand.negated;
    return operand.reg;
}

Value KernelBuilder::value_of(Operand operand) {
    Value out;
    out.operand_ = std::move(operand);
    out.of_ = this;
    return out;
}

Call KernelBuilder::begin(const Method& method) {
    return at(method.at, [&] {
        const isa::Spelling spelling = isa::parse_method(method.name);
        if (spelling.op == nullptr) {
            const std::string near = isa::nearest_method(method.name);
            throw ArgumentError(fmt::format("there is no instruction `{}`{}", method.name,
                                            near.empty() ? "" : fmt::format(": did you mean `{}`?", near)),
                                "`wgrun isa` lists the instructions");
        }
        Call call;
        call.op = spelling.op;
        call.form = spelling.form;
        call.operands.resize(spelling.op->operands.size());
        return call;
    });
}

void KernelBuilder::give(Call& call, std::vector<Value>&, const With& with) const {
    const isa::Instruction& op = *call.op;
    for (const auto& [key, text] : with.qualifiers) {
        const auto field = isa::parse_field(key);
        if (!field || !takes_field(op, *field)) throw ArgumentError(unknown_option(op, key));
        const std::optional<int> value = isa::parse_value(*field, text);
        if (!value) throw ArgumentError(illegal_qualifier(op, *field, text));
        call.form.set(*field, *value);
    }
    for (const auto& [key, value] : with.operands) {
        const isa::OperandRule* const rule = named_operand(op, key);
        if (rule == nullptr) throw ArgumentError(unknown_option(op, key));
        call.operands[static_cast<std::size_t>(rule - op.operands.data())] = operand_of(call, value);
    }
    if (!with.guard.empty()) call.guard = predicate_of(with.guard, call.guard_negated);
    if (with.offset.empty()) return;
    if (with.offset.size() != addresses_of(op))
        throw ArgumentError(fmt::format("{} has {} addresses, and there are {} offsets", op.name,
                                        addresses_of(op), with.offset.size()));
    call.offsets = with.offset;
}

Value KernelBuilder::end(Call& call, const std::vector<Value>& given, const At& where) {
    return at(where, [&]() -> Value {
        for (const Value& value : given) call.positional.push_back(operand_of(call, value));
        place_operands(call);
        place_numbers(call, builder_, *isa::find("mov"));
        check_pointee(call, pointees_);
        const Step& step =
            builder_.add(*call.op, call.form, std::move(call.operands), call.guard, call.guard_negated);
        for (std::size_t i = 0; i < step.operands.size(); ++i)
            if (step.op->operands[i].access == Access::out) return value_of(step.operands[i]);
        return {};
    });
}

Value KernelBuilder::param(const std::string& name, std::string_view type, At where) {
    return at(where, [&] {
        const ParamType of = param_type(type);
        const int index = builder_.param(name, of.type, of.pointee, of.constant);
        isa::Form form;
        form.set(Field::type, of.type);
        Reg value =
            builder_.add(*isa::find("ld.param"), form, {Operand(), Operand::param(index)}).operands[0].reg;
        if (of.pointee) {
            value = builder_.add(*isa::find("cvta.to.global"), {}, {Operand(), Operand::of(value)})
                        .operands[0]
                        .reg;
            pointees_[value.id] = *of.pointee;
        }
        return value_of(Operand::of(value));
    });
}

Value KernelBuilder::tensor_map(const std::string& name, const TensorBox& box, bool constant, At where) {
    return at(where, [&] {
        const int index = builder_.tensor_map(name, box, constant);
        return value_of(Operand::of(
            builder_.add(*isa::find("cvta.param"), {}, {Operand(), Operand::param(index)}).operands[0].reg));
    });
}

Value KernelBuilder::special(std::string_view name, At where) {
    return at(where, [&] {
        const auto sreg = isa::parse_value(Field::sreg, name);
        if (!sreg)
            throw ArgumentError(fmt::format("unknown special register `{}` (tid.x, ctaid.x, ...)", name));
        isa::Form form;
        form.set(Field::sreg, *sreg);
        return value_of(
            Operand::of(builder_.add(special_register(*sreg), form, {Operand()}).operands[0].reg));
    });
}

Value KernelBuilder::reg(std::string_view type, At where) {
    return at(where, [&] { return value_of(Operand::of(builder_.reg(type_named(type)))); });
}

Value KernelBuilder::regs(std::string_view type, std::int64_t count, At where) {
    return at(where, [&] { return value_of(Operand::of(builder_.regs(type_named(type), count))); });
}

Value KernelBuilder::shared(const std::string& name, std::int64_t bytes, std::int64_t align, At where) {
    return at(where, [&] { return value_of(Operand::shared(builder_.shared(name, bytes, align, {}), 0)); });
}

Value KernelBuilder::shared(const std::string& name, const Tile& tile, At where) {
    return at(where, [&] {
        return value_of(Operand::shared(builder_.shared(name, tile.bytes(), tile.align(), tile), 0));
    });
}

Value KernelBuilder::element(const Value& pointer, const Here& index) {
    const auto found = pointees_.find(pointer.reg().id);
    if (found == pointees_.end() || bits(found->second) < 8)
        at(index.at, [] {
            throw ArgumentError("element: expected a pointer parameter whose elements are whole bytes");
        });
    const Dtype pointee = found->second;
    const int bytes = bits(pointee) / 8;
    Value out;
    if (index.value.operand_.kind == Operand::Kind::number) {
        out = (*this)({"add", index.at}, pointer, index.value.operand_.imm * bytes);
    } else if (isa::bits(index.value.type()) == 64) {
        out = (*this)({"mad_lo_u64", index.at}, index.value, bytes, pointer);
    } else {
        out = (*this)({"mad_wide_u32", index.at}, index.value, bytes, pointer);
    }
    pointees_[out.reg().id] = pointee;
    return out;
}

void KernelBuilder::set(const Value& destination, const Here& value) {
    (*this)({"mov", value.at}, destination, value.value);
}

void KernelBuilder::if_(const Here& predicate, const Body& when_true, const Body& otherwise) {
    at(predicate.at, [&] {
        bool negated = false;
        const Reg condition = predicate_of(predicate.value, negated);
        builder_.begin_if(condition, negated);
    });
    when_true();
    if (otherwise) {
        builder_.begin_else();
        otherwise();
    }
    at(predicate.at, [&] { builder_.end_if(); });
}

void KernelBuilder::loop(const Range& range, const std::function<void(const Value& i)>& body, At where) {
    const Value i = reg("u32", where);
    set(i, {range.from, where});
    at(where, [&] { builder_.begin_loop(); });
    const Value more = (*this)({"setp_lt", where}, i, range.to);
    at(where, [&] { builder_.loop_condition(more.reg()); });
    body(i);
    at(where, [&] { builder_.loop_next(); });
    (*this)({"add", where}, i, i, range.step);
    at(where, [&] { builder_.end_loop(); });
}

void KernelBuilder::loop(const Here& count, const std::function<void(const Value& i)>& body) {
    loop(Range{.to = count.value}, body, count.at);
}

void KernelBuilder::while_(const std::function<Value()>& condition, const Body& body, At where) {
    at(where, [&] { builder_.begin_loop(); });
    const Value more = condition();
    at(where, [&] {
        bool negated = false;
        const Reg predicate = predicate_of(more, negated);
        if (negated)
            throw ArgumentError("the condition of a loop cannot be a negated predicate",
                                "x != y in place of !(x == y)");
        builder_.loop_condition(predicate);
    });
    body();
    at(where, [&] { builder_.end_loop(); });
}

void KernelBuilder::repeat_(const std::function<Value()>& body, At where) {
    const Place again = label({}, where);
    place(again, where);
    jump(again, body(), where);
}

void KernelBuilder::break_(At where) {
    at(where, [&] { builder_.leave(Leave::loop); });
}
void KernelBuilder::continue_(At where) {
    at(where, [&] { builder_.leave(Leave::iteration); });
}
void KernelBuilder::exit(At where) {
    at(where, [&] { builder_.leave(Leave::kernel); });
}

Place KernelBuilder::label(const std::string& name, At where) {
    return at(where, [&] { return Place{builder_.label(name)}; });
}
void KernelBuilder::place(Place label, At where) {
    at(where, [&] { builder_.place(label.index); });
}
void KernelBuilder::jump(Place label, const Value& predicate, At where) {
    at(where, [&] {
        if (predicate.empty()) return builder_.jump(label.index);
        bool negated = false;
        const Reg condition = predicate_of(predicate, negated);
        builder_.jump(label.index, condition, negated);
    });
}

void KernelBuilder::say(Message::Kind kind, std::string_view format, const std::vector<Value>& values,
                        const Operand& condition, const At& where) {
    at(where, [&] {
        std::vector<Operand> operands;
        for (const Value& value : values) operands.push_back(operand_of(value));
        builder_.say(kind, format, operands, condition);
    });
}

void KernelBuilder::print(std::string_view format, const std::vector<Value>& values, At where) {
    say(Message::Kind::print, format, values, {}, where);
}

void KernelBuilder::assert_(const Here& predicate, std::string_view format,
                            const std::vector<Value>& values) {
    at(predicate.at, [&] {
        bool negated = false;
        predicate_of(predicate.value, negated);
    });
    say(Message::Kind::assertion, format, values, operand_of(predicate.value), predicate.at);
}

Program KernelBuilder::finish() { return builder_.finish(); }

/// Of whichever is a register.
Value binary(std::string_view method, const Here& a, const Here& b) {
    KernelBuilder* const of = a.value.of_ != nullptr ? a.value.of_ : b.value.of_;
    if (of == nullptr) throw ArgumentError("an operator of a kernel takes registers");
    return (*of)({method, a.at}, a.value, b.value);
}

Value unary(std::string_view method, const Here& a) {
    if (a.value.of_ == nullptr) throw ArgumentError("an operator of a kernel takes registers");
    return (*a.value.of_)({method, a.at}, a.value);
}

Value operator+(const Here& a, const Here& b) { return binary("add", a, b); }
Value operator-(const Here& a, const Here& b) { return binary("sub", a, b); }
Value operator*(const Here& a, const Here& b) { return binary("mul", a, b); }
Value operator/(const Here& a, const Here& b) { return binary("div", a, b); }
Value operator%(const Here& a, const Here& b) { return binary("rem", a, b); }
Value operator&(const Here& a, const Here& b) { return binary("and", a, b); }
Value operator|(const Here& a, const Here& b) { return binary("or", a, b); }
Value operator^(const Here& a, const Here& b) { return binary("xor", a, b); }
Value operator<<(const Here& a, const Here& b) { return binary("shl", a, b); }
Value operator>>(const Here& a, const Here& b) { return binary("shr", a, b); }
Value operator<(const Here& a, const Here& b) { return binary("setp_lt", a, b); }
Value operator<=(const Here& a, const Here& b) { return binary("setp_le", a, b); }
Value operator>(const Here& a, const Here& b) { return binary("setp_gt", a, b); }
Value operator>=(const Here& a, const Here& b) { return binary("setp_ge", a, b); }
Value operator==(const Here& a, const Here& b) { return binary("setp_eq", a, b); }
Value operator!=(const Here& a, const Here& b) { return binary("setp_ne", a, b); }
Value operator-(const Here& a) { return unary("neg", a); }
Value operator~(const Here& a) { return unary("not", a); }

}  // namespace wgrun
