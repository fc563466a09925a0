#include "debug/when.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace wgrun {
namespace {

std::uint64_t number(std::string_view text, std::string_view what) {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || text.empty() || value > INT32_MAX)
        throw ArgumentError(fmt::format("`{}` of {} is not a number", text, what));
    return value;
}

}  // namespace

DebugWhen DebugWhen::parse(std::string_view text) {
    DebugWhen out;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view part = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        const std::size_t equals = part.find('=');
        const std::string_view key = part.substr(0, equals);
        constexpr std::string_view known[] = {"cta", "warp", "lane", "thread", "nth"};
        if (std::ranges::find(known, key) == std::end(known))
            throw ArgumentError(
                fmt::format("`{}`: a stop takes cta=N, warp=N, lane=0 to 31, thread=N, nth=1 or more{}", part,
                            nearest(key, known)));
        const std::uint64_t value =
            number(equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1), key);
        if (key == "cta") {
            out.cta = value;
        } else if (key == "warp") {
            out.warp = static_cast<int>(value);
        } else if (key == "lane" && value < isa::lanes) {
            out.lane = static_cast<int>(value);
        } else if (key == "thread") {
            out.warp = static_cast<int>(value) / isa::lanes;
            out.lane = static_cast<int>(value) % isa::lanes;
        } else if (key == "nth" && value > 0) {
            out.nth = value;
        } else {
            throw ArgumentError(
                fmt::format("`{}`: a stop takes cta=N, warp=N, lane=0 to 31, thread=N, nth=1 or more", part));
        }
    }
    return out;
}

DebugDump DebugDump::parse(std::string_view text) {
    const std::size_t at = text.rfind('@');
    if (at == std::string_view::npos || at == 0)
        throw ArgumentError(fmt::format("`{}`: a dump is written NAME@LINE", text));
    DebugDump out;
    out.name = text.substr(0, at);
    out.line = static_cast<int>(number(text.substr(at + 1), "the line"));
    return out;
}

namespace debugging {

bool fits(const DebugWhen& when, const sim::View::Warp& warp, Dim3 grid) {
    return (!when.cta || *when.cta == number_of(warp.cta, grid)) && (!when.warp || *when.warp == warp.warp) &&
           (!when.lane || (warp.running >> *when.lane & 1U) != 0);
}

bool Lines::enters(int warp, std::uint32_t pc, Where where) {
    At& at = at_[static_cast<std::size_t>(warp)];
    const bool again = at.pc != sim::no_pc && pc < at.pc;
    const bool other = !(at.where == where);
    at = {where, pc};
    return where && (again || other);
}

}  // namespace debugging
}  // namespace wgrun
