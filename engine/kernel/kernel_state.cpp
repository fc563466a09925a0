#include "kernel/kernel_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernel/arguments.hpp"
#include "kernel/errors.hpp"

namespace wgrun {
namespace {

constexpr std::size_t most_kept = 8;  // specialisations: of each its program, texts and machine code

/// The worse of two verdicts on a property: what is proved is proved for the launches of both.
void add(Verdict& to, const Verdict& other) {
    const auto rank = [](const Verdict& verdict) {
        switch (verdict.kind) {
            case Verdict::Kind::proved: return 0;
            case Verdict::Kind::undecided: return 1;
            case Verdict::Kind::refuted: break;
        }
        return 2;
    };
    const auto join = [](std::string& text, const std::string& more) {
        if (text == more || more.empty()) return;
        text += text.empty() ? more : ", and " + more;
    };
    if (rank(other) > rank(to)) to = other;
    if (rank(other) != 0 || rank(to) != 0) return;
    join(to.domain, other.domain);
    join(to.assumption, other.assumption);
}

}  // namespace

Kernel::State::State(KernelSource of) : source(std::move(of)) {
    kept.push_back(std::make_unique<Specialisation>(source, ptx::LaunchFacts()));
}

void Kernel::State::fit(const RunOptions& options) {
    ptx::LaunchFacts facts = source.facts(options);
    if (facts == now().facts) return;
    auto known = std::ranges::find_if(kept, [&](const auto& one) { return one->facts == facts; });
    if (known != kept.end()) {
        std::rotate(known, known + 1, kept.end());
        return;
    }
    auto made = std::make_unique<Specialisation>(source, std::move(facts));
    if (kept.front()->facts == ptx::LaunchFacts())
        kept.clear();  // the text without any launch
    else if (kept.size() == most_kept) {
        if (kept.front()->foreseen) {
            forgotten.add_all(kept.front()->checks.findings());
            forgets = true;
        }
        kept.erase(kept.begin());
    }
    kept.push_back(std::move(made));
}

std::vector<Specialisation*> Kernel::State::foreseen() {
    std::vector<Specialisation*> out;
    for (const std::unique_ptr<Specialisation>& one : kept)
        if (one->foreseen || one == kept.back()) out.push_back(one.get());
    return out;
}

const std::vector<Diagnostic>& Kernel::State::findings() {
    const std::vector<Specialisation*> all = foreseen();
    if (all.size() == 1 && !forgets) return now().checks.findings();
    together = forgotten;
    for (Specialisation* one : all) together.add_all(one->checks.findings());
    // What one launch breaks is no remark on others.
    together.add_of_launch(std::vector<Diagnostic>(together.list()));
    return together.list();
}

std::vector<Verdict> Kernel::State::verdicts(const Assumptions& given) {
    const std::vector<Specialisation*> all = foreseen();
    if (all.size() == 1 && !forgets) return now().checks.verdicts(given);
    std::vector<Verdict> out;
    for (Specialisation* one : all) {
        Assumptions its = given;
        its.seconds /= static_cast<double>(all.size());
        its.block = one->program().block();
        if (one->program().cluster().volume() > 1) its.cluster = one->program().cluster();
        const std::vector<Verdict> verdicts = one->checks.verdicts(its);
        if (out.empty()) out = verdicts;
        for (std::size_t i = 0; i < out.size(); ++i) add(out[i], verdicts[i]);
    }
    if (!forgets) return out;
    Verdict open;
    open.where = now().program().where();
    open.reason = fmt::format("it is launched in more than {} shapes", most_kept);
    for (Verdict& verdict : out) {
        open.property = verdict.property;
        add(verdict, open);
    }
    return out;
}

KernelTexts& Kernel::State::lawful() {
    throw_errors_of(now().checks.laws());
    return now().texts;
}

namespace {

/// The back end of a launch on several devices.
Backend of_several_devices(const Program& program, const RunOptions& options) {
    if (options.backend == Backend::gpu || options.backend == Backend::gpu_cuda)
        throw ArgumentError(
            "a launch on several devices runs on the simulator alone",
            "leave `backend` out; on GPUs a host starts the kernel on each of them, in streams of "
            "their own (docs/devices.md)");
    if (std::ranges::any_of(program.params(), &Param::variable))
        throw ArgumentError(
            fmt::format("kernel {} has variables of its module. Each device has its own, and the simulator "
                        "has those of one device alone",
                        program.name()));
    return Backend::sim;
}

}  // namespace

Backend Kernel::State::admitted(const RunOptions& options) {
    fit(options);
    if (!options.unchecked) throw_errors_of(now().checks.laws());
    check_arguments(now().program(), options);
    if (!options.further_devices.empty()) return of_several_devices(now().program(), options);
    const Backend backend = choose_backend(options.backend, options.isolation).backend;
    // A GPU does not report a kernel that hangs.
    if (backend != Backend::sim && !options.unchecked) now().checks.require(sizes_of(options));
    return backend;
}

std::shared_ptr<GpuKernel> Kernel::State::compiled(Backend backend, gpu::Isolation isolation, bool lines) {
    Specialisation& of = now();
    const ForeignEntry* entry = source.entry().get();
    const bool of_cuda = backend == Backend::gpu_cuda;
    Builds& builds = entry != nullptr && !of_cuda ? of_text : of.builds;
    std::shared_ptr<GpuKernel>& slot = builds[{backend, isolation, lines}];
    if (slot) return slot;
    const auto build = [&] {
        KernelTexts& texts = of.texts;
        if (of_cuda)
            return GpuKernel::from_cuda(lines ? texts.cuda_with_lines() : texts.cuda(), of.program(),
                                        isolation, lines);
        if (entry != nullptr)
            return GpuKernel::from_text(entry->text(), source.lines(), of.program(),
                                        {entry->name(), entry->tells_cluster(), entry->counts_clusters()},
                                        isolation);
        if (lines) return GpuKernel::from_lined_ptx(texts.ptx_with_lines(), of.program(), isolation);
        const std::string& ptx = texts.ptx();
        return GpuKernel::from_ptx(ptx, texts.ptx_lines(), of.program(), isolation);
    };
    slot = std::make_shared<GpuKernel>(build());
    remarks.insert(remarks.end(), slot->findings().begin(), slot->findings().end());
    return slot;
}

}  // namespace wgrun
