// Every legal form of a record, and what a script could write instead of each of its qualifiers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
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

/// Is `form` one of those of the row?
inline bool has_form(const isa::Row& row, const isa::Form& form) {
    for (int i = 0; i < isa::field_count; ++i) {
        const auto field = static_cast<isa::Field>(i);
        const isa::Choice* choice = row.find(field);
        if (form.has(field) ? choice == nullptr || !choice->allows(form.get(field))
                            : choice != nullptr && choice->fallback != isa::Form::absent)
            return false;
    }
    return true;
}
inline bool has_form(const isa::Instruction& op, const isa::Form& form) {
    return std::ranges::any_of(op.rows, [&](const isa::Row& row) { return has_form(row, form); });
}

/// Forms of a row such that each two values of different fields meet in one of them. All forms if they are
/// few.
inline std::vector<isa::Form> mixed_forms_of(const isa::Row& row) {
    constexpr std::size_t few = 32;
    std::vector<isa::Form> forms = forms_of(row);
    if (forms.size() <= few) return forms;
    std::shuffle(forms.begin() + 1, forms.end(), std::mt19937{1});
    std::set<std::array<int, 4>> met;
    std::vector<isa::Form> out;
    for (const isa::Form& form : forms) {
        bool fresh = false;
        for (std::size_t i = 0; i < row.choices.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                fresh |= met.insert({static_cast<int>(i), form.get(row.choices[i].field), static_cast<int>(j),
                                     form.get(row.choices[j].field)})
                             .second;
        if (fresh) out.push_back(form);
    }
    return out;
}

/// Forms of a row that have each value of each field once at least.
inline std::vector<isa::Form> some_forms_of(const isa::Row& row) {
    std::size_t most = 0;
    for (const isa::Choice& choice : row.choices)
        most = std::max(most, choice.values().size() + (choice.fallback == isa::Form::absent ? 1 : 0));
    std::vector<isa::Form> out(std::max<std::size_t>(most, 1));
    for (std::size_t i = 0; i < out.size(); ++i)
        for (const isa::Choice& choice : row.choices) {
            std::vector<int> values = choice.values();
            if (choice.fallback == isa::Form::absent) values.push_back(isa::Form::absent);
            out[i].set(choice.field, values[i % values.size()]);
        }
    return out;
}

/// Those of all rows.
inline std::vector<isa::Form> of_all_rows(const isa::Instruction& op,
                                          std::vector<isa::Form> (*forms_of_row)(const isa::Row&)) {
    std::vector<isa::Form> forms;
    for (const isa::Row& row : op.rows) {
        const std::vector<isa::Form> more = forms_of_row(row);
        forms.insert(forms.end(), more.begin(), more.end());
    }
    return forms;
}
inline std::vector<isa::Form> forms_of(const isa::Instruction& op) { return of_all_rows(op, forms_of); }
inline std::vector<isa::Form> mixed_forms_of(const isa::Instruction& op) {
    return of_all_rows(op, mixed_forms_of);
}
inline std::vector<isa::Form> some_forms_of(const isa::Instruction& op) {
    return of_all_rows(op, some_forms_of);
}

/// A step of that form: each operand is of the first kind that its rule allows, and has registers of its own.
inline isa::Step step_of(const isa::Instruction& op, const isa::Form& form) {
    using isa::Operand, isa::OperandRule;
    isa::Step out;
    out.op = &op;
    out.form = form;
    std::uint32_t next = 0;
    for (const OperandRule& rule : op.operands) {
        const int count = rule.count != nullptr ? rule.count(form) : 1;
        std::vector<isa::Reg> regs;
        for (int i = 0; i < count; ++i) regs.push_back({next++});
        Operand& operand = out.operands.emplace_back();
        if ((rule.kinds & OperandRule::list) != 0 && (count > 1 || (rule.kinds & OperandRule::reg) == 0))
            operand = Operand::of(regs);
        else if ((rule.kinds & OperandRule::reg) != 0)
            operand = Operand::of(regs.front());
        else if ((rule.kinds & OperandRule::imm) != 0)
            operand = Operand::immediate(rule.imm_range ? rule.imm_range->hi : 1);
        else if ((rule.kinds & OperandRule::address) != 0)
            operand = Operand::address(regs.front(), 16);
        else if ((rule.kinds & OperandRule::param) != 0)
            operand = Operand::param(0);
        else
            operand = Operand::shared(0, 0);
    }
    return out;
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
        case Field::m: return {0, 8, 16, 32, 64, 128, 192};
        case Field::n: return count(273);
        case Field::k: return {0, 1, 4, 8, 12, 16, 24, 32, 64, 128, 256, 512};
        case Field::vec:
        case Field::num: return count(10);
        case Field::space: return count(8);
        case Field::dim: return {1, 2, 3, 4, 5};
        case Field::sem: return count(24);
        case Field::round: return count(9);
        case Field::cmp: return count(18);
        case Field::half: return count(3);
        case Field::op: return count(23);
        case Field::a_in: return count(2);
        case Field::sreg: return count(46);
        case Field::sp_sel: return count(5);
        case Field::multicast:
        case Field::cache:
        case Field::aligned:
        case Field::read:
        case Field::noftz:
        case Field::relu:
        case Field::nc:
        case Field::noinc:
        case Field::sat:
        case Field::xorsign:
        case Field::trans: return {0, 1};
        case Field::combine: return count(3);
        case Field::part: return count(10);
        case Field::property: return count(6);
        case Field::cop: return count(7);
        case Field::evict: return count(5);
        case Field::prefetch: return count(3);
        case Field::level:
        case Field::secondary: return count(6);
        default: return {-2, -1, 0, 1, 2};
    }
}

}  // namespace wgrun::test
