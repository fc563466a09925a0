#include "sass/listing.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "sass/record.hpp"

namespace wgrun::sass {
namespace {

constexpr std::string_view blank = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t from = text.find_first_not_of(blank);
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(blank) - from + 1);
}

template <class Number>
Number number(std::string_view text, int base) {
    Number value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

/// The text between `before` and `after`, if both occur.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
    const std::size_t from = text.find(before);
    if (from == std::string_view::npos) return {};
    const std::size_t begin = from + before.size(), end = text.find(after, begin);
    return end == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin);
}

/// Operands are separated by commas outside of brackets.
std::vector<std::string_view> operands_of(std::string_view text) {
    std::vector<std::string_view> out;
    int depth = 0;
    std::size_t from = 0;
    const auto end = [&](std::size_t at) {
        if (const std::string_view one = trimmed(text.substr(from, at - from)); !one.empty())
            out.push_back(one);
        from = at + 1;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += std::string_view("[{(").find(text[i]) != std::string_view::npos;
        depth -= std::string_view("]})").find(text[i]) != std::string_view::npos;
        if (text[i] == ',' && depth == 0) end(i);
    }
    end(text.size());
    return out;
}

Instruction instruction_of(std::string_view text) {
    Instruction out;
    out.text = text;
    if (text.starts_with("@")) {
        const std::size_t end = std::min(text.find_first_of(blank), text.size());
        std::string_view guard = text.substr(1, end - 1);
        out.guard_negated = guard.starts_with("!");
        if (out.guard_negated) guard.remove_prefix(1);
        out.guard = predicate_named(guard);
        text = trimmed(text.substr(end));
    }
    const std::size_t end = std::min(text.find_first_of(blank), text.size());
    out.mnemonic = text.substr(0, end);
    out.operands = operands_of(text.substr(end));
    out.record = &record_of(out.mnemonic);
    return out;
}

/// Reads line by line.
class Reader {
  public:
    explicit Reader(Listing& out) : out_(out) {}

    void read(std::string_view row) {
        const std::string_view line = trimmed(row);
        if (line.starts_with("//## File")) {
            place(line);
        } else if (line.starts_with("/* 0x")) {
            finish_encoding(line);
        } else if (line.starts_with("/*")) {
            instruction(line);
        } else if (line.starts_with(".target") && out_.target.empty()) {
            out_.target = trimmed(line.substr(std::string_view(".target").size()));
        } else if (line.starts_with(".text.") && line.ends_with(":")) {
            out_.functions.push_back({std::string(line.substr(6, line.size() - 7)), {}, {}});
            file_ = {}, line_ = source_line_ = 0;
        } else if (line.ends_with(":") && !out_.functions.empty()) {
            Function& function = out_.functions.back();
            function.labels.push_back({line.substr(0, line.size() - 1), function.instructions.size()});
        }
    }

  private:
    /// "//## File "s.lua", line 4": with -gp the file is the PTX.
    void place(std::string_view line) {
        const std::string_view file = between(line, "\"", "\"");
        const std::size_t at = line.find("line ", line.find('"', line.find('"') + 1));
        if (at == std::string_view::npos) return;
        const int number = sass::number<int>(line.substr(at + 5), 10);
        if (file.starts_with(".nv_debug_ptx_txt")) {
            line_ = number;
        } else {
            file_ = file;
            source_line_ = number;
        }
    }

    /// "/*0010*/  S2R R5, SR_TID.X ;  /* 0x0000000000007919 */"
    void instruction(std::string_view line) {
        if (out_.functions.empty()) return;
        const std::size_t end = line.find("*/");
        if (end == std::string_view::npos) return;
        std::string_view rest = line.substr(end + 2);
        rest = trimmed(rest.substr(0, std::min(rest.find(';'), rest.size())));
        const std::size_t remark = rest.find("(*");
        const std::string_view note =
            remark == std::string_view::npos ? std::string_view() : rest.substr(remark);
        // The places that an indirect branch may go to are a remark, too, and are kept.
        const bool spills = note.find("Spill") != std::string_view::npos;
        if (spills) rest = trimmed(rest.substr(0, remark));
        if (rest.empty()) return;
        Instruction& one = out_.functions.back().instructions.emplace_back(instruction_of(rest));
        one.address = number<std::uint32_t>(line.substr(2, end - 2), 16);
        one.spill = spills;
        one.line = line_;
        one.file = file_;
        one.source_line = source_line_;
        open_ = true;
    }

    /// The upper half of an encoding stands on a line of its own.
    void finish_encoding(std::string_view line) {
        if (!std::exchange(open_, false) || out_.functions.empty() ||
            out_.functions.back().instructions.empty())
            return;
        out_.functions.back().instructions.back().control =
            Control::of(number<std::uint64_t>(between(line, "0x", " "), 16));
    }

    Listing& out_;
    bool open_ = false;  ///< an instruction waits for the second half of its encoding
    std::string_view file_;
    int line_ = 0, source_line_ = 0;
};

/// Removes what pads the code: NOP, behind the branch to itself that ends it.
void drop_padding(Function& function) {
    auto& code = function.instructions;
    while (!code.empty() && code.back().mnemonic == "NOP") code.pop_back();
    while (!function.labels.empty() && function.labels.back().at > code.size()) function.labels.pop_back();
}

}  // namespace

Predicate predicate_named(std::string_view text) {
    if (text == "PT" || text == "UPT") return always;
    const bool uniform = text.starts_with("UP");
    if (uniform) text.remove_prefix(1);
    if (text.size() != 2 || text[0] != 'P' || text[1] < '0' || text[1] > '6') return no_predicate;
    return static_cast<Predicate>(text[1] - '0' + (uniform ? always + 1 : 0));
}

bool Instruction::has(std::string_view part) const {
    for (std::size_t from = 0; from < mnemonic.size();) {
        const std::size_t end = std::min(mnemonic.find('.', from), mnemonic.size());
        if (mnemonic.substr(from, end - from) == part) return true;
        from = end + 1;
    }
    return false;
}

Listing read_listing(std::string text) {
    Listing out{std::make_shared<const std::string>(std::move(text)), {}, {}};
    Reader reader(out);
    std::string_view rest = *out.text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        reader.read(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    for (Function& function : out.functions) drop_padding(function);
    return out;
}

bool is_cut(const Function& function) {
    if (function.instructions.empty()) return true;
    const Instruction& last = function.instructions.back();
    const Does does = last.record->does;
    const bool ends =
        does == Does::branch || does == Does::exit || does == Does::ret || does == Does::indirect;
    if (!ends || last.guarded() || last.never()) return true;
    return std::ranges::any_of(function.instructions, [&](const Instruction& one) {
        const std::string_view to = one.record->does == Does::branch ? between(one.text, "`(", ")") : "";
        return to.starts_with(".L") &&
               std::ranges::find(function.labels, to, &Label::name) == function.labels.end();
    });
}

bool is_listing(std::string_view text) {
    return text.find(".text.") != std::string_view::npos && text.find("/*0000*/") != std::string_view::npos;
}

}  // namespace wgrun::sass
