#include "ptx/opcode.hpp"

#include <algorithm>
#include <utility>

namespace wgrun::ptx {
namespace {

using isa::Form;

/// Returns the forms that a place stands for that is left out: with the value that prints nothing, and
/// without one, which some rows allow (leaves_out).
std::vector<Form> without(const Template& text, isa::Field field, const Form& form) {
    std::vector<Form> out;
    for (const isa::Row& row : text.op->rows)
        if (const isa::Choice* choice = row.find(field); choice != nullptr && out.empty())
            for (const int value : choice->values())
                if (isa::unwritten(field, value) && !form.has(field))
                    out.push_back(Form(form).set(field, value));
    out.push_back(form);
    return out;
}

/// Whether a row takes the form, and nothing is left out of the opcode that the text has to say.
bool is_said(const Template& text, const Line& line, const Form& form) {
    const auto is_place = [&](isa::Field field) {
        return std::ranges::any_of(
            line.opcode, [&](const OpcodePart& part) { return part.text.empty() && part.field == field; });
    };
    const auto has_places_for_all = [&](const isa::Row& row) {
        for (int i = 0; i < isa::field_count; ++i)
            if (form.has(isa::Field(i)) && row.find(isa::Field(i)) == nullptr) return false;
        return true;
    };
    return std::ranges::any_of(text.op->rows, [&](const isa::Row& row) {
        return has_places_for_all(row) && std::ranges::all_of(row.choices, [&](const isa::Choice& choice) {
                   if (form.has(choice.field)) return choice.allows(form.get(choice.field));
                   return leaves_out(choice) || !is_place(choice.field);
               });
    });
}

/// Matches the parts of a line from `part` on with the rest of the opcode. values_at(text, part, word) are
/// the ways in which a word may begin with a value of the part's field: the value, and how long it is.
template <class ValuesAt>
void match_parts(const Template& text, const std::vector<OpcodePart>& parts, std::size_t part,
                 std::string_view rest, const Form& form, const ValuesAt& values_at, const FoundForm& found) {
    if (part == parts.size()) {
        if (rest.empty()) found(form);
        return;
    }
    const OpcodePart& here = parts[part];
    if (!here.text.empty()) {
        if (rest.starts_with(here.text))
            match_parts(text, parts, part + 1, rest.substr(here.text.size()), form, values_at, found);
        return;
    }
    if (!here.dotted || rest.starts_with('.')) {
        const std::string_view word = rest.substr(here.dotted ? 1 : 0);
        for (const auto& [value, size] : values_at(text, here, word))
            if (form.get(here.field, value) == value)
                match_parts(text, parts, part + 1, word.substr(size), Form(form).set(here.field, value),
                            values_at, found);
    }
    if (!here.dotted) return;
    for (const Form& left_out : without(text, here.field, form))
        match_parts(text, parts, part + 1, rest, left_out, values_at, found);
}

using Values = std::vector<std::pair<int, std::size_t>>;

/// Those of the rows.
Values legal_values_at(const Template& text, const OpcodePart& place, std::string_view rest) {
    Values out;
    for (const Spelling& spelling : text.spellings[static_cast<std::size_t>(place.field)]) {
        if (!rest.starts_with(spelling.text)) continue;
        const std::string_view after = rest.substr(spelling.text.size());
        const bool ends = after.empty() || after[0] == '.' || !place.dotted;
        // A number is not cut in two.
        const bool cut = !place.dotted && !after.empty() && after[0] >= '0' && after[0] <= '9';
        if (ends && !cut) out.emplace_back(spelling.value, spelling.text.size());
    }
    return out;
}

/// Any that the field has.
Values any_values_at(const Template& text, const OpcodePart& place, std::string_view rest) {
    Values out;
    constexpr std::size_t most_words = 2;  // release.cluster
    std::size_t end = 0;
    for (std::size_t words = 0; words < most_words && end < rest.size(); ++words) {
        end = place.dotted ? std::min(rest.find('.', end + (words > 0 ? 1U : 0U)), rest.size())
                           : std::min(rest.find_first_not_of("0123456789"), rest.size());
        const std::string_view word = rest.substr(0, end);
        const auto& known = text.spellings[static_cast<std::size_t>(place.field)];
        const auto row = std::ranges::find(known, word, &Spelling::text);
        if (row != known.end())
            out.emplace_back(row->value, end);
        else if (const auto value = isa::parse_value(place.field, word);
                 value && isa::spelled(place.field, *value) == word)
            out.emplace_back(*value, end);
        if (!place.dotted) break;
    }
    return out;
}

class AnyOrder {
  public:
    AnyOrder(const Template& text, std::string_view opcode) : text_(text), words_(words_of(opcode)) {
        used_.resize(words_.size());
        last_.resize(words_.size());
        const std::vector<OpcodePart>& parts = text_.lines.front().opcode;
        const auto note = [&](std::string_view words, std::size_t part) {
            for (const std::string_view word : words_of(words))
                for (std::size_t i = 0; i < words_.size(); ++i)
                    if (words_[i] == word) last_[i] = part;
        };
        for (std::size_t i = 0; i < parts.size(); ++i) {
            note(parts[i].text, i);
            if (parts[i].text.empty())
                for (const Spelling& one : text_.spellings[static_cast<std::size_t>(parts[i].field)])
                    note(one.text, i);
        }
    }

