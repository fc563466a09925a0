// Registers: operators, comparisons, arrays.
#include <fmt/format.h>

#include "bindings/lua/args.hpp"
#include "bindings/lua/trace.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::lua {
namespace {

/// The trace of whichever operand is a register.
const std::shared_ptr<Trace>& trace_of_operands(lua_State* L) {
    const RegBox* box = test<RegBox>(L, 1);
    return box != nullptr ? box->trace : check<RegBox>(L, 2).trace;
}

bool is_predicate(lua_State* L, int index) {
    const RegBox* box = test<RegBox>(L, index);
    if (box == nullptr) return false;
    Builder& builder = builder_of(L, box->trace);
    return guarded(L, [&] { return builder.type_of(box->reg); }) == isa::Type::pred;
}

/// A binary operator: one instruction. The spelling is looked up once.
template <Literal method>
int emit_binary(lua_State* L) {
    const isa::Spelling& spelling = spelling_of<method>(L);
    lua_settop(L, 2);
    return emit_from_lua(L, trace_of_operands(L), spelling, 1);
}

/// The type of the register at `index`; none for other values, and after the kernel is finished, which has a
/// message of its own.
isa::Type type_at(lua_State* L, int index) {
    const RegBox* box = test<RegBox>(L, index);
    if (box == nullptr || !box->trace->builder) return isa::Type::none;
    return guarded(L, [&] { return box->trace->builder->type_of(box->reg); });
}

/// x + y and x - y. Adding a narrower register to an address is the most common mistake, so it has a message
/// of its own.
template <Literal method>
int emit_sum(lua_State* L) {
    const isa::Type a = type_at(L, 1), b = type_at(L, 2);
    const bool narrow_b = isa::bits(a) == 64 && !isa::is_float(a) && isa::bits(b) == 32 && !isa::is_float(b);
    const bool narrow_a = isa::bits(b) == 64 && !isa::is_float(b) && isa::bits(a) == 32 && !isa::is_float(a);
    if (narrow_a || narrow_b) {
        const RegBox& wide = check<RegBox>(L, narrow_b ? 1 : 2);
        const std::string_view of_wide = isa::to_string(narrow_b ? a : b),
                               of_narrow = isa::to_string(narrow_b ? b : a);
        const bool pointer = wide.trace->pointees.contains(wide.reg.id);
        fail(L, [&] {
            return ArgumentError(
                fmt::format(
                    "a {} register ({}) and one of {} ({} bits) cannot be added: registers are not converted",
                    of_wide, pointer ? "a pointer" : "64 bits", of_narrow, 32),
                pointer ? "k:element(pointer, i) is the address of element i; i counts elements, not bytes"
                        : "k:cvt_u64_u32(i) widens it; k:element(pointer, i) is the address of an element");
        });
    }
    return emit_binary<method>(L);
}

/// x / y. Lua's division gives a fraction; for integers only x // y is clear.
template <Literal method>
int quotient(lua_State* L) {
    const isa::Type a = type_at(L, 1), type = a == isa::Type::none ? type_at(L, 2) : a;
    if (isa::is_float(type) || type == isa::Type::none) return emit_binary<method>(L);
    const std::string_view name = isa::to_string(type);
    fail(L, [&] {
        return ArgumentError(
            fmt::format("`/` gives a fraction, which a {} register cannot hold", name),
            "x // y or k:div(x, y), which truncate; for powers of two, a shift is faster: x >> 1");
    });
}

/// x >> 1, x & y and the like. PTX's bit operations take the bits of a float, but nobody who writes `f >> 1`
/// means them.
void no_bits_of_floats(lua_State* L, const char* sign) {
    for (const int index : {1, 2}) {
        const isa::Type type = type_at(L, index);
        if (!isa::is_float(type)) continue;
        const std::string_view name = isa::to_string(type);
        const bool shift = *sign == '<' || *sign == '>';
        fail(L, [&] {
            return rules::refusal(
                rules::WG_FORM_02,
                fmt::format("`{}` is for integers and bits, not for a register of type {}", sign, name),
                fmt::format("{}k:mov(x, {{ type = \"b{}\" }}) gives the bits of x",
                            shift ? "x * 2.0 and x * 0.5 are products; " : "", isa::bits(type)));
        });
    }
}

template <Literal method, Literal sign>
int emit_bits(lua_State* L) {
    no_bits_of_floats(L, sign.text);
    return emit_binary<method>(L);
}

template <Literal method>
int emit_unary(lua_State* L) {
    const isa::Spelling& spelling = spelling_of<method>(L);
    lua_settop(L, 1);
    return emit_from_lua(L, check<RegBox>(L, 1).trace, spelling, 1);
}

int complement(lua_State* L) {
    const RegBox& box = check<RegBox>(L, 1);
    if (!is_predicate(L, 1)) {
        no_bits_of_floats(L, "~");
        return emit_unary<"not">(L);
    }
    push_reg(L, box.trace, box.reg, !box.negated);  // !p costs no instruction
    return 1;
}

/// a:lt(b) and the like: a predicate.
template <Literal method>
int compare(lua_State* L) {
    const isa::Spelling& spelling = spelling_of<method>(L);
    lua_settop(L, 2);
    return emit_from_lua(L, check<RegBox>(L, 1).trace, spelling, 1);
}

// r:set(value): mov
int set(lua_State* L) {
    const isa::Spelling& spelling = spelling_of<"mov">(L);
    lua_settop(L, 2);
    const std::shared_ptr<Trace>& trace = check<RegBox>(L, 1).trace;
    emit_from_lua(L, trace, spelling, 1);
    lua_settop(L, 1);
    return 1;
}

int reg_type(lua_State* L) {
    const RegBox& box = check<RegBox>(L, 1);
    Builder& builder = builder_of(L, box.trace);
    const std::string_view name = guarded(L, [&] { return isa::to_string(builder.type_of(box.reg)); });
    lua_pushlstring(L, name.data(), name.size());
    return 1;
}

// r.pointee: the dtype behind a parameter's pointer, or nil
int reg_pointee(lua_State* L) {
    const RegBox& box = check<RegBox>(L, 1);
    const auto found = box.trace->pointees.find(box.reg.id);
    if (found == box.trace->pointees.end()) return lua_pushnil(L), 1;
    const std::string_view name = to_string(found->second);
    lua_pushlstring(L, name.data(), name.size());
    return 1;
}

int reg_tostring(lua_State* L) {
    const RegBox& box = check<RegBox>(L, 1);
    if (!box.trace->builder) return lua_pushfstring(L, "register of kernel %s", box.trace->name.c_str()), 1;
    Builder& builder = *box.trace->builder;
    const std::string_view type = guarded(L, [&] { return isa::to_string(builder.type_of(box.reg)); });
    lua_pushfstring(L, "%sregister %d (%s) of kernel %s", box.negated ? "!" : "",
                    static_cast<int>(box.reg.id), type.data(), box.trace->name.c_str());
    return 1;
}

bool same_register(const RegBox& a, const RegBox& b) {
    return a.trace == b.trace && a.reg == b.reg && a.negated == b.negated;
}

// a == b is decided while the kernel is traced: true of one register under two names, and a slip otherwise.
int reg_eq(lua_State* L) {
    const RegBox* a = test<RegBox>(L, 1);
    const RegBox* b = test<RegBox>(L, 2);
    if (a != nullptr && b != nullptr && !same_register(*a, *b))
        fail(L, [] {
            return ArgumentError(
                "Lua's == and ~= cannot compare the values of registers, which are not known while the "
                "kernel is traced",
                "a:eq(b) gives a predicate; a:same(b) tells whether both are the same register");
        });
    lua_pushboolean(L, a != nullptr && b != nullptr);
    return 1;
}

// a:same(b): do the two name one register?
int reg_same(lua_State* L) {
    const RegBox& a = check<RegBox>(L, 1);
    const RegBox* b = test<RegBox>(L, 2);
    lua_pushboolean(L, b != nullptr && same_register(a, *b));
    return 1;
}

// Lua converts the result of a < b to a Boolean, so it cannot stand for an instruction.
int no_register_order(lua_State* L) {
    // math.max and math.min compare, too.
    lua_Debug caller;
    const char* name = nullptr;
    if (lua_getstack(L, 1, &caller) != 0 && lua_getinfo(L, "Sn", &caller) != 0 && *caller.what == 'C')
        name = caller.name;
    const std::string_view function = name == nullptr ? "" : name;
    fail(L, [&] {
        if (function == "max" || function == "min")
            return fmt::format(
                "math.{} compares numbers while the kernel is traced: k:{}(a, b) is the instruction",
                function, function);
        return std::string("registers are compared by a:lt(b), le, gt, ge, eq and ne, which give predicates");
    });
}

int no_power(lua_State* L) {
    fail(L, [] {
        return ArgumentError("PTX has no instruction for powers",
                             "x * x; k:ex2_approx_f32(k:lg2_approx_f32(x) * y)");
    });
}

int no_text(lua_State* L) {
    fail(L, [] {
        return ArgumentError("a register has no value while the kernel is traced, so it cannot become text",
                             "tostring(r) names the register; k:print prints its value when the kernel runs");
    });
}

int no_arithmetic(lua_State* L) {
    fail(L, [] {
        return ArgumentError("an array of registers is not an operand",
                             "regs[i] is one register; k:fragment(acc):map(function(x) return 2 * x end) "
                             "computes with all of them");
    });
}

// r[i]
int reg_element(lua_State* L) {
    const RegBox& box = check<RegBox>(L, 1);
    const bool pointer = box.trace->pointees.contains(box.reg.id);
    const ShortText key = describe(L, 2);
    fail(L, [&] {
        return ArgumentError(
            std::string("a register has no elements: it cannot be indexed with ") + key.text,
            pointer ? "k:ld_global_f32(k:element(pointer, i)) loads element i, k:st_global_f32(address, "
                      "value) stores one"
                    : "");
    });
}

int regs_assign(lua_State* L) {
    const ShortText key = describe(L, 2);
    fail(L, [&] {
        return "an array of registers cannot be assigned to (at " + std::string(key.text) +
               "): k:mov(regs[i], value) writes a register";
    });
}

int regs_index(lua_State* L) {
    const RegsBox& box = check<RegsBox>(L, 1);
    std::int64_t i = 0;
    if (!to_integer(L, 2, i) || i < 0 || i >= static_cast<std::int64_t>(box.regs.size())) {
        const ShortText got = describe(L, 2);
        const bool named = test<RegBox>(L, 2) != nullptr;
        fail(L, [&] {
            return ArgumentError(
                "an array of " + std::to_string(box.regs.size()) + " registers is indexed from 0 to " +
                    std::to_string(box.regs.size() - 1) + ", not with " + got.text,
                named ? "registers cannot be indexed at run time: unroll with Lua's `for`, or select with "
                        "k:selp"
                      : "for i = 0, #regs - 1 do: arrays of registers count from 0, ipairs counts from 1");
        });
    }
    push_reg(L, box.trace, box.regs[static_cast<std::size_t>(i)]);
    return 1;
}

int regs_len(lua_State* L) {
    lua_pushinteger(L, static_cast<lua_Integer>(check<RegsBox>(L, 1).regs.size()));
    return 1;
}

int regs_tostring(lua_State* L) {
    const RegsBox& box = check<RegsBox>(L, 1);
    lua_pushfstring(L, "%d registers of kernel %s", static_cast<int>(box.regs.size()),
                    box.trace->name.c_str());
    return 1;
}

// regs:slice(first, count)
int regs_slice(lua_State* L) {
    const RegsBox& box = check<RegsBox>(L, 1);
    const std::int64_t first = integer_argument(L, 2), count = integer_argument(L, 3);
    const auto size = static_cast<std::int64_t>(box.regs.size());
    if (first < 0 || count < 1 || first > size || count > size - first)
        fail(L, [&] {
            return "slice of " + std::to_string(count) + " registers from " + std::to_string(first) +
                   ": the array has " + std::to_string(size);
        });
    auto& part = held<std::vector<Reg>>(L);
    guarded(L, [&] { part.assign(box.regs.begin() + first, box.regs.begin() + first + count); });
    push_regs(L, box.trace, part);
    return 1;
}

}  // namespace

