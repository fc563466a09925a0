// Running a script in a state, the first time and again.
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "bindings/c/new_state.hpp"
#include "bindings/c/state.hpp"
#include "bindings/c/trouble.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/guard.hpp"
#include "bindings/lua/interrupt.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/script.hpp"
#include "bindings/lua/session.hpp"

namespace wgrun::c {
namespace {

char script_key;   // registry: the script as a function
char globals_key;  // registry: the globals as they were before it ran
char raisers_key;  // registry: the functions by which it raises errors

}  // namespace

struct State::Load {
    State& state;
    Run& run;
    const std::vector<std::string>& arguments;
    bool again = false;
    Trouble trouble{};  ///< of the script
    int status = WGRUN_OK;
    std::optional<Interruptible> interruptible{};  ///< while the script runs
};

namespace {

// Message handler of the script: its context is the Trouble.
int keep_circumstances(lua_State* L) {
    auto* trouble = static_cast<Trouble*>(lua_touserdata(L, lua_upvalueindex(1)));
    trouble->deliberate = lua::raised_by_script(L, trouble->raisers);
    luaL_traceback(L, L, nullptr, 1);
    const char* text = lua_tostring(L, -1);
    lua::guarded(L, [&] { trouble->traceback = text; });
    lua_pop(L, 1);
    return 1;
}

// Pushes a copy of the table on top of the stack, in its place.
void copy_table(lua_State* L) {
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, -3) != 0;) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_remove(L, -2);
}

int append(lua_State*, const void* bytes, std::size_t size, void* to) {
    try {
        static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}

// Pushes the script as a function whose globals are those before it ran, and `arg`.
void push_script_again(lua_State* L, const std::string& file, const std::vector<std::string>& arguments,
                       std::string& code) {
    if (code.empty()) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &script_key);
        if (lua_dump(L, append, &code, 0) != 0) {
            code.clear();
            lua::guarded(L, []() -> void { throw std::bad_alloc(); });
        }
        lua_pop(L, 1);
    }
    if (luaL_loadbufferx(L, code.data(), code.size(), "=(script)", "b") != LUA_OK) lua_error(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &globals_key);
    copy_table(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, LUA_GNAME);
    lua::push_script_arguments(L, "wgrun", file.empty() ? lua::unnamed_text : file, arguments);
    lua_setfield(L, -2, "arg");
    lua_setupvalue(L, -2, 1);
}

}  // namespace

// Makes the state ready for the script, and pushes that; false if it cannot be loaded.
bool State::begin_load(lua_State* L, Load& load) {
    State& state = load.state;
    const Source& source = state.source_;
    const char* file = source.file.empty() ? nullptr : source.file.c_str();
    if (file != nullptr && state.engine().options.restricted == 0) lua::set_script_path(L, file);
    lua::set_limits(L, state.engine().limits);
    lua::guard_handlers(L);  // a later run may be cancelled
    lua_pushglobaltable(L);
    copy_table(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &globals_key);
    lua::push_script_arguments(L, "wgrun", file == nullptr ? lua::unnamed_text : file, load.arguments);
    lua_setglobal(L, "arg");
    const int loaded = lua::load_script(L, file, source.has_text ? &source.text : nullptr);
    if (loaded == LUA_OK) {
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &script_key);
        return true;
    }
    const int reason = errno;
    take_error(L, load.trouble);
    load.status = loaded == LUA_ERRFILE ? WGRUN_NO_FILE : status_of(load.trouble);
    if (take_limit(L, load.trouble)) load.status = WGRUN_LIMIT_REACHED;
    if (loaded == LUA_ERRFILE)
        lua::guarded(L, [&] {
            load.trouble.code = "ENOENT";
            load.trouble.findings.assign(1, {});
            load.trouble.findings.front().message =
                "cannot read " + source.file + ": " + std::strerror(reason);
        });
    return false;
}

int State::load_main(lua_State* L) {
    auto& load = *static_cast<Load*>(lua_touserdata(L, 1));
    State& state = load.state;
    Run& run = load.run;
    lua_settop(L, 0);
    if (!load.again) {
        prepare(L, state.engine());
        lua::open_error(L);  // a script may be stopped before it requires wgrun
        auto* raisers = static_cast<lua::Raisers*>(lua_newuserdatauv(L, sizeof(lua::Raisers), 0));
        *raisers = lua::raisers(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &raisers_key);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &raisers_key);
    load.trouble.raisers = *static_cast<lua::Raisers*>(lua_touserdata(L, -1));
    lua_pop(L, 1);
    std::atomic<bool>& stop = lua::session(L).stop;
    lua::guarded(L, [&] { load.interruptible.emplace(state.engine(), stop); });
    lua::session(L).withheld = false;
    constexpr int kernels = 1, handler = 2;
    lua_newtable(L);
    lua_pushvalue(L, kernels);
    lua::set_kernels(L);
    lua_pushlightuserdata(L, &load.trouble);
    lua_pushcclosure(L, keep_circumstances, 1);
    if (TokenInUse::any()) lua::watch_cancellation(L);
    if (load.again) {
        lua::set_limits(L, state.engine().limits);
        push_script_again(L, state.source_.file, load.arguments, state.code_);
    } else if (!begin_load(L, load)) {
        return 0;
    }
    luaL_checkstack(L, static_cast<int>(load.arguments.size()) + 2, "too many arguments");
    for (std::size_t i = 0; i < load.arguments.size(); ++i)
        lua_pushlstring(L, load.arguments[i].data(), load.arguments[i].size());
    const int status = lua_pcall(L, static_cast<int>(load.arguments.size()), LUA_MULTRET, handler);
    if (status != LUA_OK && is_end_of_script(L, -1)) {
        lua_settop(L, handler);
    } else if (status != LUA_OK) {
        take_error(L, load.trouble);
        load.status = status_of(load.trouble);
    }
    if (take_limit(L, load.trouble)) {
        load.status = WGRUN_LIMIT_REACHED;
        return 0;
    }
    if (stop) {  // Lua code may not be stopped, but its results after the kernels were stopped prove nothing
        load.status = WGRUN_INTERRUPTED;
        lua::guarded(L, [&] {
            load.trouble.code = "EINTR";
            load.trouble.findings.assign(1, {});
            load.trouble.findings.front().message = "interrupted";
        });
        return 0;
    }
    run.take_results(L, kernels, handler + 1);
    return 0;
}

std::shared_ptr<Run> State::load(const Source& source) {
    source_ = source;
    const auto made = std::make_shared<Run>(shared_from_this());
    Load load{*this, *made, source_.arguments};
    run(load);
    return made;
}

std::shared_ptr<Run> State::again(const std::vector<std::string>& arguments) {
    const auto made = std::make_shared<Run>(shared_from_this());
    Load load{*this, *made, arguments, true};
    run(load);
    return made;
}

void State::run(Load& load) {
    struct Body {
        static void run(lua_State* L, void* context) {
            lua_pushcfunction(L, load_main);
            lua_pushlightuserdata(L, context);
            lua_call(L, 1, 0);
        }
    };
    protect(Body::run, &load);
    if (load.status == WGRUN_OK) return;
    // Errors that a script raises about the results of kernels that did not run prove nothing.
    if (load.status == WGRUN_SCRIPT_FAILED && load.trouble.deliberate &&
        lua::session(state_.get()).withheld) {
        for (Diagnostic& finding : load.trouble.findings) lua::excuse_missing_results(finding);
        load.run.warnings = std::move(load.trouble.findings);
        return;
    }
    fail(load.status, load.trouble);
}

}  // namespace wgrun::c
