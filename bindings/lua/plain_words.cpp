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
        // Files, environment and modules have such names, too: they stand behind a sign, or another follows.
        constexpr std::string_view before = " ", after = " ,;.:)";
        const bool alone = (begin == 0 || before.find(message[begin - 1]) != std::string_view::npos) &&
                           (end == message.size() || after.find(message[end]) != std::string_view::npos);
        out += message.substr(at, begin - at);
        if (alone && end > name)
            out += words_for(message.substr(name, end - name));
        else
            out += message.substr(begin, end - begin);
        at = end;
    }
}

}  // namespace wgrun::lua
