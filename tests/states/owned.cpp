// C++ objects whose finalizers Lua drops are destroyed all the same: with their state.
#include "bindings/lua/owned.hpp"

#include <cstdlib>
#include <memory>

#include "bindings/lua/userdata.hpp"
#include "tests/catch.hpp"
#include "tests/states/state.hpp"
#include "wgrun/limits.hpp"

using wgrun::test::State;
namespace lua = wgrun::lua;

namespace {

using Token = std::shared_ptr<int>;

// make(): a userdata with a share of the token, which is the upvalue.
int make(lua_State* L) {
    const auto& token = *static_cast<const Token*>(lua_touserdata(L, lua_upvalueindex(1)));
    lua::held<Token>(L) = token;
    return 1;
}

void set_make(lua_State* L, Token& token) {
    lua_pushlightuserdata(L, &token);
    lua_pushcclosure(L, make, 1);
    lua_setglobal(L, "make");
}

struct Allocator {
    bool empty = false;

    static void* allocate(void* self, void* block, size_t old_size, size_t size) {
        if (size == 0) {
            std::free(block);
            return nullptr;
        }
        if (static_cast<Allocator*>(self)->empty && (block == nullptr || size > old_size)) return nullptr;
        return std::realloc(block, size);
    }
};

/// A thread that has called nothing yet: Lua must allocate for the first call there, that of a finalizer.
lua_State* fresh_thread(lua_State* L) {
    lua_State* thread = lua_newthread(L);
    luaL_ref(L, LUA_REGISTRYINDEX);
    return thread;
}

constexpr const char* make_garbage = "for i = 1, 100 do make() end";

}  // namespace

TEST_CASE("a finalizer that there is no memory to call") {
    Token token = std::make_shared<int>();
    {
        Allocator allocator;
        State state(lua_newstate(Allocator::allocate, &allocator));
        state.open();
        set_make(state, token);
        lua_gc(state, LUA_GCSTOP);
        state.run(make_garbage);
        CHECK(token.use_count() == 101);
        lua_State* thread = fresh_thread(state);
        allocator.empty = true;
        lua_gc(thread, LUA_GCCOLLECT);
        lua_gc(thread, LUA_GCCOLLECT);
        CHECK(token.use_count() == 101);  // else this test proves nothing
        SECTION("memory there is again") { allocator.empty = false; }
        SECTION("none until the end") {}
    }
    CHECK(token.use_count() == 1);
}

TEST_CASE("a finalizer at the end of the C stack") {
    Token token = std::make_shared<int>();
    {
        State state;
        state.open();
        set_make(state, token);
        state.run(R"(
            collectgarbage("setpause", 0) collectgarbage("setstepmul", 1000)
            local function deeper() make() local t = {{}, {}, {}} pcall(deeper) t = {{}, {}} make() end
            for i = 1, 20 do deeper() end
            collectgarbage() collectgarbage())");
        CHECK(token.use_count() > 1);
    }
    CHECK(token.use_count() == 1);
}

TEST_CASE("an object that is made while the state is being closed") {
    Token token = std::make_shared<int>();
    std::string late;
    {
        State state;
        state.open();
        set_make(state, token);
        lua_pushlightuserdata(state, &late);
        lua_pushcclosure(
            state,
            [](lua_State* L) {
                *static_cast<std::string*>(lua_touserdata(L, lua_upvalueindex(1))) = lua_tostring(L, 1);
                return 0;
            },
            1);
        lua_setglobal(state, "tell");
        // Finalized in the opposite order: the first after the library.
        state.run(R"(
            local wg
            first = setmetatable({}, {__gc = function()
                local good, e = pcall(wg.randn, {shape = {4}})
                tell(tostring(good) .. tostring(type(e) == "table" and e.message or e)) end})
            wg = require "wgrun"
            last = setmetatable({}, {__gc = function() make() wg.layout "8:1" wg.randn {shape = {4}} end}))");
    }
    CHECK(token.use_count() == 1);
    CHECK(late == "falsewgrun cannot be used any more: its Lua state is being closed");
}

TEST_CASE("finalizers have memory at the limit of a state") {
    Token token = std::make_shared<int>();
    State state;
    state.open();
    set_make(state, token);
    lua_gc(state, LUA_GCSTOP);
    state.run(make_garbage);
    lua_State* thread = fresh_thread(state);
    lua::Limits limits;
    limits.memory = 1;  // less than there is already
    lua::set_limits(state, limits);
    lua_gc(thread, LUA_GCCOLLECT);
    CHECK(token.use_count() == 1);
    CHECK(state.run("return ('x'):rep(1000)").find("not enough memory") != std::string::npos);
    limits.memory = 0;
    lua::set_limits(state, limits);
    CHECK(state.run("return 7") == "7");
}
