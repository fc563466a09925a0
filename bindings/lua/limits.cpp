#include "bindings/lua/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "bindings/lua/guard.hpp"
#include "bindings/lua/interrupt.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/userdata.hpp"

namespace wgrun::lua {
namespace {

/// Counts the bytes of a state on their way to the host's allocator. It is freed with the last of them, which
/// is the state itself.
struct Account {
    lua_State* main;
    lua_Alloc allocate;
    void* context;
    std::uint64_t used;
    std::uint64_t limit;
    bool refused = false;  ///< a request was beyond the limit since that was set
};

/// What a finalizer may take above the limit: Lua drops one for whose call there is no memory.
constexpr std::uint64_t for_finalizers = std::uint64_t{64} << 10;

/// Is a finalizer running? Lua says so by refusing every question about its collector (from 5.4.4 on). This
/// one only reads, and may be asked within an allocation.
bool finalizing(lua_State* L) { return lua_gc(L, LUA_GCISRUNNING) < 0; }

bool within(const Account& account, std::uint64_t more) {
    const std::uint64_t wanted = account.used + more;
    return account.limit == 0 || wanted <= account.limit ||
           (wanted - account.limit <= for_finalizers && finalizing(account.main));
}

void* limited(void* self, void* block, std::size_t old_size, std::size_t size) {
    auto& account = *static_cast<Account*>(self);
    // Without a block, old_size is the type of the new object.
    const std::size_t before = block == nullptr ? 0 : old_size;
    if (size > before && !within(account, size - before)) {
        account.refused = true;
        return nullptr;
    }
    void* const result = account.allocate(account.context, block, old_size, size);
    if (result == nullptr && size != 0) return nullptr;
    account.used += size;
    account.used -= before;
    if (account.used == 0) delete &account;
    return result;
}

/// Null if there never was a limit of memory.
Account* account_of(lua_State* L) {
    void* context = nullptr;
    return lua_getallocf(L, &context) == limited ? static_cast<Account*>(context) : nullptr;
}

void limit_memory(lua_State* L, std::uint64_t bytes) {
    if (Account* found = account_of(L)) {
        found->limit = bytes;
        found->refused = false;
        return;
    }
    if (bytes == 0) return;
    void* context = nullptr;
    const lua_Alloc allocate = lua_getallocf(L, &context);
    constexpr std::uint64_t kilobyte = 1024;
    const std::uint64_t used = static_cast<std::uint64_t>(lua_gc(L, LUA_GCCOUNT)) * kilobyte +
                               static_cast<std::uint64_t>(lua_gc(L, LUA_GCCOUNTB));
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    lua_State* const main = lua_tothread(L, -1);
    lua_pop(L, 1);
    auto* account = guarded(L, [&] { return new Account{main, allocate, context, used, bytes}; });
    lua_setallocf(L, limited, account);
}

// The message handler of guarded_xpcall; upvalue: the script's. Hooks are off while an error of a hook is
// handled, so the script's handler could run forever.
int guarded_handler(lua_State* L) {
    const LimitState& here = limit_state(L);
    if (session(L).stop || here.reached.load() != Limit::none) return 1;
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

int after_xpcall(lua_State* L, int, lua_KContext) { return lua_gettop(L); }

// xpcall; upvalue: the original
int guarded_xpcall(lua_State* L) {
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, guarded_handler, 1);
    lua_replace(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, after_xpcall);
    return after_xpcall(L, LUA_OK, 0);
}

// setmetatable; upvalue: the original
int guarded_setmetatable(lua_State* L) {
    if (lua_type(L, 2) == LUA_TTABLE) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL)
            fail(L, [] { return std::string("a script with limits cannot set finalizers (__gc)"); });
        lua_pop(L, 1);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

void wrap_global(lua_State* L, const char* name, lua_CFunction wrapper) {
    lua_getglobal(L, name);
    if (lua_isfunction(L, -1) && lua_tocfunction(L, -1) != wrapper) {
        lua_pushcclosure(L, wrapper, 1);
        lua_setglobal(L, name);
    } else {
        lua_pop(L, 1);
    }
}

double mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 0x1p20; }

}  // namespace

