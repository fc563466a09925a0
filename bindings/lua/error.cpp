#include "bindings/lua/error.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "bindings/lua/userdata.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::lua {

Where caller(lua_State* L) noexcept {
    // Consecutive builder calls mostly come from one file, so its interned name is kept.
    static thread_local FileName last_file;
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
        lua_getinfo(L, "Sl", &frame);
        if (frame.currentline <= 0) continue;
        if (std::strncmp(frame.source, stdlib_prefix, std::strlen(stdlib_prefix)) == 0) continue;
        const bool named = frame.source[0] == '@' || frame.source[0] == '=';
        const std::string_view file = named ? frame.source + 1 : frame.short_src;
        if (file == last_file) return {last_file, frame.currentline};
        try {
            const Where where = Where::at(file, frame.currentline);
            last_file = where.file;
            return where;
        } catch (const std::bad_alloc&) {
            return {};
        }
    }
    return {};
}

namespace {

void set_string(lua_State* L, const char* key, std::string_view text) {
    if (text.empty()) return;
    lua_pushlstring(L, text.data(), text.size());
    lua_setfield(L, -2, key);
}

void set_place(lua_State* L, const Where& where) {
    set_string(L, "file", where.file);
    if (!where) return;
    lua_pushinteger(L, where.line);
    lua_setfield(L, -2, "line");
}

// Pushes the field `key` of the table at `index` as a string, empty if it is not one. A finalizer may change
// the script's table, so the view is valid only as long as the string stays on the stack.
std::string_view push_string_field(lua_State* L, int index, const char* key) {
    lua_pushstring(L, key);
    lua_rawget(L, index);
    std::size_t size = 0;
    const char* text = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &size) : "";
    return {text, size};
}

int line_field(lua_State* L, int index) {
    lua_pushliteral(L, "line");
    lua_rawget(L, index);
    const int line = static_cast<int>(lua_tointeger(L, -1));
    lua_pop(L, 1);
    return line;
}

/// Names of chunks, by what Lua makes of them in messages.
using LongNames = std::map<std::string, std::string, std::less<>>;

/// Null if the state has none. Allocates nothing: the error that is read may be that there is no memory.
const LongNames* long_names(lua_State* L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &kept_key<LongNames>);
    const auto* names = test<LongNames>(L, -1);
    lua_pop(L, 1);
    return names;
}

// Parses a plain message of Lua's: "file:line: message".
void read_message(std::string_view text, Diagnostic& finding) {
    for (std::size_t colon = text.find(':'); colon != std::string_view::npos;
         colon = text.find(':', colon + 1)) {
        int line = 0;
        const char* end = text.data() + text.size();
        const auto [after, problem] = std::from_chars(text.data() + colon + 1, end, line);
        if (colon == 0 || problem != std::errc() || line <= 0 || end - after < 2 || after[0] != ':') continue;
        finding.where = Where::at(text.substr(0, colon), line);
        finding.message =
            text.substr(static_cast<std::size_t>(after - text.data()) + (after[1] == ' ' ? 2 : 1));
        return;
    }
    finding.message = text;
}

int error_tostring(lua_State* L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    Diagnostic& finding = held<Diagnostic>(L);
    std::string& line = held<std::string>(L);
    read_finding(L, 1, finding);
    guarded(L, [&] { line = to_line(finding); });
    lua_pushlstring(L, line.data(), line.size());
    return 1;
}

int error_concat(lua_State* L) {
    luaL_tolstring(L, 1, nullptr);
    luaL_tolstring(L, 2, nullptr);
    lua_concat(L, 2);
    return 1;
}

constexpr std::string_view kinds[] = {"before", "after", "option", "line"};  // of Change, in its order

void set_phrase(lua_State* L, const Phrase& phrase) {
    lua_createtable(L, 0, 2);
    set_string(L, "lua", phrase.lua);
    set_string(L, "ptx", phrase.ptx);
}

