#include "bindings/repl/graphics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "bindings/repl/png.hpp"
#include "timeline/raster.hpp"

namespace wgrun::repl {
namespace {

constexpr std::string_view esc = "\x1b", st = "\x1b\\";

std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i)
            group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i) out += i <= count ? digits[group >> (18 - 6 * i) & 63] : '=';
    }
    return out;
}

// https://sw.kovidgoyal.net/kitty/graphics-protocol: PNG in chunks, shown at the cursor, no answer wanted.
std::string kitty(const Image& image) {
    constexpr std::size_t chunk = 4096;
    const std::string data = base64(to_png(image));
    std::string out;
    for (std::size_t at = 0; at < data.size(); at += chunk)
        out += fmt::format("{}_G{}m={};{}{}", esc, at == 0 ? "a=T,f=100,q=2," : "",
                           at + chunk < data.size() ? 1 : 0, std::string_view(data).substr(at, chunk), st);
    return out + '\n';
}

// https://iterm2.com/documentation-images.html
std::string iterm2(const Image& image) {
    const std::string png = to_png(image);
    return fmt::format("{}]1337;File=inline=1;size={};width={}px;height={}px:{}\a\n", esc, png.size(),
                       image.width, image.height, base64(png));
}

void add_run(std::string& out, char pattern, int count) {
    if (count > 3)
        out += fmt::format("!{}{}", count, pattern);
    else
        out.append(static_cast<std::size_t>(count), pattern);
}

// VT340 Graphics Programming, chapter 14: bands of six rows, one pass a colour.
std::string sixel(const Image& image) {
    std::string out = fmt::format("{}P0;1;0q\"1;1;{};{}", esc, image.width, image.height);
    const auto percent = [](std::uint32_t part) { return ((part & 255) * 100 + 127) / 255; };
    for (std::size_t i = 0; i < image.palette.size(); ++i) {
        const std::uint32_t c = image.palette[i];
        out += fmt::format("#{};2;{};{};{}", i, percent(c >> 16), percent(c >> 8), percent(c));
    }
    const auto width = static_cast<std::size_t>(image.width);
    for (int band = 0; band < image.height; band += 6) {
        if (band > 0) out += '-';
        const int rows = std::min(6, image.height - band);
        std::vector<std::string> patterns(image.palette.size());
        for (int row = 0; row < rows; ++row)
            for (std::size_t x = 0; x < width; ++x) {
                std::string& pattern =
                    patterns[image.pixels[static_cast<std::size_t>(band + row) * width + x]];
                if (pattern.empty()) pattern.assign(width, '\0');
                pattern[x] = static_cast<char>(pattern[x] | 1 << row);
            }
        bool first = true;
        for (std::size_t colour = 0; colour < patterns.size(); ++colour) {
            const std::string& pattern = patterns[colour];
            if (pattern.empty()) continue;
            out += fmt::format("{}#{}", first ? "" : "$", colour);
            first = false;
            const std::size_t end = pattern.find_last_not_of('\0') + 1;
            for (std::size_t x = 0; x < end;) {
                const std::size_t next = std::min(pattern.find_first_not_of(pattern[x], x), end);
                add_run(out, static_cast<char>('?' + pattern[x]), static_cast<int>(next - x));
                x = next;
            }
        }
    }
    return out + std::string(st) + '\n';
}

