// A remedy is shown only if it works: the change is made, and the program is judged once more.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>

#include "bindings/cli/gather.hpp"
#include "bindings/cli/program_text.hpp"

namespace wgrun::cli {

/// How much of a program is judged.
struct Judging {
    double seconds =
        std::numeric_limits<double>::infinity();  ///< that proofs take at most: Assumptions::seconds
    bool runs = true;                             ///< also by runs, if they are asked for
    std::uint64_t seed = 0;                       ///< of the only run; 0: all
    std::set<int> lines{};  ///< of the text: kernels with nothing there are left out; empty: none is
};

/// A program, and how texts that could take its place are judged.
struct Mending {
    std::function<std::unique_ptr<ProgramText>(std::string)> read;
    std::function<Checked(const std::string& text, const Judging& judging)> check;
};

Mending mending_of(const Request& request, const Search& search);

/// Returns whether every change is one of this file.
bool concerns(const Remedy& remedy, const std::string& file);

/// Leaves of each finding's remedies the one that works, and makes it the finding's fix: with it in the text
/// the finding is gone, and no other has come. Where none does, or there is no time to try (of many findings,
/// in other files), the fix says what is missing, and names a call only where the rule itself asks for it.
void keep_what_works(FindingSet& findings, const std::string& file, const std::string& text,
                     const Mending& mending);

}  // namespace wgrun::cli
