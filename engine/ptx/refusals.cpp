#include "ptx/refusals.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "isa/later.hpp"
#include "program/step.hpp"
#include "ptx/nearest_forms.hpp"
#include "ptx/opcode.hpp"
#include "ptx/operand_binding.hpp"
#include "ptx/operand_types.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::ptx {
namespace {

using isa::Form;
using isa::Instruction;
using isa::Operand;
using isa::Step;

/// The version that the rows were compared with (tests/assemble): of a later one there may be forms that no
/// row has. What one chip alone has gets no new forms.
constexpr isa::PtxVersion compared{9, 0};

std::string text_of(isa::PtxVersion version) { return fmt::format("{}.{}", version.major, version.minor); }

/// Of texts before sm_90 nobody knows the versions: records name none before its first.
bool has(isa::PtxVersion text, isa::PtxVersion needed) {
    return text >= needed || needed <= first_version({90, false});
}

/// The first error of an operand's length or number.
void check_operands(const Instruction& op, const Form& form, const std::vector<Operand>& operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) check_extent(op, op.operands[i], form, operands[i]);
}

}  // namespace

void Refusals::add(const std::string& key, Diagnostic finding) {
    const Where where = finding.where;
    const auto [found, first] = found_.try_emplace(key, Found{std::move(finding)});
    if (first) return;
    ++found->second.others;
    found->second.last = where;
}

std::vector<Diagnostic> Refusals::take() {
    std::vector<Diagnostic> out;
    bool versions = false;
    for (auto& [key, found] : found_) {
        versions |= key == "version";
        if (found.others > 0)
            found.finding.notes.push_back(
                {found.last, fmt::format("the last of {} such places", found.others + 1)});
        out.push_back(std::move(found.finding));
    }
    found_.clear();
    const isa::PtxVersion first = first_version(heading_.arch);
    if (!versions && heading_.version < first)
        out.push_back(rules::finding(
            rules::WG_FORM_06, heading_.arch_at,
            fmt::format(".target {} came with .version {}: the text has {}", isa::to_string(heading_.arch),
                        text_of(first), text_of(heading_.version)),
            fmt::format(".version {}, or a later one", text_of(first))));
    std::ranges::stable_sort(out, {}, [](const Diagnostic& finding) { return finding.where.line; });
    return out;
}

/// Returns whether they have the instruction.
bool Refusals::look_at_versions(const Step& step, std::string_view opcode) {
    const isa::Row& row = isa::row_of(*step.op, step.form);
    const isa::Arch arch = row.arch.sm > 0 ? row.arch : isa::first_chip_of(opcode).value_or(isa::Arch());
    const bool version = has(heading_.version, row.min_ptx), chip = heading_.arch.covers(arch);
    if (!version)
        lacks("version", step.op->name, "version", text_of(row.min_ptx), text_of(heading_.version),
              step.where, heading_.version_at);
    if (!chip)
        lacks("target", step.op->name, "target", isa::to_string(arch), isa::to_string(heading_.arch),
              step.where, heading_.arch_at);
    return version && chip;
}

/// The text has not the version or the target that an instruction needs. at: where it has another one.
void Refusals::lacks(std::string key, std::string_view what, std::string_view directive,
                     const std::string& needed, const std::string& there, Where where, Where at) {
    Diagnostic finding = rules::finding(
        rules::WG_FORM_06, where,
        fmt::format("{} is of .{} {}: the text has {}", what, directive, needed, there),
        fmt::format(".{} {}{}", directive, needed, directive == "version" ? ", or a later one" : ""));
    if (at) finding.notes.push_back({at, fmt::format("the .{} is here", directive)});
    add(key, std::move(finding));
}

void Refusals::look_at_numbers(const Step& step) {
    const auto limited = [](const isa::OperandRule& rule) { return rule.imm_range.has_value(); };
    if (std::ranges::none_of(step.op->operands, limited)) return;
    try {
        check_operands(*step.op, step.form, step.operands);
    } catch (const ArgumentError& error) {
        Diagnostic finding = error.finding();
        finding.where = step.where;
        add(finding.message, std::move(finding));
    }
}

void Refusals::look_at(const Step& step, std::string_view opcode) {
    if (!fitting_.contains(opcode) && look_at_versions(step, opcode)) fitting_.insert(opcode);
    if (const auto [known, first] = limited_.try_emplace(opcode); first)
        known->second = isa::has_all_numbers(opcode);
    if (limited_.at(opcode)) look_at_numbers(step);
}