/// The integers in `text`, separated by semicolons.
std::vector<int> numbers(std::string_view text) {
    std::vector<int> out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        int value = 0;
        std::from_chars(text.data(), text.data() + end, value);
        out.push_back(value);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

/// The colour of an answer such as `rgb:ffff/ffff/dddd`; each part has one to four digits.
bool is_dark(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    text.remove_prefix(colon + 1);
    double light = 0;
    for (const double weight : {0.3, 0.6, 0.1}) {
        const std::size_t end = std::min(text.find('/'), text.size());
        unsigned value = 0;
        if (std::from_chars(text.data(), text.data() + end, value, 16).ec != std::errc() || end > 4)
            return false;
        light += weight * value / ((1 << 4 * end) - 1);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return light < 0.5;
}

/// An answer: the text after `introducer`, until one of the bytes or strings that end it.
struct Answer {
    std::string_view body;
    std::size_t size = 0;  ///< size of the whole answer; 0: there is none here
    char last = 0;
};

Answer control_sequence(std::string_view text) {
    if (!text.starts_with("\x1b[")) return {};
    std::size_t end = 2;
    while (end < text.size() && text[end] >= ' ' && text[end] < '@') ++end;
    if (end == text.size()) return {};
    return {text.substr(2, end - 2), end + 1, text[end]};
}

Answer string_sequence(std::string_view text, std::string_view introducer) {
    if (!text.starts_with(introducer)) return {};
    const std::size_t stop = text.find(st), bell = text.find('\a');
    const std::size_t end = std::min(stop, bell);
    if (end == std::string_view::npos) return {};
    return {text.substr(introducer.size(), end - introducer.size()), end + (bell < stop ? 1 : 2), 0};
}

/// The letters of pictures are made for lines of 13 pixels; on finer screens they are twice as large.
int largest_scale(const Canvas& canvas) {
    constexpr int fine = 28;
    return canvas.cell_height >= fine ? 2 : 1;
}

}  // namespace

TerminalNames TerminalNames::of_environment() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    TerminalNames out{variable("TERM"), variable("TERM_PROGRAM"), variable("LC_TERMINAL")};
    out.multiplexed = !variable("TMUX").empty() || !variable("STY").empty() || out.term.starts_with("tmux") ||
                      out.term.starts_with("screen");
    return out;
}

std::string question(const TerminalNames& names) {
    if (names.term.empty() || names.term == "dumb" || names.term == "linux" ||
        names.program == "Apple_Terminal")
        return {};
    std::string out;
    // tmux and screen would interpret it as the title of a window.
    if (!names.multiplexed) out += "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
    out += "\x1b]11;?\x1b\\";  // the background's colour
    out += "\x1b[16t";         // the size of a cell
    out += "\x1b[c";           // attributes of the device, which every terminal has
    // Erases a query that a terminal has displayed.
    return out + "\r\x1b[K";
}

Answers read_answers(std::string_view bytes) {
    Answers out;
    while (!bytes.empty()) {
        Answer answer = string_sequence(bytes, "\x1b_G");
        if (answer.size > 0) {
            out.kitty = out.kitty || answer.body.ends_with(";OK");
        } else if (answer = string_sequence(bytes, "\x1b]11;"); answer.size > 0) {
            out.dark = is_dark(answer.body);
        } else if (answer = control_sequence(bytes); answer.last == 'c' && answer.body.starts_with('?')) {
            out.complete = true;
            const std::vector<int> attributes = numbers(answer.body.substr(1));
            // The first is the level of conformance.
            out.sixel = attributes.size() > 1 &&
                        std::find(attributes.begin() + 1, attributes.end(), 4) != attributes.end();
        } else if (answer.last == 't' && answer.body.starts_with("6;")) {
            const std::vector<int> parts = numbers(answer.body);
            if (parts.size() == 3) out.cell_height = parts[1], out.cell_width = parts[2];
        } else {
            answer.size = 1;
            out.typed += bytes.front();
        }
        bytes.remove_prefix(answer.size);
    }
    return out;
}

std::optional<Graphics> choose(const TerminalNames& names, const Answers& answers) {
    if (!answers.complete) return {};
    if (answers.kitty) return Graphics::kitty;
    const bool iterm =
        names.program == "iTerm.app" || names.program == "WezTerm" || names.lc_terminal == "iTerm2";
    if (iterm && !names.multiplexed) return Graphics::iterm2;
    if (answers.sixel) return Graphics::sixel;
    return {};
}

std::string shown(const Image& image, Graphics graphics) {
    switch (graphics) {
        case Graphics::kitty: return kitty(image);
        case Graphics::iterm2: return iterm2(image);
        case Graphics::sixel: break;
    }
    return sixel(image);
}

std::optional<std::string> shown(const Picture& picture, const Canvas& canvas) {
    const Extent extent = extent_of(picture);
    for (int scale = largest_scale(canvas); scale > 0; --scale)
        if (extent.width * scale <= canvas.width && extent.height * scale <= canvas.height)
            return shown(to_image(picture, canvas.dark, scale), canvas.graphics);
    return {};
}

std::optional<std::string> shown(const Timeline& timeline, const Canvas& canvas) {
    for (int scale = largest_scale(canvas); scale > 0; --scale) {
        const Image image =
            to_image(timeline, std::min(canvas.width / scale, timeline_width), canvas.dark, scale);
        if (image.width <= canvas.width && image.height <= canvas.height)
            return shown(image, canvas.graphics);
    }
    return {};
}

}  // namespace wgrun::repl
