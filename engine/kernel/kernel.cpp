// Checking and printing a kernel, and running it on a back end.
#include "wgrun/kernel.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "check/check.hpp"
#include "check/evidence.hpp"
#include "check/performance.hpp"
#include "check/pressure.hpp"
#include "check/sizes.hpp"
#include "emit/emit.hpp"
#include "kernel/arguments.hpp"
#include "kernel/errors.hpp"
#include "kernel/foreign_entry.hpp"
#include "kernel/gpu_run.hpp"
#include "kernel/granted.hpp"
#include "kernel/guarded_run.hpp"
#include "kernel/made_up.hpp"
#include "kernel/message_buffer.hpp"
#include "kernel/print.hpp"
#include "kernel/sim_run.hpp"
#include "kernel/timing.hpp"
#include "kernel/under_way.hpp"
#include "program/guarded.hpp"
#include "program/spoken.hpp"
#include "sim/sim.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {

/// State of a GPU back end that is kept between runs.
struct Kernel::Compiled : GpuKernel {
    explicit Compiled(GpuKernel kernel) : GpuKernel(std::move(kernel)) {}
};

CheckError::CheckError(std::vector<Diagnostic> findings)
    : Error("EINVAL", findings.front()), findings_(std::move(findings)) {}

Kernel::Kernel(Program program) : program_(std::make_shared<const Program>(std::move(program))) {}
Kernel::Kernel(std::shared_ptr<const ForeignEntry> origin)
    : origin_(std::make_unique<Origin>(Origin{std::move(origin)})) {
    origin_->lowered = origin_->entry->lower({});
    program_ = std::make_shared<const Program>(origin_->lowered.program);
    ptx_ = origin_->entry->text();
    ptx_lines_ = origin_->entry->lines();
}
Kernel::Kernel(Kernel&&) noexcept = default;
Kernel& Kernel::operator=(Kernel&&) noexcept = default;
Kernel::~Kernel() = default;

void throw_errors_of(const std::vector<Diagnostic>& findings) {
    std::vector<Diagnostic> errors;
    std::copy_if(findings.begin(), findings.end(), std::back_inserter(errors),
                 [](const Diagnostic& f) { return f.severity == Severity::error; });
    if (!errors.empty()) throw CheckError(std::move(errors));
}

struct Launch::State {
    std::shared_ptr<const Program> program;
    RunOptions options;
    Backend backend;
    std::optional<GpuLaunch> gpu;                // without: the simulator
    std::shared_ptr<const ForeignEntry> origin;  // of a kernel that was read from PTX
    std::vector<Diagnostic> remarks = {};
    bool shares = false;  ///< its tensors, with other launches
    std::shared_ptr<const void> token = std::make_shared<char>();

    /// Runs a step on the GPU, if the launch is one for the GPU. Failures of the kernel are explained.
    void take(void (GpuLaunch::*step)()) {
        if (!gpu) return;
        try {
            ((*gpu).*step)();
        } catch (const gpu::KernelFailure& failure) {
            if (origin != nullptr) throw;  // its guarded build would be another text
            hear();
            throw_explained(program, options, failure);
        }
    }

    /// Runs the kernel on the simulator. Tensors that no other launch has are those of no launch before it.
    void simulate() {
        UnderWay& stream = UnderWay::of_this_thread();
        sim::Overlap overlap;
        if (shares) stream.begin(*program, overlap);
        const bool alone = overlap.before.empty() && overlap.touched == nullptr;
        try {
            std::vector<Diagnostic> found =
                run_on_simulator(*program, options, origin.get(), alone ? nullptr : &overlap);
            std::ranges::move(found, std::back_inserter(remarks));
        } catch (...) {
            stream.wait();
            throw;
        }
        stream.end(overlap, token);
    }

    /// Prints the messages of threads. CheckError if an assertion failed or a trap was executed.
    void hear() {
        MessageBuffer* messages = gpu->messages();
        if (messages == nullptr) return;
        const MessageLog log = messages->take(options.grid);
        messages->clear();
        print_messages(log, options);
        if (const std::optional<Diagnostic> end = log.end()) throw CheckError({*end});
    }
};

