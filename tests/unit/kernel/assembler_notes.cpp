// Notes of the assembler become findings at lines of the script. The logs are what ptxas 13.0.88 prints.
#include "kernel/assembler_notes.hpp"

#include <fmt/format.h>

#include "emit/emit.hpp"
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::Type;

namespace {

/// Two groups of wgmma with accesses to their registers in between, and the lines of all that.
struct Case {
    Case() {
        kit::Kernel k(384);
        const int a = k.buffer(kit::tile()), b = k.buffer(kit::tile());
        const Reg db = k.descriptor(b);
        const std::vector<Reg> acc = k.accumulators(), other = k.accumulators();
        const std::vector<Reg> fragment = k.fragment();
        k.zero(acc);
        dec = k.step("setmaxnreg", Form().set(Field::op, *isa::parse_value(Field::op, "dec")),
                     {kit::Kernel::imm(40)});
        fence = k.fence();
        first = k.mma(acc, fragment, db);
        k.commit();
        source = k.step("mov", kit::Kernel::type(Type::b32), {Operand::of(fragment[0]), kit::Kernel::imm(1)});
        written = k.write(acc[0]);
        read = k.read(acc[1]);
        k.fence();
        second = k.mma(other, k.descriptor(a), db);
        k.commit();
        k.wait(0);
        k.read(acc[2]);  // after the wait: none of the causes
        program.emplace(k.builder().finish());
        text = emit::ptx(*program);
    }

    std::vector<Diagnostic> findings(const std::string& log) const {
        return assembler_findings(gpu::parse_log(log), text.lines, *program);
    }
    Diagnostic one(const std::string& log) const {
        const std::vector<Diagnostic> all = findings(log);
        REQUIRE(all.size() == 1);
        return all.front();
    }
    /// The line of the text that the line of the script became.
    int text_line(int line) const {
        for (std::size_t i = 0; i < text.lines.size(); ++i)
            if (text.lines[i].line == line) return static_cast<int>(i) + 1;
        return 0;
    }

    int dec = 0, fence = 0, first = 0, source = 0, written = 0, read = 0, second = 0;
    std::optional<Program> program;
    emit::Text text;
};

std::string serialized(const char* code, const char* why) {
    return fmt::format(
        "ptxas info    : ({}) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to {} in the function 'kernel'\n",
        code, why);
}

std::vector<int> lines(const Diagnostic& finding) {
    std::vector<int> out;
    for (const Note& note : finding.notes) out.push_back(note.where.line);
    return out;
}

}  // namespace

TEST_CASE("serialised wgmma are reported at the first one, with what may have caused it") {
    const Case c;
    struct Row {
        const char *code, *why;
        std::vector<int> notes;
        const char* says;
    };
    const Row rows[] = {
        {"C7509", "the presence of Extern calls", {}, "another text"},
        {"C7510", "wgmma pipeline crossing function boundary at a function call", {}, "is called"},
        {"C7511",
         "insufficient register resources for the wgmma pipeline",
         {c.second},
         "not enough registers"},
        {"C7512", "insufficient register resources", {c.second}, "more registers"},
        {"C7513",
         "non wgmma instructions defining input registers of a wgmma between start and end of the "
         "pipeline stage",
         {c.source},
         "that they read are written"},
        {"C7514",
         "non wgmma instructions reading accumulator registers of  a wgmma between start and end of "
         "the pipeline stage",
         {c.read},
         "accumulators are read"},
        {"C7515",
         "non wgmma instructions defining accumulator registers of a wgmma between start and end of "
         "the pipeline stage",
         {c.written},
         "accumulators are written"},
        {"C7516", "ill formed pipeline stage", {c.second}, "every path"},
        {"C7518", "program dependence on compiler-inserted WG.DP in divergent path", {c.second}, "a wait"},
        {"C7520", "program dependence on compiler-inserted WG.AR in divergent path", {c.second}, "a fence"},
    };
    for (const Row& row : rows) {
        INFO(row.code);
        const Diagnostic found = c.one(serialized(row.code, row.why));
        CHECK(found.rule == "WG-PERF-01");
        CHECK(found.severity == Severity::warning);
        CHECK(found.where.line == c.first);
        CHECK_THAT(found.message, ContainsSubstring("serialized") && ContainsSubstring(row.says) &&
                                      ContainsSubstring(row.code));
        CHECK_FALSE(found.fix.empty());
        CHECK(lines(found) == row.notes);
    }
}

