// Independent test vectors: CuTe's own answers (tests/golden/vectors/README.md).
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "source_folder.hpp"
#include "wgrun/layout.hpp"

namespace wgrun::golden {

/// A file of tests/golden/vectors.
inline nlohmann::json load(const std::string& name) {
    std::ifstream file(WGRUN_SOURCE_DIR "/tests/golden/vectors/" + name);
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
