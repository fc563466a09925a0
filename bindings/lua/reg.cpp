// Registers: operators, comparisons, arrays.
#include <fmt/format.h>

#include "bindings/lua/args.hpp"
#include "bindings/lua/trace.hpp"

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
template <const char* method>
int binary(lua_State* L) {
    const isa::Spelling& spelling = spelling_of<method>(L);
    lua_settop(L, 2);
    return emit_from_lua(L, trace_of_operands(L), spelling, 1);
}

/// The type of the register at `index`; none for other values, and after the kernel is finished, of which
/// other messages speak.
isa::Type type_at(lua_State* L, int index) {
    const RegBox* box = test<RegBox>(L, index);
    if (box == nullptr || !box->trace->builder) return isa::Type::none;
    return guarded(L, [&] { return box->trace->builder->type_of(box->reg); });
}

/// x + y and x - y. An address and a narrower register are the commonest slip of all: it gets words of its
/// own.
template <const char* method>
int sum(lua_State* L) {
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
    return binary<method>(L);
}

/// x / y. Lua's division gives a fraction; of integers only x // y says what happens.
template <const char* method>
int quotient(lua_State* L) {
    const isa::Type a = type_at(L, 1), type = a == isa::Type::none ? type_at(L, 2) : a;
    if (isa::is_float(type) || type == isa::Type::none) return binary<method>(L);
    const std::string_view name = isa::to_string(type);
    fail(L, [&] {
        return ArgumentError(fmt::format("`/` gives a fraction, which a {} register does not hold", name),
                             "x // y or k:div(x, y), which drop the fraction; shifts are faster: x >> 1");
    });
}

constexpr char add[] = "add", sub[] = "sub", mul[] = "mul", div[] = "div", rem[] = "rem", band[] = "and",
               bor[] = "or", bxor[] = "xor", shl[] = "shl", shr[] = "shr";

template <const char* method>
int unary(lua_State* L) {
    const isa::Spelling& spelling = spelling_of<method>(L);
    lua_settop(L, 1);
    return emit_from_lua(L, check<RegBox>(L, 1).trace, spelling, 1);
}

constexpr char mov[] = "mov", neg[] = "neg", bnot[] = "not";

int complement(lua_State* L) {
    const RegBox& box = check<RegBox>(L, 1);
    if (!is_predicate(L, 1)) return unary<bnot>(L);
    push_reg(L, box.trace, box.reg, !box.negated);  // !p costs no instruction
    return 1;
}

/// a:lt(b) and the like: a predicate.
template <const char* method>
int compare(lua_State* L) {
    const isa::Spelling& spelling = spelling_of<method>(L);
    lua_settop(L, 2);
    return emit_from_lua(L, check<RegBox>(L, 1).trace, spelling, 1);
}

constexpr char lt[] = "setp_lt", le[] = "setp_le", gt[] = "setp_gt", ge[] = "setp_ge", eq[] = "setp_eq",
               ne[] = "setp_ne";

// r:set(value): mov
int set(lua_State* L) {
    const isa::Spelling& spelling = spelling_of<mov>(L);
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
            return ArgumentError("Lua's == and ~= of two registers do not compare what they will hold",
                                 "a:eq(b) gives a predicate; a:same(b) tells whether they are one register");
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

// a < b has one Boolean as result while the kernel is traced, so it cannot stand for an instruction.
int no_order(lua_State* L) {
    fail(L,
         [] { return std::string("registers are compared with a:lt(b), le, gt, ge, eq, ne: predicates"); });
}

int no_power(lua_State* L) {
    fail(L, [] {
        return ArgumentError("PTX has no power of registers",
                             "x * x; k:ex2_approx_f32(k:lg2_approx_f32(x) * y)");
    });
}

int no_text(lua_State* L) {
    fail(L, [] {
        return ArgumentError("a register has no value while the kernel is traced, and no text",
                             "tostring(r) says which register it is");
    });
}

int no_arithmetic(lua_State* L) {
    fail(L, [] {
        return ArgumentError(
            "an array of registers is no operand",
            "regs[i] is one of them; k:fragment(acc):map(function(x) return 2 * x end) computes with all");
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
                named ? "registers have no addresses: unroll with Lua's `for`, or choose by k:selp"
                      : "for i = 0, #regs - 1 do: they count from 0, and ipairs from 1");
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

        {"lt", compare<lt>, R"(
A predicate: whether the register is less than another one or a number.
@param other reg|number
@return reg  a predicate)"},
        {"le", compare<le>, R"(
A predicate: whether the register is at most another one or a number.
@param other reg|number
@return reg  a predicate)"},
        {"gt", compare<gt>, R"(
A predicate: whether the register is greater than another one or a number.
@param other reg|number
@return reg  a predicate)"},
        {"ge", compare<ge>, R"(
A predicate: whether the register is at least another one or a number.
@param other reg|number
@return reg  a predicate)"},

        {"eq", compare<eq>, R"(
A predicate: whether the register is equal to another one or a number.
@param other reg|number
@return reg  a predicate)"},
        {"ne", compare<ne>, R"(
A predicate: whether the register is different from another one or a number.
@param other reg|number
@return reg  a predicate)"},
        {"same", reg_same, R"(
Whether two Lua values are the same register of the kernel: == is refused, for it cannot compare what registers hold.
@param other reg
@return boolean)"},
        {"set", set, R"(
Writes the register: mov.
@param value reg|number|boolean
@return reg  itself)"},
        {}};
    static const Member fields[] = {{"type", reg_type, R"(
The type that it was declared with.
@return string  "u32", "f32", "pred", ...)"},
                                    {"pointee", reg_pointee, R"(
Of a pointer parameter, the type of the elements that it points to; else nil.
@return string?)"},
                                    {}};
    static const Member metamethods[] = {{"__add", sum<add>},      {"__sub", sum<sub>},
                                         {"__mul", binary<mul>},   {"__div", quotient<div>},
                                         {"__idiv", binary<div>},  {"__mod", binary<rem>},
                                         {"__band", binary<band>}, {"__bor", binary<bor>},
                                         {"__bxor", binary<bxor>}, {"__shl", binary<shl>},
                                         {"__shr", binary<shr>},   {"__unm", unary<neg>},
                                         {"__bnot", complement},   {"__tostring", reg_tostring},
                                         {"__eq", reg_eq},         {"__pow", no_power},
                                         {"__concat", no_text},    {"__lt", no_order},
                                         {"__le", no_order},       {}};
    declare<RegBox>(
        L,
        {.methods = methods, .fields = fields, .metamethods = metamethods, .index = reg_element, .text = R"(
A register, made by k:reg, k:param and the instructions. It is valid while the kernel is built.

Operators emit one instruction and give a new register: + - * / // % & | ~ << >>, unary - and ~ with numbers or registers of the same type. / is for floats, // for integers. ~p of a predicate costs nothing. Comparisons are methods, for < and == would give a Lua boolean while the kernel is built.
@see k:reg)"});

    static const Member array_methods[] = {{"slice", regs_slice, R"(
Some of the registers, as an array that is indexed from 0 again.
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
Registers in a row, made by k:regs. regs[i] is one of them, from 0 as in the figures of the ISA; `#regs` is how many there are. The registers are written by k:mov(regs[i], value).
@see k:regs)"});
}

}  // namespace wgrun::lua
