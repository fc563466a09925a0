#include "bindings/lua/script.hpp"

#include <array>

#include <algorithm>
#include <cstring>
#include <optional>

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

void push_script_arguments(lua_State* L, const std::string& program, const std::string& file,
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
}

namespace {

/// A file, or where that has no value a text.
struct Chunk {
    std::optional<const char*> file;
    std::string_view text;
    const char* name;
    int status;
};

int load_chunk(lua_State* L) {
    auto& loading = *static_cast<Chunk*>(lua_touserdata(L, 1));
    loading.status = loading.file
                         ? luaL_loadfilex(L, *loading.file, "t")
                         : luaL_loadbufferx(L, loading.text.data(), loading.text.size(), loading.name, "t");
    return 1;
}

// The file may be another program's, such as one in Python.
void explain_kind(lua_State* L, std::string_view name) {
    const std::string_view file = name.substr(name.rfind('/') + 1);
    if (file.rfind('.') == std::string_view::npos || file.ends_with(".lua")) return;
    lua_pushstring(L, ": it is taken for a Lua script, as it is no PTX, CUDA C++ or machine code");
    lua_concat(L, 2);
}

// Of the errors of Lua's parser one, too many levels, calls the message handler of the call around it, which
// expects that the error ends that call. Here there is none.
int load_without_handler(lua_State* L, Chunk loading) {
    if (loading.file && *loading.file != nullptr) {
        lua_pushfstring(L, "@%s", *loading.file);
        remember_name(L, lua_tostring(L, -1));
        lua_pop(L, 1);
    } else if (!loading.file) {
        remember_name(L, loading.name);
    }
    lua_pushcfunction(L, load_chunk);
    lua_pushlightuserdata(L, &loading);
    const int called = lua_pcall(L, 1, 1, 0);
    const int status = called == LUA_OK ? loading.status : called;
    const char* name = loading.file ? *loading.file : loading.name + 1;
    if (status == LUA_ERRSYNTAX) {
        explain_syntax(L);
        if (name != nullptr) explain_kind(L, name);
    }
    if (status != LUA_ERRRUN) return status;
    // Lua says "C stack overflow", and no place.
    lua_pop(L, 1);
    lua_pushfstring(L, "%s: too many blocks, tables or parentheses inside each other",
                    name == nullptr ? unnamed_text : name);
    return status;
}

}  // namespace

void explain_syntax(lua_State* L) {
    struct Word {
        std::string_view lua;
        const char* here;
    };
    constexpr std::array words{Word{"if", "k:if_"},
                               Word{"while", "k:while_"},
                               Word{"repeat", "k:repeat_"},
                               Word{"for", "k:loop"},
                               Word{"break", "k:break_"},
                               Word{"return", "k:exit"},
                               Word{"and", "k:and_b32 or a & b"},
                               Word{"or", "k:or_b32 or a | b"},
                               Word{"not", "k:not_b32 or ~a"}};
    const std::string_view message = lua_tostring(L, -1);
    for (const Word& word : words) {
        constexpr std::string_view before = "<name> expected near '";
        const std::size_t at = message.find(before);
        if (at == std::string_view::npos) return;
        const std::string_view near = message.substr(at + before.size());
        if (near.size() != word.lua.size() + 1 || !near.starts_with(word.lua)) continue;
        lua_pushfstring(L, "%s: `%s` is a word of Lua's, and cannot name a method: %s", lua_tostring(L, -1),
                        word.lua.data(), word.here);
        lua_remove(L, -2);
        return;
    }
}

int load_text(lua_State* L, std::string_view text, const char* name) {
    return load_without_handler(L, {{}, text, name, LUA_OK});
}

int load_script(lua_State* L, const char* file, const std::string* text) {
    if (text == nullptr) return load_without_handler(L, {file, {}, nullptr, LUA_OK});
    if (file == nullptr)
        lua_pushfstring(L, "=%s", unnamed_text);
    else
        lua_pushfstring(L, "@%s", file);
    // A first line for the shell is not Lua; Lua's own file loader skips it, too.
    const std::size_t begin = text->starts_with('#') ? std::min(text->find('\n'), text->size()) : 0;
    const int status = load_text(L, std::string_view(*text).substr(begin), lua_tostring(L, -1));
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
