// A value of a JSON file, and where it is: what is wrong with it is told with its place.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "wgrun/dtype.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun::cli {

class JsonValue {
    using Json = nlohmann::json;

  public:
    JsonValue(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

    const Json& json() const { return json_; }
    const std::string& place() const { return place_; }

    [[noreturn]] void refuse(const std::string& expected) const {
        throw ArgumentError(fmt::format("{}: expected {}, got {}", place_, expected, json_.dump()));
    }
    /// Refuses other keys than these.
    void has_only(std::initializer_list<std::string_view> keys) const {
        if (!json_.is_object()) refuse("an object");
        const std::vector<std::string_view> known(keys);
        for (const auto& [key, value] : json_.items())
            if (std::ranges::find(known, key) == known.end())
                throw ArgumentError(fmt::format("{}: unknown key `{}`{} (legal: {})", place_, key,
                                                nearest(key, known), fmt::join(known, ", ")));
    }
    bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
    JsonValue at(const char* key) const {
        if (!has(key)) throw ArgumentError(fmt::format("{}: `{}` is missing", place_, key));
        return {json_.at(key), fmt::format("{}.{}", place_, key)};
    }
    std::vector<JsonValue> list() const {
        if (!json_.is_array()) refuse("a list");
        std::vector<JsonValue> out;
        for (std::size_t i = 0; i < json_.size(); ++i)
            out.emplace_back(json_[i], fmt::format("{}[{}]", place_, i));
        return out;
    }
    std::int64_t integer() const {
        if (!json_.is_number_integer()) refuse("an integer");
        return json_.get<std::int64_t>();
    }
    std::string string() const {
        if (!json_.is_string()) refuse("a string");
        return json_.get<std::string>();
    }
    std::vector<std::int64_t> integers() const {
        if (json_.is_number_integer()) return {integer()};
        std::vector<std::int64_t> out;
        for (const JsonValue& value : list()) out.push_back(value.integer());
        return out;
    }
    Dim3 extents() const {
        std::vector<std::int64_t> all = integers();
        if (all.empty() || all.size() > 3) refuse("1 to 3 extents");
        for (const std::int64_t extent : all)
            if (extent < 1 || extent > INT32_MAX) refuse("extents from 1");
        all.resize(3, 1);
        return {static_cast<std::uint32_t>(all[0]), static_cast<std::uint32_t>(all[1]),
                static_cast<std::uint32_t>(all[2])};
    }
    Dtype dtype() const { return dtype_named(string()); }

    /// Parses a text whose values are nested at most `deepest` deep, as recursive code that follows needs it.
    /// Discarded for no JSON; throws ArgumentError for more.
    static Json parse(std::string_view text) {
        static constexpr int deepest = 64;
        return Json::parse(
            text,
            [](int depth, Json::parse_event_t, Json&) {
                if (depth > deepest)
                    throw ArgumentError(fmt::format("JSON that is nested more than {} deep", deepest));
                return true;
            },
            false);
    }

  private:
    const Json& json_;
    std::string place_;
};

}  // namespace wgrun::cli
