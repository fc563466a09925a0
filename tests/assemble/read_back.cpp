// What records print, they read: every form of every record, and whole programs.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ptx/lower.hpp"
#include "source_folder.hpp"
#include "tests/assemble/batch.hpp"

using namespace wgrun;
using namespace wgrun::test;

namespace {

std::vector<Step> steps_of(const Program& program) {
    std::vector<Step> out;
    for_each_step(program, [&](const Step& step) { out.push_back(step); });
    return out;
}

ptx::Lowered read(const std::string& text) {
    const ptx::Parsed parsed = ptx::parse("text.ptx", text);
    for (const Diagnostic& error : parsed.errors) UNSCOPED_INFO(to_text(error));
    REQUIRE(parsed.errors.empty());
    REQUIRE(parsed.module.functions.size() == 1);
    ptx::Lowered out = ptx::lower(parsed.module, parsed.module.functions[0]);
    for (const Diagnostic& error : out.errors) UNSCOPED_INFO(to_text(error));
    REQUIRE(out.errors.empty());
    return out;
}

/// Compares what an operand is, apart from the numbers of its registers, which are compared as they are
/// printed.
bool same(const Operand& a, const Operand& b) {
    return a.kind == b.kind && a.negated == b.negated && a.imm == b.imm && a.offset == b.offset &&
           a.index == b.index && a.list.size() == b.list.size() && bool(a.reg) == bool(b.reg);
}

/// The form without what no text says: flags that are off.
Form said(const Form& form) {
    Form out;
    for (int i = 0; i < isa::field_count; ++i) {
        const auto field = static_cast<Field>(i);
        if (form.has(field) && !isa::spelled(field, form.get(field)).empty()) out.set(field, form.get(field));
    }
    return out;
}

/// Blocks in braces are read instruction by instruction, and what names memory of the program's own is not
/// read.
bool reads(const Instruction& op) {
    return !op.ptx.empty() && !op.ptx.starts_with("{{") && op.ptx.find("wgrun_") == std::string_view::npos;
}

/// Prints the batch and reads it: the same records, forms and operands.
int reads_back(Batch& batch) {
    const Program program = batch.finish();
    const std::vector<Step> printed = steps_of(program);
    const std::string text = emit::ptx(program).text;
    const ptx::Lowered back = read(text);
    CHECK(back.unread.empty());
    for (const auto& [opcode, lines] : back.unread) UNSCOPED_INFO("unread: " << opcode);
    const std::vector<Step> again = steps_of(back.program);
    REQUIRE(again.size() == printed.size());
    for (std::size_t i = 0; i < printed.size(); ++i) {
        const Step &a = printed[i], &b = again[i];
        INFO(batch.name_of(a.where.line));
        CHECK(a.op->name == b.op->name);
        if (a.op != b.op) continue;
        CHECK((said(a.form) == said(b.form)));
        bool all = a.operands.size() == b.operands.size();
        for (std::size_t j = 0; all && j < a.operands.size(); ++j) all = same(a.operands[j], b.operands[j]);
        CHECK(all);
    }
    // The registers are the same ones if they are printed in the same places, under one numbering.
    return static_cast<int>(printed.size());
}

}  // namespace

TEST_CASE("every form of every record is read back as it was printed") {
    int count = 0;
    std::unique_ptr<Batch> batch = std::make_unique<Batch>();
    const auto flush = [&] {
        count += reads_back(*batch);
        batch = std::make_unique<Batch>();
    };
    for (const Instruction* op : isa::all()) {
        if (!reads(*op)) continue;
        for (const isa::Row& row : op->rows)
            for (const Form& form : mixed_forms_of(row)) {
                batch->add("registers", *op, form);
                if (batch->size() == 256) flush();
            }
    }
    flush();
    std::printf("%d instructions\n", count);
    CHECK(count > 1000);
}

TEST_CASE("operands of every kind are read back") {
    Batch batch;
    for (const Instruction* op : isa::all()) {
        if (!reads(*op)) continue;
        for (const Form& form : some_forms_of(op->rows.front()))
            for (std::size_t i = 0; i < op->operands.size(); ++i) {
                const OperandRule& rule = op->operands[i];
                if (Batch::left_out(rule, form)) continue;
                for (const unsigned kind : Batch::kinds_of(rule, form)) {
                    const Type type = rule.type ? rule.type(form) : Type::u32;
                    if (kind == OperandRule::shared && (isa::is_float(type) || isa::bits(type) < 32))
                        continue;
                    if (kind == OperandRule::imm && isa::is_float(type) && type != Type::f32 &&
                        type != Type::f64)
                        continue;
                    std::vector<Operand> operands = batch.operands(*op, form);
                    operands[i] = batch.operand(rule, form, kind);
                    batch.add(fmt::format("kind {}", kind), *op, form, operands);
                }
            }
    }
    CHECK(reads_back(batch) > 500);
}

namespace {

/// The text without indentation, its registers and the declarations of them numbered as they first appear.
std::string canonical(const std::string& text) {
    std::string out;
    std::map<std::string, std::string> names;
    std::stringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        line.erase(0, line.find_first_not_of(' '));
        if (line.starts_with(".reg") || line.starts_with("//")) continue;
        for (std::size_t i = 0; i < line.size();) {
            std::size_t end = i + 1;
            if (line[i] == '%')
                while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0)) ++end;
            const std::string word = line.substr(i, end - i);
            if (word.size() > 1 && std::isdigit(static_cast<unsigned char>(word.back())) != 0)
                out += names.try_emplace(word, "%" + std::to_string(names.size())).first->second;
            else
                out += word;
            i = end;
        }
        out += '\n';
    }
    return out;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    std::stringstream lines(text);
    for (std::string line; std::getline(lines, line);) out.push_back(line);
    return out;
}

}  // namespace

TEST_CASE("the PTX of the example scripts is read, and printed as it was") {
    int texts = 0;
    for (const auto& entry : std::filesystem::directory_iterator(WGRUN_SOURCE_DIR "/tests/golden")) {
        const std::string name = entry.path().filename().string();
        // In guarded builds and those that speak, records print blocks in braces, which are read instruction
        // by instruction.
        if (entry.path().extension() != ".ptx" || name.find("guarded") != std::string::npos ||
            name == "say.ptx" || name.find("lines") != std::string::npos)
            continue;
        CAPTURE(name);
        std::ifstream file(entry.path());
        std::stringstream stream;
        stream << file.rdbuf();
        // A golden file has the texts of several kernels, one after the other.
        const std::string all = stream.str();
        for (std::size_t at = all.find(".version"); at != std::string::npos;) {
            const std::size_t next = all.find(".version", at + 1);
            std::string text = all.substr(at, next - at);
            text.erase(text.rfind('}') + 1);
            const ptx::Lowered k = read(text);
            for (const auto& [opcode, lines] : k.unread) UNSCOPED_INFO("unread: " << opcode);
            CHECK(k.unread.empty());
            const std::vector<std::string> printed = lines_of(canonical(emit::ptx(k.program).text)),
                                           golden = lines_of(canonical(text));
            for (std::size_t i = 0; i < std::min(printed.size(), golden.size()); ++i)
                REQUIRE(printed[i] == golden[i]);
            CHECK(printed.size() == golden.size());
            ++texts;
            at = next;
        }
    }
    std::printf("%d texts\n", texts);
    CHECK(texts >= 4);
}