    /// Calls found(form) for each way in which all words of the opcode fit.
    void match(const FoundForm& found) {
        constexpr std::size_t most_words = 16;
        if (words_.size() <= most_words) part(0, 0, Form(), found);
    }

  private:
    void part(std::size_t at, std::size_t literal, const Form& form, const FoundForm& found) {
        constexpr int most_steps = 20'000;
        if (++steps_ > most_steps) return;
        const std::vector<OpcodePart>& parts = text_.lines.front().opcode;
        if (at == parts.size()) {
            if (std::ranges::find(used_, false) == used_.end()) found(form);
            return;
        }
        for (std::size_t i = 0; i < words_.size(); ++i)
            if (!used_[i] && last_[i] < at) return;
        const OpcodePart& here = parts[at];
        if (!here.text.empty()) {
            take(words_of(here.text), literal, true,
                 [&](std::size_t end) { part(at + 1, end, form, found); });
            return;
        }
        // A place inside a word, as in m64n{n}k16: such opcodes have one order.
        if (!here.dotted) return;
        for (const Spelling& spelling : text_.spellings[static_cast<std::size_t>(here.field)]) {
            if (form.get(here.field, spelling.value) != spelling.value) continue;
            const bool is_type = isa::parse_type(spelling.text).has_value();
            take(words_of(spelling.text), is_type ? types_ : 0, is_type, [&](std::size_t end) {
                const std::size_t before = std::exchange(types_, is_type ? end : types_);
                part(at + 1, literal, Form(form).set(here.field, spelling.value), found);
                types_ = before;
            });
        }
        for (const Form& left_out : without(text_, here.field, form)) part(at + 1, literal, left_out, found);
    }

    /// Takes the first of the words that are left which are these, from `begin` on, and calls then(end of
    /// them). ordered: one after the other.
    template <class Then>
    void take(const std::vector<std::string_view>& wanted, std::size_t begin, bool ordered,
              const Then& then) {
        std::vector<std::size_t> taken;
        for (const std::string_view word : wanted) {
            std::size_t at = begin;
            while (at < words_.size() && (used_[at] || words_[at] != word)) ++at;
            if (at == words_.size()) break;
            used_[at] = true;
            taken.push_back(at);
            if (ordered) begin = at + 1;
        }
        if (taken.size() == wanted.size()) then(begin);
        for (const std::size_t i : taken) used_[i] = false;
    }

    const Template& text_;
    std::vector<std::string_view> words_;
    std::vector<bool> used_;
    std::vector<std::size_t> last_{};  ///< the last part that may take the word
    std::size_t types_ = 0;            ///< where types may stand that come after those taken
    int steps_ = 0;
};

}  // namespace

bool leaves_out(const isa::Choice& choice) {
    if (choice.field == isa::Field::sem || choice.field == isa::Field::space)
        return choice.fallback || (choice.values().size() == 1 && !choice.asked);
    const int value = choice.fallback.value_or(choice.allowed.front().lo);
    return value == Form::absent || isa::unwritten(choice.field, value) ||
           isa::spelled(choice.field, value).empty();
}

void match_opcode(const Template& text, const Line& line, std::string_view opcode, const Form& form,
                  const FoundForm& found) {
    match_parts(text, line.opcode, 0, opcode, form, legal_values_at, [&](const Form& read) {
        if (is_said(text, line, read)) found(read);
    });
}

void match_any_values(const Template& text, const Line& line, std::string_view opcode,
                      const FoundForm& found) {
    match_parts(text, line.opcode, 0, opcode, Form(), any_values_at, found);
}

void match_in_any_order(const Template& text, std::string_view opcode, const FoundForm& found) {
    AnyOrder(text, opcode).match([&](const Form& read) {
        if (is_said(text, text.lines.front(), read)) found(read);
    });
}

}  // namespace wgrun::ptx
