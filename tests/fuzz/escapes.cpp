#include "diag/escape.hpp"

#include <algorithm>
#include <lua.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/fuzz/bodies.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::fuzz {
namespace {

void expect(bool holds, const char* what, const std::string& text) {
    if (!holds) throw Broken(std::string(what) + ": " + text);
}

bool lacks(const std::string& text, std::initializer_list<std::string_view> words) {
    return std::ranges::none_of(words, [&](std::string_view w) { return text.find(w) != std::string::npos; });
}

bool has_controls(const std::string& text) {
    return std::ranges::any_of(text,
                               [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

/// What a C compiler makes of a literal that is all of `text`.
std::string read_c(const std::string& text) {
    expect(text.size() >= 2 && text.front() == '"' && text.back() == '"', "a C literal", text);
    expect(!has_controls(text) && lacks(text, {"??"}), "a C literal on one line without trigraphs", text);
    std::string out;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        expect(text[i] != '"', "a C literal that ends at its end", text);
        if (text[i] != '\\') {
            out += text[i];
            continue;
        }
        ++i;
        expect(i + 1 < text.size(), "a C literal whose last quote is its end", text);
        int value = 0, digits = 0;
        for (; digits < 3 && is_octal(text[i]); ++digits) value = value * 8 + text[i++] - '0';
        if (digits > 0) {
            out += static_cast<char>(value);
            --i;
        } else {
            expect(std::string_view("\"\\?n").find(text[i]) != std::string_view::npos, "an escape of C",
                   text);
            out += text[i] == 'n' ? '\n' : text[i];
        }
    }
    return out;
}

/// What Lua makes of it.
std::string read_lua(const std::string& literal) {
    static const std::unique_ptr<lua_State, void (*)(lua_State*)> state(luaL_newstate(), lua_close);
    lua_State* const L = state.get();
    const std::string chunk = "return " + literal;
    expect(luaL_loadbufferx(L, chunk.data(), chunk.size(), "=text", "t") == LUA_OK &&
               lua_pcall(L, 0, LUA_MULTRET, 0) == LUA_OK && lua_gettop(L) == 1,
           "one value of Lua", literal);
    std::size_t size = 0;
    const char* const text = lua_tolstring(L, 1, &size);
    std::string out(text, size);
    lua_settop(L, 0);
    return out;
}

}  // namespace

void escapes(Bytes bytes) {
    const std::string text(bytes.begin(), bytes.end());

    const std::string comment = escape::comment(text);
    expect(!has_controls(comment) && lacks(comment, {"\\", "*/", "/*", "??"}), "a comment", comment);

    const std::string ptx = escape::ptx_string(text);
    const std::string inside = ptx.substr(1, ptx.size() - 2);
    expect(ptx.front() == '"' && ptx.back() == '"' && !has_controls(inside) && lacks(inside, {"\"", "\\"}),
           "a string of PTX", ptx);

    expect(read_c(escape::c_string(text)) == text, "the same bytes in C", text);
    expect(read_lua(escape::lua_string(text)) == text, "the same bytes in Lua", text);

    const std::string json = escape::json_string(text), script = escape::script_string(text);
    const auto read = nlohmann::json::parse(json, nullptr, false);
    expect(read.is_string() && nlohmann::json::parse(script, nullptr, false) == read, "a string of JSON",
           json);
    const bool replaced = read.get<std::string>() != text;
    expect(!replaced || read.get<std::string>().find("\xEF\xBF\xBD") != std::string::npos,
           "the same bytes in JSON", json);
    expect(lacks(script, {"<"}), "a string in a script element", script);

    const std::string xml = escape::xml(text);
    expect(lacks(xml, {"<", ">", "\""}), "text of XML", xml);

    const std::string shown = printable(text);
    expect(std::ranges::none_of(shown, [](char c) { return c == '\x1b' || c == '\r' || c == '\0'; }),
           "text for a terminal", shown);
}

}  // namespace wgrun::fuzz
