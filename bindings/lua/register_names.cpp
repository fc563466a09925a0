// The script's names of its registers, for debuggers: the locals of its functions that hold registers, read
// at each call of k.
#include <cstring>
#include <string>

#include "bindings/lua/error.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/trace.hpp"

namespace wgrun::lua {
namespace {

constexpr int most_frames = 64, most_locals = 200, most_fields = 32, most_tables = 2;

/// Records that the value on top of the stack is called `name`, which stays where it is until then.
void note(lua_State* L, Trace& trace, const std::string& name) {
    const RegBox* reg = test<RegBox>(L, -1);
    const RegsBox* regs = reg == nullptr ? test<RegsBox>(L, -1) : nullptr;
    const Trace* owner = reg != nullptr ? reg->trace.get() : regs != nullptr ? regs->trace.get() : nullptr;
    if (owner != &trace || (reg != nullptr && reg->negated)) return;
    guarded(L, [&] {
        std::vector<Reg> now = reg != nullptr ? std::vector<Reg>{reg->reg} : regs->regs;
        std::vector<Reg>& known = trace.named[name];
        if (known == now) return;
        known = now;
        trace.builder->name({name, std::move(now), regs != nullptr, trace.builder->where()});
    });
}

/// The registers among the fields of the table on top of the stack, called `table`, such as the accumulators
/// of a k:fragment, and of those in it: "sums[1]", "state.rows[2]".
void note_fields(lua_State* L, Trace& trace, const std::string& table, int depth) {
    luaL_checkstack(L, 4, nullptr);
    int left = most_fields;
    auto& name = held<std::string>(L);
    lua_insert(L, -2);  // held objects stay below the table
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        const bool named = lua_type(L, -2) == LUA_TSTRING;
        const int type = lua_type(L, -1);
        if ((named || lua_isinteger(L, -2) != 0) && (type == LUA_TTABLE || type == LUA_TUSERDATA)) {
            guarded(L, [&] {
                name = named ? table + "." + lua_tostring(L, -2)
                             : table + "[" + std::to_string(lua_tointeger(L, -2)) + "]";
            });
            if (type == LUA_TUSERDATA)
                note(L, trace, name);
            else if (depth < most_tables)
                note_fields(L, trace, name, depth + 1);
        }
        lua_pop(L, 1);
        if (--left == 0) {
            lua_pop(L, 1);
            break;
        }
    }
    lua_remove(L, -2);
}

}  // namespace

void note_register_names(lua_State* L, Trace& trace) {
    luaL_checkstack(L, 6, nullptr);
    lua_Debug frame{};
    for (int level = 1; level < most_frames && lua_getstack(L, level, &frame) != 0; ++level) {
        lua_getinfo(L, "S", &frame);
        if (*frame.what == 'C' || std::strncmp(frame.source, stdlib_prefix, std::strlen(stdlib_prefix)) == 0)
            continue;
        for (int i = 1; i <= most_locals; ++i) {
            const char* name = lua_getlocal(L, &frame, i);
            if (name == nullptr) break;
            const int type = lua_type(L, -1);
            if (*name != '(' && (type == LUA_TTABLE || type == LUA_TUSERDATA)) {
                auto& full = held<std::string>(L);
                lua_insert(L, -2);
                guarded(L, [&] { full = name; });
                if (type == LUA_TTABLE)
                    note_fields(L, trace, full, 1);
                else
                    note(L, trace, full);
                lua_remove(L, -2);
            }
            lua_pop(L, 1);
        }
    }
}

}  // namespace wgrun::lua
