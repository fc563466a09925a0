#include "ptx/pattern.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>

#include "isa/foreign.hpp"

namespace wgrun::ptx {
namespace {

using isa::Field;
using isa::Instruction;

/// What stands before an offset in local memory, which texts of records name as printed programs declare it.
constexpr std::string_view local_memory = "wgrun_local+";

/// Reads a template. Its notation is that of Instruction::ptx.
class Compiler {
  public:
    Compiler(const Instruction& op, std::string_view text) : op_(op), text_(text) {}

    Line line() {
        Line out;
        while (at_ < text_.size() && peek() != ' ') opcode(out);
        skip();
        while (at_ < text_.size()) {
            if (take(',')) skip();
            out.operands.push_back(pattern());
            skip();
        }
        return out;
    }

  private:
    char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    bool take(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    void skip() {
        while (take(' ')) {
        }
    }
    [[noreturn]] void fail() const {
        throw std::logic_error("the text of " + std::string(op_.name) + " cannot be read backwards");
    }

    /// Returns what is between the braces of a hole.
    std::string_view hole() {
        const std::size_t close = text_.find('}', at_);
        if (close == std::string_view::npos) fail();
        const std::string_view out = text_.substr(at_ + 1, close - at_ - 1);
        at_ = close + 1;
        return out;
    }

    Field field(std::string_view name) const {
        const auto found = isa::parse_field(name);
        if (!found) fail();
        return *found;
    }

    void opcode(Line& line) {
        OpcodePart part;
        if (peek() != '{') {
            const std::size_t end = std::min(text_.find_first_of("{ ", at_), text_.size());
            part.text = text_.substr(at_, end - at_);
            at_ = end;
        } else {
            std::string_view name = hole();
            part.dotted = name.starts_with('.');
            if (part.dotted) name.remove_prefix(1);
            part.field = field(name);
        }
        line.opcode.push_back(std::move(part));
    }

    std::size_t operand(std::string_view name) const {
        for (std::size_t i = 0; i < op_.operands.size(); ++i)
            if (op_.operands[i].name == name) return i;
        fail();
    }

    Pattern of_hole(std::string_view name) const {
        Pattern out;
        if (name.starts_with(',') || name.starts_with('|')) {
            out.optional = true;
            name.remove_prefix(1);
        }
        if (name.starts_with('%')) {
            out.index = operand(name.substr(1));
        } else {
            out.kind = Pattern::Kind::field;
            out.field = field(name);
        }
        return out;
    }

    Pattern pattern() {
        Pattern out;
        if (take('[')) {
            out.kind = Pattern::Kind::address;
            while (!take(']')) {
                if (at_ >= text_.size()) fail();
                (void)take(',');
                skip();
                out.inside.push_back(pattern());
            }
        } else if (take('%')) {
            if (field(hole()) != Field::sreg) fail();
            out.kind = Pattern::Kind::special;
            out.field = Field::sreg;
        } else if (take('_')) {
            out.kind = Pattern::Kind::sink;
        } else if (text_.substr(at_).starts_with(local_memory)) {
            at_ += local_memory.size();
            out = of_hole(hole());
            out.kind = Pattern::Kind::local;
        } else if (peek() == '{') {
            out = of_hole(hole());
        } else {
            const std::size_t end = std::min(text_.find_first_of(",] ", at_), text_.size());
            std::string_view digits = text_.substr(at_, end - at_);
            const int base = digits.starts_with("0x") ? 16 : 10;
            if (base == 16) digits.remove_prefix(2);
            std::uint64_t value = 0;
            const auto [last, error] =
                std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
            if (error != std::errc() || last != digits.data() + digits.size()) fail();
            at_ = end;
            out.kind = Pattern::Kind::number;
            out.number = static_cast<std::int64_t>(value);
        }
        // Two destinations: a|b, of which the second may be absent.
        const bool optional = text_.substr(at_).starts_with("{|");
        if (!optional && peek() != '|') return out;
        if (!optional) ++at_;
        Pattern pair;
        pair.kind = Pattern::Kind::pair;
        pair.inside.push_back(std::move(out));
        pair.inside.push_back(pattern());
        return pair;
    }

    const Instruction& op_;
    std::string_view text_;
    std::size_t at_ = 0;
};

std::vector<std::vector<Spelling>> spellings_of(const Instruction& op) {
    std::vector<std::vector<Spelling>> out(isa::field_count);
    for (int i = 0; i < isa::field_count; ++i) {
        const auto field = static_cast<Field>(i);
        std::vector<Spelling>& list = out[static_cast<std::size_t>(i)];
        const auto add = [&](std::string text, int value) {
            const auto is = [&](const Spelling& known) { return known.text == text; };
            if (!text.empty() && std::ranges::none_of(list, is)) list.push_back({std::move(text), value});
        };
        const auto values = [&](auto visit) {
            for (const isa::Row& row : op.rows)
                if (const isa::Choice* choice = row.find(field))
                    for (const int value : choice->values()) visit(value);
        };
        values([&](int value) {
            if (!isa::unwritten(field, value)) add(isa::spelled(field, value), value);
        });
        // In instructions, .shared means .shared::cta (PTX ISA 5.1.5).
        if (field == Field::space)
            values([&](int value) {
                const std::string text = isa::spelled(field, value);
                if (text == "shared") add("shared::cta", value);
                if (text == "shared::cta") add("shared", value);
            });
        // Without an order an atomic access is relaxed, without a scope the GPU's (9.7.13.5).
        if (field == Field::sem && op.atomic)
            values([&](int value) {
                const std::string text = isa::spelled(field, value);
                if (text.starts_with("relaxed.")) add(text.substr(text.find('.') + 1), value);
                if (text.ends_with(".gpu")) add(text.substr(0, text.find('.')), value);
            });
        std::ranges::stable_sort(
            list, [](const Spelling& a, const Spelling& b) { return a.text.size() > b.text.size(); });
    }
    return out;
}

/// Those of the first line.
std::set<std::string, std::less<>> words_in(const Template& text) {
    std::set<std::string, std::less<>> out;
    for (const OpcodePart& part : text.lines.front().opcode) {
        for (const std::string_view word : words_of(part.text)) out.emplace(word);
        if (part.text.empty() && part.dotted)
            for (const Spelling& value : text.spellings[static_cast<std::size_t>(part.field)])
                for (const std::string_view word : words_of(value.text)) out.emplace(word);
    }
    return out;
}

Template compiled(const Instruction& op) {
    Template out;
    out.op = &op;
    std::string_view text = op.ptx;
    constexpr std::string_view between = ";\n\t";
    for (;;) {
        const std::size_t end = text.find(between);
        out.lines.push_back(Compiler(op, text.substr(0, end)).line());
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + between.size());
    }
    out.spellings = spellings_of(op);
    out.words = words_in(out);
    return out;
}

std::string_view first_word(std::string_view opcode) { return opcode.substr(0, opcode.find_first_of(".{")); }

using Index = std::map<std::string, std::vector<const Template*>, std::less<>>;

const Index& index() {
    static const Index all = [] {
        Index out;
        static std::vector<Template> list;
        for (const Instruction* op : isa::all())
            if (!op->ptx.empty() && !op->ptx.starts_with("{{")) list.push_back(compiled(*op));
        for (const auto& family :
             {isa::foreign_family(), isa::unsimulated_family(), isa::quad_mma_family(), isa::wmma_family()})
            for (const Instruction& op : family) list.push_back(compiled(op));
        for (const Template& one : list) {
            const OpcodePart& first = one.lines.front().opcode.front();
            out[std::string(first_word(first.text))].push_back(&one);
        }
        for (auto& [word, those] : out)
            std::ranges::stable_sort(those, [](const Template* a, const Template* b) {
                return a->lines.size() > b->lines.size();
            });
        return out;
    }();
    return all;
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view opcode) {
    std::vector<std::string_view> out;
    while (!opcode.empty()) {
        const std::size_t end = std::min(opcode.find('.'), opcode.size());
        if (end > 0) out.push_back(opcode.substr(0, end));
        opcode.remove_prefix(std::min(end + 1, opcode.size()));
    }
    return out;
}

bool has_word(const Template& text, std::string_view word) {
    if (text.words.contains(word)) return true;
    const std::vector<OpcodePart>& parts = text.lines.front().opcode;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
        if (!parts[i].text.empty() && parts[i + 1].text.empty() && !parts[i + 1].dotted)
            return word.starts_with(words_of(parts[i].text).back());
    return false;
}

const std::vector<const Template*>& templates(std::string_view word) {
    static const std::vector<const Template*> none;
    const auto found = index().find(word);
    return found == index().end() ? none : found->second;
}

}  // namespace wgrun::ptx
