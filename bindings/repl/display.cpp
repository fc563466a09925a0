#include "bindings/repl/display.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <vector>

#include "bindings/lua/error.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/tensor_text.hpp"
#include "bindings/lua/timeline.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/printable.hpp"
#include "wgrun/report.hpp"

namespace wgrun::repl {
namespace {

using lua::guarded;
using lua::held;

constexpr int max_depth = 4;
constexpr lua_Integer max_items = 24;
constexpr lua_Integer max_keys = 10000;  // keys that are sorted
constexpr std::size_t max_string = 200;  // bytes of a string inside a table

// A key of a table: its order among the others, and where its value is kept.
struct Key {
    int rank = 0;  ///< numbers, strings, booleans, the rest
    double number = 0;
    std::string text;
    lua_Integer slot = 0;

    bool operator<(const Key& other) const {
        if (rank != other.rank) return rank < other.rank;
        if (rank == 0 && number != other.number) return number < other.number;
        return rank == 1 ? text < other.text : slot < other.slot;
    }
};

// The text being written; lives in a userdata.
struct Writer {
    View view;
    std::string out;
    std::vector<const void*> above;  ///< the tables that hold the one being written
    bool broken = false;             ///< entries of tables are on lines of their own
};

void add_value(lua_State* L, int index, Writer& w);

void add(lua_State* L, Writer& w, std::string_view text) {
    guarded(L, [&] { w.out += text; });
}

bool is_name(const char* text, std::size_t size) {
    const auto good = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return size > 0 && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::all_of(text, text + size, good);
}

// Quoted as Lua reads it, cut to a length.
void add_quoted(lua_State* L, Writer& w, const char* text, std::size_t size) {
    guarded(L, [&] {
        w.out += '"';
        for (std::size_t i = 0; i < std::min(size, max_string); ++i) {
            const char c = text[i];
            if (c == '"' || c == '\\')
                (w.out += '\\') += c;
            else if (c == '\n')
                w.out += "\\n";
            else if (c == '\t')
                w.out += "\\t";
            else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
                w.out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
            else
                w.out += c;
        }
        w.out += size > max_string ? "\"... (" + std::to_string(size) + " bytes)" : "\"";
    });
}

// Replaces the value on top of the stack by its tostring: protected, because that may be the script's.
int protected_tostring(lua_State* L) {
    luaL_tolstring(L, 1, nullptr);
    return 1;
}

void add_tostring(lua_State* L, int index, Writer& w) {
    lua_pushcfunction(L, protected_tostring);
    lua_pushvalue(L, index);
    const int status = lua_pcall(L, 1, 1, 0);
    if (status == LUA_ERRMEM || (status != LUA_OK && lua::session(L).stop)) lua_error(L);
    std::size_t size = 0;
    if (status != LUA_OK) {
        // The error object may itself have such a __tostring.
        const char* text = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &size) : nullptr;
        guarded(L, [&] {
            w.out += "<error in __tostring";
            if (text != nullptr) (w.out += ": ") += printable({text, size});
            w.out += '>';
        });
    } else {
        const char* text = lua_tolstring(L, -1, &size);
        add(L, w, {text, size});
    }
    lua_pop(L, 1);
}

// Pushes a list of the keys outside the sequence 1..length, and returns them in order, with their total
// number.
lua_Integer push_keys(lua_State* L, int table, lua_Integer length, std::vector<Key>& keys) {
    lua_newtable(L);
    const int list = lua_gettop(L);
    lua_Integer count = 0;
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= length) continue;
        if (++count > max_keys) continue;
        lua_pushvalue(L, -2);
        lua_rawseti(L, list, count);
        const int type = lua_type(L, -2);
        std::size_t size = 0;
        const char* text = type == LUA_TSTRING ? lua_tolstring(L, -2, &size) : nullptr;
        const double number = type == LUA_TNUMBER ? lua_tonumber(L, -2) : lua_toboolean(L, -2);
        guarded(L, [&] {
            Key key;
            key.rank = type == LUA_TNUMBER ? 0 : type == LUA_TSTRING ? 1 : type == LUA_TBOOLEAN ? 2 : 3;
            key.number = number;
            if (text != nullptr) key.text.assign(text, size);
            key.slot = count;
            keys.push_back(std::move(key));
        });
    }
    guarded(L, [&] { std::sort(keys.begin(), keys.end()); });
    return count;
}

