#include "wgrun/topics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "rules/topic_list.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::rules {
namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

/// Words of letters, digits and what joins them in names: "wait_group", "2:4".
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> out;
    std::string word;
    for (const char c : lower(text) + " ") {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':' || c == '.' ||
            c == '-') {
            word += c;
            continue;
        }
        while (!word.empty() && (word.back() == '.' || word.back() == ':')) word.pop_back();
        if (!word.empty()) out.push_back(std::move(word));
        word.clear();
    }
    return out;
}

bool is_alike(std::string_view word, std::string_view wanted) {
    constexpr std::size_t stem = 6, longest_ending = 3;
    if (word == wanted) return true;
    for (std::size_t at = word.find(wanted); wanted.size() >= 3 && at != std::string_view::npos;
         at = word.find(wanted, at + 1)) {
        // A part of a name, or the beginning of one: "wait" of "try_wait", "conflict" of "conflicts".
        const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(word[at - 1])) == 0;
        const std::string_view rest = word.substr(at + wanted.size());
        const bool ends = rest.empty() || std::isalnum(static_cast<unsigned char>(rest.front())) == 0;
        if (begins && (ends || rest.size() <= longest_ending)) return true;
    }
    const auto letters = [](std::string_view one) {
        return std::ranges::all_of(one, [](char c) { return c >= 'a' && c <= 'z'; });
    };
    if (!letters(word) || !letters(wanted)) return false;
    const std::size_t shorter = std::min(word.size(), wanted.size());
    return shorter >= stem &&
           word.substr(0, std::max(stem, shorter - 3)) == wanted.substr(0, std::max(stem, shorter - 3));
}

std::string line_of(const Rule& rule) { return fmt::format("  {:<14} {}\n", rule.id, rule.law); }

}  // namespace

bool mentions(std::string_view text, std::string_view wanted) {
    constexpr std::array<std::string_view, 12> of_no_matter{"a",  "an", "and", "for", "how", "in",
                                                            "is", "of", "or",  "the", "to",  "with"};
    const std::vector<std::string> all = words_of(text);
    std::vector<std::string> asked = words_of(wanted);
    std::erase_if(asked, [&](const std::string& word) {
        return std::ranges::find(of_no_matter, word) != of_no_matter.end();
    });
    return !asked.empty() && std::ranges::all_of(asked, [&](const std::string& word) {
        return std::ranges::any_of(all, [&](const std::string& one) { return is_alike(one, word); });
    });
}

std::string about(std::string_view words) {
    std::string out;
    for (const Topic& topic : topics())
        if (mentions(topic.words, words)) out += fmt::format("{}\n  see {}\n", topic.text, topic.see);
    std::string named, told;
    for (const Rule* rule : all()) {
        if (mentions(fmt::format("{} {} {}", rule->id, rule->title, rule->law), words))
            named += line_of(*rule);
        else if (mentions(fmt::format("{} {}", rule->why, rule->fix), words))
            told += line_of(*rule);
    }
    const std::string& rules = named.empty() ? told : named;
    if (!out.empty() && !rules.empty()) out += '\n';
    return out + rules;
}

}  // namespace wgrun::rules
