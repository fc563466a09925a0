// All that is found in the kernels of a script.
#pragma once

#include <utility>

#include "bindings/cli/host.hpp"

namespace wgrun::cli {

/// What is looked for, besides the rules that need no run.
struct Search {
    bool dynamic = false;   ///< run the kernels on the simulator too
    bool assemble = false;  ///< ask the assembler too
    bool perf = false;      ///< what is slower than it need be
    int seeds = 4;          ///< schedules that `dynamic` tries
};

struct Checked {
    std::vector<Diagnostic> findings;
    std::size_t kernels = 0;
    std::vector<std::pair<std::string, AssemblyReport>> assembled;  ///< name of the kernel, report
    std::string not_assembled;                                      ///< why, when there is no assembler
    bool explored = false;                                          ///< --dynamic has run it
    int code = Exit::ok;                                            ///< what kept the script from its end
    std::string traceback;

    std::size_t errors() const;
};

/// Traces the script and checks its kernels; where asked to, assembles them, and runs the script on the
/// simulator, once a seed, if there is no error yet.
Checked gather(const Request& request, const Search& search);

}  // namespace wgrun::cli
