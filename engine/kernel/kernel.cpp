// Checking and printing a kernel.
#include "wgrun/kernel.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "check/performance.hpp"
#include "check/pressure.hpp"
#include "kernel/arguments.hpp"
#include "kernel/errors.hpp"
#include "kernel/kernel_state.hpp"

namespace wgrun {

CheckError::CheckError(std::vector<Diagnostic> findings)
    : Error("EINVAL", findings.front()), findings_(std::move(findings)) {}

void throw_errors_of(const std::vector<Diagnostic>& findings) {
    std::vector<Diagnostic> errors;
    std::copy_if(findings.begin(), findings.end(), std::back_inserter(errors),
                 [](const Diagnostic& f) { return f.severity == Severity::error; });
    if (!errors.empty()) throw CheckError(std::move(errors));
}

Kernel::Kernel(Program program) : state_(std::make_unique<State>(KernelSource(std::move(program)))) {}
Kernel::Kernel(std::shared_ptr<const ForeignEntry> origin)
    : state_(std::make_unique<State>(KernelSource(std::move(origin)))) {}
Kernel::Kernel(Kernel&&) noexcept = default;
Kernel& Kernel::operator=(Kernel&&) noexcept = default;
Kernel::~Kernel() = default;

const Program& Kernel::program() const { return state_->now().program(); }

void Kernel::fit(const RunOptions& options) { state_->fit(options); }

const std::vector<Diagnostic>& Kernel::check() { return state_->findings(); }

std::vector<Verdict> Kernel::verdicts(const Assumptions& given) {
    if (given.block || given.cluster) state_->source.refuse_shape();
    return state_->verdicts(given);
}

void Kernel::foresee(const RunOptions& given) {
    const RunOptions options = state_->source.in_ctas(given);
    fit(options);
    Specialisation& now = state_->now();
    now.foreseen = true;
    if (now.checks.wrong()) return;  // as a run would
    check_arguments(now.program(), options);
    now.checks.look_at(options);
    const std::vector<Diagnostic> found = now.checks.of_launch(sizes_of(options));
    now.checks.add(found);
    if (found.empty())
        now.checks.add(state_->ahead.at(now.program(), now.facts, options, state_->source.entry().get()));
}

std::vector<Diagnostic> Kernel::performance() const {
    std::vector<Diagnostic> out = check::performance(program());
    state_->source.tell(out);
    return out;
}

std::optional<Kernel::TextLaunch> Kernel::text_launch() {
    const ForeignEntry* entry = state_->source.entry().get();
    if (entry == nullptr) return std::nullopt;
    const auto refuse = [&](const std::string& what) {
        throw ArgumentError(fmt::format("kernel {}: {}", entry->name(), what),
                            "run it once before, or check it with a launch");
    };
    if (!state_->now().facts.dynamic_shared) {
        const std::shared_ptr<const ptx::Lowered> alone = state_->source.lower(entry->facts({}));
        if (std::ranges::find(alone->program.shared(), "shared", &SharedBuffer::name) !=
            alone->program.shared().end())
            refuse("the launch decides how much dynamic shared memory it has");
        fit({});
    }
    for (const Param& param : program().params())
        if (param.type == isa::Type::tensormap && !param.box)
            refuse(fmt::format("the launch decides the box of tensor map `{}`", param.name));
    if (program().cluster().volume() > 1 && !entry->tells_cluster())
        throw ArgumentError(fmt::format(
            "kernel {}: the launch decides the size of its clusters, and the text does not state it",
            entry->name()));
    return TextLaunch{entry->name(), entry->version(), state_->now().facts.dynamic_shared.value_or(0)};
}

const std::string& Kernel::ptx() {
    // What a translated kernel does wrong, the text does that it was made of.
    if (!program().translated()) throw_errors_of(state_->now().checks.laws());
    return state_->now().texts.ptx();
}

const std::string& Kernel::cuda() { return state_->lawful().cuda(); }

const std::vector<Where>& Kernel::ptx_lines() {
    ptx();
    return state_->now().texts.ptx_lines();
}

const std::vector<Where>& Kernel::cuda_lines() {
    cuda();
    return state_->now().texts.cuda_lines();
}

const std::string& Kernel::ptx_with_lines() { return state_->lawful().ptx_with_lines(); }
const std::string& Kernel::cuda_with_lines() { return state_->lawful().cuda_with_lines(); }
const std::string& Kernel::guarded_ptx() { return state_->lawful().guarded_ptx(); }
const std::string& Kernel::guarded_cuda() { return state_->lawful().guarded_cuda(); }

AssemblyReport Kernel::report(const std::atomic<bool>* stop) {
    const ForeignEntry* entry = state_->source.entry().get();
    Specialisation& now = state_->now();
    // A foreign text is assembled as it is, whatever is wrong with it.
    const std::string& text = entry != nullptr ? entry->text() : ptx();
    AssemblyReport report = assemble_report(text, now.texts.ptx_lines(), now.program(), stop,
                                            entry != nullptr ? entry->assembly() : ForeignAssembly());
    state_->source.tell(report.findings);
    // Of a foreign text the launch gives it; what the text declares with a size is static.
    report.dynamic_shared =
        entry != nullptr ? now.facts.dynamic_shared.value_or(0) : now.program().shared_bytes();
    report.estimated = check::Pressure(now.program()).most();
    return report;
}

std::vector<Diagnostic> Kernel::take_remarks() { return std::exchange(state_->remarks, {}); }

}  // namespace wgrun
