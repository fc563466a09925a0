#include "debug/stops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace wgrun::debugging {

Stops::Stops(const Program& program, Dim3 grid) : program_(program), grid_(grid) { add_finding(); }

const Stop& Stops::add(Stop stop) {
    stop.id = next_++;
    return list_.emplace_back(std::move(stop));
}

const Stop& Stops::add_line(int line, const std::string& when) {
    bool there = false;
    for_each_step(program_, [&](const Step& step) { there = there || step.where.line == line; });
    if (!there) throw ArgumentError(fmt::format("kernel {} has no step at line {}", program_.name(), line));
    Stop stop;
    stop.line = line;
    stop.when = DebugWhen::parse(when);
    stop.text = fmt::format("line {}{}{}", line, when.empty() ? "" : ", ", when);
    return add(std::move(stop));
}

const Stop& Stops::add_finding() {
    Stop stop;
    stop.kind = Stop::Kind::finding;
    stop.text = "finding";
    return add(std::move(stop));
}

const Stop& Stops::add_watch(const std::string& text, Place place, std::vector<std::byte> bytes,
                             std::uint64_t cluster) {
    Stop stop;
    stop.kind = Stop::Kind::watch;
    stop.text = text;
    stop.place = std::move(place);
    stop.bytes = std::move(bytes);
    stop.cluster = cluster;
    return add(std::move(stop));
}

void Stops::remove(std::uint64_t id) {
    if (std::erase_if(list_, [&](const Stop& stop) { return std::cmp_equal(stop.id, id); }) == 0)
        throw ArgumentError(fmt::format("there is no stop {}", id));
}

std::vector<std::string> Stops::text() const {
    std::vector<std::string> out;
    for (const Stop& stop : list_)
        out.push_back(fmt::format("stop {}: {}{}", stop.id,
                                  stop.kind == Stop::Kind::watch ? "when it changes: " : "", stop.text));
    if (out.empty()) out.emplace_back("no stops");
    return out;
}

bool Stops::at_findings() const {
    return std::ranges::any_of(list_, [](const Stop& stop) { return stop.kind == Stop::Kind::finding; });
}

void Stops::forget_visits() {
    for (Stop& stop : list_) stop.times.clear();
}

std::string Stops::visit(sim::View view, int warp, Where where) {
    std::string why;
    for (Stop& stop : list_) {
        if (stop.kind != Stop::Kind::line || stop.line != where.line ||
            !fits(stop.when, view.warp(warp), grid_))
            continue;
        const std::uint64_t time = ++stop.times[warp];
        if (!stop.when.nth || *stop.when.nth == time) why = fmt::format("stop {}", stop.id);
    }
    return why;
}

}  // namespace wgrun::debugging
