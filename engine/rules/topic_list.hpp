// The topics that people ask for, each with what to say and where to read on.
#pragma once

#include <span>
#include <string_view>

namespace wgrun::rules {

struct Topic {
    std::string_view words;  ///< that it is known by
    std::string_view text;   ///< a sentence or two
    std::string_view see;    ///< rules, names and pages
};

std::span<const Topic> topics();

}  // namespace wgrun::rules
