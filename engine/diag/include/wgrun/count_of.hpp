// Counts in messages: "1 step", "2 steps"; "1 byte is outstanding", "2 bytes are outstanding".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace wgrun {

/// Returns the number and the noun: `nouns`, or the noun with an s, where it is not one thing. A verb that
/// the number decides is a part of both.
std::string count_of(std::integral auto count, std::string_view noun, std::string_view nouns = {}) {
    std::string out = std::to_string(count).append(1, ' ');
    if (count == 1 || nouns.empty())
        out.append(noun).append(count == 1 ? "" : "s");
    else
        out.append(nouns);
    return out;
}

/// Returns how many of them all, and the verb that goes with the part: "0 of 2 warps have", "1 of 2 warps
/// has".
std::string part_of(std::integral auto part, std::integral auto all, std::string_view nouns,
                    std::string_view verb, std::string_view verbs) {
    std::string out = std::to_string(part).append(" of ").append(std::to_string(all)).append(1, ' ');
    return out.append(nouns).append(1, ' ').append(part == 1 ? verb : verbs);
}

}  // namespace wgrun

#pragma GCC visibility pop
