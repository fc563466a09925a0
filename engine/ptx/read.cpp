#include "ptx/read.hpp"

#include "ptx/opcode.hpp"
#include "ptx/operand_binding.hpp"

namespace wgrun::ptx {

using isa::Form;
using isa::Operand;
using isa::OperandRule;
using isa::Step;

/// The templates that fit the opcode. They are the same wherever it stands, so each opcode is compared once.
const std::vector<Reader::Candidate>& Reader::candidates(const Statement& statement) {
    const std::string_view written = module_.at(statement.name);
    const auto known = seen_.find(written);
    if (known != seen_.end()) return known->second;
    std::vector<Candidate>& out = seen_[written];
    const std::string exact = module_.opcode(statement), usual = usual_spelling(exact);
    for (const std::string* opcode : {&exact, &usual}) {
        if (opcode == &usual && usual == exact) break;
        for (const Template* text : templates(std::string_view(*opcode).substr(0, opcode->find('.'))))
            match_opcode(*text, text->lines.front(), *opcode, Form(), [&](const Form& form) {
                out.push_back({text, form});
            });
    }
    if (!out.empty()) return out;
    for (const Template* text : templates(std::string_view(usual).substr(0, usual.find('.'))))
        match_in_any_order(*text, usual, [&](const Form& form) { out.push_back({text, form}); });
    return out;
}

bool Reader::fits(const Candidate& candidate, std::uint32_t statement, std::uint32_t last, Names& names,
                  bool loose, Reading& out) {
    const Template& text = *candidate.text;
    out.op = text.op;
    out.form = candidate.form;
    out.operands.assign(text.op->operands.size(), {});
    out.results.clear();
    out.statements = static_cast<std::uint32_t>(text.lines.size());
    if (last - statement < out.statements) return false;
    for (std::uint32_t i = 0; i < out.statements; ++i) {
        const Statement& here = module_.statements[statement + i];
        const Line& line = text.lines[i];
        if (i > 0) {
            const Statement& first = module_.statements[statement];
            if (here.kind != Statement::Kind::instruction ||
                module_.at(here.guard) != module_.at(first.guard) ||
                here.guard_negated != first.guard_negated)
                return false;
            bool same = false;
            const Form before = out.form;
            match_opcode(text, line, module_.opcode(here), before, [&](const Form& form) {
                if (!same) out.form = form;
                same = true;
            });
            if (!same) return false;
        }
        const bool last_line = i + 1 == out.statements;
        const auto accept = [&] {
            if (!last_line) return true;
            Form form = out.form;
            std::vector<Operand> operands = out.operands;
            if (!complete(*text.op, form, operands, names)) return false;
            out.form = form;
            out.operands = std::move(operands);
            return true;
        };
        if (!bind_operands(module_, names, loose, line, here.operands, accept, out)) return false;
    }
    return true;
}

namespace {

/// Returns the opcode that the record prints for the reading.
std::string printed_opcode(const Reading& reading) {
    Step step;
    step.op = reading.op;
    step.form = reading.form;
    const std::string_view text = reading.op->ptx;
    return isa::expand(text.substr(0, text.find_first_of(" ;")), step,
                       [](const Operand&, const OperandRule&) { return std::string(); });
}

}  // namespace

/// Several records may fit, as those do that differ in a qualifier with a default: the one that prints the
/// same text is meant, or else the first.
Reading Reader::read(std::uint32_t statement, std::uint32_t last, Names& names) {
    const std::vector<Candidate>& all = candidates(module_.statements[statement]);
    for (const bool loose : {false, true}) {
        Reading first;
        for (const Candidate& candidate : all) {
            Reading out;
            if (!fits(candidate, statement, last, names, loose, out)) continue;
            if (all.size() == 1 || printed_opcode(out) == module_.opcode(module_.statements[statement]))
                return out;
            if (first.op == nullptr) first = std::move(out);
        }
        if (first.op != nullptr) return first;
    }
    return {};
}

}  // namespace wgrun::ptx
