#include "bindings/lua/script.hpp"

#include <algorithm>
#include <cstring>

#include "bindings/lua/error.hpp"

namespace wgrun::lua {

void set_script_path(lua_State* L, const char* file) {
    const char* slash = std::strrchr(file, '/');
    lua_getglobal(L, "package");
    lua_pushlstring(L, slash == nullptr ? "." : file,
                    slash == nullptr ? 1 : static_cast<std::size_t>(slash - file));
    const char* folder = lua_tostring(L, -1);
    lua_getfield(L, -2, "path");
    lua_pushfstring(L, "%s/?.lua;%s/?/init.lua;%s", folder, folder, lua_tostring(L, -1));
    lua_setfield(L, -4, "path");
    lua_pop(L, 3);
}

void set_script_arguments(lua_State* L, const std::string& program, const std::string& file,
                          const std::vector<std::string>& arguments) {
    lua_createtable(L, static_cast<int>(arguments.size()), 2);
    lua_pushstring(L, program.c_str());
    lua_rawseti(L, -2, -1);
    lua_pushstring(L, file.c_str());
    lua_rawseti(L, -2, 0);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        lua_pushlstring(L, arguments[i].data(), arguments[i].size());
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setglobal(L, "arg");
}

int load_script(lua_State* L, const char* file, const std::string* text) {
    if (text == nullptr) return luaL_loadfilex(L, file, "t");
    if (file == nullptr)
        lua_pushliteral(L, "=(text)");
    else
        lua_pushfstring(L, "@%s", file);
    // A first line for the shell is not Lua; Lua's own file loader skips it, too.
    const std::size_t begin = text->starts_with('#') ? std::min(text->find('\n'), text->size()) : 0;
    const int status =
        luaL_loadbufferx(L, text->data() + begin, text->size() - begin, lua_tostring(L, -1), "t");
    lua_remove(L, -2);
    return status;
}

Raisers raisers(lua_State* L) {
    lua_getglobal(L, "error");
    lua_getglobal(L, "assert");
    const Raisers out{lua_tocfunction(L, -2), lua_tocfunction(L, -1)};
    lua_pop(L, 2);
    return out;
}

bool raised_by_script(lua_State* L, const Raisers& raisers) {
    lua_Debug frame;
    if (is_error(L, 1) || lua_getstack(L, 1, &frame) == 0 || lua_getinfo(L, "f", &frame) == 0) return false;
    const lua_CFunction raiser = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    return raiser != nullptr && (raiser == raisers.error || raiser == raisers.assert);
}

void excuse_missing_results(Diagnostic& finding) {
    finding.severity = Severity::warning;
    finding.message = "the script stopped here, perhaps because no kernel ran; the rest was not checked: " +
                      finding.message;
}

}  // namespace wgrun::lua