Launch::Launch(std::unique_ptr<State> state) : state_(std::move(state)) {}
Launch::Launch(Launch&&) noexcept = default;
Launch& Launch::operator=(Launch&&) noexcept = default;
Launch::~Launch() = default;

Backend Launch::backend() const { return state_->backend; }

void Launch::start() {
    if (state_->gpu) {
        state_->take(&GpuLaunch::start);
        if (state_->gpu->messages() == nullptr) return;
        state_->take(&GpuLaunch::wait);
        state_->hear();
    } else {
        state_->simulate();
    }
}

void Launch::wait() {
    if (!state_->gpu) UnderWay::of_this_thread().wait();
    state_->take(&GpuLaunch::wait);
}

void Launch::upload() {
    if (!state_->gpu) UnderWay::of_this_thread().wait();
    state_->take(&GpuLaunch::upload);
}

void Launch::download() {
    if (!state_->gpu) UnderWay::of_this_thread().wait();
    state_->take(&GpuLaunch::download);
}

std::vector<Diagnostic> Launch::take_remarks() { return std::exchange(state_->remarks, {}); }

const std::vector<Diagnostic>& Kernel::laws() {
    if (!laws_)
        laws_ = origin_                  ? foreign_findings(origin_->entry->module(), origin_->lowered)
                : program_->translated() ? translated_findings(*program_)
                                         : check::check(*program_);
    return *laws_;
}

namespace {

/// A CTA that ends before its copies have landed has run as it would otherwise: a run may know why.
bool keeps_a_run(const FindingSet& findings) {
    return std::ranges::none_of(findings, [](const Diagnostic& finding) {
        return finding.severity == Severity::error && !breaks(finding, rules::WG_TMA_03);
    });
}

bool has_error(const FindingSet& findings) {
    return std::ranges::any_of(findings,
                               [](const Diagnostic& finding) { return finding.severity == Severity::error; });
}

}  // namespace

const std::vector<Diagnostic>& Kernel::check() {
    if (findings_) return findings_->list();
    findings_ = FindingSet(laws());
    if (keeps_a_run(*findings_) && !origin_ && !program_->translated())
        findings_->add_all(found_in_every_launch(*program_, check::Made::by_author, nullptr, &ended_ahead_));
    return findings_->list();
}

std::vector<Verdict> Kernel::verdicts(const Assumptions& given) {
    if (given.block || given.cluster) refuse_own_shape();
    if (given.grid && program_->grid()) check_grid(*program_, *given.grid);
    check();
    if (!evidence_ || given != given_) {
        const auto made =
            origin_ || program_->translated() ? check::Made::by_compiler : check::Made::by_author;
        const std::optional<check::OpenShape> unknown = origin_ ? open_shape(origin_->lowered) : std::nullopt;
        const Program program = with_numbers(*program_, given);
        if (!given.numbers.empty()) {
            std::vector<Diagnostic> found = check::check(program, made);
            for (Diagnostic& finding : found) add_numbers(program, given, finding);
            if (origin_) origin_->tell(found);
            findings_->add_all(found);
        }
        check::Evidence evidence =
            check::evidence(program, findings_->list(), made, unknown ? &*unknown : nullptr, given);
        for (Diagnostic& finding : evidence.findings) add_numbers(program, given, finding);
        given_ = given;
        if (origin_) origin_->tell(evidence.findings);
        findings_->add_all(evidence.findings);
        const bool wrong = has_error(*findings_);
        // What follows from an error is not told from other faults.
        if (made == check::Made::by_author && !wrong) findings_->add_all(found_with_sizes(program, evidence));
        evidence_ = std::make_shared<const check::Evidence>(std::move(evidence));
    }
    if (!not_granted_) return check::verdicts(findings_->list(), *evidence_);
    check::Evidence out = *evidence_;
    out.gaps.push_back(*not_granted_);
    return check::verdicts(findings_->list(), out);
}

void Kernel::refuse_own_shape() const {
    throw ArgumentError(
        fmt::format("kernel {}: block, cluster and shared are the launch's where a kernel was read "
                    "from PTX; this one has its own",
                    program_->name()));
}

