// A host of Lua that knows nothing of wgrun: states on threads of their own, side by side. It is built with
// Lua as C and with Lua as C++, whose errors are exceptions.
//   host SCRIPT [ARG...]       one state
//   host -j N SCRIPT [ARG...]  N threads with two states each, one after the other, and before that N states
//   at once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <lua.hpp>
#include <thread>
#include <vector>

namespace {

int traceback(lua_State* L) {
    luaL_traceback(L, L, luaL_tolstring(L, 1, nullptr), 1);
    return 1;
}

lua_State* open(char** arguments) {
    lua_State* L = luaL_newstate();
    if (L == nullptr) std::abort();
    luaL_openlibs(L);
    lua_newtable(L);
    for (int i = 0; arguments[i] != nullptr; ++i) {
        lua_pushstring(L, arguments[i]);
        lua_rawseti(L, -2, i);
    }
    lua_setglobal(L, "arg");
    return L;
}

// Did the script come to its end?
bool run(lua_State* L, char** arguments) {
    lua_pushcfunction(L, traceback);
    bool good = luaL_loadfile(L, arguments[0]) == LUA_OK && lua_pcall(L, 0, 0, -2) == LUA_OK;
    if (!good) std::fprintf(stderr, "%s\n", lua_tostring(L, -1));
    lua_settop(L, 0);
    return good;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    if (std::strcmp(argv[1], "-j") != 0) {
        lua_State* L = open(argv + 1);
        const bool good = run(L, argv + 1);
        lua_close(L);
        return good ? 0 : 1;
    }
    if (argc < 4) return 2;
    const auto count = static_cast<std::size_t>(std::atoi(argv[2]));
    char** arguments = argv + 3;
    bool good = true;

    std::vector<lua_State*> states;
    for (std::size_t i = 0; i < count; ++i) states.push_back(open(arguments));
    for (lua_State* L : states) good = run(L, arguments) && good;
    for (std::size_t i = 0; i < count; i += 2) lua_close(states[i]);  // while the others live on
    for (std::size_t i = 1; i < count; i += 2) {
        good = run(states[i], arguments) && good;
        lua_close(states[i]);
    }

    std::vector<std::thread> threads;
    std::vector<char> results(count, 0);
    for (std::size_t i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            bool mine = true;
            for (int turn = 0; turn < 2; ++turn) {
                lua_State* L = open(arguments);
                mine = run(L, arguments) && mine;
                lua_close(L);
            }
            results[i] = mine ? 1 : 0;
        });
    for (std::thread& thread : threads) thread.join();
    for (const char result : results) good = good && result != 0;
    return good ? 0 : 1;
}
