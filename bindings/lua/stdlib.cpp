#include "bindings/lua/stdlib.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "bindings/lua/args.hpp"
#include "bindings/lua/asm.hpp"
#include "bindings/lua/docs.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/loop_body.hpp"
#include "bindings/lua/shield.hpp"
#include "bindings/lua/trace.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/chips.hpp"
#include "wgrun/dtype.hpp"
#include "wgrun/tile.hpp"

// A host need not show it to modules.
extern const char lua_ident[] __attribute__((weak));

namespace wgrun::lua {
namespace {

constexpr const char* native_name = "wgrun.native";

char classes_key;  // registry: the classes that are Lua tables, by name

/// Returns what Lua has made of the file; empty where the host's Lua is not the one of the build.
std::string_view code_of(const StdlibFile& file) {
    static const StdlibCode code =
        &lua_ident != nullptr && stdlib_code().lua == lua_ident ? stdlib_code() : StdlibCode{};
    const auto index = static_cast<std::size_t>(&file - stdlib_files().data());
    return index < code.files.size() ? code.files[index] : std::string_view();
}

// Pushes the file's chunk.
void load_file(lua_State* L, const StdlibFile& file) {
    lua_pushstring(L, stdlib_prefix);
    lua_pushlstring(L, file.name.data(), file.name.size());
    lua_concat(L, 2);
    const std::string_view code = code_of(file), from = code.empty() ? file.text : code;
    const int status =
        luaL_loadbufferx(L, from.data(), from.size(), lua_tostring(L, -1), code.empty() ? "t" : "b");
    lua_remove(L, -2);
    if (status != LUA_OK) lua_error(L);
}

// package.preload[modname]: the upvalue is the file (light userdata).
int run_file(lua_State* L) {
    load_file(L, *static_cast<const StdlibFile*>(lua_touserdata(L, lua_upvalueindex(1))));
    lua_call(L, 0, 1);
    return 1;
}

template <class T>
void set_methods(lua_State* L, const char* name) {
    push_methods(L, &class_key<T>, class_name<T>);
    lua_setfield(L, -2, name);
}

// native.option_schema(name): a list of the options of a table of stdlib/, as the comment at the function
// describes them (`@option`, `@options`): of "k:epilogue", or with "k:epilogue, source" those of the table
// that its option `source` is. Each is { name =, type =, optional =, default = }, all but one as text.
int option_schema_of(lua_State* L) {
    const std::string_view name = string_argument(L, 1);
    const std::string_view owner = name.substr(0, name.find(", "));
    const std::string_view inner = owner.size() == name.size() ? "" : name.substr(owner.size() + 2);
    auto& options = held<std::vector<Described>>(L);
    option_schema(L, owner, inner, options);
    const auto put = [&](const char* key, const std::string& text) {
        lua_pushlstring(L, text.data(), text.size());
        lua_setfield(L, -2, key);
    };
    lua_createtable(L, static_cast<int>(options.size()), 0);
    for (std::size_t i = 0; i < options.size(); ++i) {
        lua_createtable(L, 0, 4);
        put("name", options[i].name);
        put("type", options[i].type);
        if (!options[i].fallback.empty()) put("default", options[i].fallback);
        lua_pushboolean(L, options[i].optional ? 1 : 0);
        lua_setfield(L, -2, "optional");
        lua_rawseti(L, -2, static_cast<lua_Integer>(i + 1));
    }
    return 1;
}

// native.points_to(address, pointer): `address` is that of an element behind `pointer`, a parameter's;
// returns `address`.
int points_to(lua_State* L) {
    const RegBox& address = check<RegBox>(L, 1);
    const RegBox& pointer = check<RegBox>(L, 2);
    guarded(L, [&] {
        const auto found = pointer.trace->pointees.find(pointer.reg.id);
        if (found != pointer.trace->pointees.end()) pointer.trace->pointees[address.reg.id] = found->second;
    });
    lua_settop(L, 1);
    return 1;
}

// native.nearest(word, list): ": did you mean `x`?" for the string of the list that is spelt like the word,
// or "".
int nearest_of(lua_State* L) {
    const std::string_view word = string_argument(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    auto& choices = held<std::vector<std::string>>(L);
    auto& answer = held<std::string>(L);
    const lua_Integer count = luaL_len(L, 2);
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, 2, i);
        const std::string_view choice = string_argument(L, -1);
        guarded(L, [&] { choices.emplace_back(choice); });
        lua_pop(L, 1);
    }
    guarded(L, [&] {
        const std::vector<std::string_view> views(choices.begin(), choices.end());
        answer = nearest(word, views);
    });
    lua_pushlstring(L, answer.data(), answer.size());
    return 1;
}

// native.element_type(name): raises where no type has that name, with what it is called here.
int element_type(lua_State* L) {
    const std::string_view name = string_argument(L, 1);
    guarded(L, [&] { static_cast<void>(dtype_named(name)); });
    return 0;
}

}  // namespace

bool push_lua_classes(lua_State* L) { return lua_rawgetp(L, LUA_REGISTRYINDEX, &classes_key) == LUA_TTABLE; }

