// What people ask for in their own words: topics, and the rules that mention them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace wgrun::rules {

/// Whether each word of `wanted` is one of the words of `text`, or begins as it does: "transposition" finds
/// "transpose". Letters' case does not matter.
bool mentions(std::string_view text, std::string_view wanted);

/// A line for each topic with these words, and one for each rule that mentions them in its id, title or law,
/// or if none does, in what it says besides. Empty: nothing is known of them.
std::string about(std::string_view words);

}  // namespace wgrun::rules

#pragma GCC visibility pop
