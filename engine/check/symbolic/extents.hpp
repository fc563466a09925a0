// How long memory has to be for all accesses to lie inside of it, in terms of what a launch chooses.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/symbolic/accesses.hpp"
#include "check/symbolic/system.hpp"

namespace wgrun::check::symbolic {

/// What the accesses of a kernel ask of a launch.
struct Extents {
    std::map<int, std::vector<Polynomial>> bytes;  ///< by parameter: it has all of these numbers of bytes
    std::map<Polynomial, std::int64_t> multiples;  ///< each is a multiple of that number
    /// "d holds 4 * m * n bytes, n is a multiple of 2"
    std::string text(const Atoms& atoms, const Program& program) const;
};

/// A bound of a number where it is computed, in terms of what is the same in all of a launch; nothing: none
/// is known. facts: not below 0 there.
std::optional<Polynomial> upper_bound(const Solver& solver, Accesses& of, const Narrow& number,
                                      std::vector<Polynomial> facts);

/// Adds what an access asks for. Returns why it is not known where it ends; empty: it is.
std::string add_extent(const Solver& solver, Accesses& of, const Access& access, Extents& out);

}  // namespace wgrun::check::symbolic
