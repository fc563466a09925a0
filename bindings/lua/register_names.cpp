// The script's names of its registers, for debuggers: the locals of its functions that hold registers, read
// at each call of k.
#include <cstring>

#include "bindings/lua/error.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/trace.hpp"

namespace wgrun::lua {
namespace {

constexpr int most_frames = 64, most_locals = 200, most_fields = 32;

/// Records that the value on top of the stack is called `name`, a field of `table` if that is given.
void note(lua_State* L, Trace& trace, const char* table, const char* name) {
    const RegBox* reg = test<RegBox>(L, -1);
    const RegsBox* regs = reg == nullptr ? test<RegsBox>(L, -1) : nullptr;
    const Trace* owner = reg != nullptr ? reg->trace.get() : regs != nullptr ? regs->trace.get() : nullptr;
    if (owner != &trace || (reg != nullptr && reg->negated)) return;
    guarded(L, [&] {
        std::string full = table == nullptr ? std::string(name) : std::string(table) + "." + name;
        std::vector<Reg> now = reg != nullptr ? std::vector<Reg>{reg->reg} : regs->regs;
        std::vector<Reg>& known = trace.named[full];
        if (known == now) return;
        known = now;
        trace.builder->name({std::move(full), std::move(now), regs != nullptr, trace.builder->where()});
    });
}

/// The registers among the fields of the table on top of the stack, such as the accumulators of a k:fragment.
void note_fields(lua_State* L, Trace& trace, const char* table) {
    int left = most_fields;
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        if (lua_type(L, -2) == LUA_TSTRING) note(L, trace, table, lua_tostring(L, -2));
        lua_pop(L, 1);
        if (--left == 0) {
            lua_pop(L, 1);
            return;
        }
    }
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
            if (*name != '(') {
                if (lua_type(L, -1) == LUA_TTABLE)
                    note_fields(L, trace, name);
                else if (lua_type(L, -1) == LUA_TUSERDATA)
                    note(L, trace, nullptr, name);
            }
            lua_pop(L, 1);
        }
    }
}

}  // namespace wgrun::lua