void Kernel::fit(const RunOptions& options) {
    if (!origin_) {
        if (options.block || options.cluster || options.shared) refuse_own_shape();
        return;
    }
    ptx::LaunchFacts facts = origin_->entry->facts(options);
    if (facts == origin_->facts) return;
    ptx::Lowered lowered = origin_->entry->lower(facts);
    program_ = std::make_shared<const Program>(lowered.program);
    origin_->lowered = std::move(lowered);
    origin_->facts = std::move(facts);
    laws_.reset();
    findings_.reset();
    evidence_.reset();
    launched_.reset();
    looked_at_.clear();
    ended_ahead_ = {};
    hosted_.clear();
    // The text itself is the same for every launch; CUDA C++ is made of the program.
    std::erase_if(compiled_,
                  [](const auto& entry) { return std::get<Backend>(entry.first) == Backend::gpu_cuda; });
    spoken_.reset();
    for (std::string* text : {&cuda_, &guarded_ptx_, &guarded_cuda_, &lined_cuda_}) text->clear();
}

void Kernel::foresee(const RunOptions& given) {
    const RunOptions options = origin_ ? origin_->in_ctas(given) : given;
    fit(options);
    check();
    const bool wrong = has_error(*findings_);
    if (wrong) return;  // as a run would
    check_arguments(*program_, options);
    if (!not_granted_) not_granted_ = illegal_metadata(*program_, options.args);
    std::vector<Diagnostic> found = check::check_launch(*program_, sizes_of(options));
    if (origin_) origin_->tell(found);
    const bool clean = found.empty();
    findings_->add_all(found);
    if (clean) findings_->add_all(look_ahead(options));
}

// A GPU does not report a kernel that hangs.
void Kernel::check_launch(const RunOptions& options) {
    if (options.unchecked) return;
    check::LaunchSizes sizes = sizes_of(options);
    if (launched_ && launched_->first == sizes.grid && launched_->second == sizes.params) return;
    std::vector<Diagnostic> found = check::check_launch(*program_, sizes);
    if (origin_) origin_->tell(found);
    throw_errors_of(found);
    launched_ = {sizes.grid, std::move(sizes.params)};
}

std::vector<Diagnostic> Kernel::replay(const FoundIn& launch, std::string_view rule) {
    constexpr std::uint64_t most_schedules = 16;
    const auto extents = [](const std::array<std::uint32_t, 3>& of) { return Dim3{of[0], of[1], of[2]}; };
    const Program* program = program_.get();
    ptx::Lowered lowered;
    if (origin_) {
        ptx::LaunchFacts facts;
        facts.block = extents(launch.block);
        facts.cluster = extents(launch.cluster);
        facts.aligned = true;
        lowered = origin_->entry->lower(facts);
        program = &lowered.program;
    }
    if (extents(launch.block) != program->block() || extents(launch.cluster) != program->cluster())
        throw ArgumentError(
            fmt::format("kernel {}: its CTAs and clusters are not those of the finding", program->name()));
    const bool compiled = origin_ || program->translated();
    FoundIn again = launch;
    constexpr std::uint32_t number = 64;  // where none matters
    if (origin_ && !again.numbers.empty() && !again.others) again.others = number;
    std::vector<Diagnostic> out;
    for (std::uint64_t i = 0; i < most_schedules; ++i, ++again.seed) {
        out = found_again(*program, compiled ? check::Made::by_compiler : check::Made::by_author, again);
        if (std::ranges::find(out, rule, &Diagnostic::rule) != out.end()) break;
    }
    for (Diagnostic& finding : out) finding.launch = again;
    if (origin_) origin_->tell(out);
    return out;
}

std::vector<Diagnostic> Kernel::performance() const {
    std::vector<Diagnostic> out = check::performance(*program_);
    if (origin_) origin_->tell(out);
    return out;
}

