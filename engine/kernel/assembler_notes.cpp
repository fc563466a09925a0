#include "kernel/assembler_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "isa/effects.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

constexpr const Rule *serial = &rules::WG_PERF_01, *repaired = &rules::WG_PERF_02,
                     *ignored = &rules::WG_PERF_03;
using About = AssemblerCode::About;
constexpr std::string_view no_debugging = "assemble without options for debugging or linking";
constexpr std::string_view one_text =
    "define the function in the kernel's own text, so that it can be inlined (no -rdc=true), or wait for all "
    "groups "
    "before the call";
constexpr std::string_view uniform =
    "put wgmma_fence, the wgmma, commit_group and wait_group into the same branch, or none of them into a "
    "branch";
constexpr std::string_view smaller =
    "accumulators of fewer registers: a smaller N, or the tile divided among more warpgroups";

constexpr std::array codes{
    AssemblerCode{"C7504",
                  ignored,
                  About::quoted,
                  "the text is assembled to be linked",
                  no_debugging,
                  {},
                  "nvcc -rdc=true, or ptxas -c: another text may call this one and have other registers"},
    AssemblerCode{"C7505",
                  ignored,
                  About::quoted,
                  "the text is assembled for debugging",
                  no_debugging,
                  {},
                  "nvcc -G, or ptxas -g"},
    AssemblerCode{"C7506",
                  ignored,
                  About::quoted,
                  "the kernel calls a function of another text",
                  one_text,
                  {},
                  "a device function that is declared and not defined here: a math library, an assertion"},
    AssemblerCode{
        "C7507",
        ignored,
        About::quoted,
        "some warps need more registers than they would keep",
        "request more registers, or keep fewer values in the role that gives registers away",
        {},
        "setmaxnreg.dec below what the producer's code needs, or a path around it into the consumers'"},
    AssemblerCode{"C7508", ignored, About::quoted, "the number of registers of a thread at entry is unknown",
                  "state the threads of the CTA", ".maxntid N, 1, 1 and .minnctapersm 1",
                  "a kernel without __launch_bounds__(N, 1)"},
    AssemblerCode{
        "C7509",
        serial,
        About::calls,
        "the kernel calls a function of another text",
        one_text,
        {},
        "a device function that is declared and not defined here, such as printf's helpers or a function "
        "of another unit (nvcc -rdc=true): it may use the wgmma's registers"},
    AssemblerCode{"C7510",
                  serial,
                  About::calls,
                  "a function is called while wgmma are in flight",
                  "wait for all groups before the call, or let the function be inlined",
                  {},
                  "wgmma and their wait in different functions: a lambda or a template that was not inlined "
                  "(__noinline__, or too large), or a call through a pointer"},
    AssemblerCode{
        "C7511",
        serial,
        About::pipeline,
        "the assembler has not enough registers for several of them at a time",
        "accumulators of fewer registers (a smaller N, or the tile divided among more warpgroups), and no "
        "writes to accumulators while another wgmma runs",
        {},
        "accumulators that are copied: used by two chains, zeroed behind the fence, or one for each branch"},
    AssemblerCode{"C7512",
                  serial,
                  About::pipeline,
                  "the kernel needs more registers than are available",
                  smaller,
                  {},
                  "two accumulators of 64 x 256, or .maxntid that leaves a thread too few registers"},
    AssemblerCode{"C7513",
                  serial,
                  About::operands,
                  "registers that they read are written while they run",
                  "write a second set of fragment registers while the first one is read",
                  {},
                  "A from registers, loaded or converted for the next step before the wait"},
    AssemblerCode{
        "C7514", serial, About::reads,
        "accumulators are read while, to the assembler's knowledge, a wgmma may still run",
        "k:wgmma_wait_group(0) before the accumulators are read, or a loop body without a group that "
        "continues into the next iteration",
        "wgmma.wait_group.sync.aligned 0 before the accumulators are read, or a loop body without a group "
        "that continues into the next iteration",
        "an epilogue that reads too early, or a loop whose last group is waited for behind it"},
    AssemblerCode{
        "C7515", serial, About::writes,
        "accumulators are written while, to the assembler's knowledge, a wgmma may still run",
        "scale_d = 0 at the first wgmma of a tile instead of writing zeros",
        "scale-d 0 at the first wgmma of a tile instead of writing zeros",
        "accumulators that are cleared or scaled between the fence and the wgmma, or left undefined at "
        "the first one"},
    AssemblerCode{"C7516",
                  serial,
                  About::pipeline,
                  "the sequence of fence, wgmma, commit and wait is not the same on every path",
                  uniform,
                  {},
                  "a wgmma under a condition whose commit or wait is outside of it"},
    AssemblerCode{"C7517", repaired, About::reads, "a wgmma.wait_group of its own",
                  "k:wgmma_wait_group(0) on every path before this line",
                  "wgmma.wait_group.sync.aligned 0 on every path before this line",
                  "accumulators are read, or fragments written, before the groups are waited for"},
    AssemblerCode{"C7518",
                  serial,
                  About::pipeline,
                  "a wait would be needed in a branch that may diverge",
                  uniform,
                  {},
                  "accumulators that are used under a condition, before the wait"},
    AssemblerCode{"C7519", repaired, About::pipeline, "a wgmma.fence of its own",
                  "k:wgmma_fence() directly before this line, on every path to it",
                  "wgmma.fence.sync.aligned directly before this line, on every path to it",
                  "registers of a wgmma are written by threads behind the fence: compilers move the zeros of "
                  "accumulators there"},
    AssemblerCode{"C7520",
                  serial,
                  About::pipeline,
                  "a fence would be needed in a branch that may diverge",
                  uniform,
                  {},
                  "registers of a wgmma that are written under a condition"},
};

