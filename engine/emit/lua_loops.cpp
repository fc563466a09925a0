#include "emit/lua_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace wgrun::emit {
namespace {

/// A line of text, and the integers in it.
struct Line {
    std::string_view text;
    std::vector<std::string_view> between;  ///< the text before each integer, and behind the last one
    std::vector<std::int64_t> numbers;
    bool begins = false;     ///< a call of the builder
    bool continues = false;  ///< what the line before began
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// Returns the end of the number that begins at `at`, with its sign; `at` if none does.
std::size_t number_at(std::string_view text, std::size_t at, std::int64_t& value) {
    const std::size_t first = text[at] == '-' ? at + 1 : at;
    if (at > 0 && (is_word(text[at - 1]) || text[at - 1] == '-')) return at;
    std::size_t end = first;
    while (end < text.size() && is_word(text[end])) ++end;
    std::string_view digits = text.substr(first, end - first);
    const bool hex = digits.starts_with("0x");
    if (hex) digits.remove_prefix(2);
    const auto [rest, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
    if (digits.empty() || error != std::errc() || rest != digits.data() + digits.size() || digits[0] == '-')
        return at;
    if (first > at) value = -value;
    return end;
}

Line read(std::string_view text) {
    Line out;
    out.text = text;
    const std::size_t indent = text.find_first_not_of(' ');
    const std::string_view rest = indent == std::string_view::npos ? "" : text.substr(indent);
    const bool part = rest.find("function(") != std::string_view::npos || rest.starts_with("end") ||
                      rest.find("asm {") != std::string_view::npos || rest.starts_with("--") ||
                      rest.starts_with("k:place") || rest.starts_with("return");
    out.begins = !part && rest.starts_with("k:");
    std::size_t from = 0;
    for (std::size_t at = 0; at < text.size();) {
        std::int64_t value = 0;
        const std::size_t end = number_at(text, at, value);
        if (end == at) {
            ++at;
            continue;
        }
        out.between.push_back(text.substr(from, at - from));
        out.numbers.push_back(value);
        from = at = end;
    }
    out.between.push_back(text.substr(from));
    return out;
}

// Numbers wrap, as Lua's do: those of descriptors have a highest bit.
std::int64_t minus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t times(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// How often the `period` lines from `first` on are repeated, with numbers that grow evenly.
std::size_t repeats(const std::vector<Line>& lines, std::size_t first, std::size_t period) {
    constexpr std::int64_t largest_step = std::int64_t{1} << 40;
    std::size_t count = 1;
    bool grows = false;
    for (; first + (count + 1) * period <= lines.size(); ++count)
        for (std::size_t i = 0; i < period; ++i) {
            const Line &zero = lines[first + i], &one = lines[first + period + i],
                       &here = lines[first + count * period + i];
            if (here.between != zero.between) return grows ? count : 1;
            for (std::size_t n = 0; n < zero.numbers.size(); ++n) {
                const std::int64_t step = minus(one.numbers[n], zero.numbers[n]);
                grows = grows || step != 0;
                if (step > largest_step || step < -largest_step ||
                    minus(here.numbers[n], zero.numbers[n]) != times(step, static_cast<std::int64_t>(count)))
                    return grows ? count : 1;
            }
        }
    return grows ? count : 1;
}

/// a + b * i
std::string sum(std::int64_t a, std::int64_t b) {
    std::string product = b == 1 ? "i" : fmt::format("{} * i", b);
    if (b < 0) return fmt::format("{} - {}", a, b == -1 ? "i" : fmt::format("{} * i", -b));
    if (a == 0) return product;
    return a > 0 ? fmt::format("{} + {}", product, a) : fmt::format("{} - {}", product, -a);
}

/// Adds a loop for `count` repetitions of `period` lines.
void add_loop(const std::vector<Line>& lines, std::size_t first, std::size_t period, std::size_t count,
              std::string& out) {
    const auto step = [&](std::size_t i, std::size_t n) {
        return minus(lines[first + period + i].numbers[n], lines[first + i].numbers[n]);
    };
    // The loop counts what grows by one first.
    std::int64_t begin = 0;
    bool found = false;
    for (std::size_t i = 0; i < period && !found; ++i)
        for (std::size_t n = 0; n < lines[first + i].numbers.size() && !found; ++n)
            if (step(i, n) == 1) begin = lines[first + i].numbers[n], found = true;
    const std::string indent(lines[first].text.find_first_not_of(' '), ' ');
    out += fmt::format("{}for i = {}, {} do\n", indent, begin, begin + static_cast<std::int64_t>(count) - 1);
    for (std::size_t i = 0; i < period; ++i) {
        const Line& line = lines[first + i];
        std::string text = "  ";
        for (std::size_t n = 0; n < line.numbers.size(); ++n) {
            text += line.between[n];
            const std::size_t end = static_cast<std::size_t>(line.between[n + 1].data() - line.text.data());
            const auto begins =
                static_cast<std::size_t>(line.between[n].data() - line.text.data()) + line.between[n].size();
            text += step(i, n) == 0 ? std::string(line.text.substr(begins, end - begins))
                                    : sum(minus(line.numbers[n], times(step(i, n), begin)), step(i, n));
        }
        text += line.between.back();
        out += text + "\n";
    }
    out += indent + "end\n";
}

}  // namespace

std::string with_loops(const std::string& text) {
    std::vector<Line> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        Line line = read(std::string_view(text).substr(at, end - at));
        line.continues = !lines.empty() && (lines.back().begins || lines.back().continues) &&
                         lines.back().text.ends_with(',');
        lines.push_back(std::move(line));
        at = end + 1;
    }
    // How many lines from each on are whole calls.
    std::vector<std::size_t> calls(lines.size() + 1);
    for (std::size_t i = lines.size(); i-- > 0;)
        calls[i] = lines[i].begins || lines[i].continues ? calls[i + 1] + 1 : 0;
    constexpr std::size_t longest_period = 12, fewest = 4;
    std::string out;
    for (std::size_t at = 0; at < lines.size();) {
        std::size_t period = 0, count = 0;
        if (lines[at].begins)
            for (std::size_t p = 1; p <= longest_period && fewest * p <= calls[at]; ++p) {
                if (!lines[at + p].begins) continue;
                std::size_t n = std::min(repeats(lines, at, p), calls[at] / p);
                // The last statement ends with its last line.
                if (n >= 1 && at + n * p < lines.size() && lines[at + n * p].continues) --n;
                if (n >= fewest && n * p > count * period) period = p, count = n;
            }
        if (count == 0) {
            out += lines[at].text;
            out += '\n';
            ++at;
            continue;
        }
        add_loop(lines, at, period, count, out);
        at += period * count;
    }
    return out;
}

}  // namespace wgrun::emit