/// Pushes a change as a table.
void push_change(lua_State* L, const Change& change) {
    lua_createtable(L, static_cast<int>(change.lines.size()), 6);
    set_place(L, change.where);
    set_string(L, "kind", kinds[static_cast<std::size_t>(change.kind)]);
    if (change.kind == Change::Kind::option) {
        set_phrase(L, change.option);
        lua_setfield(L, -2, "option");
        set_string(L, "from", change.from);
        set_string(L, "to", change.to);
    }
    for (std::size_t line = 0; line < change.lines.size(); ++line) {
        set_phrase(L, change.lines[line]);
        lua_rawseti(L, -2, static_cast<lua_Integer>(line) + 1);
    }
}

/// Sets the field `remedies` of the table on top: alternatives, each a list of changes.
void push_remedies(lua_State* L, const std::vector<Remedy>& remedies) {
    luaL_checkstack(L, 12, nullptr);
    lua_createtable(L, static_cast<int>(remedies.size()), 0);
    for (std::size_t i = 0; i < remedies.size(); ++i) {
        lua_createtable(L, static_cast<int>(remedies[i].size()), 0);
        for (std::size_t j = 0; j < remedies[i].size(); ++j) {
            push_change(L, remedies[i][j]);
            lua_rawseti(L, -2, static_cast<lua_Integer>(j) + 1);
        }
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "remedies");
}

/// The table at the top of the stack, if it is one, as a phrase.
void read_phrase(lua_State* L, Phrase& phrase) {
    if (lua_type(L, -1) != LUA_TTABLE) return;
    const int at = lua_gettop(L);
    const std::string_view lua = push_string_field(L, at, "lua"), ptx = push_string_field(L, at, "ptx");
    guarded(L, [&] { phrase = {std::string(lua), std::string(ptx)}; });
    lua_settop(L, at);
}

/// The change at the top of the stack.
void read_change(lua_State* L, Remedy& remedy) {
    const int at = lua_gettop(L);
    luaL_checkstack(L, 8, nullptr);
    const std::string_view file = push_string_field(L, at, "file"), kind = push_string_field(L, at, "kind"),
                           from = push_string_field(L, at, "from"), to = push_string_field(L, at, "to");
    const int line = line_field(L, at);
    const auto count = static_cast<std::size_t>(lua_rawlen(L, at));
    guarded(L, [&] {
        Change& change = remedy.emplace_back();
        change.where = Where::at(file, line);
        for (std::size_t i = 0; i < std::size(kinds); ++i)
            if (kinds[i] == kind) change.kind = static_cast<Change::Kind>(i);
        change.from = from;
        change.to = to;
        change.lines.resize(count);
    });
    lua_settop(L, at);
    lua_pushliteral(L, "option");
    lua_rawget(L, at);
    read_phrase(L, remedy.back().option);
    lua_settop(L, at);
    for (std::size_t i = 0; i < count; ++i) {
        lua_rawgeti(L, at, static_cast<lua_Integer>(i) + 1);
        read_phrase(L, remedy.back().lines[i]);
        lua_settop(L, at);
    }
}