TEST_CASE("an added fence or wait is reported at the line of the script that the text's line came from") {
    const Case c;
    const auto log = [&](const char* code, const char* what) {
        return fmt::format(
            "ptxas info    : ({}) warpgroup.{} is injected in around line {} by compiler to allow use "
            "of registers in GMMA in function 'kernel'\n",
            code, what, c.text_line(c.second));
    };
    const Diagnostic arrive = c.one(log("C7519", "arrive"));
    CHECK(arrive.rule == "WG-PERF-02");
    CHECK(arrive.severity == Severity::note);
    CHECK(arrive.where.line == c.second);
    CHECK_THAT(arrive.message, ContainsSubstring("a wgmma.fence of its own before this line (C7519)"));
    const Diagnostic wait = c.one(log("C7517", "wait"));
    CHECK(wait.where.line == c.second);
    CHECK_THAT(wait.message, ContainsSubstring("a wgmma.wait_group of its own before this line (C7517)"));

    // Lines of a text that is not ours.
    const auto foreign = assembler_findings(gpu::parse_log(log("C7519", "arrive")), {}, *c.program);
    REQUIRE(foreign.size() == 1);
    CHECK(foreign[0].where.line == c.first);
    CHECK_THAT(foreign[0].message, !ContainsSubstring("this line"));
}

TEST_CASE("an ignored setmaxnreg is reported at its line") {
    const Case c;
    struct Row {
        const char *code, *why, *says;
    };
    for (const Row& row :
         {Row{"C7504", "ignored to maintain compatibility across compilation units.", "linked"},
          Row{"C7505", "ignored to allow debugging.", "debugging"},
          Row{"C7506", "ignored to maintain compatibility into 'extern' call.", "another text"},
          Row{"C7507", "ignored to maintain minimum register requirements.", "more registers"},
          Row{"C7508", "ignored; unable to determine register count at entry.", "at entry"}}) {
        const Diagnostic found = c.one(fmt::format(
            "ptxas info    : ({}) Potential Performance Loss: 'setmaxnreg' {}\n", row.code, row.why));
        INFO(row.code);
        CHECK(found.rule == "WG-PERF-03");
        CHECK(found.severity == Severity::warning);
        CHECK(found.where.line == c.dec);
        CHECK_THAT(found.message, ContainsSubstring("setmaxnreg has no effect") &&
                                      ContainsSubstring(row.says) && ContainsSubstring(row.code));
    }
}

TEST_CASE("spills are reported at the kernel, with the lines that make the most registers") {
    const Case c;
    const Diagnostic found = c.one(R"(ptxas info    : Compiling entry function 'kernel' for 'sm_90a'
ptxas info    : Function properties for kernel
    232 bytes stack frame, 164 bytes spill stores, 168 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers, 232 bytes cumulative stack size
)");
    CHECK(found.rule == "WG-PERF-04");
    CHECK(found.where.line == 1);
    CHECK(found.message ==
          "24 registers a thread are not enough for `kernel`: 164 bytes are spilled to local memory, and 168 "
          "are read back");
    REQUIRE(found.notes.size() == 1);
    CHECK_THAT(found.notes[0].message, ContainsSubstring("registers are defined here"));
    CHECK(c.findings(R"(ptxas info    : Compiling entry function 'kernel' for 'sm_90a'
ptxas info    : Function properties for kernel
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
)")
              .empty());
}

TEST_CASE("a note that we do not know is handed on in the assembler's words") {
    const Case c;
    const Diagnostic found =
        c.one(fmt::format("ptxas info    : (C7599) something new around line {}\n", c.text_line(c.first)));
    CHECK(found.rule.empty());
    CHECK(found.severity == Severity::note);
    CHECK(found.where.line == c.first);
    CHECK(found.message ==
          fmt::format("the assembler notes: something new around line {} (C7599)", c.text_line(c.first)));
    CHECK(c.findings("").empty());
    CHECK(c.one("ptxas info    : (C7599) at line 999999999\n").where.line == 1);
}

TEST_CASE("an error of the assembler has the place of its line") {
    const Case c;
    const auto place = [&](const std::string& log) {
        return place_of_error(gpu::parse_log(log), c.text.lines, *c.program).line;
    };
    CHECK(place(fmt::format(
              "ptxas fatal   : (C7602) Insufficient registers (64) to compile instruction at line {} in "
              "function kernel. Try to compile with register target of 154 or higher.\n",
              c.text_line(c.first))) == c.first);
    CHECK(place("ptxas error   : Entry function 'kernel' uses too much shared data (0x493e0 bytes, 0x38c00 "
                "max)\n") == 1);
}