constexpr std::size_t most_notes = 4;

/// The first word in single quotes.
std::string_view between_quotes(std::string_view text) {
    const std::size_t open = text.find('\'');
    if (open == std::string_view::npos) return {};
    text.remove_prefix(open + 1);
    return text.substr(0, text.find('\''));
}

/// Keeps the wgmma of a program, and what threads do with their registers between a wgmma and the wait for
/// it.
class Pipelines final : public isa::Effects {
  public:
    explicit Pipelines(const Program& program) {
        for_each_step(program, [&](const Step& step) { collect(step); });
        follow(program.blocks());
    }

    std::vector<Where> mma, read, written, operands_written;

    void issue_mma(const isa::AsyncMma& issued) override {
        add(mma, step_->where);
        open_ = true;
        lists_.insert(issued.accumulators);
        for (Reg reg : *issued.accumulators) accumulators_.insert(reg.id);
        if (issued.a_fragment) {
            lists_.insert(issued.a_fragment);
            for (Reg reg : *issued.a_fragment) sources_.insert(reg.id);
        }
        if (issued.metadata) sources_.insert(issued.metadata->reg.id);
    }
    void wait_mma(int pending) override { open_ = open_ && pending > 0; }

  private:
    static void add(std::vector<Where>& places, Where where) {
        if (std::find(places.begin(), places.end(), where) == places.end()) places.push_back(where);
    }
    void collect(const Step& step) {
        step_ = &step;
        isa::visit_effects(step, *this);
    }
    void follow(const std::vector<BasicBlock>& blocks) {
        std::vector<bool> open(blocks.size());  // may a wgmma run where the block begins?
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t id = 0; id < blocks.size(); ++id) {
                open_ = open[id];
                for (const Step& step : blocks[id].steps) collect(step);
                blocks[id].for_each_successor([&](BlockId to, int) {
                    if (!open_ || open[to]) return;
                    open[to] = true;
                    changed = true;
                });
            }
        }
        for (std::size_t id = 0; id < blocks.size(); ++id) {
            open_ = open[id];
            for (const Step& step : blocks[id].steps) {
                if (open_) accesses(step);
                collect(step);
            }
        }
    }
    void accesses(const Step& step) {
        for (std::size_t i = 0; i < step.operands.size(); ++i) {
            const Operand& operand = step.operands[i];
            if (lists_.contains(&operand.list)) continue;  // the wgmma's own
            const isa::Access access = step.op->operands[i].access;
            const auto note = [&](Reg reg) {
                if (!reg) return;
                if (accumulators_.contains(reg.id))
                    add(access == isa::Access::in ? read : written, step.where);
                else if (sources_.contains(reg.id) && access != isa::Access::in)
                    add(operands_written, step.where);
            };
            note(operand.reg);
            for (Reg reg : operand.list) note(reg);
        }
    }

    const Step* step_ = nullptr;
    bool open_ = false;
    std::set<const std::vector<Reg>*> lists_;
    std::set<std::uint32_t> accumulators_, sources_;
};

