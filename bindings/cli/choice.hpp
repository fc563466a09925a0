// Options that take one of a few words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun::cli {

/// Refuses other words, with the one that may be meant.
class Choice : public CLI::IsMember {
  public:
    explicit Choice(const std::vector<std::string>& words) : CLI::IsMember(words) {
        const auto refuse = func_;
        func_ = [refuse, words](std::string& given) {
            const std::string word = given;
            std::string problem = refuse(given);
            const std::vector<std::string_view> views(words.begin(), words.end());
            if (!problem.empty()) problem += nearest(word, views);
            return problem;
        };
    }
};

}  // namespace wgrun::cli