std::optional<Kernel::TextLaunch> Kernel::text_launch() {
    if (!origin_) return std::nullopt;
    const auto refuse = [&](const std::string& what) {
        throw ArgumentError(fmt::format("kernel {}: {}", origin_->entry->name(), what),
                            "run it once before, or check it with a launch");
    };
    const bool launched = origin_->facts.dynamic_shared.has_value();
    if (!launched) fit({});
    const bool open = std::ranges::any_of(program_->shared(),
                                          [](const SharedBuffer& buffer) { return buffer.name == "shared"; });
    if (!launched && open) {
        origin_->facts.dynamic_shared.reset();
        refuse("the launch decides how much dynamic shared memory it has");
    }
    for (const Param& param : program_->params())
        if (param.type == isa::Type::tensormap && !param.box)
            refuse(fmt::format("the launch decides the box of tensor map `{}`", param.name));
    if (program_->cluster().volume() > 1 && !origin_->entry->tells_cluster())
        throw ArgumentError(fmt::format(
            "kernel {}: the launch decides the size of its clusters, and the text does not state it",
            origin_->entry->name()));
    return TextLaunch{origin_->entry->name(), origin_->entry->version(),
                      origin_->facts.dynamic_shared.value_or(0)};
}

const std::string& Kernel::ptx() {
    // What a translated kernel does wrong, the text does that it was made of.
    if (!program_->translated()) throw_errors_of(laws());
    return emitted_ptx();
}

const std::string& Kernel::cuda() {
    throw_errors_of(laws());
    return emitted_cuda();
}

const std::string& Kernel::guarded_ptx() {
    throw_errors_of(laws());
    if (guarded_ptx_.empty()) guarded_ptx_ = emit::ptx(guarded(spoken()).program).text;
    return guarded_ptx_;
}

const std::string& Kernel::guarded_cuda() {
    throw_errors_of(laws());
    if (guarded_cuda_.empty()) guarded_cuda_ = emit::cuda(guarded(spoken()).program).text;
    return guarded_cuda_;
}

// The program that the GPU runs: the program itself, unless its threads print.
const Program& Kernel::spoken() {
    if (!spoken_)
        spoken_ = speaks(*program_) ? std::make_shared<const Program>(wgrun::spoken(*program_)) : program_;
    return *spoken_;
}

const std::string& Kernel::ptx_with_lines() {
    throw_errors_of(laws());
    if (origin_) return ptx_;
    if (lined_ptx_.empty()) lined_ptx_ = emit::ptx_with_lines(spoken()).text;
    return lined_ptx_;
}

const std::string& Kernel::cuda_with_lines() {
    throw_errors_of(laws());
    if (lined_cuda_.empty()) lined_cuda_ = emit::cuda_with_lines(spoken()).text;
    return lined_cuda_;
}

const std::string& Kernel::emitted_ptx() {
    if (ptx_.empty()) {
        emit::Text text = emit::ptx(spoken());
        ptx_ = std::move(text.text);
        ptx_lines_ = std::move(text.lines);
    }
    return ptx_;
}

const std::string& Kernel::emitted_cuda() {
    if (cuda_.empty()) cuda_ = emit::cuda(spoken()).text;
    return cuda_;
}

// The back end that it should run on, if that is possible.
Backend Kernel::admitted(const RunOptions& options) {
    fit(options);
    if (!options.unchecked) throw_errors_of(laws());
    check_arguments(*program_, options);
    const Backend backend = choose_backend(options.backend, options.isolation).backend;
    if (backend != Backend::sim) check_launch(options);
    return backend;
}

AssemblyReport Kernel::report(const std::atomic<bool>* stop) {
    // A foreign text is assembled as it is, whatever is wrong with it.
    const std::string& text = origin_ ? ptx_ : ptx();
    AssemblyReport report = assemble_report(text, ptx_lines_, *program_, stop,
                                            origin_ ? origin_->entry->assembly() : ForeignAssembly());
    if (origin_) origin_->tell(report.findings);
    // Of a foreign text the launch gives it; what the text declares with a size is static.
    report.dynamic_shared = origin_ ? origin_->facts.dynamic_shared.value_or(0) : program_->shared_bytes();
    report.estimated = check::Pressure(*program_).most();
    return report;
}

Backend Kernel::run(const RunOptions& options) {
    if (options.guarded)
        if (const Backend backend = admitted(options); backend != Backend::sim) {
            const gpu::Patience patience(options.timeout, options.stop);
            GuardedKernel(program_, backend, options.isolation, false)
                .run(options, GuardLimits::within(options.timeout));
            return backend;
        }
    Launch launch = launch_of(options, Sharing::own);
    launch.start();
    std::vector<Diagnostic> remarks = launch.take_remarks();
    std::ranges::move(remarks, std::back_inserter(remarks_));
    launch.download();
    return launch.backend();
}