// Before an entry: the comma, and a new line if each entry has its own.
void separate(lua_State* L, Writer& w, bool first) {
    guarded(L, [&] {
        if (!first) w.out += w.broken ? "," : ", ";
        if (w.broken) w.out += '\n' + std::string(2 * w.above.size(), ' ');
    });
}

// A table that fits is written on one line; else each entry has a line.
void add_fitted(lua_State* L, int index, Writer& w) {
    if (!w.broken) return add_value(L, index, w);
    const std::size_t before = w.out.size();
    const std::size_t line = w.out.rfind('\n') == std::string::npos ? 0 : w.out.rfind('\n') + 1;
    w.broken = false;
    add_value(L, index, w);
    w.broken = true;
    const bool fits = w.out.size() - line < static_cast<std::size_t>(w.view.columns) &&
                      w.out.find('\n', before) == std::string::npos;
    if (fits || lua_type(L, index) != LUA_TTABLE) return;
    w.out.resize(before);
    add_value(L, index, w);
}

// An element of a sequence: a line has as many as fit.
void add_element(lua_State* L, int index, Writer& w, bool first) {
    if (!w.broken || first) {
        separate(L, w, first);
        return add_fitted(L, index, w);
    }
    add(L, w, ", ");
    const std::size_t before = w.out.size();
    const std::size_t line = w.out.rfind('\n') + 1;
    w.broken = false;
    add_value(L, index, w);
    w.broken = true;
    if (w.out.size() - line < static_cast<std::size_t>(w.view.columns)) return;
    w.out.resize(before - 2);
    separate(L, w, false);
    add_fitted(L, index, w);
}

// The sequence first, then the other keys in order.
void add_table(lua_State* L, int index, Writer& w) {
    const void* self = lua_topointer(L, index);
    if (std::find(w.above.begin(), w.above.end(), self) != w.above.end()) return add(L, w, "<cycle>");
    if (w.above.size() >= max_depth) return add(L, w, "{...}");
    guarded(L, [&] { w.above.push_back(self); });
    const int top = lua_gettop(L);
    const auto length = static_cast<lua_Integer>(lua_rawlen(L, index));
    auto& keys = held<std::vector<Key>>(L);
    const lua_Integer others = push_keys(L, index, length, keys);
    const int list = lua_gettop(L);
    lua_Integer items = 0;
    add(L, w, "{");
    for (; items < length && items < max_items; ++items) {
        lua_rawgeti(L, index, items + 1);
        add_element(L, lua_gettop(L), w, items == 0);
        lua_pop(L, 1);
    }
    for (const Key& key : keys) {
        if (items >= max_items) break;
        separate(L, w, items++ == 0);
        lua_rawgeti(L, list, key.slot);
        if (key.rank == 1 && is_name(key.text.data(), key.text.size())) {
            add(L, w, key.text);
        } else {
            add(L, w, "[");
            const bool broken = std::exchange(w.broken, false);
            add_value(L, lua_gettop(L), w);
            w.broken = broken;
            add(L, w, "]");
        }
        add(L, w, " = ");
        lua_rawget(L, index);  // the key on top becomes its value
        add_fitted(L, lua_gettop(L), w);
        lua_pop(L, 1);
    }
    const lua_Integer left = length + others - items;
    if (left > 0) {
        separate(L, w, false);
        guarded(L, [&] { w.out += "... " + std::to_string(left) + " more"; });
    }
    w.above.pop_back();
    if (w.broken && items > 0) guarded(L, [&] { w.out += '\n' + std::string(2 * w.above.size(), ' '); });
    add(L, w, "}");
    lua_settop(L, top);
}

bool has_tostring(lua_State* L, int index) {
    if (luaL_getmetafield(L, index, "__tostring") == LUA_TNIL) return false;
    lua_pop(L, 1);
    return true;
}

// Strings inside tables are quoted, so that "1" and 1 look different.
void add_value(lua_State* L, int index, Writer& w) {
    luaL_checkstack(L, LUA_MINSTACK, nullptr);
    const int type = lua_type(L, index);
    if (type == LUA_TTABLE && !has_tostring(L, index)) return add_table(L, index, w);
    if (type == LUA_TSTRING && !w.above.empty()) {
        std::size_t size = 0;
        const char* text = lua_tolstring(L, index, &size);
        return add_quoted(L, w, text, size);
    }
    // Inside tables, a function's address is only noise that differs from run to run.
    if (type == LUA_TFUNCTION && !w.above.empty()) return add(L, w, "function");
    add_tostring(L, index, w);
}

