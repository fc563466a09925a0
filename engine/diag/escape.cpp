#include "diag/escape.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace wgrun::escape {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

}  // namespace

std::string comment(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const char before = out.empty() ? ' ' : out.back();
        const bool mark =
            (before == '*' && c == '/') || (before == '/' && c == '*') || (before == '?' && c == '?');
        out += is_control(c) || c == '\\' || mark ? '_' : c;
    }
    return out;
}

std::string ptx_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) out += is_control(c) || c == '"' || c == '\\' ? '_' : c;
    return out + '"';
}

std::string c_characters(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
        } else if (is_control(c)) {
            out +=
                fmt::format("\\{:03o}", static_cast<unsigned char>(c));  // three digits: more cannot follow
        } else {
            // A question mark after another would begin a trigraph.
            if (c == '"' || c == '\\' || (c == '?' && out.ends_with('?'))) out += '\\';
            out += c;
        }
    }
    return out;
}

std::string c_string(std::string_view text) { return '"' + c_characters(text) + '"'; }

std::string lua_string(std::string_view text) {
    // Long brackets change line ends: \r becomes \n, and a first one is dropped.
    if (text.find("]==") == std::string_view::npos && text.find('\r') == std::string_view::npos &&
        !text.starts_with('\n'))
        return fmt::format("[==[{}]==]", text);
    std::string out = "\"";
    for (const char c : text) {
        if (is_control(c) || c == ',')  // where scripts are broken into lines
            out += fmt::format("\\{:03}", static_cast<unsigned char>(c));
        else
            (c == '"' || c == '\\' ? out += '\\' : out) += c;
    }
    return out + '"';
}

std::string json_string(std::string_view text) {
    using nlohmann::json;
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string script_string(std::string_view text) {
    std::string out = json_string(text);
    for (std::size_t at = 0; (at = out.find('<', at)) != std::string::npos;) out.replace(at, 1, "\\u003c");
    return out;
}

std::string xml(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '&': out += "&amp;"; break;
            case '"': out += "&quot;"; break;
            case '\n':
            case '\t': out += c; break;
            default:
                if (is_control(c))
                    out += "\xEF\xBF\xBD";
                else
                    out += c;
        }
    }
    return out;
}

}  // namespace wgrun::escape
