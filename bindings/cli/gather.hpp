// All that is found in the kernels of a script.
#pragma once

#include <utility>

#include "bindings/cli/host.hpp"

namespace wgrun::cli {

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

/// Traces the script and checks its kernels; with --assemble it assembles them, with --dynamic it runs the
/// script on the simulator, once a seed, if there is no error yet.
Checked gather(const Request& request);

}  // namespace wgrun::cli
