// What to do about a finding: in words, and where nothing but calls is missing, as calls to insert.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun {

/// Calls such as "wgmma_fence()" in front of, or behind, the statement at `where`.
Insertion insert_before(Where where, std::vector<std::string> calls);
Insertion insert_after(Where where, std::vector<std::string> calls);

/// "k:wgmma_commit_group() and k:wgmma_wait_group(0) before line 41", "before it" where no line is known.
std::string in_words(const Remedy& remedy);

struct Fix {
    Fix() = default;
    Fix(std::string words) : text(std::move(words)) {}
    Fix(const char* words) : text(words) {}
    /// The first remedy in words.
    Fix(std::vector<Remedy> alternatives);
    Fix(std::string words, std::vector<Remedy> alternatives)
        : text(std::move(words)), remedies(std::move(alternatives)) {}

    std::string text;
    std::vector<Remedy> remedies;
};

}  // namespace wgrun
