// The static checker: applies the catalogue's laws to a program.
#pragma once

#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// One law. Rules are data: `wgrun explain ID`, docs/rules.md and the tests come from the same rows.
struct Rule {
    std::string_view id;  ///< "WG-FENCE-01"
    Severity severity;
    std::string_view law;      ///< one sentence
    std::string_view section;  ///< PTX ISA
    std::string_view why;      ///< what happens otherwise
    std::string_view fix;      ///< how to mend it
    std::string_view wrong;    ///< a short Lua excerpt that breaks the law
    std::string_view right;    ///< the same, right
};

/// The catalogue, ordered by id.
std::span<const Rule> rules();

/// The rule called `id`, or null.
const Rule* find_rule(std::string_view id);

/// Every finding in `program`, each (rule, place) once, in the order of the script. Never stops at the first.
std::vector<Diagnostic> check(const Program& program);

/// What is slower than it need be: WG-PERF-05 and -06, in the order of the script. Only what is certain.
std::vector<Diagnostic> performance(const Program& program);

/// The registers of a thread that the values of `program` fill at least, where most of them are alive: what
/// ptxas needs is seldom less (docs/ptxas.md).
int estimated_registers(const Program& program);

/// What a launch chooses.
struct LaunchSizes {
    Dim3 grid;                         ///< CTAs
    std::vector<std::int64_t> params;  ///< the value of each parameter; of others than integers anything
};

/// What check() cannot know and a launch of these sizes breaks: barriers that never open, phases of mbarriers
/// that never complete or come too often, register pools that are too small.
std::vector<Diagnostic> check_launch(const Program& program, const LaunchSizes& sizes);

}  // namespace wgrun::check
