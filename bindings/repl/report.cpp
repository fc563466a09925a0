#include "bindings/repl/report.hpp"

#include "bindings/lua/error.hpp"

namespace wgrun::repl {

std::string to_report(std::span<const Diagnostic> findings, std::string_view prefix, bool colour) {
    std::string text;
    for (const Diagnostic& finding : findings) {
        if (!finding.rule.empty() || finding.severity != Severity::error) {
            text += to_text(finding, colour);
        } else {
            text += std::string(prefix) + to_line(finding);
            if (!finding.fix.empty()) text += " (fix: " + finding.fix + ")";
        }
        if (!text.ends_with('\n')) text += '\n';
    }
    return text;
}

std::string_view error_code(lua_State* L, int index) {
    if (!lua::is_error(L, index)) return {};
    index = lua_absindex(L, index);
    lua_pushliteral(L, "code");
    const bool has_code = lua_rawget(L, index) == LUA_TSTRING;
    const char* code = has_code ? lua_tostring(L, -1) : "";
    lua_pop(L, 1);
    return code;
}

}  // namespace wgrun::repl
