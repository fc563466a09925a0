// What is given of the launches that a kernel is judged for, and how long the judgement may take.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wgrun/program.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// Plain values.
struct Assumptions {
    std::optional<Dim3> grid{};  ///< CTAs
    /// Of a kernel that was read from PTX, whose text may leave them open: the threads of a CTA, the CTAs of
    /// a cluster.
    std::optional<Dim3> block{}, cluster{};
    /// Values of parameters by name; "p+8" is the number 8 bytes from the start of the structure `p`.
    std::vector<std::pair<std::string, std::int64_t>> numbers{};
    /// Scales how many operations proofs may take; what they prove does not depend on the machine, unless it
    /// takes several times as long. 0: nothing is proved, and nothing refuted by a proof.
    double seconds = 10;
    std::uint64_t most_instructions =
        0;               ///< of a kernel of a text, 0: no limit; one with more is not checked
    bool shared = true;  ///< by all kernels of a text that has many; else each has so many
    const std::atomic<bool>* stop = nullptr;  ///< polled; the proof then throws EnvironmentError EINTR

    /// Whether what is proved is the same.
    bool operator==(const Assumptions& other) const {
        return grid == other.grid && block == other.block && cluster == other.cluster &&
               numbers == other.numbers && seconds == other.seconds && shared == other.shared &&
               most_instructions == other.most_instructions;
    }
};

/// Returns the program of those launches alone: the numbers are constants in it. Names that it does not have
/// change nothing. Throws ArgumentError for a value that a parameter cannot have.
Program with_numbers(const Program& program, const Assumptions& given);

/// Returns whether a name of `numbers` is one of the program's.
bool names_number(const Program& program, const std::string& name);

/// "all launches with n >= 1" as "all launches of 256 threads a CTA, with m = 64, n >= 1"
std::string narrowed(const std::string& domain, const Program& program, const Assumptions& given);

}  // namespace wgrun

#pragma GCC visibility pop
