// What scripts can call, and what is said of it: one entry holds the name, the function and the words.
//
// `wgrun help`, the prompt's completion, docs/api and the LuaLS annotations are all made of these entries and
// of the `---` comments in stdlib/, which have the same form. A text begins with what the thing is or does,
// the first sentence being what a list shows; then come tags, each at the start of a line:
//
//     @param NAME TYPE text      an argument; a TYPE with `?` behind it may be left out, `= VALUE` gives its
//     default
//     @option NAME TYPE text     a key of the option table (in C++ an Option, so that the check has the same
//     list)
//     @return TYPE text          a result; a tag for each of several
//     @field NAME TYPE text      a field of the table that is returned, or of a type that is a Lua table
//     @raise text                when an error is raised, beyond wrong types and unknown names
//     @see NAME                  another entry
//     @example                   Lua, up to the next tag or the end
//
// A text runs on in the lines that follow a tag. `TYPE` is a Lua type or one of wgrun's (tile, reg, regs,
// ...); alternatives are parted by `|`: integer|reg.
#pragma once

#include <lua.hpp>

#include <array>
#include <span>
#include <string_view>

namespace wgrun::lua {

/// A key of an option table: what it is called, its type (with `?` or `= VALUE`, as of a @param), what it
/// means.
struct Option {
    std::string_view name;
    std::string_view type = {};
    std::string_view text = {};
    std::span<const Option> keys = {};  ///< of a value that is an option table itself
};

/// Two lists of keys as one.
template <std::size_t A, std::size_t B>
constexpr std::array<Option, A + B> joined(const Option (&first)[A], const Option (&second)[B]) {
    std::array<Option, A + B> out{};
    for (std::size_t i = 0; i < A; ++i) out[i] = first[i];
    for (std::size_t i = 0; i < B; ++i) out[A + i] = second[i];
    return out;
}

/// A function for scripts. Lists end with {}.
struct Member {
    const char* name = nullptr;
    lua_CFunction function = nullptr;  ///< null: the name is described here and made elsewhere
    const char* text = nullptr;
    std::span<const Option> options = {};
};

/// What a name stands for.
enum class MemberKind { type, function, method, field, instruction };

/// Adds the functions of `members` to the table on top of the stack, and remembers what is said of them.
/// `owner` ("wg", "wg.sparse") is what the table is called; it and `members` must be static.
void add_functions(lua_State* L, const char* owner, const Member* members);

/// Remembers what is said of `members`, or with null only of their owner (`text`).
void remember_members(lua_State* L, const char* owner, MemberKind kind, const Member* members,
                      const char* text = nullptr);

}  // namespace wgrun::lua
