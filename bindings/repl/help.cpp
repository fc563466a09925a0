#include "bindings/repl/help.hpp"

#include <string>

#include "bindings/lua/docs.hpp"
#include "bindings/lua/userdata.hpp"

namespace wgrun::repl {

using lua::guarded;

void push_help(lua_State* L, const char* name, int columns) {
    const lua::Documentation& docs = lua::documentation(L);
    auto& text = lua::held<std::string>(L);
    guarded(L, [&] { text = lua::help_text(docs, name, columns, {"help()", "help \"NAME\""}); });
    lua_pushlstring(L, text.data(), text.size());
    lua_remove(L, -2);
}

void push_help_of(lua_State* L, int index, int columns) {
    if (lua_isnoneornil(L, index)) return push_help(L, "", columns);
    if (lua_type(L, index) == LUA_TSTRING) return push_help(L, lua_tostring(L, index), columns);
    auto& name = lua::held<std::string>(L);
    const std::string_view known = lua::described_name(L, index);
    guarded(L, [&] { name = known; });
    if (name.empty()) lua::fail_argument(L, index, "a name, or a function or object of wgrun");
    push_help(L, name.c_str(), columns);
    lua_remove(L, -2);
}

}  // namespace wgrun::repl
