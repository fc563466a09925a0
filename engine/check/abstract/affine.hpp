// What a cut's registers are as sums of turns of loops, by which two cuts are compared (cut.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "check/abstract/cut.hpp"

namespace wgrun::check::abstract {

/// A sum of variables for turns of loops and a constant.
struct Affine {
    std::int64_t constant = 0;
    Form turns{};

    bool operator==(const Affine&) const = default;
    Affine& add(const Affine& other, std::int64_t times) {
        constant += other.constant * times;
        abstract::add(turns, other.turns, times);
        return *this;
    }
    bool never_negative() const {
        return constant >= 0 && std::ranges::all_of(turns, [](const auto& one) { return one.second >= 0; });
    }
};

const Root& root_at(const Symbols& symbols, int variable);
Window window(const Cut& of, std::size_t root, const Symbols& symbols);
/// The value of the first lane, less what it depends on by numbers of the launch. A place in the grid is what
/// the machine takes it for.
Affine number(const Register& of, const Cut& cut, const Symbols& symbols);
/// Whether some lanes alone have the register's form.
bool partly(const Register& one);
/// The number of places of the cycle that the register's number is one of; 0: it is none.
std::int64_t places(const Register& one, const Symbols& symbols);
/// Whether two registers are the same but for a number that is `more` in all lanes.
bool differ_by(const Register& a, const Register& b, std::int64_t more, const Symbols& symbols);
bool is_turns(const Symbols& symbols, std::size_t root);

}  // namespace wgrun::check::abstract