/// The places of the instructions that a note refers to.
std::vector<Where> steps_called(const Program& program, std::string_view name) {
    std::vector<Where> places;
    for_each_step(program, [&](const Step& step) {
        if (!name.empty() && step.op->name.starts_with(name) &&
            std::find(places.begin(), places.end(), step.where) == places.end())
            places.push_back(step.where);
    });
    return places;
}

/// Notes at all places but the first.
std::vector<Note> others(const std::vector<Where>& places, std::string_view text) {
    std::vector<Note> notes;
    for (std::size_t i = 1; i < places.size() && notes.size() < most_notes; ++i)
        notes.push_back({places[i], std::string(text)});
    return notes;
}

std::vector<Note> all(const std::vector<Where>& places, std::string_view text) {
    std::vector<Note> notes;
    for (const Where& place : places)
        if (notes.size() < most_notes) notes.push_back({place, std::string(text)});
    return notes;
}

Where line_of(int line, std::span<const Where> lines) {
    return line >= 1 && static_cast<std::size_t>(line) <= lines.size()
               ? lines[static_cast<std::size_t>(line - 1)]
               : Where{};
}

class Translator {
  public:
    Translator(std::span<const Where> lines, const Program& program, std::span<const Where> calls)
        : lines_(lines), program_(program), calls_(calls.begin(), calls.end()), pipelines_(program) {}

    Diagnostic translate(const gpu::AssemblerNote& note) const {
        const auto known = std::ranges::find(codes, note.code, &AssemblerCode::code);
        Diagnostic finding = said(note);
        if (known != codes.end()) finding.fix_in_ptx = known->fix_in_ptx;
        return finding;
    }

    std::optional<Diagnostic> spills(const gpu::FunctionReport& function) const {
        if (function.spill_store_bytes + function.spill_load_bytes == 0) return {};
        Diagnostic finding = rules::finding(
            rules::WG_PERF_04, program_.where(),
            fmt::format("{} a thread are not enough for `{}`: {} spilled to local memory, and {} read back",
                        count_of(function.registers, "register"), program_.name(),
                        count_of(function.spill_store_bytes, "byte is", "bytes are"),
                        count_of(function.spill_load_bytes, "is", "are")),
            "fewer values at a time: smaller accumulators, fewer loads in flight, fewer threads a CTA");
        finding.notes = largest();
        return finding;
    }

