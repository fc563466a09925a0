// What scripts can call, and its documentation: one entry holds the name, the function and the text.
//
// `wgrun help`, the prompt's completion, docs/api and the LuaLS annotations are all made of these entries and
// of the `---` comments in stdlib/, which have the same form. A text begins with what the thing is or does;
// lists show its first sentence. Then come tags, each at the start of a line:
//
//     @param NAME TYPE text      an argument; one with `?` after its TYPE may be left out, `= VALUE` gives
//     its default
//     @option NAME TYPE text     a key of the option table (in C++ an Option, so that the check has the same
//     list)
//     @options NAME without A, B  the keys of another entry's option table as well, except A and B
//     @return TYPE text          a result; several results have a tag each
//     @field NAME TYPE text      a field of the table that is returned, or of a type that is a Lua table
//     @operator NAMES: TYPE -> TYPE   what Lua's operators give (`add mul`, `unm`, `call`, `len`, `index`),
//     for the annotations
//     @raise text                when an error is raised, beyond wrong types and unknown names
//     @see NAME                  another entry
//     @example                   Lua, up to the next tag or the end
//
// A text runs on in the lines that follow a tag. `TYPE` is a Lua type or one of wgrun's (tile, reg, regs,
// ...); alternatives are separated by `|`: integer|reg. A function's type names its arguments, with their
// types where the annotations shall know them, and what it returns: function(x: reg, at):reg.
#pragma once

#include <lua.hpp>

#include <array>
#include <span>
#include <string_view>

namespace wgrun::lua {

/// A key of an option table: its name, its type (with `?` or `= VALUE`, as for a @param), and its
/// description.
struct Option {
    std::string_view name;
    std::string_view type = {};
    std::string_view text = {};
    std::span<const Option> keys = {};  ///< for a value that is an option table itself
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
    lua_CFunction function = nullptr;  ///< null: the name is described here and defined elsewhere
    const char* text = nullptr;
    std::span<const Option> options = {};
};

/// What a name stands for.
enum class MemberKind { type, function, method, field, instruction };

/// Adds the functions of `members` to the table on top of the stack, and remembers their documentation.
/// `owner`
/// ("wg", "wg.sparse") is the table's name; it and `members` must be static.
void add_functions(lua_State* L, const char* owner, const Member* members);

/// Remembers the documentation of `members`, or with null only that of their owner (`text`).
void remember_members(lua_State* L, const char* owner, MemberKind kind, const Member* members,
                      const char* text = nullptr);

}  // namespace wgrun::lua
