// The register-order rules of wgmma (WG-FENCE-01, WG-GROUP-01, WG-GROUP-02) beside the law itself, path by
// path, and beside what ptxas says (C7510 to C7520) of the same programs: thousands of generated ones, many
// in a module.
//   test_ptxas            a sample (of ptxas: skipped where there is none)
//   make ptxas-compare    WGRUN_PROGRAMS of them from WGRUN_SEED on, as the tables of docs/ptxas.md
#include <fmt/ranges.h>

#include <cstdlib>
#include <map>

#include "emit/emit.hpp"
#include "tests/catch.hpp"
#include "tests/ptxas/build.hpp"
#include "tests/ptxas/law.hpp"
#include "wgrun/gpu.hpp"

using namespace wgmma_program;
namespace gpu = wgrun::gpu;

namespace {

struct Case {
    std::uint64_t seed = 0;
    Block program;
    std::set<Fault> faults;  ///< by the law
    std::set<Oddity> oddities;
    std::vector<std::string> ours;  ///< findings
    std::set<std::string> theirs;   ///< codes of ptxas's notes

    std::string faults_text() const {
        std::string out;
        for (Fault fault : faults) out += fmt::format("{}{}", out.empty() ? "" : "; ", name_of(fault));
        return faults.empty() ? "none" : out;
    }
    const char* oddity_text() const { return oddities.empty() ? "nothing" : name_of(*oddities.begin()); }
    std::string codes_text() const {
        return theirs.empty() ? "silent" : fmt::format("{}", fmt::join(theirs, " "));
    }
};
std::string text_of(const Case& c) {
    return fmt::format("seed {}, by the law: {}; ptxas: {}; wgrun:\n{}\n{}", c.seed, c.faults_text(),
                       c.codes_text(), fmt::join(c.ours, "\n"), to_string(c.program));
}

/// A module of kernels, each called after its case.
class Module {
  public:
    void add(const wgrun::Program& program, std::size_t index) {
        const std::string text = wgrun::emit::ptx(program).text;
        const std::size_t entry = text.find(".visible .entry kernel(");
        REQUIRE(entry != std::string::npos);
        if (text_.empty()) text_ = text.substr(0, entry);
        text_ += fmt::format(".visible .entry k{}{}", index, text.substr(text.find('(', entry)));
    }
    void assemble(std::vector<Case>& cases) {
        for (const gpu::AssemblerNote& note : gpu::ptxas_assemble(text_).log.notes) {
            if (note.code.empty()) continue;
            REQUIRE(note.function.starts_with('k'));
            cases[std::stoul(note.function.substr(1))].theirs.insert(note.code);
        }
        text_.clear();
    }

  private:
    std::string text_;
};

std::vector<Case> compared(std::uint64_t first, std::size_t count, bool with_ptxas) {
    constexpr std::size_t in_a_module = 200;
    std::vector<Case> cases(count);
    Module module;
    Law law;
    for (std::size_t i = 0; i < count; ++i) {
        Case& c = cases[i];
        c.seed = first + i;
        c.program = Generator(c.seed).program();
        c.faults = law.faults(c.program);
        c.oddities = law.oddities();
        const wgrun::Program program = Build::kernel(c.program);
        for (const wgrun::Diagnostic& finding : wgrun::check::check(program))
            if (finding.rule.starts_with("WG-FENCE") || finding.rule.starts_with("WG-GROUP"))
                c.ours.push_back(fmt::format("  {} {}", finding.rule, finding.message));
        if (!with_ptxas) continue;
        module.add(program, i);
        if ((i + 1) % in_a_module == 0 || i + 1 == count) module.assemble(cases);
    }
    return cases;
}

bool no_ptxas() {
    setenv("WGRUN_CACHE", "off", 1);
    const gpu::Part ptxas = gpu::doctor().ptxas;
    if (!ptxas) std::printf("skipped: no ptxas (%s)\n", ptxas.missing.c_str());
    return !ptxas;
}

std::size_t setting(const char* name, std::size_t fallback) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : fallback;
}

}  // namespace

TEST_CASE("the checker finds the faults of generated programs, and no others") {
    std::size_t faulty = 0;
    for (const Case& c : compared(1, 1000, false)) {
        INFO(text_of(c));
        CHECK(c.ours.empty() == c.faults.empty());
        faulty += c.faults.empty() ? 0 : 1;
    }
    CHECK(faulty > 100);
    CHECK(faulty < 900);
}

TEST_CASE("what ptxas reports of generated programs is a fault, or one of the oddities") {
    if (no_ptxas()) return;
    std::size_t agreed = 0;
    for (const Case& c : compared(1, 400, true)) {
        INFO(text_of(c));
        if (c.theirs.empty()) continue;
        CHECK_FALSE((c.ours.empty() && c.oddities.empty()));
        agreed += c.ours.empty() ? 0 : 1;
    }
    CHECK(agreed > 20);
}

TEST_CASE("tables", "[.table]") {
    if (no_ptxas()) return;
    struct Cell {
        int count = 0;
        std::uint64_t seed = 0;
    };
    std::map<std::string, std::map<std::string, Cell>> faulty, clean;
    std::map<std::string, int> sides;
    for (const Case& c : compared(setting("WGRUN_SEED", 1), setting("WGRUN_PROGRAMS", 10000), true)) {
        const bool lawful = c.faults.empty();
        if (c.ours.empty() != lawful) fmt::print("the checker and the law differ: {}\n", text_of(c));
        ++sides[fmt::format("{:6}  wgrun: {:6}  ptxas: {}", lawful ? "lawful" : "faulty",
                            c.ours.empty() ? "silent" : "reports", c.theirs.empty() ? "silent" : "reports")];
        Cell& cell = (lawful ? clean : faulty)[lawful ? c.oddity_text() : c.faults_text()][c.codes_text()];
        ++cell.count;
        cell.seed = c.seed;
    }
    for (const auto& [what, count] : sides) fmt::print("{:6} {}\n", count, what);
    for (const auto* table : {&faulty, &clean}) {
        fmt::print("\n{}\n", table == &clean ? "lawful programs, by what is odd about them"
                                             : "faulty programs, by their faults");
        for (const auto& [what, row] : *table)
            for (const auto& [codes, cell] : row)
                fmt::print("{:6}  {:60} {:24} e.g. seed {}\n", cell.count, what, codes, cell.seed);
    }
}
