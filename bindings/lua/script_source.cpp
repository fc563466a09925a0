// The source of the functions that run: found, read once for each chunk, and analysed.
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "bindings/lua/args.hpp"
#include "bindings/lua/conditions.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/trace.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun::lua {
namespace {

/// A chunk, and what is known about it.
struct Known {
    syntax::Chunk chunk;
    std::vector<BuilderParameter> builders;
    std::vector<std::pair<int, int>> seen;  ///< first and last lines of functions
};

/// Kept for each state.
struct Sources {
    std::map<std::string, std::unique_ptr<Known>, std::less<>> chunks;
    const char* last_source = nullptr;  ///< of the innermost function seen last: compared, never read
    int last_line = 0;
};

constexpr std::int64_t largest = 4 << 20;  // in bytes: larger scripts are not read
constexpr std::size_t most_chunks = 256;   // a long-lived process may load many chunks under new names

/// The text of a chunk, from its name as Lua keeps it: a file, or the text itself. Empty where there is none.
std::string text_of(const char* source) {
    if (source[0] == '=') return {};
    if (source[0] != '@') return source;
    struct stat status {};
    if (stat(source + 1, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > largest) return {};
    std::ifstream file(source + 1, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The chunk called `source`, read if it has not been. Null where it cannot be kept.
Known* known_chunk(Sources& sources, const char* source) {
    const auto found = sources.chunks.find(std::string_view(source));
    if (found != sources.chunks.end()) return found->second.get();
    if (sources.chunks.size() >= most_chunks) return nullptr;
    auto known = std::make_unique<Known>();
    syntax::parse(text_of(source), known->chunk);
    return sources.chunks.emplace(source, std::move(known)).first->second.get();
}

bool is_script(const lua_Debug& frame) {
    return frame.linedefined >= 0 && frame.what[0] != 'C' &&
           std::strncmp(frame.source, stdlib_prefix, std::strlen(stdlib_prefix)) != 0;
}

/// The function of the chunk at these lines with these parameters; none if it is ambiguous, as when the file
/// has changed since it was loaded.
int function_at(const syntax::Chunk& chunk, const lua_Debug& frame) {
    int found = syntax::none;
    for (std::size_t i = 1; i < chunk.functions.size(); ++i) {
        const syntax::Function& function = chunk.functions[i];
        if (function.first_line != frame.linedefined || function.last_line != frame.lastlinedefined) continue;
        if (found != syntax::none) return syntax::none;
        found = static_cast<int>(i);
    }
    return found;
}

/// Records which parameters of the frame's function are builders; true if that is new.
bool learn(lua_State* L, lua_Debug& frame, Known& known) {
    lua_getinfo(L, "u", &frame);
    const int function = guarded(L, [&] { return function_at(known.chunk, frame); });
    if (function == syntax::none) return false;
    const auto& parameters = known.chunk.functions[static_cast<std::size_t>(function)].parameters;
    if (parameters.size() != frame.nparams) return false;
    bool news = false;
    luaL_checkstack(L, 4, nullptr);
    for (int i = 0; i < frame.nparams; ++i) {
        const char* name = lua_getlocal(L, &frame, i + 1);
        if (name == nullptr) continue;
        const bool builder = test<BuilderBox>(L, -1) != nullptr;
        lua_pop(L, 1);
        const syntax::Declaration& parameter =
            known.chunk.declarations[static_cast<std::size_t>(parameters[static_cast<std::size_t>(i)])];
        if (!builder || parameter.name != name) continue;
        guarded(L, [&] {
            const BuilderParameter found{function, i};
            if (std::ranges::find(known.builders, found) != known.builders.end()) return;
            known.builders.push_back(found);
            news = true;
        });
    }
    return news;
}

/// Looks at all running functions of scripts, and raises the findings in chunks of new ones.
void look(lua_State* L, Sources& sources) {
    lua_Debug frame;
    for (int level = 1; lua_getstack(L, level, &frame) != 0; ++level) {
        lua_getinfo(L, "S", &frame);
        if (!is_script(frame)) continue;
        Known* known = guarded(L, [&] { return known_chunk(sources, frame.source); });
        if (known == nullptr || !known->chunk.good) continue;
        const bool seen = guarded(L, [&] {
            const std::pair lines{frame.linedefined, frame.lastlinedefined};
            if (std::ranges::find(known->seen, lines) != known->seen.end()) return true;
            known->seen.push_back(lines);
            return false;
        });
        if (seen || !learn(L, frame, *known)) continue;
        guarded(L, [&] {
            const char* name = frame.source[0] == '@' ? frame.source + 1 : frame.short_src;
            std::vector<Diagnostic> findings = constant_conditions(known->chunk, name, known->builders);
            if (findings.empty()) return;
            // If the kernel is tried again, it is refused again.
            known->seen.clear();
            known->builders.clear();
            sources.last_source = nullptr;
            throw CheckError(std::move(findings));
        });
    }
}

struct Spelled {
    std::string_view event, symbol;
};
constexpr std::array operators{Spelled{"add", "+"},  Spelled{"sub", "-"},   Spelled{"mul", "*"},
                               Spelled{"div", "/"},  Spelled{"idiv", "//"}, Spelled{"mod", "%"},
                               Spelled{"band", "&"}, Spelled{"bor", "|"},   Spelled{"bxor", "~"},
                               Spelled{"shl", "<<"}, Spelled{"shr", ">>"}};

/// The expression that is operand `index` of the operator, or argument of the call of `name` at `line`.
std::string_view argument_text(const syntax::Chunk& chunk, int line, std::string_view name, bool event,
                               int index) {
    using Kind = syntax::Expression::Kind;
    const auto* symbol = std::ranges::find_if(operators, [&](const Spelled& o) { return o.event == name; });
    int found = syntax::none;
    for (const syntax::Expression& e : chunk.expressions) {
        if (e.line != line) continue;
        int operand = syntax::none;
        if (event && symbol != operators.end() && e.kind == Kind::binary && e.operation == symbol->symbol) {
            operand = index == 1 ? e.left : e.right;
            const Kind kind = chunk.at(operand).kind;
            if (kind != Kind::name && kind != Kind::index && kind != Kind::call && kind != Kind::method)
                continue;
        } else if (!event && e.kind == Kind::method && e.name == name) {
            const auto place = static_cast<std::size_t>(index - 2);
            if (index >= 2 && place < e.arguments.size()) operand = e.arguments[place];
        }
        if (operand == syntax::none) continue;
        if (found != syntax::none && chunk.at(found).text != chunk.at(operand).text) return {};
        found = operand;
    }
    return found == syntax::none ? std::string_view() : chunk.at(found).text;
}

}  // namespace

void watch_conditions(lua_State* L) {
    lua_Debug frame;
    for (int level = 1; lua_getstack(L, level, &frame) != 0; ++level) {
        lua_getinfo(L, "S", &frame);
        if (!is_script(frame)) continue;
        Sources& sources = kept<Sources>(L);
        if (frame.source == sources.last_source && frame.linedefined == sources.last_line) return;
        sources.last_source = frame.source;
        sources.last_line = frame.linedefined;
        return look(L, sources);
    }
}

void source_of_argument(lua_State* L, int index, std::string& out) {
    lua_Debug function, frame;
    if (lua_getstack(L, 0, &function) == 0 || lua_getstack(L, 1, &frame) == 0) return;
    lua_getinfo(L, "n", &function);
    lua_getinfo(L, "Sl", &frame);
    if (function.name == nullptr || !is_script(frame)) return;
    Sources& sources = kept<Sources>(L);
    const bool event = std::strcmp(function.namewhat, "metamethod") == 0;
    guarded(L, [&] {
        const Known* known = known_chunk(sources, frame.source);
        if (known == nullptr || !known->chunk.good) return;
        const std::string_view text =
            argument_text(known->chunk, frame.currentline, function.name, event, index);
        if (!text.empty() && text.size() <= 60 && text.find('\n') == std::string_view::npos)
            (out = '`').append(text) += '`';
    });
}

}  // namespace wgrun::lua
