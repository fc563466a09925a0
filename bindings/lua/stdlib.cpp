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

char classes_key;  // registry: the classes that are Lua tables, by name

/// The file that runs the others.
constexpr std::string_view runner = "first_use";

const StdlibFile* file_named(std::string_view name) {
    const auto found = std::ranges::find(stdlib_files(), name, &StdlibFile::name);
    return found == stdlib_files().end() ? nullptr : &*found;
}

/// Returns what the build knows of the file; nothing where it could not run Lua.
StdlibPart part_of(const StdlibFile& file) {
    const std::span<const StdlibPart> parts = stdlib_code().files;
    const auto index = static_cast<std::size_t>(&file - stdlib_files().data());
    return index < parts.size() ? parts[index] : StdlibPart{};
}

/// Returns what Lua has made of the file; empty where the host's Lua is not the one of the build.
std::string_view code_of(const StdlibFile& file) {
    static const bool suits = &lua_ident != nullptr && stdlib_code().lua == lua_ident;
    return suits ? part_of(file).code : std::string_view();
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

// chunk(name, globals): the function of a file.
int chunk(lua_State* L) {
    const StdlibFile* file = file_named(string_argument(L, 1));
    if (file == nullptr) return luaL_argerror(L, 1, "no file of the library");
    load_file(L, *file);
    lua_pushvalue(L, 2);
    lua_setupvalue(L, -2, 1);
    return 1;
}

int all_results(lua_State* L, int /*status*/, lua_KContext /*context*/) { return lua_gettop(L); }

// What stands in the place of a function until it is called; upvalue: see native.first_use.
int call_first(lua_State* L) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_call(L, 0, 1);
    lua_insert(L, 1);
    lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, all_results);
    return all_results(L, LUA_OK, 0);
}

// native.first_use(find): a function that calls the one that find() returns. It is a C function, so that a
// script's frame stays where it returns the call (shield.hpp).
int first_use(lua_State* L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_pushcclosure(L, call_first, 1);
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

/// The names of the files that are modules, in their order: a folder's files are found by them.
void push_module_names(lua_State* L) {
    lua_newtable(L);
    for (lua_Integer i = 0; const StdlibFile& file : stdlib_files()) {
        if (file.name == runner) continue;
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

/// Pushes the module "wgrun.native". `module` is the place of wg.
void push_native(lua_State* L, int module) {
    static const luaL_Reg functions[] = {{"fail", fail_from_lua},
                                         {"option_schema", option_schema_of},
                                         {"nearest", nearest_of},
                                         {"element_type", element_type},
                                         {"shielded", shielded_from_lua},
                                         {"first_use", first_use},
                                         {"before_body", before_body},
                                         {"after_body", after_body},
                                         {"points_to", points_to},
                                         {"inline_ptx", inline_ptx_from_lua},
                                         {"simulated_only", simulated_only_from_lua},
                                         {nullptr, nullptr}};
    luaL_newlib(L, functions);
    lua_getfield(L, module, "sparse");
    lua_getfield(L, -1, "compress");
    lua_setfield(L, -3, "compress");
    lua_pop(L, 1);
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

/// Pushes the functions of each file that scripts can call, by the file's name.
void push_functions(lua_State* L) {
    lua_newtable(L);
    for (const StdlibFile& file : stdlib_files()) {
        const std::span<const std::string_view> functions = part_of(file).functions;
        if (functions.empty()) continue;
        lua_pushlstring(L, file.name.data(), file.name.size());
        lua_createtable(L, static_cast<int>(functions.size()), 0);
        for (lua_Integer i = 0; const std::string_view function : functions) {
            lua_pushlstring(L, function.data(), function.size());
            lua_rawseti(L, -2, ++i);
        }
        lua_rawset(L, -3);
    }
}

}  // namespace

void run_stdlib(lua_State* L) {
    luaL_checkstack(L, 8, nullptr);
    const int module = lua_gettop(L);
    load_file(L, *file_named(runner));
    lua_pushvalue(L, module);
    push_native(L, module);
    push_functions(L);
    lua_pushcfunction(L, chunk);
    lua_call(L, 4, 0);
}

}  // namespace wgrun::lua