bool is_finding(lua_State* L, int index) {
    if (lua_type(L, index) != LUA_TTABLE) return false;
    lua_pushliteral(L, "message");
    const bool message = lua_rawget(L, index) == LUA_TSTRING;
    lua_pushliteral(L, "severity");
    const bool severity = lua_rawget(L, index) == LUA_TSTRING;
    lua_pop(L, 2);
    return message && severity;
}

// A finding, or a list of nothing else.
bool add_findings(lua_State* L, int index, Writer& w) {
    if (lua_type(L, index) != LUA_TTABLE) return false;
    const int top = lua_gettop(L);
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, index));
    const bool one = is_finding(L, index) || lua::is_error(L, index);
    if (!one && count == 0) return false;
    auto& findings = held<std::vector<Diagnostic>>(L);
    auto& finding = held<Diagnostic>(L);
    bool good = true;
    if (one) {
        lua::read_findings(L, index, findings);
    } else {
        for (lua_Integer i = 1; good && i <= count; ++i) {
            lua_rawgeti(L, index, i);
            good = is_finding(L, lua_gettop(L));
            guarded(L, [&] { finding = {}; });
            if (good) lua::read_finding(L, -1, finding);
            guarded(L, [&] { findings.push_back(finding); });
            lua_pop(L, 1);
        }
    }
    if (good) guarded(L, [&] { w.out += to_report(findings, "", lua::session(L).colour_output); });
    lua_settop(L, top);
    return good;
}

// A layout, tile or fragment: as an image of its elements, or of an overview, whichever fits; else as text.
template <class Object>
std::string drawn(const Object& object, const View& view) {
    const Picture picture = picture_of(object);
    if (const std::optional<Canvas> canvas = view.canvas ? view.canvas() : std::nullopt) {
        if (auto image = shown(picture, *canvas)) return *std::move(image);
        if (auto image = shown(picture_of(object, {.view = PictureView::overview}), *canvas))
            return *std::move(image);
    }
    return figure(picture.front(), view);
}

std::string drawn(const Picture& picture, const View& view) {
    if (const std::optional<Canvas> canvas = view.canvas ? view.canvas() : std::nullopt)
        if (auto image = shown(picture, *canvas)) return *std::move(image);
    return to_text(picture, TextStyle{terminal_colours(view.colour), view.columns});
}

// Objects with more to show than their tostring. False: it is none.
bool add_object(lua_State* L, int index, Writer& w) {
    const auto* layout = lua::test<Layout>(L, index);
    const auto* tile = lua::test<Tile>(L, index);
    const auto* fragment = lua::test<Fragment>(L, index);
    if (layout != nullptr || tile != nullptr || fragment != nullptr) {
        const bool good = guarded(L, [&] {
            try {
                w.out += layout != nullptr ? drawn(*layout, w.view)
                         : tile != nullptr ? drawn(*tile, w.view)
                                           : drawn(*fragment, w.view);
                return true;
            } catch (const ArgumentError&) {
                return false;  // too large for a picture
            }
        });
        if (!good) add_tostring(L, index, w);
        return true;
    }
    if (const Timeline* timeline = lua::timeline_at(L, index)) {
        return guarded(L, [&] {
            const std::optional<Canvas> canvas = w.view.canvas ? w.view.canvas() : std::nullopt;
            auto image = canvas ? shown(*timeline, *canvas) : std::nullopt;
            if (image) w.out += *image;
            return image.has_value();
        });
    }
    if (const auto* picture = lua::test<Picture>(L, index)) {
        guarded(L, [&] { w.out += drawn(*picture, w.view); });
        return true;
    }
    if (auto* kernel = lua::test<Kernel>(L, index)) {
        guarded(L, [&] { w.out += summary(kernel->program()); });
        return true;
    }
    const auto* box = lua::test<lua::HostTensorBox>(L, index);
    if (box == nullptr || box->tensor == nullptr) return false;
    guarded(L, [&] { w.out += lua::text_of_tensor(*box->tensor, w.view.columns) + '\n'; });
    return true;
}

}  // namespace

void push_display(lua_State* L, int index, const View& view) {
    index = lua_absindex(L, index);
    luaL_checkstack(L, LUA_MINSTACK, nullptr);
    auto& w = held<Writer>(L);
    w.view = view;
    if (!add_object(L, index, w) && !add_findings(L, index, w)) {
        if (lua_type(L, index) == LUA_TTABLE) {
            w.broken = true;
            add_fitted(L, index, w);
        } else {
            add_value(L, index, w);
        }
    }
    lua_pushlstring(L, w.out.data(), w.out.size());
    lua_remove(L, -2);
}

}  // namespace wgrun::repl
