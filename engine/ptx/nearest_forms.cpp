#include "ptx/nearest_forms.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "ptx/opcode.hpp"

namespace wgrun::ptx {
namespace {

using isa::Field;
using isa::Form;

/// Between dots: "L2::cache_hint" is one word.
std::vector<std::string> words_in(std::string_view text) {
    std::vector<std::string> out(1);
    for (const char c : text)
        if (c == '.')
            out.emplace_back();
        else
            out.back() += c;
    return out;
}

const std::vector<const Template*>& records_of(std::string_view opcode) {
    return templates(opcode.substr(0, opcode.find('.')));
}

/// The opcodes of a row that have as many of the wanted words as it can: of each qualifier the value that is
/// among them, else none, else a few.
class OpcodesOfRow {
  public:
    OpcodesOfRow(const Template& text, const isa::Row& row, const std::vector<std::string>& wanted)
        : text_(text), row_(row), wanted_(wanted) {
        add(0, {}, {});
    }
    std::vector<std::string> take() { return std::move(out_); }

  private:
    void add(std::size_t part, const std::string& begin, const Form& form) {
        constexpr std::size_t most = 512;
        const std::vector<OpcodePart>& parts = text_.lines.front().opcode;
        if (out_.size() == most) return;
        if (part == parts.size()) {
            out_.push_back(begin);
            return;
        }
        const OpcodePart& here = parts[part];
        if (!here.text.empty()) return add(part + 1, begin + here.text, form);
        for (const int value : values_of(here.field, form)) {
            const std::string text = value == Form::absent || isa::unwritten(here.field, value)
                                         ? std::string()
                                         : isa::spelled(here.field, value);
            const bool written = !text.empty();
            if (!written && !here.dotted) continue;
            add(part + 1, begin + (written && here.dotted ? "." : "") + text,
                Form(form).set(here.field, value));
        }
    }

    std::vector<int> values_of(Field field, const Form& form) const {
        constexpr std::size_t few = 3;
        if (form.has(field)) return {form.get(field)};
        const isa::Choice* choice = row_.find(field);
        if (choice == nullptr) return {Form::absent};
        std::vector<int> all = choice->values(), out;
        std::ranges::copy_if(all, std::back_inserter(out), [&](int value) {
            return !isa::unwritten(field, value) && is_wanted(isa::spelled(field, value));
        });
        if (!out.empty()) return out;
        for (const int value : all)
            if (isa::unwritten(field, value)) return {value};
        if (choice->fallback == Form::absent) return {Form::absent};
        all.resize(std::min(all.size(), few));
        return all;
    }

    bool is_wanted(const std::string& text) const {
        return std::ranges::all_of(words_in(text), [&](const std::string& word) {
            return std::ranges::find(wanted_, word) != wanted_.end();
        });
    }

    const Template& text_;
    const isa::Row& row_;
    const std::vector<std::string>& wanted_;
    std::vector<std::string> out_{};
};

/// How many words one of them has, and the other has not.
std::size_t distance(std::vector<std::string> a, std::vector<std::string> b) {
    std::ranges::sort(a);
    std::ranges::sort(b);
    std::vector<std::string> differ;
    std::ranges::set_symmetric_difference(a, b, std::back_inserter(differ));
    return differ.size();
}

/// Whether a word of the record's opcode may be this one. A word with a place inside, as m64n{n}k16, is
/// compared with its beginning.
bool has_word(const Template& text, const std::string& word) {
    const std::vector<OpcodePart>& parts = text.lines.front().opcode;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].text.empty()) {
            for (const Spelling& value : text.spellings[static_cast<std::size_t>(parts[i].field)])
                if (std::ranges::count(words_in(value.text), word) > 0) return true;
            continue;
        }
        std::vector<std::string> words = words_in(parts[i].text);
        const bool open = i + 1 < parts.size() && parts[i + 1].text.empty() && !parts[i + 1].dotted;
        if (open && !words.back().empty() && word.starts_with(words.back())) return true;
        if (std::ranges::count(words, word) > 0) return true;
    }
    return false;
}

}  // namespace

std::string_view strange_word(std::string_view opcode) {
    const std::vector<const Template*>& records = records_of(opcode);
    if (records.empty()) return {};
    for (std::size_t begin = 0; begin < opcode.size();) {
        const std::size_t end = std::min(opcode.find('.', begin), opcode.size());
        const std::string_view word = opcode.substr(begin, end - begin);
        if (std::ranges::none_of(records,
                                 [&](const Template* text) { return has_word(*text, std::string(word)); }))
            return word;
        begin = end + 1;
    }
    return {};
}

std::vector<std::string> nearest_opcodes(std::string_view opcode) {
    constexpr std::size_t most = 3;
    const std::vector<std::string> wanted = words_in(opcode);
    std::set<std::pair<std::size_t, std::string>> found;
    for (const Template* text : records_of(opcode)) {
        if (text->lines.size() > 1) continue;
        for (const isa::Row& row : text->op->rows)
            for (std::string& near : OpcodesOfRow(*text, row, wanted).take())
                if (near != opcode) found.emplace(distance(words_in(near), wanted), std::move(near));
    }
    std::vector<std::string> out;
    for (const auto& [words, near] : found)
        if (out.size() < most && words == found.begin()->first && words > 0) out.push_back(near);
    return out;
}

std::optional<std::pair<std::size_t, std::size_t>> operand_counts(std::string_view opcode) {
    std::optional<std::pair<std::size_t, std::size_t>> out;
    for (const Template* text : records_of(opcode)) {
        const Line& line = text->lines.front();
        const auto needed = static_cast<std::size_t>(
            std::ranges::count_if(line.operands, [](const Pattern& one) { return !one.optional; }));
        const auto count = [&](const Form&) {
            if (!out) out = {needed, line.operands.size()};
            out->first = std::min(out->first, needed);
            out->second = std::max(out->second, line.operands.size());
        };
        match_opcode(*text, line, opcode, Form(), count);
        match_in_any_order(*text, opcode, count);
    }
    return out;
}

bool lacks_little(std::string_view opcode) {
    constexpr std::array<std::string_view, 5> taken_for_granted{".aligned", ".global", ".shared",
                                                                ".shared::cta", ".shared::cluster"};
    for (const std::string_view word : taken_for_granted)
        for (std::size_t at = opcode.find('.'); at != std::string_view::npos; at = opcode.find('.', at + 1))
            if (operand_counts(std::string(opcode).insert(at, word))) return true;
    return operand_counts(std::string(opcode) + ".aligned").has_value();
}

}  // namespace wgrun::ptx
