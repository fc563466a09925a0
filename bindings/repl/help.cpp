#include "bindings/repl/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "bindings/lua/docs.hpp"
#include "bindings/lua/userdata.hpp"

namespace wgrun::repl {
namespace {

using lua::Documentation;
using lua::Entry;
using lua::guarded;

// A line of a list: what does not fit it is left out.
std::string line_of(const Entry& entry, int columns) {
    std::string line = fmt::format("  {:<26} {}", entry.name, entry.summary());
    if (line.size() > static_cast<std::size_t>(columns))
        line = line.substr(0, static_cast<std::size_t>(columns) - 3) + "...";
    return line + '\n';
}

std::string text_of(const Documentation& docs, const std::string& name, int columns) {
    std::string out;
    if (name.empty()) {
        for (const Entry* entry : docs.members("wg")) out += line_of(*entry, columns);
        out += "types:\n";
        for (const Entry* entry : docs.types()) out += line_of(*entry, columns);
        return out + "help \"NAME\" or help(VALUE) tells more: wg.tile, tile, tile:offset, k:loop\n";
    }
    const Entry* entry = docs.find(name);
    const auto members = docs.members(entry == nullptr ? name : entry->name);
    if (entry == nullptr && members.empty()) {
        const auto near = docs.suggestions(name);
        throw ArgumentError(
            fmt::format("nothing is called `{}`{}", name,
                        near.empty() ? "" : fmt::format(": did you mean {}?", fmt::join(near, ", "))));
    }
    if (entry != nullptr) out = to_text(*entry, columns);
    for (const Entry* member : members) out += line_of(*member, columns);
    return out;
}

}  // namespace

void push_help(lua_State* L, const char* name, int columns) {
    const Documentation& docs = lua::documentation(L);
    auto& text = lua::held<std::string>(L);
    guarded(L, [&] { text = text_of(docs, name, columns); });
    lua_pushlstring(L, text.data(), text.size());
    lua_remove(L, -2);
}

void push_help_of(lua_State* L, int index, int columns) {
    if (lua_isnoneornil(L, index)) return push_help(L, "", columns);
    if (lua_type(L, index) == LUA_TSTRING) return push_help(L, lua_tostring(L, index), columns);
    auto& name = lua::held<std::string>(L);
    const std::string_view known = lua::described_name(L, index);
    guarded(L, [&] { name = known; });
    if (name.empty()) lua::fail_argument(L, index, "a name, or a function or object of wgrun");
    push_help(L, name.c_str(), columns);
    lua_remove(L, -2);
}

}  // namespace wgrun::repl
