// Registers: operators, comparisons, arrays.
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

constexpr char add[] = "add", sub[] = "sub", mul[] = "mul", div[] = "div", rem[] = "rem", band[] = "and",
               bor[] = "or", bxor[] = "xor", shl[] = "shl", shr[] = "shr";

/// x // y of integers and x / y of floats are both div.
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

int reg_eq(lua_State* L) {
    const RegBox* a = test<RegBox>(L, 1);
    const RegBox* b = test<RegBox>(L, 2);
    lua_pushboolean(L, a != nullptr && b != nullptr && a->trace == b->trace && a->reg == b->reg &&
                           a->negated == b->negated);
    return 1;
}

// a < b has one Boolean as result while the kernel is traced, so it cannot stand for an instruction.
int no_order(lua_State* L) {
    fail(L,
         [] { return std::string("registers are compared with a:lt(b), le, gt, ge, eq, ne: predicates"); });
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
        fail(L, [&] {
            return "an array of " + std::to_string(box.regs.size()) + " registers is indexed from 0 to " +
                   std::to_string(box.regs.size() - 1) + ", not with " + got.text;
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
    static const luaL_Reg methods[] = {{"lt", compare<lt>}, {"le", compare<le>}, {"gt", compare<gt>},
                                       {"ge", compare<ge>}, {"eq", compare<eq>}, {"ne", compare<ne>},
                                       {"set", set},        {nullptr, nullptr}};
    static const luaL_Reg fields[] = {{"type", reg_type}, {"pointee", reg_pointee}, {nullptr, nullptr}};
    static const luaL_Reg metamethods[] = {
        {"__add", binary<add>},   {"__sub", binary<sub>},       {"__mul", binary<mul>},
        {"__div", binary<div>},   {"__idiv", binary<div>},      {"__mod", binary<rem>},
        {"__band", binary<band>}, {"__bor", binary<bor>},       {"__bxor", binary<bxor>},
        {"__shl", binary<shl>},   {"__shr", binary<shr>},       {"__unm", unary<neg>},
        {"__bnot", complement},   {"__tostring", reg_tostring}, {"__eq", reg_eq},
        {"__lt", no_order},       {"__le", no_order},           {nullptr, nullptr}};
    declare<RegBox>(L, {.methods = methods, .fields = fields, .metamethods = metamethods});

    static const luaL_Reg array_methods[] = {{"slice", regs_slice}, {nullptr, nullptr}};
    static const luaL_Reg array_metamethods[] = {
        {"__len", regs_len}, {"__tostring", regs_tostring}, {"__newindex", regs_assign}, {nullptr, nullptr}};
    declare<RegsBox>(L, {.methods = array_methods, .metamethods = array_metamethods, .index = regs_index});
}

}  // namespace wgrun::lua
