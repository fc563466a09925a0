// The logs of ptxas -v, of the driver's JIT and of NVRTC, which hands on those of its own ptxas.
//
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas info    : Function properties for k
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads        (ptxas)
//   ptxas         .     0 bytes stack frame, ...                              (JIT, NVRTC)
//   ptxas info    : Used 30 registers, used 0 barriers, 8192 bytes smem
//   ptxas info    : (C7519) warpgroup.arrive is injected in around line 12 by compiler ... in function 'k'
//   ptxas warning : ...
//   ptxas fatal   : (C7602) Insufficient registers (64) to compile instruction at line 266 in function big.
//   ... ptxas FILE, line 12; error   : ... FILE(8): error: ...           FILE(3): warning #177-D: ...
//   (NVRTC's front end) nvrtc: error: ...
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "wgrun/count_of.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

namespace {

void skip_spaces(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

bool skip(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

std::optional<std::size_t> take_number(std::string_view& text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

int take_int(std::string_view& text) {
    return static_cast<int>(std::min<std::size_t>(take_number(text).value_or(0), 1 << 30));
}

constexpr std::array<std::pair<std::string_view, Severity>, 4> levels = {{
    {"info", Severity::note},
    {"warning", Severity::warning},
    {"error", Severity::error},
    {"fatal", Severity::error},
}};

// "info    : MESSAGE" or "error: MESSAGE": takes the level and the colon.
std::optional<Severity> take_level(std::string_view& text) {
    for (const auto& [word, severity] : levels) {
        std::string_view rest = text;
        if (!skip(rest, word)) continue;
        skip_spaces(rest);
        if (!skip(rest, ":")) continue;
        skip_spaces(rest);
        text = rest;
        return severity;
    }
    return std::nullopt;
}

// The number that follows `before` in the text, or 0.
int number_after(std::string_view text, std::string_view before) {
    const std::size_t at = text.find(before);
    if (at == std::string_view::npos) return 0;
    text.remove_prefix(at + before.size());
    return take_int(text);
}

std::string quoted_after(std::string_view text, std::string_view before) {
    const std::size_t at = text.find(before);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + before.size());
    return std::string(text.substr(0, text.find('\'')));
}

std::string identifier_after(std::string_view text, std::string_view before) {
    const std::size_t at = text.find(before);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + before.size());
    const auto end = std::ranges::find_if_not(
        text, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '$'; });
    return {text.begin(), end};
}

class Parser {
  public:
    explicit Parser(AssemblerLog& log) : log_(log) {}

    void line(std::string_view text) {
        if (std::string_view rest = text; skip(rest, "ptxas ")) {
            skip_spaces(rest);
            if (skip(rest, ". "))
                properties(rest);
            else
                assembler(rest);
        } else if (text.starts_with(' ') && text.find("bytes stack frame") != std::string_view::npos) {
            properties(text);
        } else if (std::string_view rest = text; skip(rest, "nvrtc: ")) {
            if (const auto severity = take_level(rest)) note(*severity, 0, rest);
        } else {
            front_end(text);
        }
    }

  private:
    void assembler(std::string_view text) {
        if (const auto severity = take_level(text)) {
            if (*severity == Severity::note)
                info(text);
            else if (text != "Ptx assembly aborted due to errors")  // has no information of its own
                note(*severity, 0, text);
            return;
        }
        constexpr std::string_view marker = ", line ";
        const std::size_t at = text.find(marker);
        if (at == std::string_view::npos) return;
        text.remove_prefix(at + marker.size());
        const int line = take_int(text);
        if (!skip(text, ";")) return;
        skip_spaces(text);
        if (const auto severity = take_level(text)) note(*severity, line, text);
    }

    void info(std::string_view text) {
        if (text.starts_with("(C")) {
            note(Severity::note, 0, text);
        } else if (text.starts_with("Compiling entry function '")) {
            entry_ = current_ = find(quoted_after(text, "'"));
        } else if (skip(text, "Function properties for ")) {
            current_ = find(std::string(text));
        } else if (skip(text, "Used ") && entry_) {
            // A function that the kernel calls may have come in between, so current_ may be another one.
            FunctionReport& report = log_.functions[*entry_];
            report.registers = take_int(text);
            report.barriers = number_after(text, ", used ");
            for_each_item(text, [&](std::size_t value, std::string_view unit) {
                if (unit == "bytes smem") report.shared_bytes = value;
            });
        }
    }

