// wgrun check kernel.ptx.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bindings/cli/cli.hpp"
#include "bindings/cli/remedies.hpp"
#include "wgrun/assumptions.hpp"

namespace wgrun::cli {

/// Returns the text of the request's file if it is PTX: a file called *.ptx, or standard input that looks
/// like it; or the PTX that a file carries or makes (ptx_from). Standard input that is something else becomes
/// the request's text. Throws EnvironmentError for a .ptx file that cannot be read.
std::optional<std::string> ptx_text(Request& request);

enum class PtxReport : unsigned char { text, json, sarif };

/// Launches of a PTX text on the simulator, besides its check.
struct PtxLaunches {
    std::string file;      ///< docs/schema/launch.json; empty: none
    int seeds = 0;         ///< of the schedule: 1 to `seeds`
    int min_coverage = 0;  ///< percent of the synchronising instructions that they execute
};

/// What is wanted of a check besides its findings.
struct PtxWanted {
    bool perf = false;           ///< also what is needlessly slow
    bool assemble = false;       ///< also the assembler's notes
    bool sass = false;           ///< also hold machine code against the text
    std::string machine_code{};  ///< with `sass`: the file that has it; empty: ptxas makes it
    bool strict = false;         ///< the exit code says what is undecided (strict_code)
    Assumptions given;           ///< of the launches that the kernels are judged for
};

/// The request's text, and how others in its place are judged.
Mending mending_of_ptx(const Request& request, const PtxLaunches& launches, const Assumptions& given);

/// Visits `first`, the text of the request's file, and those of the files that follow it on the command line,
/// each with a request of its own. Returns the worst of the exit codes.
int each_text(const Request& request, std::string first,
              const std::function<int(const Request&, std::string)>& visit);

/// Runs the launch of a finding of that rule on the simulator, and returns what it breaks.
std::vector<Diagnostic> replay_ptx(const Request& request, std::string text, const FoundIn& launch,
                                   std::string_view rule);

/// Checks them and prints what is found: as text one after the other, else as one document. Returns the worst
/// of the exit codes.
int check_ptx_texts(const Request& request, std::string first, PtxReport report, const PtxLaunches& launches,
                    const PtxWanted& wanted, Results& results);

}  // namespace wgrun::cli
