// Every legal form of a record, and what a script could write instead of each of its qualifiers.
#pragma once

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "wgrun/isa.hpp"

namespace wgrun::test {

/// The forms of a row: every combination of what its fields may be, or of their absence.
inline std::vector<isa::Form> forms_of(const isa::Row& row) {
    std::vector<isa::Form> forms(1);
    for (const isa::Choice& choice : row.choices) {
        std::vector<isa::Form> longer;
        for (const isa::Form& form : forms)
            for (int value : choice.values()) longer.push_back(isa::Form(form).set(choice.field, value));
        if (choice.fallback == isa::Form::absent) longer.insert(longer.end(), forms.begin(), forms.end());
        forms = std::move(longer);
    }
    return forms;
}

inline std::vector<isa::Form> forms_of(const isa::Instruction& op) {
    std::vector<isa::Form> forms;
    for (const isa::Row& row : op.rows) {
        const std::vector<isa::Form> more = forms_of(row);
        forms.insert(forms.end(), more.begin(), more.end());
    }
    return forms;
}

/// The forms of a row; of some hundred, which differ in independent qualifiers, the first and the last.
inline std::vector<isa::Form> some_forms_of(const isa::Row& row) {
    constexpr std::size_t many = 400;
    std::vector<isa::Form> forms = forms_of(row);
    if (forms.size() > many) forms = {forms.front(), forms.back()};
    return forms;
}

inline std::vector<isa::Form> some_forms_of(const isa::Instruction& op) {
    std::vector<isa::Form> forms;
    for (const isa::Row& row : op.rows) {
        const std::vector<isa::Form> more = some_forms_of(row);
        forms.insert(forms.end(), more.begin(), more.end());
    }
    return forms;
}

/// "type=f32 vec=2"
inline std::string spelled(const isa::Form& form) {
    std::string out;
    for (int i = 0; i < isa::field_count; ++i) {
        const auto field = static_cast<isa::Field>(i);
        if (!form.has(field)) continue;
        const std::string text = isa::spelled(field, form.get(field));
        if (!out.empty()) out += ' ';
        out += fmt::format("{}={}", isa::to_string(field),
                           text.empty() ? std::to_string(form.get(field)) : text);
    }
    return out;
}

/// Values of a field that a script can write: all that have a name, or numbers around the legal ones.
inline std::vector<int> writable_values(isa::Field field) {
    using isa::Field;
    const auto count = [](int n) {
        std::vector<int> out(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = i;
        return out;
    };
    switch (field) {
        case Field::type:
        case Field::from:
        case Field::d:
        case Field::a:
        case Field::b: {
            std::vector<int> types = count(static_cast<int>(isa::Type::f64) + 1);
            types.erase(types.begin());  // none has no name
            return types;
        }
        case Field::m: return {0, 16, 32, 64, 128, 192};
        case Field::n: return count(273);
        case Field::k: return {0, 1, 4, 8, 12, 16, 24, 32, 64, 128, 256, 512};
        case Field::vec:
        case Field::num: return count(10);
        case Field::space: return count(4);
        case Field::dim: return {1, 2, 3, 4, 5};
        case Field::sem: return count(13);
        case Field::round: return count(9);
        case Field::cmp: return count(18);
        case Field::half: return count(3);
        case Field::op: return count(20);
        case Field::a_in: return count(2);
        case Field::sreg: return count(27);
        case Field::sp_sel: return count(5);
        case Field::multicast:
        case Field::cache:
        case Field::aligned:
        case Field::read:
        case Field::noftz:
        case Field::relu:
        case Field::nc:
        case Field::noinc:
        case Field::trans: return {0, 1};
        case Field::cop: return count(7);
        case Field::evict: return count(5);
        case Field::prefetch: return count(3);
        case Field::level:
        case Field::secondary: return count(6);
        default: return {-2, -1, 0, 1, 2};
    }
}

}  // namespace wgrun::test