    // "232 bytes stack frame, 164 bytes spill stores, 164 bytes spill loads"
    void properties(std::string_view text) {
        if (!current_) return;
        FunctionReport& report = log_.functions[*current_];
        for_each_item(text, [&](std::size_t value, std::string_view unit) {
            if (unit == "bytes stack frame") report.stack_bytes = value;
            if (unit == "bytes spill stores") report.spill_store_bytes = value;
            if (unit == "bytes spill loads") report.spill_load_bytes = value;
        });
    }

    template <class Action>
    static void for_each_item(std::string_view text, Action action) {
        while (!text.empty()) {
            std::string_view item = text.substr(0, text.find(','));
            text.remove_prefix(std::min(item.size() + 1, text.size()));
            skip_spaces(item);
            if (const auto value = take_number(item)) {
                skip_spaces(item);
                action(*value, item);
            }
        }
    }

    // "FILE(8): error: TEXT", "FILE(3): warning #177-D: TEXT"
    void front_end(std::string_view text) {
        if (const auto severity =
                take_level(text)) {  // the JIT's linker: "error   : Undefined reference ..."
            if (*severity != Severity::note) note(*severity, 0, text);
            return;
        }
        const std::size_t close = text.find("): ");
        const std::size_t open = text.rfind('(', close);
        if (close == std::string_view::npos || open == std::string_view::npos) return;
        std::string_view digits = text.substr(open + 1, close - open - 1);
        const int line = take_int(digits);
        if (line == 0 || !digits.empty()) return;
        text.remove_prefix(close + 3);
        const std::size_t colon = text.find(": ");
        if (colon == std::string_view::npos) return;
        std::string_view level = text.substr(0, colon);
        skip(level, "catastrophic ");
        text.remove_prefix(colon + 2);
        for (const auto& [word, severity] : levels) {
            std::string_view code = level;
            if (!skip(code, word) || (!code.empty() && !skip(code, " #"))) continue;
            note(severity, line, text);
            log_.notes.back().code = code;
        }
    }

    void note(Severity severity, int line, std::string_view text) {
        AssemblerNote note;
        note.severity = severity;
        if (const std::size_t close = text.find(") ");
            text.starts_with("(C") && close != std::string_view::npos) {
            note.code = text.substr(1, close - 1);
            text.remove_prefix(close + 2);
        }
        // "... around line 12 by compiler ... in function 'k'", "... at line 266 in function k.", "Entry
        // function 'k' ..."
        note.line = line != 0 ? line : number_after(text, " line ");
        note.function = quoted_after(text, "unction '");
        if (note.function.empty()) note.function = identifier_after(text, " in function ");
        note.message = text;
        log_.notes.push_back(std::move(note));
    }

    std::size_t find(std::string name) {
        const auto found = std::ranges::find(log_.functions, name, &FunctionReport::name);
        const auto index = static_cast<std::size_t>(found - log_.functions.begin());
        if (found == log_.functions.end()) {
            log_.functions.emplace_back();
            log_.functions.back().name = std::move(name);
        }
        return index;
    }

    AssemblerLog& log_;
    std::optional<std::size_t> entry_;
    std::optional<std::size_t> current_;
};

std::string summary(const std::string& compiler, const AssemblerLog& log) {
    const auto is_error = [](const AssemblerNote& note) { return note.severity == Severity::error; };
    const auto first = std::ranges::find_if(log.notes, is_error);
    if (first == log.notes.end())
        return fmt::format("{}: {}", compiler, log.text.empty() ? "failed without a message" : log.text);
    const std::string where = first->line > 0 ? fmt::format("line {}: ", first->line) : "";
    const std::string code = first->code.empty() ? "" : fmt::format(" ({})", first->code);
    const auto more = std::ranges::count_if(log.notes, is_error) - 1;
    const std::string others = more == 0 ? "" : fmt::format(" (and {})", count_of(more, "more error"));
    return fmt::format("{}: {}{}{}{}", compiler, where, first->message, code, others);
}

}  // namespace

AssemblerLog parse_log(std::string_view text) {
    AssemblerLog log;
    log.text = text;
    Parser parser(log);
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        parser.line(line.substr(0, line.find_last_not_of(" \t\r") + 1));
    }
    return log;
}

CompileError::CompileError(const std::string& compiler, AssemblerLog log)
    : EnvironmentError("ECOMPILE", summary(compiler, log)), log_(std::move(log)) {}

}  // namespace wgrun::gpu
