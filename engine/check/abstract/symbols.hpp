// The numbers that a launch chooses, as a proof sees them: each has a value in an abstract execution, and how
// far other values change nothing is found by following what is computed from it (forms.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::check::abstract {

/// A variable of a form, by root: how much the root is greater than its value; how many periods of a loop are
/// repeated more; how many of those are over in the loop that is being repeated.
enum class Variable : std::uint8_t { excess, repeats, repeated };
constexpr int variable(int root, Variable which) { return root * 3 + static_cast<int>(which); }
constexpr int root_of(int variable) { return variable / 3; }
constexpr Variable which_of(int variable) { return static_cast<Variable>(variable % 3); }

/// A sum of variables, each times a coefficient that is not 0.
using Form = std::map<int, std::int64_t>;
/// Whether of so many sources the first one varies, and no other does.
bool only_first(std::size_t count, auto varies) {
    for (std::size_t i = 0; i < count; ++i)
        if (varies(i) != (i == 0)) return false;
    return true;
}

inline void add(Form& to, const Form& form, std::int64_t times = 1) {
    for (const auto& [variable, slope] : form)
        if ((to[variable] += slope * times) == 0) to.erase(variable);
}

/// How much greater a root may be: by anything.
constexpr std::int64_t unlimited = INT64_MAX;

/// So much for each so many.
struct Ratio {
    std::int64_t over = 0, under = 1;
};

/// A function of one number of the launch that takes the same values again and again, or grows by the same
/// with each period: quotients and remainders by constants, masks.
struct Recurring {
    int of = 0;                          ///< a root
    std::int64_t from = 0;               ///< its value from which on this is so
    std::vector<std::int64_t> values{};  ///< of a period, from there on
    std::int64_t more = 0;               ///< by which it is greater in the next one
};

/// A number of the launch, or a function of several that the kernel computes and then counts to.
struct Root {
    enum class Kind : std::uint8_t {
        number,  ///< a parameter, or what is computed from parameters
        first,   ///< the place of a CTA in the grid
        stride   ///< the size of the grid
    };
    Kind kind = Kind::number;
    bool given = false;        ///< a parameter, or the grid's, or what memory holds
    int loaded_from = -1;      ///< what the memory of a parameter holds for as long as a launch runs
    bool wide = false;         ///< of 64 bits, as addresses are
    bool residue = false;      ///< what a mask or a division leaves of one of the launch
    bool great = false;        ///< an unsigned number that may be 2^31 and more: a negative one if signed
    bool any = false;          ///< it is anything each time that it is computed, or comes of one that is...
    std::set<int> of_turns{};  ///< ...of these turns of loops
    bool of_grid = false;      ///< a place in it, or its size...
    std::int64_t of_machine = 0;  ///< ...and what the machine takes it for
    std::string name;             ///< "n", or what computes it: "shr of line 12"
    Where where;
    std::int64_t least = 0, most = INT64_MAX;
    /// Whether it is a number among the parameters, of which a proof says that it is at least 1.
    bool is_parameter() const { return given && !of_grid && !wide && loaded_from < 0; }
    std::optional<Recurring> function{};  ///< that it is one of
    std::int64_t value = 0;
    /// The excess that goes with one more repetition of the period of a loop; 0: no loop was repeated yet.
    std::int64_t step = 0;
};

/// The values of a root that a cut stands for (cut.hpp): from `value` on, so many more, and by turns of loops
/// greater.
struct Window {
    std::int64_t value = 0, room = unlimited;
    Form growth{};
    bool operator==(const Window&) const = default;
};

/// What a counter has been compared with: so many times a root, which is -1 where there is none.
struct CountedTo {
    int root = -1;
    std::int64_t times = 1;
};

/// What a register has that is a function of a root which comes back after a period: the value of a cycle at
/// the root, which is so many places further. What is added are turns of loops.
struct Cyclic {
    int root = 0;
    std::size_t cycle = 0;
    std::int64_t further = 0;
    Form turns{};
    bool operator==(const Cyclic&) const = default;
};

/// What computes a root: the instruction, and each source as a sum of roots and a constant.
struct Source {
    std::map<int, std::int64_t> roots;
    std::int64_t constant = 0;
    auto operator<=>(const Source&) const = default;
};
using Origin = std::pair<std::string, std::vector<Source>>;

/// The roots of all abstract executions of a kernel, which a proof gives values.
struct Symbols {
    /// A cluster of a grid that is given.
    struct Place {
        Dim3 grid, at;
    };
    std::vector<Root> roots{};
    std::map<Origin, int> found{};
    std::vector<int> turns{};                         ///< roots that stand for turns of loops alone
    std::vector<std::vector<std::int64_t>> cycles{};  ///< values that registers take in turn (Cyclic)
    std::vector<int> drawn{};                         ///< roots that kernels draw (Forms::draw)
    /// Who loads and stores a number in shared memory, of all ways that were followed: warps and their lanes.
    struct Users {
        std::set<std::pair<int, std::uint32_t>> load{}, store{};
    };
    std::map<std::pair<int, std::uint32_t>, Users> users{};  ///< by CTA and address
    std::optional<Place> place{};                            ///< nothing: every cluster of every grid
    /// A place in the grid and the grid's size are numbers as others are; else what holds for the first CTA
    /// of a grid of one is to hold for every one.
    bool places = false;
    /// What a mask or a division leaves of a number goes with that, as where a loop is unrolled; else it may
    /// be anything.
    bool residues = false;

    /// Returns whether it has been taken for anything, so that another proof may say more.
    bool takes_residues() const { return std::ranges::any_of(roots, &Root::residue); }
    void begin_anew(bool with_places, bool with_residues) {
        *this = {.place = place, .places = with_places, .residues = with_residues};
    }
    /// All values of a root.
    Window window(int root) const {
        const Root& its = roots[static_cast<std::size_t>(root)];
        return {its.least, its.most == unlimited ? unlimited : its.most - its.least, {}};
    }
    /// Returns the root, and all that are computed of it.
    std::set<int> made_of(int root) const {
        std::set<int> out{root};
        for (std::size_t before = 0; before != out.size();) {
            before = out.size();
            for (const auto& [origin, made] : found)
                for (const Source& source : origin.second)
                    for (const auto& [one, slope] : source.roots)
                        if (out.contains(one)) out.insert(made);
        }
        return out;
    }
    /// Returns the root that stands for turns of a loop, of that number.
    int turn(std::size_t number) {
        while (turns.size() <= number) {
            turns.push_back(static_cast<int>(roots.size()));
            roots.emplace_back().step = 1;
        }
        return turns[number];
    }

    /// Returns the root of that origin, and whether it is new.
    std::pair<int, bool> root(const Origin& origin) {
        const auto [at, added] = found.try_emplace(origin, static_cast<int>(roots.size()));
        if (added) {
            const bool any = std::ranges::any_of(origin.second, [&](const Source& source) {
                return std::ranges::any_of(source.roots, [&](const auto& one) {
                    return roots.at(static_cast<std::size_t>(one.first)).any;
                });
            });
            roots.emplace_back().any = any;
        }
        return {at->second, added};
    }
};

}  // namespace wgrun::check::abstract
