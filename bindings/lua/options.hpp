// Option tables: `wg.tile{ dtype = "bf16", mn = 128 }`, checked against the keys that the function knows.
#pragma once

#include <lua.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bindings/lua/member.hpp"
#include "wgrun/program.hpp"

namespace wgrun::lua {

/// What is said of a swizzle that is no string.
inline constexpr const char* swizzle_names = R"("none", "32B", "64B" or "128B")";

/// A view of the option table at a stack index. Every reader raises an error that names the function, the
/// key, what was expected and what was given. Trivially destructible: it may live in frames that Lua jumps
/// over. A copy of the table takes its place on the stack.
class Options {
  public:
    enum class Missing { error, empty };

    /// `function` ("wg.tile") and `keys` must outlive the object. Raises unless there is a table at `index`
    /// (or nothing, if `missing` allows it) with no other keys than `keys`; the nearest key is suggested.
    Options(lua_State* L, int index, const char* function, std::span<const Option> keys,
            Missing missing = Missing::error);

    bool has(std::string_view key) const;

    /// Integers within lo..hi. Without a fallback the key is required.
    std::int64_t integer(std::string_view key, std::optional<std::int64_t> fallback = {},
                         std::int64_t lo = INT64_MIN, std::int64_t hi = INT64_MAX) const;
    double number(std::string_view key, std::optional<double> fallback = {}) const;
    bool boolean(std::string_view key, std::optional<bool> fallback = {}) const;

    /// Valid as long as the table stays on the stack. expected: what is said of values that are none.
    std::string_view string(std::string_view key, std::optional<std::string_view> fallback = {},
                            const char* expected = "a string") const;

    /// The position in `legal` of the string given.
    std::size_t choice(std::string_view key, std::span<const std::string_view> legal,
                       std::optional<std::size_t> fallback = {}) const;

    /// {x, y, z}, {x, y}, {x} or x, each 1 to 2147483647; missing extents are 1.
    /// open: a word for entries that may be anything, which are 0.
    Dim3 extents(std::string_view key, std::string_view open = {}) const;

    /// Pushes the value (nil if absent) and returns its Lua type.
    int push(std::string_view key) const;

    /// Raises "FUNCTION: option `key`: expected EXPECTED, got ..." for the value on top of the stack.
    [[noreturn]] void fail_value(std::string_view key, const char* expected) const;

  private:
    [[noreturn]] void fail_missing(std::string_view key) const;

    lua_State* L_;
    int index_;  ///< absolute; 0 when there is no table
    const char* function_;
    std::span<const Option> keys_;
};

}  // namespace wgrun::lua
