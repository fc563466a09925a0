#include "bindings/lua/guard.hpp"

#include "bindings/lua/error.hpp"
#include "bindings/lua/plain_words.hpp"
#include "wgrun/kernel.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::lua {

Raised* capture(const std::exception& error) noexcept {
    try {
        auto raised = std::make_unique<Raised>();
        if (const auto* check = dynamic_cast<const CheckError*>(&error)) raised->findings = check->findings();
        if (const auto* ours = dynamic_cast<const Error*>(&error)) {
            raised->code = ours->code();
            raised->environment = dynamic_cast<const EnvironmentError*>(&error) != nullptr;
            if (raised->findings.empty()) raised->findings.push_back(ours->finding());
            raised->findings.front().message = in_plain_words(raised->findings.front().message);
            // Failures of the environment become a plain string, which scripts print.
            std::string& message = raised->findings.front().message;
            if (raised->environment) message = printable(message);
        } else if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
            return nullptr;
        } else {
            raised->code = "EINTERNAL";
            raised->findings.emplace_back().message = std::string("internal error: ") + error.what();
        }
        return raised.release();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

namespace {

// light userdata Raised -> error object. Runs under pcall, since every push may raise "not enough memory".
int build_error(lua_State* L) {
    const Raised& raised = *static_cast<const Raised*>(lua_touserdata(L, 1));
    push_finding(L, raised.findings.front());
    lua_pushlstring(L, raised.code.data(), raised.code.size());
    lua_setfield(L, -2, "code");
    if (raised.findings.size() > 1 || !raised.findings.front().rule.empty()) {
        push_findings(L, raised.findings);
        lua_setfield(L, -2, "findings");
    }
    luaL_setmetatable(L, error_class);
    return 1;
}

// light userdata Raised -> nil, message, code
int build_failure(lua_State* L) {
    const Raised& raised = *static_cast<const Raised*>(lua_touserdata(L, 1));
    lua_pushnil(L);
    lua_pushlstring(L, raised.findings.front().message.data(), raised.findings.front().message.size());
    lua_pushlstring(L, raised.code.data(), raised.code.size());
    return 3;
}

// Runs `build` on `raised`, which it deletes. The results, or the error, are left on the stack.
int protected_build(lua_State* L, lua_CFunction build, Raised* raised, int results) {
    int status = LUA_ERRMEM;
    if (lua_checkstack(L, LUA_MINSTACK)) {
        lua_pushcfunction(L, build);
        lua_pushlightuserdata(L, raised);
        status = lua_pcall(L, 1, results, 0);
    } else {
        lua_settop(L, 0);
        lua_pushnil(L);
    }
    delete raised;
    return status;
}

}  // namespace

void raise(lua_State* L, Raised* raised) {
    if (raised == nullptr) {
        lua_pushliteral(L, "not enough memory");  // Lua's own message: without a place, and preallocated
        lua_error(L);
    } else {
        Diagnostic& finding = raised->findings.front();
        if (!finding.where) finding.where = caller(L);
        protected_build(L, build_error, raised, 1);
        lua_error(L);
    }
    std::terminate();  // not reached
}

int give_back(lua_State* L, Raised* raised) {
    if (raised == nullptr || !raised->environment) raise(L, raised);
    if (protected_build(L, build_failure, raised, 3) != LUA_OK) lua_error(L);
    return 3;
}

}  // namespace wgrun::lua
