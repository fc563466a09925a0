#include "bindings/repl/complete.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "bindings/lua/docs.hpp"
#include "bindings/lua/trace.hpp"
#include "bindings/repl/chunk.hpp"
#include "bindings/repl/commands.hpp"
#include "bindings/repl/context.hpp"
#include "bindings/repl/locals.hpp"
#include "wgrun/nearest.hpp"

namespace wgrun::repl {
namespace {

using lua::guarded;

constexpr int most_keys = 20000;  // keys of one table that are examined
constexpr int most_hops = 8;      // along __index, and from one declaration to the next
constexpr std::size_t most_candidates = 400;
constexpr char builder = 'k';  // its name in the documentation

/// A search and its results, which outlive the protected calls that make it.
struct Search {
    std::string text;  ///< up to the cursor
    Context context;
    int locals = 0;                            ///< stack index
    std::map<std::string, std::string> found;  ///< name and description
    std::string type;   ///< the type of a path, as the documentation names it; empty: not known
    std::string owner;  ///< the function that a path calls, by its name in the documentation
};

void offer(Search& s, std::string_view name, std::string_view about = {}) {
    if (!name.starts_with(s.context.prefix) || name.starts_with(keep_name)) return;
    if (s.found.size() >= most_candidates) return;
    std::string& known = s.found[std::string(name)];
    if (known.empty()) known = about;
}

bool is_identifier(std::string_view name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto good = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
    return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), good);
}

// The string keys of the table on top of the stack, with descriptions.
void offer_keys(lua_State* L, Search& s) {
    int seen = 0;
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        if (++seen > most_keys) {
            lua_pop(L, 2);
            return;
        }
        if (lua_type(L, -2) != LUA_TSTRING || (s.context.colon && lua_type(L, -1) != LUA_TFUNCTION)) continue;
        std::size_t size = 0;
        const char* text = lua_tolstring(L, -2, &size);
        guarded(L, [&] {
            if (is_identifier({text, size})) offer(s, {text, size});
        });
    }
}

// Pushes the field `name` of the table on top, without metamethods.
int push_raw(lua_State* L, const char* name) {
    lua_pushstring(L, name);
    return lua_rawget(L, -2);
}

// Replaces the value on top by its __index table. False, and removes it, if there is none.
bool go_on(lua_State* L) {
    if (lua_getmetatable(L, -1) == 0) {
        lua_pop(L, 1);
        return false;
    }
    lua_remove(L, -2);
    const int type = push_raw(L, "__index");
    lua_remove(L, -2);
    if (type == LUA_TTABLE) return true;
    lua_pop(L, 1);
    return false;
}

// The members of the value on top, which it removes. For objects of wgrun, the documented members.
void offer_members(lua_State* L, Search& s) {
    for (int hop = 0; hop < most_hops; ++hop) {
        if (lua_type(L, -1) == LUA_TTABLE) offer_keys(L, s);
        if (!go_on(L)) return;
    }
    lua_pop(L, 1);
}

void offer_described(lua_State* L, Search& s, std::string_view type) {
    if (type.empty()) return;
    const lua::Documentation& docs = lua::documentation(L);
    guarded(L, [&] {
        for (const lua::Entry* entry : docs.members(type)) {
            const bool method =
                entry->kind == lua::MemberKind::method || entry->kind == lua::MemberKind::instruction;
            if (method == s.context.colon) offer(s, entry->member, entry->summary());
        }
        if (s.context.colon && type == std::string_view(&builder, 1))
            for (const isa::Continuation& form : isa::continuations(s.context.prefix))
                offer(s, form.method, form.summary);
    });
}

// Replaces the value on top by its field; nil if it has none that can be read without running code.
void enter(lua_State* L, const std::string& name) {
    for (int hop = 0; hop < most_hops; ++hop) {
        if (lua_type(L, -1) == LUA_TTABLE) {
            if (push_raw(L, name.c_str()) != LUA_TNIL) {
                lua_remove(L, -2);
                return;
            }
            lua_pop(L, 1);
        }
        if (!go_on(L)) break;
        if (hop + 1 == most_hops) lua_pop(L, 1);
    }
    lua_pushnil(L);
}

void resolve(lua_State* L, Search& s, const Path& path, int depth);

// Pushes the value of the first name of a path: by the text itself, a local, or a global. nil, with s.type
// set, if only its type is known.
void push_base(lua_State* L, Search& s, const std::string& name, int depth) {
    auto& here = lua::held<Declared>(L);
    guarded(L, [&] { here = declared(s.text, name); });
    if (here.builder) {
        guarded(L, [&] { s.type.assign(1, builder); });
        lua_pushnil(L);
    } else if (here.path && depth < most_hops && !(here.path->names.front() == name)) {
        resolve(L, s, *here.path, depth + 1);
    } else if (!push_local(L, s.locals, name)) {
        lua_pop(L, 1);
        lua_pushglobaltable(L);
        push_raw(L, name.c_str());
        lua_remove(L, -2);
    }
    lua_remove(L, -2);  // here
}

// The first type that a description names: "tensor" of "tensor|nil".
std::string_view first_type(std::string_view type) { return type.substr(0, type.find_first_of("|?{[ (")); }

