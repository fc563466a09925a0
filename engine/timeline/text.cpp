// A timeline as rows of characters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/count_of.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun {
namespace {

using Kind = Timeline::Kind;
constexpr int kinds = 10;

constexpr std::array<char, kinds> letters{'#', 'f', 'e', 'p', 's', 'b', 'l', '#', '#', '#'};
/// In the order of Timeline::Kind, for warps.
constexpr std::array<const char*, 7> meanings{
    "# executes",           "f waits for full stages (copies)", "e waits for empty stages (arrivals)",
    "p waits for products", "s waits for bulk stores",          "b waits at a barrier",
    "l waits for loads"};

/// What the characters mean that occur between two cycles: lines of at most `columns`.
std::string legend(const Timeline& timeline, int columns, double from, double to) {
    std::set<Kind> seen;
    bool engines = false, flights = false;
    for (const Timeline::Span& span : timeline.spans) {
        if (span.end <= from || span.begin >= to) continue;
        const Timeline::Row& row = timeline.rows[static_cast<std::size_t>(span.row)];
        if (row.warp >= 0)
            seen.insert(span.kind);
        else
            (row.exclusive ? engines : flights) = true;
    }
    std::vector<std::string> words;
    for (const Kind kind : seen) words.emplace_back(meanings.at(static_cast<std::size_t>(kind)));
    if (engines) words.emplace_back("engines: how busy");
    if (flights && timeline.source == Timeline::Source::model)
        words.emplace_back("copies: how many are in flight");
    else if (flights)
        words.emplace_back("products and copies: how many have begun and are not known to have ended");
    std::string out;
    std::size_t width = 0;
    for (const std::string& word : words) {
        if (width > 0 && width + 3 + word.size() > static_cast<std::size_t>(columns))
            out += '\n', width = 0;
        else if (width > 0)
            out += "   ", width += 3;
        out += word;
        width += word.size();
    }
    return out + '\n';
}

int width_of_names(const Timeline& timeline) {
    constexpr std::size_t least = 13, most = 24;
    std::size_t width = least;
    for (const Timeline::Row& row : timeline.rows) width = std::max(width, row.name.size() + 2);
    return static_cast<int>(std::min(width, most));
}

/// Reports what was dropped for lack of room.
std::string dropped(const Timeline& timeline) {
    std::string out;
    if (timeline.dropped > 0)
        out +=
            fmt::format("({} more events, for which there was no room: the last of each warp are missing)\n",
                        timeline.dropped);
    if (timeline.dropped_warps > 0)
        out += fmt::format("({} more warps, for which there was no room)\n", timeline.dropped_warps);
    return out;
}

/// Cycles of each kind, in each column.
using Columns = std::vector<std::array<double, kinds>>;

Columns columns_of(const Timeline& timeline, std::size_t row, double from, double to, int width) {
    Columns out(static_cast<std::size_t>(width), std::array<double, kinds>{});
    const double step = (to - from) / width;
    for (const Timeline::Span& span : timeline.spans) {
        if (span.row != static_cast<int>(row) || span.end <= from || span.begin >= to) continue;
        const double begin = std::max(span.begin, from), end = std::min(span.end, to);
        const int first = static_cast<int>((begin - from) / step);
        for (int c = first; c < width && from + c * step < end; ++c)
            out[static_cast<std::size_t>(c)][static_cast<std::size_t>(span.kind)] +=
                std::max(0.0, std::min(end, from + (c + 1) * step) - std::max(begin, from + c * step));
    }
    return out;
}

std::string line_of_warp(const Columns& columns) {
    std::string out;
    for (const auto& column : columns) {
        const auto most = std::ranges::max_element(column);
        out += *most > 0 ? letters[static_cast<std::size_t>(most - column.begin())] : ' ';
    }
    return out;
}

std::string line_of_engine(const Columns& columns, Kind kind, double step) {
    constexpr std::array<const char*, 9> blocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::string out;
    for (const auto& column : columns) {
        const double share = std::min(1.0, column[static_cast<std::size_t>(kind)] / step);
        out += blocks[share <= 0 ? 0 : static_cast<std::size_t>(std::ceil(share * 8 - 1e-9))];
    }
    return out;
}

std::string line_of_flights(const Columns& columns, Kind kind, double step) {
    std::string out;
    for (const auto& column : columns) {
        const double count = column[static_cast<std::size_t>(kind)] / step;
        out += count <= 0 ? ' ' : count > 9.5 ? '+' : static_cast<char>('0' + std::lround(count));
    }
    return out;
}

/// "0        1000      2000": each number begins at the column of its cycle.
std::string axis(double from, double to, int width) {
    const double wanted = (to - from) / 6;
    const double unit = std::pow(10, std::floor(std::log10(std::max(wanted, 1.0))));
    const double step = std::max(1.0, wanted > 5 * unit   ? 10 * unit
                                      : wanted > 2 * unit ? 5 * unit
                                                          : 2 * unit);
    std::string out;
    for (double at = std::ceil(from / step) * step; at < to; at += step) {
        const auto column = static_cast<std::size_t>((at - from) / (to - from) * width);
        const std::string text = fmt::format("{:.0f}", at);
        if (column < out.size() || column + text.size() > static_cast<std::size_t>(width)) continue;
        out.resize(column, ' ');
        out += text;
        out += ' ';
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
}

/// "case.lua:7: ld.global: 64 requests, 32 sectors each (4 needed)": a line for each.
std::string requests(const Timeline& timeline) {
    std::string out;
    for (const Timeline::Requests& of : timeline.requests) {
        const auto each = [&](std::uint64_t units) {
            return fmt::format("{:.4g}", static_cast<double>(units) / static_cast<double>(of.count));
        };
        const std::string_view unit = of.shared ? "pass" : "sector";
        out += fmt::format("  {}:{}: {}: {}, {} {}{} each", of.where.file.view(), of.where.line, of.what,
                           count_of(of.count, "request"), each(of.units), unit,
                           of.units == of.count ? ""
                           : of.shared          ? "es"
                                                : "s");
        if (of.units != of.needed) out += fmt::format(" ({} needed)", each(of.needed));
        out += '\n';
    }
    if (out.empty()) return out;
    return "\nrequests to memory, in sectors of 32 bytes, and to shared memory, in passes of its banks:\n" +
           out;
}

}  // namespace

std::string to_text(const Timeline& timeline, int columns, double from, double to) {
    if (to <= from) to = std::max(timeline.cycles, from + 1);
    const int name_width = width_of_names(timeline);
    const int width = std::max(columns - name_width - 1, 16);
    std::string out = headline(timeline) + "\n";
    const bool model = timeline.source == Timeline::Source::model;
    if (model && timeline.shown < timeline.ctas)
        out +=
            fmt::format("(the SM runs {} in the launch; the time is that of all of them)\n", timeline.ctas);
    out += dropped(timeline);
    const std::string_view unit = timeline.source == Timeline::Source::steps ? "steps" : "cycles";
    out += fmt::format("\n{:{}}{}\n", unit, name_width, axis(from, to, width));
    for (std::size_t row = 0; row < timeline.rows.size(); ++row) {
        const Timeline::Row& what = timeline.rows[row];
        const Columns filled = columns_of(timeline, row, from, to, width);
        const double step = (to - from) / width;
        const std::string line = what.warp >= 0    ? line_of_warp(filled)
                                 : !what.exclusive ? line_of_flights(filled, what.shows, step)
                                                   : line_of_engine(filled, what.shows, step);
        out += fmt::format("{:<{}}{}\n", what.name.substr(0, static_cast<std::size_t>(name_width) - 1),
                           name_width, line);
    }
    out += "\n";
    out += legend(timeline, columns, from, to);
    out += "\n";
    for (const std::string& sentence : timeline.verdict) out += sentence + "\n";
    return out + requests(timeline);
}

}  // namespace wgrun
