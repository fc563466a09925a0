#include "bindings/c/new_state.hpp"

#include <string>
#include <string_view>

#include "bindings/c/failure.hpp"
#include "bindings/lua/guard.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/session.hpp"
#include "wgrun/lua.hpp"

namespace wgrun::c {
namespace {

char engine_key;    // registry: light userdata, the Engine
char ended_marker;  // the error value of os.exit

// Lua's allocator over the host's. Without a block, Lua passes the type of the new object in old_size.
void* allocate(void* self, void* block, std::size_t old_size, std::size_t size) {
    const wgrun_engine_options& options = static_cast<Engine*>(self)->options;
    if (block == nullptr && size == 0) return nullptr;
    void* const result =
        options.allocate(options.allocate_user, block, block == nullptr ? 0 : old_size, size);
    return size == 0 ? nullptr : result;
}

Engine& engine_of(lua_State* L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &engine_key);
    auto& engine = *static_cast<Engine*>(lua_touserdata(L, -1));
    lua_pop(L, 1);
    return engine;
}

// print, for a host that receives the lines itself.
int print(lua_State* L) {
    const wgrun_engine_options& options = engine_of(L).options;
    const int count = lua_gettop(L);
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    for (int i = 1; i <= count; ++i) {
        if (i > 1) luaL_addchar(&line, '\t');
        luaL_tolstring(L, i, nullptr);
        luaL_addvalue(&line);
    }
    luaL_addchar(&line, '\n');
    luaL_pushresult(&line);
    std::size_t length = 0;
    const char* text = lua_tolstring(L, -1, &length);
    options.print(options.print_user, text, length);
    return 0;
}

// os.exit ends the script, which the error value marks.
int end_script(lua_State* L) {
    const bool good = lua_isnoneornil(L, 1) ||
                      (lua_isboolean(L, 1) ? lua_toboolean(L, 1) != 0 : luaL_optinteger(L, 1, 0) == 0);
    if (good) {
        lua_pushlightuserdata(L, &ended_marker);
        return lua_error(L);
    }
    return luaL_error(L, "the script ended itself with os.exit(%s)", luaL_tolstring(L, 1, nullptr));
}

}  // namespace

lua_State* new_state(Engine& engine) {
    return engine.options.allocate != nullptr ? lua_newstate(allocate, &engine) : luaL_newstate();
}

void prepare(lua_State* L, Engine& engine) {
    const wgrun_engine_options& options = engine.options;
    lua_pushlightuserdata(L, &engine);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &engine_key);
    if (options.restricted != 0) {
        lua::open_restricted(L);
    } else {
        luaL_openlibs(L);
        luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
        lua_pushcfunction(L, luaopen_wgrun);
        lua_setfield(L, -2, "wgrun");
        lua_getglobal(L, "os");
        lua_pushcfunction(L, end_script);
        lua_setfield(L, -2, "exit");
        lua_pop(L, 2);
    }
    if (options.print != nullptr) {
        lua_pushcfunction(L, print);
        lua_setglobal(L, "print");
    }
    lua::Session& session = lua::session(L);
    if (options.print != nullptr)
        lua::guarded(L, [&] {
            session.print = [&options](std::string_view text) {
                options.print(options.print_user, text.data(), text.size());
            };
        });
    session.mode = options.run_kernels != 0 ? lua::Mode::run : lua::Mode::trace;
    session.backend = static_cast<Backend>(options.backend);
    session.isolation = gpu::Isolation::process;  // the host's program cannot serve as a worker
    session.seed = options.seed;
    session.terminal = false;  // which is the host's
    if (options.log == nullptr) return;
    lua::guarded(L, [&] {
        session.remark = [&options](std::string_view text) {
            const std::string line = "wgrun: " + std::string(text) + "\n";
            options.log(options.log_user, line.data(), line.size());
        };
        session.warn = [&options](const Diagnostic& finding) {
            const std::string text = text_of({finding});
            options.log(options.log_user, text.data(), text.size());
        };
    });
}

bool is_end_of_script(lua_State* L, int index) { return lua_touserdata(L, index) == &ended_marker; }

}  // namespace wgrun::c