void push_reg(lua_State* L, const std::shared_ptr<Trace>& trace, Reg reg, bool negated) {
    push_object<RegBox>(L, [&] { return RegBox{trace, reg, negated}; });
}

void push_regs(lua_State* L, const std::shared_ptr<Trace>& trace, const std::vector<Reg>& regs) {
    push_object<RegsBox>(L, [&] { return RegsBox{trace, regs}; });
}

void open_reg(lua_State* L) {
    static const Member methods[] = {

        {"lt", compare<"setp_lt">, R"(
Compares with another register or a number: less than.
@param other reg|number
@return reg  a predicate)"},
        {"le", compare<"setp_le">, R"(
Compares with another register or a number: less than or equal.
@param other reg|number
@return reg  a predicate)"},
        {"gt", compare<"setp_gt">, R"(
Compares with another register or a number: greater than.
@param other reg|number
@return reg  a predicate)"},
        {"ge", compare<"setp_ge">, R"(
Compares with another register or a number: greater than or equal.
@param other reg|number
@return reg  a predicate)"},

        {"eq", compare<"setp_eq">, R"(
Compares with another register or a number: equal.
@param other reg|number
@return reg  a predicate)"},
        {"ne", compare<"setp_ne">, R"(
Compares with another register or a number: not equal.
@param other reg|number
@return reg  a predicate)"},
        {"same", reg_same, R"(
Whether two Lua values are the same register of the kernel. Lua's == is refused, since it cannot compare the values of registers.
@param other reg
@return boolean)"},
        {"set", set, R"(
Writes the register, by mov.
@param value reg|number|boolean
@return reg  itself)"},
        {}};
    static const Member fields[] = {{"type", reg_type, R"(
The type that it was declared with.
@return string  "u32", "f32", "pred", ...)"},
                                    {"pointee", reg_pointee, R"(
For a pointer parameter, the type of the elements that it points to; else nil.
@return string?)"},
                                    {}};
    static const Member metamethods[] = {{"__add", emit_sum<"add">},
                                         {"__sub", emit_sum<"sub">},
                                         {"__mul", emit_binary<"mul">},
                                         {"__div", quotient<"div">},
                                         {"__idiv", emit_binary<"div">},
                                         {"__mod", emit_binary<"rem">},
                                         {"__band", emit_bits<"and", "&">},
                                         {"__bor", emit_bits<"or", "|">},
                                         {"__bxor", emit_bits<"xor", "~">},
                                         {"__shl", emit_bits<"shl", "<<">},
                                         {"__shr", emit_bits<"shr", ">>">},
                                         {"__unm", emit_unary<"neg">},
                                         {"__bnot", complement},
                                         {"__tostring", reg_tostring},
                                         {"__eq", reg_eq},
                                         {"__pow", no_power},
                                         {"__concat", no_text},
                                         {"__lt", no_register_order},
                                         {"__le", no_register_order},
                                         {}};
    declare<RegBox>(
        L,
        {.methods = methods, .fields = fields, .metamethods = metamethods, .index = reg_element, .text = R"(
A register, made by k:reg, k:param and the instructions. It is valid only while the kernel is built.

Each operator emits one instruction and gives a new register: + - * / // % & | ~ << >> and unary - and ~, with numbers or registers of the same type. / is for floats, // for integers. ~p of a predicate emits nothing. Comparisons are methods, since Lua's < and == give a boolean while the kernel is built.
@operator add sub mul div idiv mod band bor bxor shl shr: reg|number -> reg
@operator unm bnot: -> reg
@operator index: integer|reg -> reg
@see k:reg)"});

    static const Member array_methods[] = {{"slice", regs_slice, R"(
Part of the array, again indexed from 0.
@param first integer  from 0
@param count integer
@return regs)"},
                                           {}};
    static const Member array_metamethods[] = {
        {"__len", regs_len},      {"__tostring", regs_tostring}, {"__newindex", regs_assign},
        {"__add", no_arithmetic}, {"__sub", no_arithmetic},      {"__mul", no_arithmetic},
        {"__div", no_arithmetic}, {"__unm", no_arithmetic},      {}};
    declare<RegsBox>(
        L, {.methods = array_methods, .metamethods = array_metamethods, .index = regs_index, .text = R"(
An array of registers, made by k:regs. regs[i] is one of them, counted from 0 as in the figures of the ISA; `#regs` is their number. They are written by k:mov(regs[i], value).
@operator index: integer -> reg
@operator len: -> integer
@see k:regs)"});
}

}  // namespace wgrun::lua
