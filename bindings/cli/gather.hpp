// Gathers the findings in the kernels of a script.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "bindings/cli/assembly.hpp"
#include "bindings/cli/edges.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/cli/kept.hpp"
#include "bindings/cli/needless.hpp"

namespace wgrun::cli {

/// The checks to make besides the static rules.
struct Search {
    bool dynamic = false;        ///< also run the kernels on the simulator
    bool assemble = false;       ///< also assemble the kernels
    bool sass = false;           ///< also hold their machine code against them
    std::string machine_code{};  ///< with `sass`: the file that has it; empty: ptxas makes it
    bool perf = false;           ///< also report what is needlessly slow
    int seeds = 4;               ///< the number of schedules that `dynamic` and `perf` try
    Assumptions given;           ///< of the launches that kernels are judged for
    int min_coverage = 0;    ///< percent of each kernel's synchronising instructions that `dynamic` executes
    std::uint64_t seed = 0;  ///< of the only schedule that `dynamic` tries; 0: there are `seeds`
    const std::set<int>* lines = nullptr;  ///< of the script: kernels with nothing there are not checked
};

struct Checked {
    FindingSet findings;
    std::size_t kernels = 0;
    Assembly assembly;      ///< with `assemble`
    KeptCode machine_code;  ///< with `sass`
    std::set<int> threads;  ///< of the CTAs of its kernels
    std::vector<Judged> judged;
    std::set<std::string> names;  ///< of numbers that are given, those that a kernel has
    bool explored = false;        ///< the script has run on the simulator
    std::vector<LookedAt> sizes;  ///< of kernels that declare sizes
    Coverage coverage;            ///< with `dynamic`, of all runs
    NeedlessOperations tried;     ///< with `perf`
    int code = Exit::ok;          ///< the reason why the script did not complete
    std::string traceback;

    std::size_t errors() const;
};

/// Runs the script on the simulator, with this seed, and returns how it ended; its findings include what was
/// remarked, and name the launch. coverage: null, or who notes what is executed.
Outcome explore(const Request& request, std::uint64_t seed, Coverage* coverage);

/// Traces the script and checks its kernels. On request it assembles them, and runs the script on the
/// simulator, once for each seed, and then its kernels with edge sizes, if there is no error yet.
Checked gather(const Request& request, const Search& search);

}  // namespace wgrun::cli