// Pushes the value of the path, or nil if only s.type, or nothing, is known. s.owner is the function that it
// calls or names.
void resolve(lua_State* L, Search& s, const Path& path, int depth) {
    luaL_checkstack(L, LUA_MINSTACK, nullptr);
    guarded(L, [&] { s.type.clear(), s.owner.clear(); });
    push_base(L, s, path.names.front(), depth);
    for (std::size_t i = 1; i < path.names.size(); ++i) {
        if (!lua_isnil(L, -1) || i > 1) guarded(L, [&] { s.type.clear(); });
        enter(L, path.names[i]);
    }
    const std::string_view type = lua_isnil(L, -1) ? std::string_view(s.type) : lua::described_type(L, -1);
    const std::string_view name = lua::described_name(L, -1);
    const lua::Documentation& docs = lua::documentation(L);
    guarded(L, [&] {
        std::string owner(name);
        if (!path.method.empty()) ((owner = type) += ':') += path.method;
        if (!path.method.empty() || path.called) {
            const lua::Entry* entry = owner.empty() ? nullptr : docs.find(owner);
            s.owner = entry == nullptr ? "" : entry->name;
            const bool result = entry != nullptr && path.called && !entry->results.empty();
            s.type = result ? first_type(entry->results.front().type) : "";
        } else {
            s.owner = owner;
            s.type = std::string(type);
        }
    });
    if (path.called || !path.method.empty()) {
        lua_pop(L, 1);
        lua_pushnil(L);
    }
}

// Protected: argument 1 is the search, 2 the locals.
int answer_member(lua_State* L) {
    auto& s = *static_cast<Search*>(lua_touserdata(L, 1));
    s.locals = 2;
    resolve(L, s, s.context.path, 0);
    offer_described(L, s, s.type);
    offer_members(L, s);
    return 0;
}

int answer_option(lua_State* L) {
    auto& s = *static_cast<Search*>(lua_touserdata(L, 1));
    s.locals = 2;
    resolve(L, s, s.context.path, 0);
    const lua::Documentation& docs = lua::documentation(L);
    guarded(L, [&] {
        const lua::Entry* entry = s.owner.empty() ? nullptr : docs.find(s.owner);
        if (entry == nullptr) return;
        const std::vector<std::string>& given = s.context.given;
        for (const lua::Described& option : entry->options) {
            std::string_view key = option.name;
            if (!key.starts_with(s.context.keys)) continue;
            key.remove_prefix(s.context.keys.size());
            if (key.find('.') != std::string_view::npos ||
                std::find(given.begin(), given.end(), key) != given.end())
                continue;
            std::string about = option.type;
            if (!option.fallback.empty()) (about += " = ") += option.fallback;
            (about += "  ") += option.text.substr(0, option.text.find('\n'));
            offer(s, std::string(key).append(" = "), about);
        }
    });
    return 0;
}

int answer_name(lua_State* L) {
    auto& s = *static_cast<Search*>(lua_touserdata(L, 1));
    lua_pushvalue(L, 2);
    offer_keys(L, s);
    lua_pushglobaltable(L);
    offer_members(L, s);
    return 0;
}

// Runs `body` with the search and the locals, while no finalizer can run. Errors (lack of memory) are
// dropped.
void ask(lua_State* L, int locals, lua_CFunction body, Search& s) {
    if (lua_checkstack(L, 4) == 0) return;
    const bool collecting = lua_gc(L, LUA_GCISRUNNING) != 0;
    lua_gc(L, LUA_GCSTOP);
    lua_pushcfunction(L, body);
    lua_pushlightuserdata(L, &s);
    lua_pushvalue(L, locals);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) lua_pop(L, 1);
    if (collecting) lua_gc(L, LUA_GCRESTART);
}

void offer_words(Search& s) {
    static constexpr std::array<std::string_view, 22> words{
        "and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
        "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while"};
    for (const std::string_view name : words) offer(s, name);
    for (const std::string& name : names_before(s.text)) offer(s, name);
}

}  // namespace

bool Helper::unfinished(const std::string& text) {
    struct Question {
        std::string text;
        bool answer = false;
    } question{before_ + text};
    if (is_command(question.text) || lua_checkstack(L_, 4) == 0) return false;
    lua_pushcfunction(L_, [](lua_State* L) {
        auto& q = *static_cast<Question*>(lua_touserdata(L, 1));
        q.answer = repl::unfinished(L, q.text);
        return 0;
    });
    lua_pushlightuserdata(L_, &question);
    if (lua_pcall(L_, 1, 0, 0) != LUA_OK) lua_pop(L_, 1);
    return question.answer;
}

Completion Helper::complete(const std::string& text, std::size_t cursor) {
    Search s;
    s.text = before_ + text.substr(0, cursor);
    s.context = context_of(s.text);
    switch (s.context.kind) {
        case Context::Kind::nothing: break;
        case Context::Kind::command:
            for (const Command& command : commands()) offer(s, command.name, command.about);
            break;
        case Context::Kind::member: ask(L_, locals_, answer_member, s); break;
        case Context::Kind::option:
            ask(L_, locals_, answer_option, s);
            if (!s.found.empty()) break;
            [[fallthrough]];  // an element of a list, say
        case Context::Kind::name:
            offer_words(s);
            ask(L_, locals_, answer_name, s);
            break;
    }
    Completion completion;
    completion.begin = s.text.size() - s.context.prefix.size() - before_.size();
    for (auto& [name, about] : s.found) completion.candidates.push_back({name, about});
    return completion;
}

}  // namespace wgrun::repl