Launch Kernel::prepare(const RunOptions& options) { return launch_of(options, Sharing::shared); }

Launch Kernel::launch_of(const RunOptions& given, Sharing sharing) {
    const RunOptions options = origin_ ? origin_->in_ctas(given) : given;
    const gpu::Patience patience(options.timeout, options.stop);
    const Backend backend = admitted(options);
    auto state = std::make_unique<Launch::State>(
        Launch::State{program_, options, backend, {}, origin_ ? origin_->entry : nullptr});
    state->shares = sharing == Sharing::shared;
    if (state->backend == Backend::sim)
        move_to_simulator(state->options.args);
    else
        state->gpu.emplace(GpuKernel::prepare(compiled(state->backend, options.isolation, options.lines),
                                              spoken(), options, sharing));
    return Launch(std::move(state));
}

Timing Kernel::time(const TimeOptions& options) {
    const gpu::Patience patience(options.timeout, options.stop);
    const Backend backend = admitted(options);
    if (options.rounds < 1)
        throw ArgumentError("kernel:time: rounds must be at least 1, not " + std::to_string(options.rounds));
    if (backend != Backend::sim) {
        const GpuTimes times =
            GpuKernel::time(compiled(backend, options.isolation, options.lines), spoken(), options);
        Timing timing = summary(times.kernel, options.flops, backend);
        if (options.against)
            timing.against =
                std::make_shared<Timing>(summary(times.against, options.against->flops(), backend));
        return timing;
    }
    if (options.against) throw ArgumentError("kernel:time: cuBLAS and the simulator cannot be compared");
    RunOptions simulated = static_cast<const RunOptions&>(options);
    move_to_simulator(simulated.args);
    // On copies, as on the GPU, since a measurement must not change tensors. A tensor that is passed twice is
    // copied once.
    std::map<const Tensor*, Tensor> copies;
    for_each_tensor(simulated.args, [&](Tensor*& tensor) {
        if (tensor != nullptr) tensor = &copies.try_emplace(tensor, tensor->copy()).first->second;
    });
    std::vector<double> us;
    for (int i = 0; i < options.rounds; ++i) {
        const auto start = std::chrono::steady_clock::now();
        run_on_simulator(*program_, simulated, origin_ ? origin_->entry.get() : nullptr);
        us.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    return summary(std::move(us), options.flops, backend);
}

std::optional<int> Kernel::resident_clusters(gpu::Isolation isolation) {
    if (choose_backend(Backend::automatic, isolation).backend == Backend::sim) return std::nullopt;
    throw_errors_of(laws());
    return compiled(Backend::gpu, isolation)
        ->resident_clusters(*program_, origin_ ? origin_->facts.dynamic_shared : std::nullopt);
}

std::vector<Diagnostic> Kernel::take_remarks() { return std::exchange(remarks_, {}); }

std::shared_ptr<Kernel::Compiled> Kernel::compiled(Backend backend, gpu::Isolation isolation, bool lines) {
    std::shared_ptr<Compiled>& slot = compiled_[{backend, isolation, lines}];
    if (!slot) {
        slot = std::make_shared<Compiled>(
            backend == Backend::gpu_cuda ? GpuKernel::from_cuda(lines ? cuda_with_lines() : emitted_cuda(),
                                                                *program_, isolation, lines)
            : origin_ ? GpuKernel::from_text(origin_->entry->text(), ptx_lines_, *program_,
                                             {origin_->entry->name(), origin_->entry->tells_cluster(),
                                              origin_->entry->counts_clusters()},
                                             isolation)
            : lines   ? GpuKernel::from_lined_ptx(ptx_with_lines(), *program_, isolation)
                      : GpuKernel::from_ptx(emitted_ptx(), ptx_lines_, *program_, isolation));
        remarks_.insert(remarks_.end(), slot->findings().begin(), slot->findings().end());
    }
    return slot;
}

}  // namespace wgrun