  private:
    Diagnostic said(const gpu::AssemblerNote& note) const {
        const auto kind = std::ranges::find(codes, note.code, &AssemblerCode::code);
        if (kind == codes.end()) return unknown(note);
        if (kind->rule == repaired) return repair(note, *kind);
        if (kind->rule == ignored) {
            const std::string_view name = between_quotes(note.message);
            const std::vector<Where> places = steps_called(program_, name);
            Diagnostic finding =
                rules::finding(*kind->rule, first(places),
                               fmt::format("{} has no effect: {} ({})", name, kind->message, kind->code),
                               std::string(kind->fix));
            finding.notes = others(places, "neither has this one");
            return finding;
        }
        const bool calls = kind->about == About::calls && !calls_.empty();
        Diagnostic finding =
            rules::finding(*kind->rule, first(calls ? calls_ : pipelines_.mma),
                           fmt::format("the wgmma are serialized: {} ({})", kind->message, kind->code),
                           std::string(kind->fix));
        switch (kind->about) {
            case About::reads: finding.notes = all(pipelines_.read, "an accumulator is read here"); break;
            case About::writes:
                finding.notes = all(pipelines_.written, "an accumulator is written here");
                break;
            case About::operands:
                finding.notes =
                    all(pipelines_.operands_written, "a register that a wgmma reads is written here");
                break;
            case About::calls:
                if (calls) finding.notes = all(pipelines_.mma, "this wgmma");
                break;
            default: finding.notes = others(pipelines_.mma, "and this wgmma"); break;
        }
        return finding;
    }

    Where first(const std::vector<Where>& places) const {
        return places.empty() ? program_.where() : places.front();
    }

    Diagnostic repair(const gpu::AssemblerNote& note, const AssemblerCode& kind) const {
        const Where named = line_of(note.line, lines_);
        Diagnostic finding = rules::finding(
            *kind.rule, named ? named : first(pipelines_.mma),
            fmt::format("the assembler inserts {} before this line ({})", kind.message, kind.code),
            std::string(kind.fix));
        if (!named) finding.message = fmt::format("the assembler inserts {} ({})", kind.message, kind.code);
        return finding;
    }

    /// A note of a newer assembler, quoted.
    Diagnostic unknown(const gpu::AssemblerNote& note) const {
        const Where named = line_of(note.line, lines_);
        Diagnostic finding =
            plain_error(fmt::format("the assembler notes: {}{}", note.message,
                                    note.code.empty() ? "" : fmt::format(" ({})", note.code)),
                        {}, named ? named : program_.where());
        finding.severity = Severity::note;
        return finding;
    }

    /// The lines that define the most registers.
    std::vector<Note> largest() const {
        std::map<std::pair<FileName, int>, int> words;  // 32-bit registers of each line
        for (const RegisterInfo& info : program_.registers())
            words[{info.where.file, info.where.line}] += std::max(1, isa::bits(info.type) / 32);
        std::vector<std::pair<int, Where>> places;
        places.reserve(words.size());
        for (const auto& [place, count] : words) places.push_back({count, {place.first, place.second}});
        std::ranges::stable_sort(places, std::greater{}, &std::pair<int, Where>::first);
        std::vector<Note> notes;
        for (const auto& [count, where] : places) {
            constexpr int many = 16;
            if (count < many || notes.size() == most_notes) break;
            notes.push_back({where, fmt::format("{} registers are defined here", count)});
        }
        return notes;
    }

    std::span<const Where> lines_;
    const Program& program_;
    std::vector<Where> calls_;
    Pipelines pipelines_;
};

}  // namespace

std::span<const AssemblerCode> assembler_codes() { return codes; }

std::vector<Diagnostic> assembler_findings(const gpu::AssemblerLog& log, std::span<const Where> lines,
                                           const Program& program, std::span<const Where> calls) {
    std::vector<Diagnostic> findings;
    const Translator translator(lines, program, calls);
    for (const gpu::AssemblerNote& note : log.notes)
        if (note.severity != Severity::error) findings.push_back(translator.translate(note));
    for (const gpu::FunctionReport& function : log.functions)
        if (function.name == program.name())
            if (auto finding = translator.spills(function)) findings.push_back(std::move(*finding));
    return findings;
}

Where place_of_error(const gpu::AssemblerLog& log, std::span<const Where> lines, const Program& program) {
    const auto error = std::ranges::find(log.notes, Severity::error, &gpu::AssemblerNote::severity);
    const Where named = error == log.notes.end() ? Where{} : line_of(error->line, lines);
    return named ? named : program.where();
}

}  // namespace wgrun
