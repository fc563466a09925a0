// The accesses of a program to global memory: where, by which threads, and under which conditions, as
// polynomials.
//
// One thread is followed along all paths. Registers that loops change are functions of the turn where each
// turn adds the same, else some number.
#pragma once

#include <vector>

#include "check/outline.hpp"
#include "check/symbolic/terms.hpp"

namespace wgrun::check::symbolic {

struct Access {
    Where where;
    bool writes = false;
    /// Bytes at once, of strong accesses in the scope of the whole GPU: they do not race with others of as
    /// many (PTX ISA 8.7); 0: weak, or in a smaller scope.
    int strong = 0;
    bool later = false;  ///< by the bulk-copy engine, in no order with what the thread does afterwards
    int param = -1;      ///< of the pointer or the tensor map; -1: not known
    bool known = true;   ///< whether the rest is
    /// Bytes from where the pointer points to, or the first element of a box in each dimension.
    std::vector<Polynomial> at{};
    /// Bytes, or elements of the box in each dimension.
    std::vector<Polynomial> extent{};
    std::vector<Formula> conditions{};  ///< all hold
    std::vector<Polynomial> facts{};    ///< that are not below 0 there, which only products show
    std::vector<Atom> turns{};          ///< of the loops that it is in
};

/// A number of 32 bits that is taken not to be more than `most`, since nothing in the program bounds it.
struct Narrow {
    Where where;
    Polynomial number;
    std::int64_t most = 0;
    std::vector<Formula> conditions{};  ///< under which it is computed; all hold
};

struct Accesses {
    Atoms atoms;
    std::vector<Access> list;
    std::vector<Narrow> narrow;  ///< no two of the same number and conditions
    std::vector<Atom> places;    ///< tid and ctaid, of each dimension that has more than one
    std::map<Atom, std::string>
        unread{};                 ///< places in the grid that the kernel does not ask for: "nctaid.y"
    std::map<Atom, int> params;   ///< the atoms of parameters
    std::optional<Where> lost{};  ///< not all accesses are known: a loop that has several entries
};

/// positive: finds inequalities that bounds alone do not tell; see Terms. The accesses go to `out`, whose
/// atoms it may read.
void find_accesses(const Outline& outline, const Positive& positive, Accesses& out);

}  // namespace wgrun::check::symbolic
