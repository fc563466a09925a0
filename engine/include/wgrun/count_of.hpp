// Counts in messages: "1 step", "2 steps".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace wgrun {

/// Returns the number and the noun: `nouns`, or the noun with an s, where it is not one thing.
std::string count_of(std::integral auto count, std::string_view noun, std::string_view nouns = {}) {
    std::string out = std::to_string(count).append(1, ' ');
    if (count == 1 || nouns.empty())
        out.append(noun).append(count == 1 ? "" : "s");
    else
        out.append(nouns);
    return out;
}

}  // namespace wgrun

#pragma GCC visibility pop
