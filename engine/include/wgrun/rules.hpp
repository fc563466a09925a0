// The catalogue of the laws that a kernel can break, as data. It is constant: any number of threads may read
// it.
#pragma once

#include <span>
#include <string_view>

#include "wgrun/diagnostic.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// One law. Rules are data: `wgrun explain ID`, docs/rules.md and the tests come from the same rows.
struct Rule {
    std::string_view id;  ///< "WG-FENCE-01"
    Severity severity;
    std::string_view law;      ///< one sentence
    std::string_view section;  ///< PTX ISA
    std::string_view why;      ///< what happens otherwise
    std::string_view fix;      ///< how to mend it
    std::string_view wrong;    ///< a short Lua excerpt that breaks the law
    std::string_view right;    ///< the same, right
};

/// The catalogue, ordered by id.
std::span<const Rule> rules();

/// The rule called `id`, or null.
const Rule* find_rule(std::string_view id);

}  // namespace wgrun

#pragma GCC visibility pop
