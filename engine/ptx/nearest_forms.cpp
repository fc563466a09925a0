#include "ptx/nearest_forms.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "isa/later.hpp"
#include "ptx/opcode.hpp"

namespace wgrun::ptx {
namespace {

using isa::Field;
using isa::Form;

using Words = std::vector<std::string_view>;

const std::vector<const Template*>& records_of(std::string_view opcode) {
    return templates(opcode.substr(0, opcode.find('.')));
}

/// The opcodes of a row that have as many of the wanted words as it can: of each qualifier the value that is
/// among them, else none, else a few.
class OpcodesOfRow {
  public:
    OpcodesOfRow(const Template& text, const isa::Row& row, const Words& wanted)
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
        // An order without the wanted scope, or the scope without the order.
        std::ranges::copy_if(all, std::back_inserter(out), [&](int value) {
            return !isa::unwritten(field, value) && wanted_words(isa::spelled(field, value)) > 0;
        });
        if (!out.empty()) return out;
        for (const int value : all)
            if (isa::unwritten(field, value)) return {value};
        if (leaves_out(*choice)) return {Form::absent};
        all.resize(std::min(all.size(), few));
        return all;
    }

    std::ptrdiff_t wanted_words(const std::string& text) const {
        return std::ranges::count_if(words_of(text), [&](const std::string_view word) {
            return std::ranges::find(wanted_, word) != wanted_.end();
        });
    }
    bool is_wanted(const std::string& text) const {
        return wanted_words(text) == std::ranges::ssize(words_of(text));
    }

    const Template& text_;
    const isa::Row& row_;
    const Words& wanted_;
    std::vector<std::string> out_{};
};

/// How many words have to be taken out of one and put into it to make the other.
std::size_t distance(const Words& a, const Words& b) {
    std::vector<std::size_t> common(b.size() + 1);  // of the words of a so far and the first ones of b
    for (const std::string_view word : a) {
        std::size_t before = 0;
        for (std::size_t i = 0; i < b.size(); ++i) {
            const std::size_t here = word == b[i] ? before + 1 : std::max(common[i], common[i + 1]);
            before = std::exchange(common[i + 1], here);
        }
    }
    return a.size() + b.size() - 2 * common.back();
}

/// Whether one has the words of the other in another order, which assemblers take unless they are types.
bool is_reordered(const Words& a, const Words& b) {
    const auto types_of = [](Words words) {
        std::erase_if(words, [](std::string_view word) { return !isa::parse_type(word); });
        return words;
    };
    return std::ranges::is_permutation(a, b) && types_of(a) == types_of(b);
}

}  // namespace

std::string_view strange_word(std::string_view opcode) {
    const std::vector<const Template*>& records = records_of(opcode);
    if (records.empty()) return {};
    for (const std::string_view word : words_of(opcode))
        if (std::ranges::none_of(records, [&](const Template* text) { return has_word(*text, word); }))
            return word;
    return {};
}

namespace {

/// How many words a record spells out that the opcode has not: then it is another instruction.
std::size_t lacking(const Template& text, const Words& words) {
    std::size_t out = 0;
    for (const OpcodePart& part : text.lines.front().opcode)
        for (const std::string_view word : words_of(part.text))
            out += std::ranges::none_of(words, [&](std::string_view one) { return one.starts_with(word); });
    return out;
}

}  // namespace

Nearest nearest_opcodes(std::string_view opcode) {
    constexpr std::size_t most = 3;
    const Words wanted = words_of(opcode);
    std::set<std::pair<std::size_t, std::string>> found;
    for (const Template* text : records_of(opcode)) {
        if (text->lines.size() > 1) continue;
        const std::size_t more = lacking(*text, wanted);
        for (const isa::Row& row : text->op->rows)
            for (std::string& near : OpcodesOfRow(*text, row, wanted).take()) {
                if (is_reordered(words_of(near), wanted)) return {};
                if (near != opcode) found.emplace(distance(words_of(near), wanted) + more, std::move(near));
            }
    }
    Nearest out;
    for (const auto& [words, near] : found) {
        out.words = found.begin()->first;
        if (out.opcodes.size() < most && words == out.words) out.opcodes.push_back(near);
    }
    return out;
}

void match(const Template& text, std::string_view opcode, const FoundForm& found) {
    const auto is_known = [&](std::string_view word) { return has_word(text, word); };
    if (!std::ranges::all_of(words_of(opcode), is_known)) return;
    match_opcode(text, text.lines.front(), opcode, Form(), found);
    match_in_any_order(text, opcode, found);
}

bool reads(const Template& text, std::string_view opcode) {
    bool out = false;
    match(text, opcode, [&](const Form&) { out = true; });
    return out;
}

std::optional<std::pair<std::size_t, std::size_t>> operand_counts(std::string_view opcode) {
    std::optional<std::pair<std::size_t, std::size_t>> out;
    for (const Template* text : records_of(opcode)) {
        if (!reads(*text, opcode)) continue;
        const std::vector<Pattern>& operands = text->lines.front().operands;
        const auto needed = static_cast<std::size_t>(
            std::ranges::count_if(operands, [](const Pattern& one) { return !one.optional; }));
        if (!out) out = {needed, operands.size()};
        out->first = std::min(out->first, needed);
        out->second = std::max(out->second, operands.size());
    }
    return out;
}

namespace {

/// Whether it is legal but for a word that assemblers do without: .aligned of some, or the space of an access
/// through a generic pointer.
bool lacks_little(std::string_view opcode) {
    const auto begins = [&](std::string_view text) { return opcode.starts_with(text); };
    std::vector<std::string_view> taken_for_granted;
    if (begins("wgmma.") || begins("barrier.")) taken_for_granted = {".aligned"};
    if (!begins("cvta.") && !begins("cp.async.bulk.") && !begins("cp.reduce."))
        taken_for_granted.insert(taken_for_granted.end(),
                                 {".global", ".shared", ".shared::cta", ".shared::cluster"});
    for (const std::string_view word : taken_for_granted)
        for (std::size_t at = 0; at != std::string_view::npos;) {
            at = opcode.find('.', at + 1);
            if (operand_counts(std::string(opcode).insert(std::min(at, opcode.size()), word))) return true;
        }
    return false;
}

}  // namespace

bool is_no_opcode(const std::string& opcode) {
    if (operand_counts(opcode) || lacks_little(opcode)) return false;
    const std::string in_rows = isa::in_words_of_rows(opcode);
    if (in_rows != opcode && (operand_counts(in_rows) || lacks_little(in_rows))) return false;
    return isa::has_all_forms(opcode) || !strange_word(in_rows).empty();
}

}  // namespace wgrun::ptx
