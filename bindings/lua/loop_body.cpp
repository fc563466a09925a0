#include "bindings/lua/loop_body.hpp"

#include <fmt/format.h>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/trace.hpp"

namespace wgrun::lua {
namespace {

constexpr int most_variables = 255;  // as many as a function of Lua can share
constexpr const char* steps_key = "steps";

// Has an instruction after the first `steps` read the register, or had the number as an operand?
bool read_since(const Trace& trace, Reg reg, std::uint64_t steps) {
    return reg.id < trace.last_read.size() && trace.last_read[reg.id] > steps;
}

bool read_since(const Trace& trace, double number, std::uint64_t steps) {
    const auto found = trace.last_number.find(number);
    return found != trace.last_number.end() && found->second > steps;
}

}  // namespace

int before_body(lua_State* L) {
    const Trace& trace = *check<BuilderBox>(L, 1).trace;
    luaL_checkstack(L, 6, nullptr);
    lua_newtable(L);
    lua_pushinteger(L, static_cast<lua_Integer>(trace.steps));
    lua_setfield(L, -2, steps_key);
    for (int i = 1; i <= most_variables && lua_isfunction(L, 2) && lua_iscfunction(L, 2) == 0; ++i) {
        if (lua_getupvalue(L, 2, i) == nullptr) break;
        if (lua_type(L, -1) == LUA_TNUMBER || test<RegBox>(L, -1) != nullptr)
            lua_rawseti(L, -2, i);
        else
            lua_pop(L, 1);
    }
    return 1;
}

int after_body(lua_State* L) {
    const std::string_view what = string_argument(L, 1);
    const Trace& trace = *check<BuilderBox>(L, 2).trace;
    luaL_checktype(L, 4, LUA_TTABLE);
    luaL_checkstack(L, 6, nullptr);
    lua_getfield(L, 4, steps_key);
    const auto steps = static_cast<std::uint64_t>(lua_tointeger(L, -1));
    lua_pop(L, 1);
    for (int i = 1; i <= most_variables && lua_isfunction(L, 3) && lua_iscfunction(L, 3) == 0; ++i) {
        const char* name = lua_getupvalue(L, 3, i);
        if (name == nullptr) break;
        lua_rawgeti(L, 4, i);
        const RegBox* now = test<RegBox>(L, -2);
        const RegBox* old = test<RegBox>(L, -1);
        const bool number = lua_type(L, -1) == LUA_TNUMBER;
        const bool read = number ? read_since(trace, static_cast<double>(lua_tonumber(L, -1)), steps)
                                 : old != nullptr && read_since(trace, old->reg, steps);
        const bool carried = now != nullptr && read && (number || !(old->reg == now->reg));
        if (carried && trace.builder) {
            const auto type = guarded(L, [&] { return trace.builder->type_of(now->reg); });
            fail(L, [&] {
                return ArgumentError(
                    fmt::format("`{}` is another register after the body of {}: the body is traced once, so "
                                "every round reads what `{}` was before the loop",
                                name, what, name),
                    fmt::format(
                        "before the loop: local {} = k:reg \"{}\" and k:mov({}, ...); in the body give "
                        "it as the destination, as in k:add({}, {}, x)",
                        name, isa::to_string(type), name, name, name));
            });
        }
        lua_pop(L, 2);
    }
    return 0;
}

}  // namespace wgrun::lua