bool Refusals::look_at(const Statement& statement, Names& names) {
    const std::string opcode = usual_spelling(module_.opcode(statement));
    if (const std::optional<isa::Arch> later = isa::first_chip_of(opcode);
        later && !heading_.arch.covers(*later)) {
        lacks(opcode, opcode, "target", isa::to_string(*later), isa::to_string(heading_.arch),
              module_.where(statement.text), heading_.arch_at);
        return true;
    }
    const auto [known, first] = unread_.try_emplace(opcode);
    if (first) known->second = opinion(opcode, module_.at(statement.name));
    const Opinion& of = known->second;
    std::optional<Diagnostic> why;
    if ((of.operands || of.illegal) && !of.one_word)
        why = qualifiers(statement, names, opcode, of.operands.has_value());
    if (!why) why = of.refusal;
    if (!why && of.operands && heading_.version <= compared && isa::has_all_forms(opcode))
        why = operands(statement, names, opcode, *of.operands);
    if (!why) return false;
    why->where = module_.where(statement.text);
    const std::string key = why->message;
    add(key, std::move(*why));
    return true;
}

/// An opcode with the words of a record, and values or operands that none of its rows has. read: records read
/// the opcode, and the operands alone may be illegal.
std::optional<Diagnostic> Refusals::qualifiers(const Statement& statement, Names& names,
                                               const std::string& opcode, bool read) {
    std::optional<Diagnostic> why;
    for (const Template* text : templates(std::string_view(opcode).substr(0, opcode.find('.')))) {
        const Instruction& op = *text->op;
        const bool closed =
            heading_.version <= compared ||
            std::ranges::all_of(op.rows, [](const isa::Row& row) { return row.arch.specific; });
        if (!closed || text->lines.size() > 1) continue;
        const auto bound = [&](const Form& form) {
            if (why) return;
            Reading reading{&op, form, std::vector<Operand>(op.operands.size())};
            const auto refuse = [&] {
                if (why) return false;  // the first way to bind what is optional tells
                try {
                    Form asked = reading.form;
                    if (op.infer != nullptr) op.infer(reading.operands, asked);
                    asked = isa::resolve(op, asked);
                    if (isa::has_all_numbers(opcode)) check_operands(op, asked, reading.operands);
                } catch (const ArgumentError& error) {
                    why = error.finding();
                }
                return false;
            };
            (void)bind_operands(module_, names, true, text->lines.front(), statement.operands, refuse,
                                reading);
        };
        if (read)
            match(*text, opcode, bound);
        else
            match_any_values(*text, text->lines.front(), opcode, bound);
    }
    return why;
}

/// text: the opcode as it is written.
Refusals::Opinion Refusals::opinion(const std::string& opcode, std::string_view text) const {
    Opinion out{operand_counts(opcode), is_no_opcode(opcode)};
    if (heading_.version > compared || !out.illegal) return out;
    const Nearest near = nearest_opcodes(opcode);
    if (near.opcodes.empty()) return out;
    out.one_word = near.words == 1;
    const std::string in_rows = isa::in_words_of_rows(opcode);
    const std::string_view strange = strange_word(in_rows);
    out.refusal =
        rules::refusal(rules::WG_FORM_01,
                       fmt::format("PTX has no {}{}", text,
                                   strange.empty() ? std::string()
                                                   : fmt::format(": `.{}` is none of its words", strange)),
                       fmt::format("{}", fmt::join(near.opcodes, ", or ")))
            .finding();
    return out;
}

/// An opcode that records read, with too few or too many operands, or with one that none of them takes.
std::optional<Diagnostic> Refusals::operands(const Statement& statement, Names& names,
                                             const std::string& opcode,
                                             std::pair<std::size_t, std::size_t> counts) const {
    std::size_t count = 0;
    for (std::uint32_t at = statement.operands; at != nothing; at = module_.nodes[at].next) ++count;
    const auto [least, most] = counts;
    std::optional<std::string> wrong;
    if (count >= least && count <= most) {
        wrong = wrong_operand(module_, names, statement, opcode);
    } else {
        const std::string legal =
            least == most ? std::to_string(least) : fmt::format("{} to {}", least, most);
        wrong = fmt::format("{} has {} operands (legal: {})", module_.at(statement.name), count, legal);
    }
    if (!wrong) return {};
    return rules::refusal(rules::WG_FORM_02, *wrong).finding();
}

}  // namespace wgrun::ptx