namespace {

/// Sets element_bytes[name], for types of whole bytes, and wgmma_k[name], elements of K that a wgmma
/// multiplies in a step, of the table on top.
void push_element_facts(lua_State* L) {
    const auto set = [&](Dtype dtype, int value) {
        const std::string_view name = to_string(dtype);
        lua_pushlstring(L, name.data(), name.size());
        lua_pushinteger(L, value);
        lua_rawset(L, -3);
    };
    lua_newtable(L);
    for (const Dtype dtype : all_dtypes())
        if (bits(dtype) >= 8) set(dtype, bits(dtype) / 8);
    lua_setfield(L, -2, "element_bytes");
    lua_newtable(L);
    for (const Dtype dtype : wgmma_types())
        if (bits(dtype) >= 8) set(dtype, wgmma_k(dtype));
    lua_setfield(L, -2, "wgmma_k");
}

/// The names of the library's files in their order: a folder's files are found by them.
void push_module_names(lua_State* L) {
    lua_newtable(L);
    for (lua_Integer i = 0; const StdlibFile& file : stdlib_files()) {
        lua_pushlstring(L, file.name.data(), file.name.size());
        lua_rawseti(L, -2, ++i);
    }
}

/// Sets roofline, of the table on top: what plans count by.
void push_roofline(lua_State* L) {
    const auto set = [&](const char* name, double value) {
        lua_pushnumber(L, value);
        lua_setfield(L, -2, name);
    };
    lua_createtable(L, 0, 5);
    set("product", roofline.product);
    set("shared_bytes", roofline.shared_bytes);
    set("memory_bandwidth", roofline.memory_bandwidth);
    set("busy_clock", roofline.clock.busy);
    set("long_clock", roofline.clock.long_run);
    lua_setfield(L, -2, "roofline");
}

/// Pushes the module "wgrun.native".
void push_native(lua_State* L) {
    static const luaL_Reg functions[] = {{"fail", fail_from_lua},
                                         {"option_schema", option_schema_of},
                                         {"nearest", nearest_of},
                                         {"element_type", element_type},
                                         {"shielded", shielded_from_lua},
                                         {"before_body", before_body},
                                         {"after_body", after_body},
                                         {"points_to", points_to},
                                         {"inline_ptx", inline_ptx_from_lua},
                                         {"simulated_only", simulated_only_from_lua},
                                         {nullptr, nullptr}};
    luaL_newlib(L, functions);
    lua_createtable(L, 0, 6);
    set_methods<Layout>(L, "layout");
    set_methods<Swizzle>(L, "swizzle");
    set_methods<Tile>(L, "tile");
    set_methods<HostTensorBox>(L, "tensor");
    set_methods<Kernel>(L, "kernel");
    set_methods<BuilderBox>(L, "builder");
    lua_setfield(L, -2, "methods");
    push_module_names(L);
    lua_setfield(L, -2, "modules");
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &classes_key);
    lua_setfield(L, -2, "classes");
    push_element_facts(L);
    push_roofline(L);
    push_host(L);
}

/// Pushes the name by which a file is required.
void push_file_name(lua_State* L, const StdlibFile& file) {
    lua_pushliteral(L, "wgrun.");
    lua_pushlstring(L, file.name.data(), file.name.size());
    lua_concat(L, 2);
}

/// Requires each file. The argument is the module table, which the files require as well.
int run_files(lua_State* L) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushvalue(L, 1);
    lua_setfield(L, 2, "wgrun");
    push_native(L);
    lua_setfield(L, 2, native_name);
    for (const StdlibFile& file : stdlib_files()) {
        push_file_name(L, file);
        lua_pushlightuserdata(L, const_cast<StdlibFile*>(&file));
        lua_pushcclosure(L, run_file, 1);
        lua_rawset(L, 3);
    }
    for (const StdlibFile& file : stdlib_files()) {
        lua_getglobal(L, "require");
        push_file_name(L, file);
        lua_call(L, 1, 0);
    }
    return 0;
}

bool is_own(std::string_view module) {
    if (module == native_name) return true;
    constexpr std::string_view prefix = "wgrun.";
    if (!module.starts_with(prefix)) return false;
    module.remove_prefix(prefix.size());
    return std::ranges::find(stdlib_files(), module, &StdlibFile::name) != stdlib_files().end();
}

/// Takes the library's modules out of a table of require's. It allocates nothing, since memory may be what an
/// error was about.
void forget_modules(lua_State* L, const char* table) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, table);
    for (lua_pushnil(L); lua_next(L, -2) != 0;) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING || !is_own(lua_tostring(L, -1))) continue;
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, -4);
    }
    lua_pop(L, 1);
}

}  // namespace

void run_stdlib(lua_State* L) {
    luaL_checkstack(L, 8, nullptr);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, "wgrun");
    lua_pushcfunction(L, run_files);
    lua_pushvalue(L, -4);
    const int status = lua_pcall(L, 1, 0, 0);
    if (status == LUA_OK) lua_pushnil(L);  // in the place of an error
    lua_insert(L, -3);
    lua_setfield(L, -2, "wgrun");  // luaopen_wgrun enters it
    lua_pop(L, 1);
    // Scripts do not come by what is not for them, and a second luaopen_wgrun, as after an error, runs all
    // files anew.
    for (const char* table : {LUA_LOADED_TABLE, LUA_PRELOAD_TABLE}) forget_modules(L, table);
    if (status != LUA_OK) lua_error(L);
    lua_pop(L, 1);
}

}  // namespace wgrun::lua
