#include "bindings/c/trouble.hpp"

#include <string_view>
#include <utility>

#include "bindings/c/failure.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/guard.hpp"
#include "bindings/lua/limits.hpp"

namespace wgrun::c {
namespace {

constexpr std::string_view no_memory = "not enough memory";  // Lua's words

}  // namespace

int status_of(const Trouble& trouble) {
    if (!trouble.ours)
        return !trouble.findings.empty() && trouble.findings.front().message == no_memory
                   ? WGRUN_NO_MEMORY
                   : WGRUN_SCRIPT_FAILED;
    if (trouble.code != "EINVAL") return c::status_of(trouble.code);
    return trouble.findings.front().rule.empty() ? WGRUN_SCRIPT_FAILED : WGRUN_FOUND_ERRORS;
}

void fail(int status, Trouble& trouble) {
    if (trouble.code.empty()) trouble.code = status == WGRUN_NO_MEMORY ? "ENOMEM" : "EINVAL";
    throw Failure(status, std::move(trouble.code), std::move(trouble.findings), std::move(trouble.traceback));
}

void take_error(lua_State* L, Trouble& trouble) {
    trouble.ours = lua::is_error(L, -1);
    const std::string_view code = lua::error_code(L, -1);
    lua::guarded(L, [&] { trouble.code = code; });
    lua::read_findings(L, -1, trouble.findings);
    lua_pop(L, 1);
}

bool take_limit(lua_State* L, Trouble& trouble) {
    // Work of the engine ends by the deadline itself.
    lua::LimitState& counted = lua::limit_state(L);
    if (trouble.code == "ETIMEDOUT" && counted.limits.time.count() != 0) lua::out_of_time(counted);
    const lua::Limit limit = lua::limit_reached(L);
    if (limit == lua::Limit::none) return false;
    // What the script may have done without.
    if (limit == lua::Limit::memory && status_of(trouble) != WGRUN_NO_MEMORY) return false;
    const lua::LimitState& state = lua::limit_state(L);
    lua::guarded(L, [&] {
        const Where where = trouble.findings.empty() ? Where() : trouble.findings.front().where;
        trouble.findings.assign(1, lua::limit_finding(limit, state.limits, where));
        trouble.code = "ELIMIT";
    });
    trouble.ours = true;
    return true;
}

}  // namespace wgrun::c
