// Independent test vectors: CuTe's own answers, kept beside the project (see README.md there).
#pragma once

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "wgrun/layout.hpp"

namespace wgrun::golden {

/// The file, or nothing (and a printed line) where the vectors are not installed.
inline std::optional<nlohmann::json> load(const std::string& name) {
    std::ifstream file(std::string(WGRUN_SOURCE_DIR) + "/../shared/golden/" + name);
    if (!file) {
        std::cout << "skipped: no ../shared/golden/" << name << '\n';
        return std::nullopt;
    }
    return nlohmann::json::parse(file);
}

inline IntTuple tuple(const nlohmann::json& value) {
    if (value.is_number()) return value.get<std::int64_t>();
    std::vector<IntTuple> modes;
    for (const auto& mode : value) modes.push_back(tuple(mode));
    return modes;
}

/// {shape, stride}, or {a: {swizzle}, offset, b: {shape, stride}}.
inline Layout layout(const nlohmann::json& value) {
    if (!value.contains("a")) return {tuple(value["shape"]), tuple(value["stride"])};
    const auto& s = value["a"]["swizzle"];
    return {Swizzle(s[0], s[1], s[2]), layout(value["b"]), value["offset"].get<std::int64_t>()};
}

}  // namespace wgrun::golden
