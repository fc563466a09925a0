#include "bindings/repl/complete.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "bindings/lua/trace.hpp"
#include "bindings/repl/chunk.hpp"
#include "bindings/repl/commands.hpp"
#include "bindings/repl/locals.hpp"
#include "bindings/repl/tokens.hpp"

namespace wgrun::repl {
namespace {

using Kind = Token::Kind;
using lua::guarded;

constexpr int most_keys = 20000;  // of one table that are looked at
constexpr int most_hops = 8;      // along __index
constexpr std::size_t most_candidates = 400;

/// One question and what is found: outlives the protected calls that answer it.
struct Search {
    std::string text;                          ///< up to the cursor
    std::vector<Token> tokens;                 ///< of it, without comments and the word that is being typed
    std::string prefix;                        ///< that word
    int locals = 0;                            ///< stack index
    bool calls = false;                        ///< a colon: functions only
    std::vector<std::string> path;             ///< a.b.c in front of the last dot or colon
    std::map<std::string, std::string> found;  ///< name and what it is
};

std::string_view word(const Search& s, std::size_t i) { return text_of(s.text, s.tokens[i]); }

void offer(Search& s, std::string_view name, std::string_view about = {}) {
    if (!name.starts_with(s.prefix) || name.starts_with(keep_name)) return;
    if (s.found.size() < most_candidates) s.found.emplace(name, about);
}

bool is_identifier(std::string_view name) {
    const std::vector<Token> tokens = tokens_of(name);
    return tokens.size() == 1 && tokens[0].kind == Kind::name && tokens[0].end == name.size();
}

// The string keys of the table on top of the stack, and what they may stand for.
void offer_keys(lua_State* L, Search& s) {
    int seen = 0;
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        if (++seen > most_keys) {
            lua_pop(L, 2);
            return;
        }
        if (lua_type(L, -2) != LUA_TSTRING || (s.calls && lua_type(L, -1) != LUA_TFUNCTION)) continue;
        std::size_t size = 0;
        const char* text = lua_tolstring(L, -2, &size);
        guarded(L, [&] {
            if (is_identifier({text, size})) offer(s, {text, size});
        });
    }
}

// Pushes the field `name` of the table at the top, without metamethods.
int push_raw(lua_State* L, const char* name) {
    lua_pushstring(L, name);
    return lua_rawget(L, -2);
}

// Replaces the value on top by what it looks names up in beyond itself. False, and nothing, if there is none.
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

// A wgrun object: its methods, and the fields that its __index computes (userdata.hpp).
bool offer_class(lua_State* L, Search& s) {
    if (lua_type(L, -1) != LUA_TUSERDATA || lua_getmetatable(L, -1) == 0) return false;
    const bool ours = push_raw(L, "methods") == LUA_TTABLE;
    if (ours) offer_keys(L, s);
    lua_pop(L, 1);
    if (ours && !s.calls && push_raw(L, "__index") == LUA_TFUNCTION) {
        if (lua_getupvalue(L, -1, 2) != nullptr) {
            if (lua_type(L, -1) == LUA_TTABLE) offer_keys(L, s);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    lua_settop(L, -2);
    return ours;
}

// The members of the value on top, which goes.
void offer_members(lua_State* L, Search& s) {
    if (offer_class(L, s)) {
        lua_pop(L, 1);
        return;
    }
    for (int hop = 0; hop < most_hops; ++hop) {
        if (lua_type(L, -1) == LUA_TTABLE) offer_keys(L, s);
        if (!go_on(L)) return;
    }
    lua_pop(L, 1);
}

// Pushes the value of the name, of a local or else a global; whether there is one.
bool push_named(lua_State* L, const Search& s, const std::string& name) {
    if (push_local(L, s.locals, name)) return true;
    lua_pop(L, 1);
    lua_pushglobaltable(L);
    push_raw(L, name.c_str());
    lua_remove(L, -2);
    return !lua_isnil(L, -1);
}

// Replaces the value on top by its field; nil if it has none that can be had without running anything.
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

// Is it the builder of a kernel that is being typed: the first parameter of a function behind `kernel`?
bool names_builder(const Search& s, const std::string& name) {
    bool kernel = false;
    for (std::size_t i = 0; i + 2 < s.tokens.size(); ++i) {
        kernel = kernel || word(s, i) == "kernel";
        if (kernel && word(s, i) == "function" && word(s, i + 1) == "(" && word(s, i + 2) == name)
            return true;
    }
    return false;
}

// Protected: argument 1 is the search, 2 the locals.
int offer_path(lua_State* L) {
    auto& s = *static_cast<Search*>(lua_touserdata(L, 1));
    s.locals = 2;
    if (!push_named(L, s, s.path.front())) {
        const bool builder =
            s.path.size() == 1 && guarded(L, [&] { return names_builder(s, s.path.front()); });
        if (builder && s.calls) {
            lua::push_methods(L, &lua::class_key<lua::BuilderBox>, lua::class_name<lua::BuilderBox>);
            offer_keys(L, s);
        }
        return 0;
    }
    for (std::size_t i = 1; i < s.path.size(); ++i) enter(L, s.path[i]);
    offer_members(L, s);
    return 0;
}

int offer_names(lua_State* L) {
    auto& s = *static_cast<Search*>(lua_touserdata(L, 1));
    lua_pushvalue(L, 2);
    offer_keys(L, s);
    lua_pushglobaltable(L);
    offer_members(L, s);
    return 0;
}

// Runs `body` with the search and the locals, while no finalizer can run. Errors, which are lack of memory,
// are dropped.
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

// Reads a.b.c in front of the dot or colon that is token `last`. False: what stands there is no such path.
bool read_path(Search& s, std::size_t last) {
    for (std::size_t i = last;; i -= 2) {
        if (i == 0 || s.tokens[i - 1].kind != Kind::name) return false;
        s.path.insert(s.path.begin(), std::string(word(s, i - 1)));
        if (i < 2 || word(s, i - 2) != ".") return i < 2 || word(s, i - 2) != ":";
    }
}

void offer_commands(Search& s) {
    for (const Command& command : commands()) offer(s, command.name, command.about);
}

// What has been typed in this chunk already, and Lua's own words.
void offer_words(Search& s) {
    static constexpr std::array<std::string_view, 22> words{
        "and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
        "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while"};
    for (const std::string_view name : words) offer(s, name);
    for (std::size_t i = 0; i < s.tokens.size(); ++i)
        if (s.tokens[i].kind == Kind::name && (i == 0 || (word(s, i - 1) != "." && word(s, i - 1) != ":")))
            offer(s, word(s, i));
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
    Completion completion;
    Search s;
    s.text = before_ + text.substr(0, cursor);
    const std::size_t offset = before_.size();
    if (before_.empty() && s.text.starts_with('.') && s.text.find(' ') == std::string::npos) {
        s.prefix = s.text;
        offer_commands(s);
    } else {
        s.tokens = tokens_of(s.text);
        if (!s.tokens.empty() && s.tokens.back().end == s.text.size()) {
            const Token last = s.tokens.back();
            const bool line_comment = last.kind == Kind::comment;
            if (line_comment || last.kind == Kind::number || (last.kind == Kind::string && !last.closed))
                return completion;
            if (last.kind == Kind::name || last.kind == Kind::keyword) {
                s.prefix = text_of(s.text, last);
                s.tokens.pop_back();
            }
        }
        std::erase_if(s.tokens, [](const Token& token) { return token.kind == Kind::comment; });
        const std::size_t count = s.tokens.size();
        const std::string_view last = count == 0 ? std::string_view() : word(s, count - 1);
        if (last == "." || last == ":") {
            s.calls = last == ":";
            if (read_path(s, count - 1)) ask(L_, locals_, offer_path, s);
        } else if (last != "function" && last != "goto" && last != "local") {
            offer_words(s);
            ask(L_, locals_, offer_names, s);
        }
    }
    completion.begin = s.text.size() - s.prefix.size() - offset;
    for (auto& [name, about] : s.found) completion.candidates.push_back({name, about});
    return completion;
}

}  // namespace wgrun::repl
