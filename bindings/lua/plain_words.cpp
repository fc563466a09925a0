#include "bindings/lua/plain_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace wgrun::lua {
namespace {

/// What a class is called; "tile" is "a tile".
std::string words_for(std::string_view name) {
    using Word = std::pair<std::string_view, std::string_view>;
    constexpr std::array unlike_their_names = {
        Word{"reg", "a register"},           Word{"regs", "an array of registers"},
        Word{"builder", "the builder"},      Word{"shared", "a shared buffer"},
        Word{"launch", "a prepared launch"}, Word{"device_tensor", "a tensor on the device"},
        Word{"ptx", "a PTX text"},
    };
    const auto found = std::ranges::find(unlike_their_names, name, &Word::first);
    if (found != unlike_their_names.end()) return std::string(found->second);
    const bool vowel = std::string_view("aeiou").find(name.front()) != std::string_view::npos;
    std::string out = (vowel ? "an " : "a ") + std::string(name);
    std::ranges::replace(out, '_', ' ');
    return out;
}

/// Lua puts an article or a number before the name: "attempt to index a NAME value".
void add_words(std::string& message, const std::string& words) {
    const bool article = message == "a " || message.ends_with(" a "), two = message.ends_with("two ");
    if (article) message.erase(message.size() - 2);
    message += two ? words.substr(words.find(' ') + 1) : words;
}

/// Do messages name a class between these? Files, modules and what scripts say have such names, too.
bool is_class_between(std::string_view before, std::string_view after) {
    if (after.starts_with(" is too much") || after.starts_with(", must be ")) return true;
    if (before.empty()) return after.starts_with(" has no ") || after.starts_with(" cannot be ");
    constexpr std::array words{"expected ", "got ", "key ", "a ", "two ", "compare ", "with ", "or ", "and "};
    return std::ranges::any_of(words, [&](std::string_view word) {
        return before.ends_with(word) &&
               (before.size() == word.size() || before[before.size() - word.size() - 1] == ' ');
    });
}

}  // namespace

std::string in_plain_words(std::string_view message) {
    constexpr std::string_view prefix = "wgrun.";
    std::string out;
    for (std::size_t at = 0;;) {
        const std::size_t begin = message.find(prefix, at);
        if (begin == std::string_view::npos) return out += message.substr(at);
        const std::size_t name = begin + prefix.size();
        std::size_t end = name;
        const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
        while (end < message.size() && is_part(message[end])) ++end;
        constexpr std::string_view signs = " ,;)";
        const bool alone = end == message.size() || signs.find(message[end]) != std::string_view::npos;
        out += message.substr(at, begin - at);
        if (alone && end > name && is_class_between(message.substr(0, begin), message.substr(end)))
            add_words(out, words_for(message.substr(name, end - name)));
        else
            out += message.substr(begin, end - begin);
        at = end;
    }
}

}  // namespace wgrun::lua
