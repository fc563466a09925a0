// Reads arguments and values strictly: a string is not a number, and 64.5 is not an integer.
#pragma once

#include <lua.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#include "bindings/lua/userdata.hpp"

namespace wgrun::lua {

/// A short text in a fixed buffer: may live in frames that Lua jumps over.
struct ShortText {
    char text[96];
};

/// What the value at `index` is, for messages: `number 64.5`, `string "K"`, `wgrun.layout`, `nothing`.
ShortText describe(lua_State* L, int index);

/// Argument `arg` as an integer (a float with an integral value counts). Raises otherwise.
std::int64_t integer_argument(lua_State* L, int arg);

/// As an integer of 32 bits.
int small_argument(lua_State* L, int arg);

/// As a number.
double number_argument(lua_State* L, int arg);

/// As a string, valid while it stays on the stack.
std::string_view string_argument(lua_State* L, int arg);

/// As a name for the system, where names end at a zero byte: a name that contains one is refused.
std::string_view name_argument(lua_State* L, int arg);

/// Raises if the running function `name` has more arguments than `most`, which counts the object of a method:
/// Lua would drop them without a word, a guard, say. Surplus nils do no harm.
void refuse_surplus(lua_State* L, const char* name, int most, bool method);

/// True for a Lua number with an integral value; then `value` is it.
bool to_integer(lua_State* L, int index, std::int64_t& value);

/// Reads the sequence of integers at `index` (a plain integer counts as a sequence of one) into `values`,
/// which must not live in a C++ frame. `what` names it in messages: "shape". At most `most` of them.
void read_integers(lua_State* L, int index, const char* what, std::vector<std::int64_t>& values,
                   std::size_t most = 64);

/// table[key] = value, for the table on top of the stack.
void put_integer(lua_State* L, const char* key, std::int64_t value);
void put_number(lua_State* L, const char* key, double value);
void put_boolean(lua_State* L, const char* key, bool value);
void put_string(lua_State* L, const char* key, std::string_view value);

/// Pushes the sequence of integers.
void push_integers(lua_State* L, const std::int64_t* values, std::size_t count);

}  // namespace wgrun::lua
