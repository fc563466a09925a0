// Lua's allocator fails at the n-th allocation, for every n: errors, but no crash and no leak.
#include <cstdlib>

#include "tests/catch.hpp"
#include "tests/states/state.hpp"

using wgrun::test::State;

namespace {

// Allocations fail from number `first` on, `count` of them. Two in a row make one failure: Lua collects and
// tries again after the first.
struct Allocator {
    long first;
    long count;
    long made = 0;
    long first_run = 0;  ///< how many the script's first run made

    static void* allocate(void* self, void* block, size_t old_size, size_t size) {
        auto& here = *static_cast<Allocator*>(self);
        if (size == 0) {
            std::free(block);
            return nullptr;
        }
        if (block == nullptr || size > old_size) {
            const long number = here.made++;
            if (number >= here.first && number < here.first + here.count) return nullptr;
        }
        return std::realloc(block, size);
    }
};

constexpr const char* script = R"(
    local wg = require "wgrun"
    local L = wg.zipped_divide(wg.layout {{8, 2}, 64}, {4, wg.layout "2:1"})
    local text = tostring(L) .. tostring(wg.swizzle(3, 4, 3))
    local tile = wg.tile{dtype = "bf16", mn = 64, k = 64}
    local box, bits = tile.tma_box, tile:descriptor(1024)
    local t <close> = wg.tensor("f32", {2, 2}, {{1, 2}, {3, 4}})
    local sum = t[{0, 1}] + #t:totable()
    local n, message, code = wg.load "no such file"
    local good, e = pcall(wg.tile, {dtype = "bf16", mm = 64})
    if good then error "no error" end
    local line = tostring(e)
    local kernel = wg.kernel("k", {threads = 128}, function(k)
        local acc = k:regs("f32", 32)
        k:wgmma_fence()
        k:wgmma_wait_group(0)
    end)
    return #kernel:check() + #kernel:ptx()
)";

int load_library(lua_State* L) {
    luaL_openlibs(L);
    luaL_requiref(L, "wgrun", luaopen_wgrun, 0);
    return 0;
}

int run_script(lua_State* L) {
    load_library(L);
    if (luaL_loadstring(L, script) != LUA_OK) return lua_error(L);
    lua_call(L, 0, 1);
    return 1;
}

// Did the script come to its end? The first state of the process compiles the library, which the others need
// not: what is counted is of a later one.
bool survives(Allocator& allocator) {
    const State state(lua_newstate(Allocator::allocate, &allocator));
    if (state == nullptr) return false;
    lua_pushcfunction(state, run_script);
    const bool good = lua_pcall(state, 0, 1, 0) == LUA_OK;
    if (good) CHECK(lua_tointeger(state, -1) > 0);
    allocator.first_run = allocator.made;
    // The state can still be used.
    allocator.count = 0;
    lua_settop(state, 0);
    lua_pushcfunction(state, run_script);
    const int again = lua_pcall(state, 0, 1, 0);
    if (again != LUA_OK) FAIL("failure at " << allocator.first << ": afterwards " << lua_tostring(state, -1));
    return good;
}

/// How many allocations load the library.
long of_library() {
    Allocator allocator{1L << 40, 0};
    const State state(lua_newstate(Allocator::allocate, &allocator));
    lua_pushcfunction(state, load_library);
    REQUIRE(lua_pcall(state, 0, 0, 0) == LUA_OK);
    return allocator.made;
}

}  // namespace

TEST_CASE("an allocation that fails is an error and no more") {
    Allocator first{1L << 40, 0}, count{1L << 40, 0};
    REQUIRE(survives(first));
    REQUIRE(survives(count));
    const long all = count.first_run;
    REQUIRE(all > 700);
    const long library = of_library();
    long failures = 0;
    long tried = 0;
    // Every allocation of the first ones and of the script. Those between, tens of thousands, are Lua's for
    // the functions of the library: a step that is prime to most periods.
    for (long n = 0; n < all; n += n < 200 || n >= library ? 1 : 151) {
        Allocator allocator{n, 2};
        if (!survives(allocator)) ++failures;
        ++tried;
    }
    CHECK(failures > tried / 2);
}

TEST_CASE("memory that runs out for good is an error and no more") {
    Allocator first{1L << 40, 0}, count{1L << 40, 0};
    REQUIRE(survives(first));
    REQUIRE(survives(count));
    REQUIRE(count.first_run > 700);
    // Lua's hashes have a seed of their own in each state, so runs differ by a few allocations: the last ones
    // of this run may be more than the next one makes.
    const long in_every_run = count.first_run - 50, library = of_library();
    for (long n = 0; n < in_every_run; n += n >= library ? 1 : 307) {
        Allocator allocator{n, 1L << 40};
        CHECK_FALSE(survives(allocator));
    }
}
