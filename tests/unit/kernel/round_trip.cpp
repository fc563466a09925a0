// What the emitter prints, the reader reads back: every record, in every form that has a text of its own.
#include "ptx/lower.hpp"
#include "tests/assemble/batch.hpp"

using namespace wgrun;
using namespace wgrun::test;

namespace {

ptx::Lowered read(const std::string& text) {
    const ptx::Parsed parsed = ptx::parse("text.ptx", text);
    for (const Diagnostic& error : parsed.errors) UNSCOPED_INFO(to_text(error));
    REQUIRE(parsed.errors.empty());
    return ptx::lower(parsed.module, parsed.module.functions.back());
}

/// The steps by their lines: several may be printed as one, or be there to prepare another.
std::map<int, std::vector<Step>> steps_by_line(const Program& program) {
    std::map<int, std::vector<Step>> out;
    for_each_step(program, [&](const Step& step) { out[step.where.line].push_back(step); });
    return out;
}

std::string printed(const Step& step) {
    return isa::expand(step.op->ptx, step, [](const Operand& operand, const OperandRule&) {
        switch (operand.kind) {
            case Operand::Kind::imm: return fmt::format("{}", operand.imm);
            case Operand::Kind::list: return fmt::format("{} registers", operand.list.size());
            case Operand::Kind::address:
                return fmt::format("{}+{}", operand.reg ? "address" : "buffer", operand.offset);
            case Operand::Kind::param: return fmt::format("param {}+{}", operand.index, operand.offset);
            case Operand::Kind::shared: return fmt::format("buffer {}+{}", operand.index, operand.offset);
            default: return std::string("register");
        }
    });
}

/// Prints the cases and compares what is read with what was printed, line by line.
void comes_back(Batch& batch) {
    const Program program = batch.finish();
    const emit::Text text = emit::ptx(program);
    const ptx::Lowered back = read(text.text);
    for (const auto& [opcode, lines] : back.unread) FAIL_CHECK("not read: " << opcode);
    std::map<int, std::vector<Step>> read_steps;  // by the case that the line is of
    for (const auto& [line, steps] : steps_by_line(back.program)) {
        const Where where = text.lines[static_cast<std::size_t>(line - 1)];
        std::ranges::copy(steps, std::back_inserter(read_steps[where.line]));
    }
    for_each_step(program, [&](const Step& step) {
        const std::vector<Step>& found = read_steps[step.where.line];
        const bool same =
            std::ranges::any_of(found, [&](const Step& other) { return printed(other) == printed(step); });
        if (same) return;
        UNSCOPED_INFO(printed(step));
        for (const Step& other : found) UNSCOPED_INFO("  came back as " << printed(other));
        FAIL_CHECK(batch.name_of(step.where.line));
    });
}

}  // namespace

TEST_CASE("every form of every record comes back from its text") {
    constexpr std::size_t most = 2000;
    auto batch = std::make_unique<Batch>();
    for (const Instruction* op : isa::all()) {
        // A record that is written as the text of others, such as a message, has none to be read.
        if (op->ptx.empty() || op->ptx.starts_with("{{")) continue;
        // Of wgmma's thousands each value once, of others each two together.
        const bool wgmma = op->name.starts_with("wgmma.mma_async");
        for (const Form& form : wgmma ? some_forms_of(*op) : mixed_forms_of(*op)) {
            if (batch->size() == most) {
                comes_back(*batch);
                batch = std::make_unique<Batch>();
            }
            try {
                batch->add("form", *op, form);
            } catch (const ArgumentError&) {  // a form that some values of operands alone may have
            }
        }
    }
    comes_back(*batch);
}
