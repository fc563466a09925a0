#include "bindings/lua/interrupt.hpp"

#include <atomic>

#include "bindings/lua/error.hpp"
#include "bindings/lua/guard.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/session.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::lua {
namespace {

std::atomic<Session*> prepared = nullptr;   // whose flag interrupt() raises
std::atomic<lua_State*> running = nullptr;  // the running coroutine of that state
static_assert(std::atomic<Session*>::is_always_lock_free && std::atomic<lua_State*>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

constexpr int interval = 1000;  // instructions between two checks of the limits

bool counts(const LimitState& here) {
    return here.cancellable || here.limits.instructions != 0 || here.limits.time.count() != 0;
}

// Whether the script has reached one of its limits.
bool at_limit(LimitState& here) {
    if (!counts(here) || here.reached.load() != Limit::none) return here.reached.load() != Limit::none;
    here.instructions += interval;
    if (here.limits.instructions != 0 && here.instructions > here.limits.instructions)
        here.reached = Limit::instructions;
    else
        out_of_time(here);
    return here.reached.load() != Limit::none;
}

void hook(lua_State* L, lua_Debug*);

void set_hook(lua_State* L) { lua_sethook(L, hook, LUA_MASKCOUNT, 1); }

void hook(lua_State* L, lua_Debug*) {
    LimitState& here = limit_state(L);
    if (here.cancellable && Cancellation::requested()) session(L).stop = true;
    if (!at_limit(here) && !session(L).stop) {
        lua_sethook(L, counts(here) ? hook : nullptr, counts(here) ? LUA_MASKCOUNT : 0, interval);
        return;
    }
    // A pcall in the script may catch this error; the hook stays, and the next instruction raises it again.
    set_hook(L);
    guarded(L, [&] {
        if (here.reached.load() != Limit::none) throw limit_error(here);
        throw Error("EINTR", plain_error("interrupted"));
    });
}

// `L` is running from now on. An interrupt that arrived during the switch has hit the other coroutine.
void now_running(lua_State* L) {
    running = L;
    if (session(L).stop) set_hook(L);
}

// Calls the function below the arguments, which resumes `co`.
int resume(lua_State* L, lua_State* co, int arguments) {
    const int base = lua_gettop(L) - arguments - 1;
    now_running(co);
    const int status = lua_pcall(L, arguments, LUA_MULTRET, 0);
    now_running(L);
    if (status != LUA_OK) lua_error(L);
    return lua_gettop(L) - base;
}

// coroutine.resume; upvalue: the original
int tracked_resume(lua_State* L) {
    lua_State* co = lua_tothread(L, 1);
    luaL_argexpected(L, co != nullptr, 1, "coroutine");
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    return resume(L, co, lua_gettop(L) - 1);
}

// The function that coroutine.wrap returns; upvalues: the original function, its coroutine
int tracked_call(lua_State* L) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    return resume(L, lua_tothread(L, lua_upvalueindex(2)), lua_gettop(L) - 1);
}

// coroutine.wrap; upvalue: the original
int tracked_wrap(lua_State* L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    lua_getupvalue(L, 1, 1);  // the original's function keeps its coroutine there
    lua_pushcclosure(L, tracked_call, 2);
    return 1;
}

void replace(lua_State* L, const char* name, lua_CFunction tracked) {
    lua_getfield(L, -1, name);
    if (lua_tocfunction(L, -1) == tracked) {
        lua_pop(L, 1);
        return;
    }
    lua_pushcclosure(L, tracked, 1);
    lua_setfield(L, -2, name);
}

}  // namespace

void install_interrupt(lua_State* L) {
    luaL_checkstack(L, 4, nullptr);
    open_error(L);  // a script may be stopped before it requires wgrun
    guard_handlers(L);
    if (lua_getglobal(L, LUA_COLIBNAME) == LUA_TTABLE) {
        replace(L, "resume", tracked_resume);
        replace(L, "wrap", tracked_wrap);
    }
    lua_pop(L, 1);
    prepared = &session(L);
    running = L;
}

void watch_limits(lua_State* L) {
    open_error(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    for (lua_State* state : {lua_tothread(L, -1), L}) lua_sethook(state, hook, LUA_MASKCOUNT, interval);
    lua_pop(L, 1);
}

void watch_cancellation(lua_State* L) {
    limit_state(L).cancellable = true;
    guard_handlers(L);
    watch_limits(L);
}

bool interrupt() noexcept {
    Session* target = prepared;
    if (target == nullptr || target->stop.exchange(true)) return false;
    set_hook(running);
    return true;
}

bool interrupted() noexcept {
    const Session* target = prepared;
    return target != nullptr && target->stop.load();
}

bool has_interrupts(const Session& session) noexcept { return prepared == &session; }

void forget_interrupt() noexcept {
    prepared = nullptr;
    running = nullptr;
}

}  // namespace wgrun::lua
