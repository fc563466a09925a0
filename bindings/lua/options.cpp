#include "bindings/lua/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/userdata.hpp"

namespace wgrun::lua {

namespace {

std::vector<std::string_view> names_of(std::span<const Option> keys) {
    std::vector<std::string_view> names;
    for (const Option& key : keys) names.push_back(key.name);
    return names;
}

}  // namespace

Options::Options(lua_State* L, int index, const char* function, std::span<const Option> keys, Missing missing)
    : L_(L), index_(lua_absindex(L, index)), function_(function), keys_(keys) {
    luaL_checkstack(L, 6, nullptr);
    if (missing == Missing::empty && lua_isnoneornil(L, index)) {
        index_ = 0;
        return;
    }
    if (lua_type(L, index_) != LUA_TTABLE) {
        const ShortText given = describe(L, index_);
        fail(L,
             [&] { return fmt::format("{}: expected a table of options, got {}", function_, given.text); });
    }
    // A copy takes the place of the caller's table, so that a finalizer that changes the caller's table
    // cannot invalidate values that were read.
    lua_createtable(L, 0, static_cast<int>(keys_.size()));
    lua_pushnil(L);
    while (lua_next(L, index_) != 0) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        if (lua_type(L, -2) != LUA_TSTRING) {
            lua_pop(L, 1);
            const ShortText given = describe(L, -1);
            fail(L, [&] {
                return fmt::format("{}: options have names; got the key {} (legal: {})", function_,
                                   given.text, fmt::join(names_of(keys_), ", "));
            });
        }
        const std::string_view key = string_argument(L, -2);
        if (std::ranges::find(keys, key, &Option::name) == keys.end()) {
            fail(L, [&] {
                const std::vector<std::string_view> names = names_of(keys_);
                return fmt::format("unknown option `{}` of {}{} (legal: {})", key, function_,
                                   nearest(key, names), fmt::join(names, ", "));
            });
        }
        lua_rawset(L, -4);
    }
    lua_replace(L, index_);
}

Dim3 Options::extents(std::string_view key, std::string_view open) const {
    if (!has(key)) return {};
    if (push(key) == LUA_TTABLE) {
        lua_pushnil(L_);
        while (lua_next(L_, -2) != 0) {
            lua_pop(L_, 1);
            if (lua_type(L_, -1) == LUA_TNUMBER) continue;
            const ShortText given = describe(L_, -1);
            fail(L_, [&] {
                return fmt::format("{}: option `{}`: expected a list {{ x, y, z }} without names, got key {}",
                                   function_, key, given.text);
            });
        }
    }
    // A list without the words.
    bool is_open[3]{};
    if (!open.empty() && lua_type(L_, -1) == LUA_TTABLE) {
        lua_newtable(L_);
        for (lua_Integer i = 1, count = static_cast<lua_Integer>(lua_rawlen(L_, -2)); i <= count; ++i) {
            lua_rawgeti(L_, -2, i);
            if (i <= 3 && lua_type(L_, -1) == LUA_TSTRING) {
                if (const std::string_view word = string_argument(L_, -1); word != open)
                    lua::fail(L_, [&] {
                        return fmt::format("option `{}`: entry {} is \"{}\", must be an integer or \"{}\"",
                                           key, i, word, open);
                    });
                is_open[i - 1] = true;
                lua_pop(L_, 1);
                lua_pushinteger(L_, 1);
            }
            lua_rawseti(L_, -2, i);
        }
        lua_replace(L_, -2);
    }
    auto& values = held<std::vector<std::int64_t>>(L_);
    read_integers(L_, -2, key.data(), values, 3);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (is_open[i])
            values[i] = 0;
        else if (values[i] < 1 || values[i] > INT32_MAX)
            lua::fail(L_, [&] {
                return fmt::format("option `{}`: entry {} is {}, must be 1..2147483647", key, i + 1,
                                   values[i]);
            });
    Dim3 out;
    if (!values.empty()) out.x = static_cast<std::uint32_t>(values[0]);
    if (values.size() > 1) out.y = static_cast<std::uint32_t>(values[1]);
    if (values.size() > 2) out.z = static_cast<std::uint32_t>(values[2]);
    lua_pop(L_, 2);
    return out;
}

int Options::push(std::string_view key) const {
    luaL_checkstack(L_, 4, nullptr);
    if (index_ == 0) {
        lua_pushnil(L_);
        return LUA_TNIL;
    }
    lua_pushlstring(L_, key.data(), key.size());
    return lua_rawget(L_, index_);
}

bool Options::has(std::string_view key) const {
    const bool there = push(key) != LUA_TNIL;
    lua_pop(L_, 1);
    return there;
}

void Options::fail_value(std::string_view key, const char* expected) const {
    const ShortText given = describe(L_, -1);
    fail(L_, [&] {
        return fmt::format("{}: option `{}`: expected {}, got {}", function_, key, expected, given.text);
    });
}

void Options::fail_missing(std::string_view key) const {
    fail(L_, [&] { return fmt::format("{}: option `{}` is missing", function_, key); });
}

std::int64_t Options::integer(std::string_view key, std::optional<std::int64_t> fallback, std::int64_t lo,
                              std::int64_t hi) const {
    std::int64_t value = 0;
    if (push(key) == LUA_TNIL) {
        if (!fallback) fail_missing(key);
        value = *fallback;
    } else if (!to_integer(L_, -1, value)) {
        fail_value(key, "an integer");
    } else if (value < lo || value > hi) {
        fail(L_, [&] {
            return fmt::format("{}: option `{}` is {}, must be {}..{}", function_, key, value, lo, hi);
        });
    }
    lua_pop(L_, 1);
    return value;
}

double Options::number(std::string_view key, std::optional<double> fallback) const {
    double value = 0;
    if (push(key) == LUA_TNIL) {
        if (!fallback) fail_missing(key);
        value = *fallback;
    } else if (lua_type(L_, -1) != LUA_TNUMBER) {
        fail_value(key, "a number");
    } else {
        value = lua_tonumber(L_, -1);
    }
    lua_pop(L_, 1);
    return value;
}

bool Options::boolean(std::string_view key, std::optional<bool> fallback) const {
    bool value = false;
    if (push(key) == LUA_TNIL) {
        if (!fallback) fail_missing(key);
        value = *fallback;
    } else if (lua_type(L_, -1) != LUA_TBOOLEAN) {
        fail_value(key, "true or false");
    } else {
        value = lua_toboolean(L_, -1) != 0;
    }
    lua_pop(L_, 1);
    return value;
}

std::string_view Options::string(std::string_view key, std::optional<std::string_view> fallback,
                                 const char* expected) const {
    std::string_view value;
    if (push(key) == LUA_TNIL) {
        if (!fallback) fail_missing(key);
        value = *fallback;
    } else if (lua_type(L_, -1) != LUA_TSTRING) {
        fail_value(key, expected);
    } else {
        value = string_argument(L_, -1);
    }
    lua_pop(L_, 1);
    return value;
}

std::size_t Options::choice(std::string_view key, std::span<const std::string_view> legal,
                            std::optional<std::size_t> fallback) const {
    if (!has(key) && fallback) return *fallback;
    const std::string_view given = string(key);
    const auto found = std::find(legal.begin(), legal.end(), given);
    if (found == legal.end()) {
        fail(L_, [&] {
            return fmt::format("{}: option `{}`: \"{}\" is not legal{} (legal: {})", function_, key, given,
                               nearest(given, legal), fmt::join(legal, ", "));
        });
    }
    return static_cast<std::size_t>(found - legal.begin());
}

}  // namespace wgrun::lua
