#include "bindings/cli/given.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "wgrun/target.hpp"

namespace wgrun::cli {
namespace given_detail {
namespace {

std::optional<std::int64_t> integer(std::string_view text) {
    std::int64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

/// "128", "16,8"
std::optional<Dim3> extents(std::string_view option, std::string_view text, std::uint64_t most) {
    if (text.empty()) return {};
    std::array<std::uint32_t, 3> out{1, 1, 1};
    std::size_t count = 0;
    for (std::string_view rest = text;; ++count) {
        const std::size_t comma = rest.find(',');
        const std::optional<std::int64_t> extent = integer(rest.substr(0, comma));
        if (count == out.size() || !extent || *extent < 1 || *extent > INT32_MAX)
            throw ArgumentError(fmt::format("{} {}: 1 to 3 extents from 1, as in 64,2", option, text));
        out.at(count) = static_cast<std::uint32_t>(*extent);
        if (comma == std::string_view::npos) break;
        rest = rest.substr(comma + 1);
    }
    const Dim3 all{out[0], out[1], out[2]};
    if (all.volume() > most)
        throw ArgumentError(fmt::format("{} {}: {} at most are possible", option, text, most));
    return all;
}

}  // namespace
}  // namespace given_detail

void GivenWords::declare(Arguments& arguments) {
    constexpr const char* group = "What is given of the launches (docs/verdicts.md)";
    arguments.option("--block", block_, "Threads of a CTA, where a PTX text leaves them to the launch")
        .unit("X[,Y[,Z]]")
        .group(group);
    arguments.option("--cluster", cluster_, "CTAs of a cluster, where a PTX text leaves them to the launch")
        .unit("X[,Y[,Z]]")
        .group(group);
    arguments.option("--grid", grid_, "CTAs of the grid").unit("X[,Y[,Z]]").group(group);
    arguments
        .option("--assume", numbers_,
                "A number of the launch: of a parameter, or P+8 of the structure P, 8 bytes from its start")
        .unit("NAME=VALUE")
        .one_value_each()
        .group(group);
    arguments
        .option(
            "--budget", seconds_,
            "Seconds that the proofs of a kernel may take, counted in operations: 10, which the kernels of a "
            "text with more than twelve share")
        .unit("SECONDS")
        .group(group);
}

Assumptions GivenWords::read() const {
    using given_detail::extents, given_detail::integer;
    constexpr double most_seconds = 1e6;
    Assumptions out;
    out.block = extents("--block", block_, sm_90a.cta_threads);
    out.cluster = extents("--cluster", cluster_, sm_90a.cluster);
    out.grid = extents("--grid", grid_, UINT64_MAX);
    for (const std::string& text : numbers_) {
        const std::size_t equals = text.find('=');
        const std::optional<std::int64_t> value =
            equals == std::string::npos ? std::nullopt : integer(std::string_view(text).substr(equals + 1));
        if (!value || equals == 0)
            throw ArgumentError(fmt::format("--assume {}: NAME=VALUE, an integer, as in n=64", text));
        out.numbers.emplace_back(text.substr(0, equals), *value);
    }
    if (!seconds_) return out;
    if (!(*seconds_ > 0 && *seconds_ <= most_seconds))
        throw ArgumentError(fmt::format("--budget {}: more than 0", *seconds_));
    out.seconds = *seconds_;
    out.shared = false;
    return out;
}

}  // namespace wgrun::cli