LimitState& limit_state(lua_State* L) { return kept<LimitState>(L); }

void spend(lua_State* L, std::uint64_t parts) {
    LimitState& here = limit_state(L);
    here.parts += parts;
    const std::uint64_t most = here.limits.program;
    if (most == 0 || here.parts <= most) return;
    guarded(L, [&] {
        throw Error(
            "ELIMIT",
            plain_error(fmt::format("the kernel has more than {} instructions, blocks and registers", most),
                        "k:loop in place of a loop that unrolls, or a higher limit (--max-program, "
                        "Limits::program)"));
    });
}

void guard_handlers(lua_State* L) {
    luaL_checkstack(L, 4, nullptr);
    wrap_global(L, "xpcall", guarded_xpcall);
}

void guard_globals(lua_State* L) {
    guard_handlers(L);
    wrap_global(L, "setmetatable", guarded_setmetatable);
}

Limits restricted_limits() {
    Limits limits;
    limits.memory = std::uint64_t{512} << 20;
    limits.time = std::chrono::minutes(1);
    limits.tensors = std::uint64_t{4} << 30;
    limits.program = 200000;
    return limits;
}

void set_limits(lua_State* L, const Limits& limits) {
    LimitState& here = limit_state(L);
    guarded(L, [&] {
        if (!here.tensors && limits.tensors != 0) here.tensors.emplace(limits.tensors);
    });
    if (here.tensors) here.tensors->set_limit(limits.tensors == 0 ? UINT64_MAX : limits.tensors);
    here.limits = limits;
    here.instructions = 0;
    here.reached = Limit::none;
    here.deadline = std::chrono::steady_clock::now() + limits.time;
    limit_memory(L, limits.memory);
    if (limits.instructions == 0 && limits.time.count() == 0) return;
    guard_globals(L);
    watch_limits(L);
}

Limit limit_reached(lua_State* L) {
    if (const Limit reached = limit_state(L).reached.load(); reached != Limit::none) return reached;
    return memory_refused(L) ? Limit::memory : Limit::none;
}

bool memory_refused(lua_State* L) noexcept {
    const Account* account = account_of(L);
    return account != nullptr && account->refused;
}

namespace {

std::string text_of(Limit limit, const Limits& limits) {
    if (limit == Limit::memory)
        return fmt::format("not enough memory: the script may use {:.0f} MiB (--max-memory, Limits::memory)",
                           mebibytes(limits.memory));
    if (limit == Limit::time)
        return fmt::format("the script has run for more than {} s",
                           static_cast<double>(limits.time.count()) / 1000);
    return fmt::format("the script has executed more than {} instructions", limits.instructions);
}

std::string_view name_of(Limit limit) {
    return limit == Limit::memory ? "memory" : limit == Limit::time ? "time" : "instructions";
}

}  // namespace

std::string advice_on(Limit limit) {
    if (limit == Limit::memory) return {};  // the text has it
    return limit == Limit::time ? "raise the limit: --max-seconds, Limits::time"
                                : "raise the limit: --max-instructions, Limits::instructions";
}

Diagnostic limit_finding(Limit limit, const Limits& limits, const Where& where) {
    Diagnostic out = plain_error(text_of(limit, limits), advice_on(limit), where);
    out.facts = {{"limit", std::string(name_of(limit))}};
    return out;
}

Error limit_error(const LimitState& here) {
    return {"ELIMIT", limit_finding(here.reached.load(), here.limits)};
}

bool out_of_time(LimitState& here) {
    if (here.limits.time.count() == 0 || std::chrono::steady_clock::now() < here.deadline) return false;
    here.reached = Limit::time;
    return true;
}

std::chrono::milliseconds within_limit(lua_State* L, std::chrono::milliseconds timeout) {
    const LimitState& here = limit_state(L);
    if (here.limits.time.count() == 0) return timeout;
    const auto left = std::max(
        std::chrono::ceil<std::chrono::milliseconds>(here.deadline - std::chrono::steady_clock::now()),
        std::chrono::milliseconds(1));
    return timeout.count() == 0 ? left : std::min(timeout, left);
}

}  // namespace wgrun::lua