/// Reads what push_remedies wrote to the table at `index`.
void read_remedies(lua_State* L, int index, std::vector<Remedy>& remedies) {
    lua_pushliteral(L, "remedies");
    const auto count = lua_rawget(L, index) == LUA_TTABLE ? static_cast<lua_Integer>(lua_rawlen(L, -1)) : 0;
    for (lua_Integer i = 1; i <= count; ++i) {
        if (lua_rawgeti(L, -1, i) == LUA_TTABLE) {
            guarded(L, [&] { remedies.emplace_back(); });
            const auto changes = static_cast<lua_Integer>(lua_rawlen(L, -1));
            for (lua_Integer j = 1; j <= changes; ++j) {
                if (lua_rawgeti(L, -1, j) == LUA_TTABLE) read_change(L, remedies.back());
                lua_pop(L, 1);
            }
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/// Sets the field `facts` of the table on top: values by name.
void push_facts(lua_State* L, const std::vector<Fact>& facts) {
    luaL_checkstack(L, 4, nullptr);
    lua_createtable(L, 0, static_cast<int>(facts.size()));
    for (const Fact& fact : facts) {
        lua_pushlstring(L, fact.name.data(), fact.name.size());
        if (const auto* text = std::get_if<std::string>(&fact.value))
            lua_pushlstring(L, text->data(), text->size());
        else
            lua_pushinteger(L, std::get<std::int64_t>(fact.value));
        lua_rawset(L, -3);
    }
    lua_setfield(L, -2, "facts");
}

/// Reads what push_facts wrote to the table at `index`, ordered by name.
void read_facts(lua_State* L, int index, std::vector<Fact>& facts) {
    lua_pushliteral(L, "facts");
    if (lua_rawget(L, index) == LUA_TTABLE) {
        lua_pushnil(L);
        while (lua_next(L, -2) != 0) {
            if (lua_type(L, -2) == LUA_TSTRING) {
                const char* name = lua_tostring(L, -2);
                const char* text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : nullptr;
                const std::int64_t number = lua_tointeger(L, -1);
                guarded(L, [&] {
                    Fact& fact = facts.emplace_back(Fact{name, number});
                    if (text != nullptr) fact.value = std::string(text);
                });
            }
            lua_pop(L, 1);
        }
        std::ranges::sort(facts, {}, &Fact::name);
    }
    lua_pop(L, 1);
}

}  // namespace

void push_finding(lua_State* L, const Diagnostic& finding) {
    luaL_checkstack(L, 12, nullptr);
    lua_createtable(L, 0, 10);
    set_string(L, "rule", finding.rule);
    set_string(L, "severity", to_string(finding.severity));
    set_place(L, finding.where);
    set_string(L, "message", finding.message);
    set_string(L, "fix", finding.fix);
    set_string(L, "section", finding.section);
    if (!finding.remedies.empty()) push_remedies(L, finding.remedies);
    if (!finding.facts.empty()) push_facts(L, finding.facts);
    if (finding.notes.empty()) return;
    lua_createtable(L, static_cast<int>(finding.notes.size()), 0);
    lua_Integer position = 0;
    for (const Note& note : finding.notes) {
        lua_createtable(L, 0, 3);
        set_place(L, note.where);
        set_string(L, "message", note.message);
        lua_rawseti(L, -2, ++position);
    }
    lua_setfield(L, -2, "notes");
}

void push_findings(lua_State* L, const std::vector<Diagnostic>& findings) {
    luaL_checkstack(L, 8, nullptr);
    lua_createtable(L, static_cast<int>(findings.size()), 0);
    lua_Integer position = 0;
    for (const Diagnostic& finding : findings) {
        push_finding(L, finding);
        lua_rawseti(L, -2, ++position);
    }
}

void remember_name(lua_State* L, const char* chunk) {
    if (std::strlen(chunk) < LUA_IDSIZE) return;
    if (luaL_loadbufferx(L, "", 0, chunk, "t") != LUA_OK) lua_error(L);
    lua_Debug empty;
    lua_getinfo(L, ">S", &empty);
    auto& names = kept<LongNames>(L);
    guarded(L, [&] { names.insert_or_assign(empty.short_src, chunk + 1); });
}

bool is_error(lua_State* L, int index) {
    if (lua_type(L, index) != LUA_TTABLE || lua_getmetatable(L, index) == 0) return false;
    luaL_getmetatable(L, error_class);
    const bool same = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
    return same;
}

void read_finding(lua_State* L, int index, Diagnostic& finding) {
    luaL_checkstack(L, 16, nullptr);
    index = lua_absindex(L, index);
    const int top = lua_gettop(L);
    if (lua_type(L, index) != LUA_TTABLE || push_string_field(L, index, "message").empty()) {
        std::size_t size = 0;
        // __tostring of an error object without a message (a script may remove it) would recurse into this
        // function.
        // A value without a text of its own has only its address, which says nothing.
        const char* text = "";
        if (!is_error(L, index)) {
            const bool has_text =
                lua_isstring(L, index) != 0 || luaL_getmetafield(L, index, "__tostring") != LUA_TNIL;
            text = has_text ? luaL_tolstring(L, index, &size)
                            : lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, index));
            if (!has_text) size = std::strlen(text);
        }
        const LongNames* const names = long_names(L);
        guarded(L, [&] {
            read_message({text, size}, finding);
            if (names == nullptr) return;
            const auto found = names->find(finding.where.file.view());
            if (found != names->end()) finding.where.file = FileName(found->second);
        });
        lua_settop(L, top);
        return;
    }
    struct Texts {
        std::string_view rule, severity, file, message, fix, section;
    } t{push_string_field(L, index, "rule"), push_string_field(L, index, "severity"),
        push_string_field(L, index, "file"), push_string_field(L, index, "message"),
        push_string_field(L, index, "fix"),  push_string_field(L, index, "section")};
    const int line = line_field(L, index);
    guarded(L, [&] {
        finding.rule = t.rule;
        finding.message = t.message;
        finding.fix = t.fix;
        finding.section = t.section;
        if (!t.file.empty()) finding.where = Where::at(t.file, line);
        if (t.severity == "warning") finding.severity = Severity::warning;
        if (t.severity == "note") finding.severity = Severity::note;
    });
    lua_settop(L, top);
    read_remedies(L, index, finding.remedies);
    read_facts(L, index, finding.facts);
    lua_pushliteral(L, "notes");
    const int count = lua_rawget(L, index) == LUA_TTABLE ? static_cast<int>(lua_rawlen(L, -1)) : 0;
    for (int i = 1; i <= count; ++i) {
        if (lua_rawgeti(L, -1, i) == LUA_TTABLE) {
            const int at = lua_gettop(L);
            const std::string_view file = push_string_field(L, at, "file");
            const std::string_view message = push_string_field(L, at, "message");
            const int note_line = line_field(L, at);
            guarded(L, [&] { finding.notes.push_back({Where::at(file, note_line), std::string(message)}); });
            lua_settop(L, at);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

void read_findings(lua_State* L, int index, std::vector<Diagnostic>& findings) {
    luaL_checkstack(L, 6, nullptr);
    index = lua_absindex(L, index);
    int count = 0;
    if (lua_type(L, index) == LUA_TTABLE) {
        lua_pushliteral(L, "findings");
        if (lua_rawget(L, index) == LUA_TTABLE) count = static_cast<int>(lua_rawlen(L, -1));
    } else {
        lua_pushnil(L);
    }
    guarded(L, [&] { findings.resize(count == 0 ? 1 : static_cast<std::size_t>(count)); });
    if (count == 0) read_finding(L, index, findings.front());
    for (int i = 1; i <= count; ++i) {
        lua_rawgeti(L, -1, i);
        read_finding(L, -1, findings[static_cast<std::size_t>(i - 1)]);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

int fail_from_lua(lua_State* L) {
    std::string_view text[4];  // messages repeat names, which may hold zero bytes
    for (int i = 0; i < 4; ++i) {
        std::size_t size = 0;
        const char* given = i == 0 ? luaL_checklstring(L, 1, &size) : luaL_optlstring(L, i + 1, "", &size);
        text[i] = {given, size};
    }
    guarded(L, [&] {
        Diagnostic finding = plain_error(std::string(text[0]), std::string(text[1]));
        finding.rule = text[2];
        const Rule* rule = text[3].empty() ? find_rule(text[2]) : nullptr;
        finding.section = rule != nullptr ? rule->section : text[3];
        throw ArgumentError(std::move(finding));
    });
    return 0;
}

std::string_view error_code(lua_State* L, int index) {
    if (!is_error(L, index)) return {};
    index = lua_absindex(L, index);
    lua_pushliteral(L, "code");
    const bool has_code = lua_rawget(L, index) == LUA_TSTRING;
    const char* code = has_code ? lua_tostring(L, -1) : "";
    lua_pop(L, 1);
    return code;
}

void open_error(lua_State* L) {
    static const luaL_Reg metamethods[] = {
        {"__tostring", error_tostring}, {"__concat", error_concat}, {nullptr, nullptr}};
    luaL_newmetatable(L, error_class);
    luaL_setfuncs(L, metamethods, 0);
    lua_pop(L, 1);
}

}  // namespace wgrun::lua
