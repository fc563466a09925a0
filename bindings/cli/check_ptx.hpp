// wgrun check kernel.ptx.
#pragma once

#include <optional>
#include <string>

#include "bindings/cli/cli.hpp"

namespace wgrun::cli {

/// Returns the text of the request's file if it is PTX: a file called *.ptx, or standard input that looks
/// like it; or the PTX that a file carries or makes (ptx_from). Standard input that is something else becomes
/// the request's text. Throws EnvironmentError for a .ptx file that cannot be read.
std::optional<std::string> ptx_text(Request& request);

enum class PtxReport : unsigned char { text, json, sarif };

/// Launches of a PTX text on the simulator, besides its check.
struct PtxLaunches {
    std::string file;  ///< docs/schema/launch.json; empty: none
    int seeds = 0;     ///< of the schedule: 1 to `seeds`
};

/// Checks a PTX text and prints what is found. Returns the exit code.
int check_ptx_text(const Request& request, std::string text, PtxReport report, const PtxLaunches& launches,
                   Results& results);

}  // namespace wgrun::cli
