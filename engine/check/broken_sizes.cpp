#include "check/broken_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "check/rehearsal.hpp"

namespace wgrun::check {
namespace {

constexpr std::int64_t most = 80;  ///< beyond a period of the usual rings, and of remainders by 64
constexpr std::size_t most_named = 4;

/// What breaks with a value of a parameter, whatever the others are: nothing if some value of them is right.
std::vector<rehearsal::Fault> faults_with(const Program& program, const Skeleton& skeleton, int index,
                                          std::int64_t value, std::int64_t& steps) {
    std::vector<std::int64_t> others{value};
    if (skeleton.integers.size() > 1)
        for (const std::int64_t factor : {1, 16, 32, 64, 128, 256})
            for (const std::int64_t other : {factor, value * factor, (value + factor - 1) / factor})
                others.push_back(other);
    std::vector<rehearsal::Fault> out;
    for (const std::int64_t other : others) {
        LaunchSizes sizes{program.cluster(), std::vector<std::int64_t>(program.params().size(), other)};
        sizes.params[static_cast<std::size_t>(index)] = value;
        Rehearsal run(program, skeleton, sizes);
        run.run();
        steps += run.operations();
        const std::vector<rehearsal::Fault> faults = run.first_faults();
        if (run.gave_up()) continue;
        if (faults.empty()) return {};
        if (!out.empty()) continue;
        out = faults;
        for (rehearsal::Fault& fault : out)
            fault.finding.launch = launch_of(program, sizes, skeleton.integers);
    }
    return out;
}

/// "n = 13, 29, 45, ...", "n >= 9"
std::string condition(const std::string& name, const std::vector<std::int64_t>& values) {
    if (values.back() == most &&
        values.back() - values.front() + 1 == static_cast<std::int64_t>(values.size()))
        return fmt::format("{} >= {}", name, values.front());
    std::string out = name + " =";
    for (std::size_t i = 0; i < std::min(values.size(), most_named); ++i)
        out += fmt::format("{} {}", i == 0 ? "" : ",", values[i]);
    return values.size() > most_named ? out + ", ..." : out;
}

/// Whether the kernel may not be meant for these values: the first ones, or all but the multiples of a
/// number.
bool is_precondition(const std::vector<std::int64_t>& values) {
    std::int64_t least = 1;  // that is right
    while (std::ranges::binary_search(values, least)) ++least;
    if (values.back() < least) return true;
    for (std::int64_t value = 1; value <= most; ++value)
        if ((value % least == 0) == std::ranges::binary_search(values, value)) return false;
    return true;
}

}  // namespace

std::vector<Diagnostic> broken_sizes(const Program& program, const Skeleton& skeleton, const Budget& budget) {
    std::int64_t steps = 0;
    std::vector<Diagnostic> out;
    for (const int index : skeleton.integers) {
        std::map<std::pair<std::string, int>, std::vector<std::int64_t>> broken;  // by rule and line
        std::map<std::pair<std::string, int>, Diagnostic> findings;
        for (std::int64_t value = 1; value <= most; ++value) {
            budget.poll();
            if (steps > budget.plain_operations() || budget.is_over()) return {};
            for (rehearsal::Fault& fault : faults_with(program, skeleton, index, value, steps)) {
                const std::pair key(fault.finding.rule, fault.finding.where.line);
                std::vector<std::int64_t>& values = broken[key];
                if (values.empty() || values.back() != value) values.push_back(value);
                findings.try_emplace(key, std::move(fault.finding));
            }
        }
        for (auto& [key, finding] : findings) {
            const std::vector<std::int64_t>& values = broken.at(key);
            if (values.size() == most) continue;  // another part of the check says so
            if (is_precondition(values)) finding.severity = Severity::warning;
            finding.notes.push_back(
                {program.where(),
                 fmt::format("in launches with {}",
                             condition(program.params()[static_cast<std::size_t>(index)].name, values))});
            out.push_back(std::move(finding));
        }
        if (!out.empty()) break;
    }
    return out;
}

}  // namespace wgrun::check
