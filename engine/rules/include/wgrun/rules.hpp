// The law book: every law that a kernel can break, as constant data. The builder, the checker, the simulator
// and the assembler's reports refer to a law by its row; `wgrun rules`, `wgrun explain`, docs/rules.md, JSON
// and SARIF print it. All functions are thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/verdict.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// What can find that a law is broken; values combine to a set.
enum class Finder : std::uint8_t {
    script = 1,     ///< the call that breaks it, while the script builds or launches the kernel
    check = 2,      ///< the static checker
    run = 4,        ///< a run: on the simulator, or in the guarded build on a GPU
    assembler = 8,  ///< ptxas, or the driver's assembler
    ahead = 16      ///< a run that the static checker makes by itself, with what is synthetic
};
constexpr Finder operator|(Finder a, Finder b) {
    return static_cast<Finder>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool contains(Finder set, Finder one) {
    return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(one)) != 0;
}

/// "check, run"
std::string to_string(Finder set);

/// What becomes of an error where other compilers have made the text. They rely on more than the ISA promises
/// (docs/foreign.md), and what a compiler does, it does throughout.
enum class SeverityOverride : std::uint8_t {
    same,     ///< it stays one
    warning,  ///< it is a warning
    once      ///< it is a warning, which only the first finding of a kernel gives
};

/// One law. Each law has one row, whose address identifies it.
struct Rule {
    std::string_view id;  ///< "WG-FENCE-01"
    Severity severity;
    Property property = Property::none;  ///< what a kernel that breaks the law lacks (verdict.hpp)
    Finder found_by;
    /// Whether it depends on how many threads a CTA has, or CTAs a cluster, if the law is broken.
    bool counts_threads = false;
    SeverityOverride severity_override = SeverityOverride::same;
    std::string_view title;    ///< what is wrong, in a few words
    std::string_view law;      ///< one sentence
    std::string_view section;  ///< PTX ISA
    std::string_view why;      ///< what happens otherwise
    std::string_view fix;      ///< how to mend it; instructions as a script calls them, k:wgmma_fence()
    std::string_view decided;  ///< where: without a run, in a run, and what is not
    std::string_view wrong;    ///< a short Lua excerpt that breaks the law
    std::string_view right;    ///< the corrected excerpt
};

/// The rule called `id`, or null.
const Rule* find_rule(std::string_view id);

/// Does the finding report that this law is broken?
inline bool breaks(const Diagnostic& finding, const Rule& rule) { return finding.rule == rule.id; }

/// What was checked: a file, and the SHA-256 of what it holds.
struct Input {
    std::string file, sha256;
};

/// The findings as SARIF 2.1.0: one run, with the laws that they name. Verdicts are results, too, of kind
/// "pass" (proved), "open" (undecided) and "fail" (refuted), whose rules are the properties.
std::string to_sarif(std::span<const Diagnostic> findings, std::span<const Judged> kernels = {},
                     std::span<const Input> inputs = {});

namespace rules {

/// The rows, ordered by id.
std::span<const Rule* const> all();

/// A finding that `rule` is broken at `where`, with the rule's severity and section.
Diagnostic finding(const Rule& rule, Where where, std::string message, std::string fix = {},
                   std::vector<Note> notes = {});

/// The same as an error to throw; its place is the line of the script that made the call.
ArgumentError refusal(const Rule& rule, std::string message, std::string fix = {});

// The names. Each row stands in the file of its family in engine/rules, the list of all in catalogue.cpp.
extern const Rule WG_ASM_01, WG_ASM_02, WG_ASM_03;
extern const Rule WG_DESC_01, WG_DESC_02, WG_DESC_03, WG_DESC_04, WG_DESC_05;
extern const Rule WG_FENCE_01;
extern const Rule WG_FORM_01, WG_FORM_02, WG_FORM_03, WG_FORM_04, WG_FORM_05, WG_FORM_06;
extern const Rule WG_GROUP_01, WG_GROUP_02, WG_GROUP_03, WG_GROUP_04, WG_GROUP_05, WG_GROUP_06;
extern const Rule WG_LAYOUT_01;
extern const Rule WG_LUA_01;
extern const Rule WG_MBAR_01, WG_MBAR_02, WG_MBAR_03, WG_MBAR_04, WG_MBAR_05, WG_MBAR_06;
extern const Rule WG_MEM_01, WG_MEM_02, WG_MEM_03, WG_MEM_04, WG_MEM_05, WG_MEM_06, WG_MEM_07;
extern const Rule WG_PERF_01, WG_PERF_02, WG_PERF_03, WG_PERF_04, WG_PERF_05, WG_PERF_06, WG_PERF_07,
    WG_PERF_08, WG_PERF_09, WG_PERF_10;
extern const Rule WG_PROXY_01, WG_PROXY_02, WG_PROXY_03;
extern const Rule WG_RACE_01, WG_RACE_02, WG_RACE_03, WG_RACE_04, WG_RACE_05;
extern const Rule WG_REG_01, WG_REG_02, WG_REG_03, WG_REG_04, WG_REG_05;
extern const Rule WG_SASS_01, WG_SASS_02, WG_SASS_03, WG_SASS_04, WG_SASS_05, WG_SASS_06, WG_SASS_07,
    WG_SASS_08, WG_SASS_09, WG_SASS_10, WG_SASS_11;
extern const Rule WG_SPARSE_01, WG_SPARSE_02, WG_SPARSE_03;
extern const Rule WG_SYNC_01, WG_SYNC_02, WG_SYNC_03, WG_SYNC_04, WG_SYNC_05, WG_SYNC_06, WG_SYNC_07,
    WG_SYNC_08;
extern const Rule WG_TMA_01, WG_TMA_02, WG_TMA_03, WG_TMA_04, WG_TMA_05, WG_TMA_06, WG_TMA_07;
extern const Rule WG_TRAP_01;

}  // namespace rules
}  // namespace wgrun

#pragma GCC visibility pop
