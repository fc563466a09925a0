#include "wgrun/needless.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "emit/emit.hpp"
#include "flow/graph.hpp"
#include "isa/awaited.hpp"
#include "isa/effects.hpp"
#include "isa/order.hpp"
#include "kernel/arguments.hpp"
#include "program/polls.hpp"
#include "program/without.hpp"
#include "sim/observer.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/finding_set.hpp"
#include "wgrun/progress.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun {
namespace {

/// Warp instructions: of a launch that is tried, and of all trials of a kernel (some ten seconds).
constexpr std::uint64_t most_of_launch = 1000000, most_of_kernel = 20000000;
constexpr std::size_t most_named = 8;  // launches that a remark names

/// What a step does, as far as it concerns leaving it out.
struct Nature final : isa::Effects {
    explicit Nature(const Step& step) { isa::visit_effects(step, *this); }

    bool synchronises = false;  ///< by itself
    bool waits_for_products = false;
    bool meets_some = false;    ///< at a barrier of the CTA, with a number of threads
    bool arrives_only = false;  ///< at such a barrier
    bool arrives_in_cluster = false, waits_in_cluster = false;
    bool more = false;  ///< it does something else besides

  private:
    void fence() override { synchronises = true; }
    void proxy_fence(std::optional<isa::Space>) override { synchronises = true; }
    void order_registers() override { synchronises = true; }
    void wait_mma(int) override { synchronises = waits_for_products = true; }
    void wait_copies(std::optional<int>) override { synchronises = true; }
    void wait_bulk(int, bool) override { synchronises = true; }
    void barrier(const isa::Operand&, const isa::Operand& threads) override {
        synchronises = true;
        meets_some = threads.kind != isa::Operand::Kind::none;
    }
    void converge() override { synchronises = true; }
    void cluster_arrive() override { arrives_in_cluster = true; }
    void cluster_wait() override { waits_in_cluster = true; }
    void memory(const isa::MemoryAccess&) override { more = true; }
    void trap() override { more = true; }
    void issue_mma(const isa::AsyncMma&) override { more = true; }
    void copy_async(const isa::AsyncCopy&) override { more = true; }
    void bulk_copy(const isa::BulkAccess&) override { more = true; }
    void arrive(const isa::Operand&, const isa::Operand&) override { more = arrives_only = true; }
    void mbarrier(const isa::MbarrierAccess& access) override {
        (access.kind == isa::MbarrierAccess::Kind::wait ? synchronises : more) = true;
    }
    void set_registers(int, bool) override { more = true; }
    void launch_dependents() override { more = true; }
    void wait_for_grids() override { more = true; }
    void unknown() override { more = true; }
};

/// Whether wgmma of several shapes share accumulators. The ISA promises an order for one shape alone (PTX ISA
/// 9.7.15.7.1), so that the waits between them are left alone, which the simulator does not miss.
bool mixes_shapes(const Program& program) {
    struct Shapes final : isa::Effects {
        std::map<std::uint32_t, int> of;  ///< accumulators
        bool mixed = false;
        void issue_mma(const isa::AsyncMma& mma) override {
            for (const Reg reg : *mma.accumulators)
                mixed |= of.try_emplace(reg.id, mma.same_shape_key).first->second != mma.same_shape_key;
        }
    } shapes;
    for_each_step(program, [&](const Step& step) { isa::visit_effects(step, shapes); });
    return shapes.mixed;
}

/// Steps that stand for one call of the script.
struct Candidate {
    Where where;
    std::string_view op;
    std::string ptx;
    std::vector<const Step*> steps;
    bool needed = false;
    std::unique_ptr<Kernel> without;  ///< made when it is first tried
    std::uint64_t least = 1;          ///< times that a warp has to execute one of the steps
    std::uint64_t most = 0;           ///< times that one has
    std::uint64_t launches = 0;       ///< that do as well without it
};

std::string ptx_of(const Step& step) {
    if (polls(step)) return fmt::format("the loop around {}", step.op->name);
    std::string text =
        isa::expand(step.op->ptx, step, [&](const isa::Operand& operand, const isa::OperandRule& rule) {
            if (operand.kind != isa::Operand::Kind::imm) return std::string(rule.name);
            return operand.imm < 0 ? fmt::format("{:#x}", static_cast<std::uint32_t>(operand.imm))
                                   : std::to_string(operand.imm);
        });
    return Nature(step).waits_in_cluster ? text + " and its arrival" : text;
}

/// What a script calls it: k:bar_sync, k:fence_acq_rel_cta.
std::string call_of(const Candidate& candidate) {
    if (candidate.op.starts_with("mbarrier.")) return "k:mbarrier_wait";
    std::string name(candidate.op == "fence" ? std::string_view(candidate.ptx) : candidate.op);
    std::ranges::replace(name, '.', '_');
    return "k:" + name;
}

std::string what_of(const Candidate& candidate) {
    return candidate.op.starts_with("mbarrier.") ? "this wait" : "this " + candidate.ptx;
}

/// The stages of the longest ring, as far as its buffers tell.
std::uint64_t stages_of(const Program& program) {
    constexpr std::int64_t mbarrier = 8, most = 16;
    std::int64_t out = 1;
    for (const SharedBuffer& buffer : program.shared()) {
        const std::int64_t part = buffer.tile ? buffer.tile->bytes() : mbarrier;
        if (buffer.bytes % part == 0 && buffer.bytes / part <= most) out = std::max(out, buffer.bytes / part);
    }
    return static_cast<std::uint64_t>(out);
}

/// Counts how often the warps execute the candidates, and how many instructions there are.
class Counter final : public sim::Observer {
  public:
    explicit Counter(const std::vector<Candidate>& candidates) : most_(candidates.size()) {
        for (std::size_t i = 0; i < candidates.size(); ++i)
            for (const Step* step : candidates[i].steps) candidate_of_.emplace(step, i);
    }
    std::uint64_t steps() const { return steps_; }
    std::uint64_t most(std::size_t candidate) const { return most_[candidate]; }

  private:
    void begin(sim::View) override { of_warps_.clear(); }
    void after(sim::View view, int warp, std::uint32_t pc) override {
        ++steps_;
        const Step* step = view.code().ops[pc].step;
        if (step != nullptr && !polls(*step) && view.executed() != 0) count(step, warp);
    }
    // A fresh mbarrier lets those through who wait for the phase before the first: that shows nothing.
    void signal(sim::View view, int warp, const sim::Signal& signal) override {
        if (signal.kind != sim::Signal::Kind::passed || signal.phase == sim::Signal::no_phase) return;
        if (const Step* step = view.code().ops[view.pc(warp)].step; step != nullptr) count(step, warp);
    }
    void count(const Step* step, int warp) {
        const auto found = candidate_of_.find(step);
        if (found == candidate_of_.end()) return;
        std::uint64_t& most = most_[found->second];
        most = std::max(most, ++of_warps_[{step, warp}]);
    }

    std::unordered_map<const Step*, std::size_t> candidate_of_;
    std::map<std::pair<const Step*, int>, std::uint64_t> of_warps_;
    std::vector<std::uint64_t> most_;
    std::uint64_t steps_ = 0;
};

/// A launch with tensors of its own.
struct Copied {
    explicit Copied(const RunOptions& options) : run(options) {
        run.backend = Backend::sim;
        run.print = [](std::string_view) {};
        for (std::vector<Argument>* args : of_devices(run)) {
            move_to_simulator(*args);
            for_each_tensor(*args, [&](Tensor*& tensor) {
                if (tensor != nullptr) tensor = &tensors.try_emplace(tensor, tensor->copy()).first->second;
            });
        }
    }
    bool same(const Copied& other) const {
        return std::ranges::equal(tensors, other.tensors, [](const auto& a, const auto& b) {
            return std::ranges::equal(a.second.bytes(), b.second.bytes());
        });
    }
    RunOptions run;
    std::map<const Tensor*, Tensor> tensors;
};

/// Runs the launch on copies; nothing if that finds anything, or takes too long.
std::optional<Copied> clean_run(Kernel& kernel, const RunOptions& options, std::uint64_t seed,
                                sim::Observer* observer = nullptr) {
    Copied copied(options);
    copied.run.seed = seed;
    copied.run.simulation.steps = most_of_launch;
    copied.run.observer = observer;
    try {
        kernel.run(copied.run);
    } catch (const EnvironmentError& error) {
        if (error.code() == "ELIMIT") return std::nullopt;
        throw;
    } catch (const Error&) {
        return std::nullopt;
    }
    if (!kernel.take_remarks().empty()) return std::nullopt;
    return copied;
}

/// "grid 4, n = 65"
std::string name_of(const Program& program, const RunOptions& options) {
    const Dim3 grid = options.grid;
    std::string out = grid.y == 1 && grid.z == 1 ? fmt::format("grid {}", grid.x)
                                                 : fmt::format("grid {} x {} x {}", grid.x, grid.y, grid.z);
    for (std::size_t i = 0; i < options.args.size() && i < program.params().size(); ++i)
        if (const auto* value = std::get_if<std::int64_t>(&options.args[i]))
            out += fmt::format(", {} = {}", program.params()[i].name, *value);
    return out;
}

std::string said_at(const Kernel& kernel) {
    const Where where = kernel.program().where();
    return fmt::format("{}:{}\n{}", where.file.view(), where.line, emit::ptx(kernel.program()).text);
}

}  // namespace

struct Needless::State {
    explicit State(const Kernel& kernel)
        : text(said_at(kernel)), base(Program(kernel.program())), program(base.program()) {
        // Variables of a module belong to the kernel that was read with it.
        if (std::ranges::any_of(program.params(), &Param::variable)) return;
        find();
        require_rounds();
    }

    void find();
    void require_rounds();
    void refute_by_laws(Candidate& candidate);
    bool proves_as_much(Candidate& candidate);
    bool does_without(Kernel& without, const RunOptions& options, const std::vector<Copied>& wanted);

    std::string text;  ///< where the kernel is made, and all that it says
    Kernel base;
    const Program& program;  ///< of `base`
    std::vector<Candidate> candidates;
    std::vector<std::string> named;  ///< the launches
    std::uint64_t launches = 0, left_out = 0, spent = 0;
    int seeds = 0;
};

void Needless::State::find() {
    // A wait that is to wait for less (WG-PERF-06) counts on those behind it: these remarks come first.
    const bool waits_stay =
        mixes_shapes(program) || std::ranges::any_of(base.performance(), [](const Diagnostic& one) {
            return breaks(one, rules::WG_PERF_06);
        });
    // Warps that only arrive give others the turn, which may be for the sake of time alone.
    bool turns = false;
    for_each_step(program, [&](const Step& step) { turns |= Nature(step).arrives_only; });
    const Step* arrival = nullptr;  // in the cluster, to which the next wait belongs
    const auto add = [&](const Step& step, Where where) {
        const auto same = std::ranges::find_if(candidates, [&](const Candidate& other) {
            return other.where == where && other.op == step.op->name;
        });
        if (same != candidates.end()) return same->steps.push_back(&step);
        Candidate& candidate = candidates.emplace_back();
        candidate.where = where;
        candidate.op = step.op->name;
        candidate.ptx = ptx_of(step);
        candidate.steps.push_back(&step);
    };
    for_each_step(program, [&](const Step& step) {
        const Nature nature(step);
        if (nature.arrives_in_cluster) arrival = &step;
        if (nature.waits_in_cluster && arrival != nullptr) {
            add(step, step.where);
            auto& steps = std::ranges::find_if(candidates, [&](const Candidate& candidate) {
                              return candidate.where == step.where && candidate.op == step.op->name;
                          })->steps;
            steps.push_back(std::exchange(arrival, nullptr));
            return;
        }
        if (!nature.synchronises || nature.more || (waits_stay && nature.waits_for_products) ||
            (turns && nature.meets_some))
            return;
        const bool tests = isa::awaited(step).passed != nullptr;
        const bool results = std::ranges::any_of(
            step.op->operands, [](const isa::OperandRule& rule) { return rule.access != isa::Access::in; });
        // Other CTAs of a larger grid, or the host, may need them.
        const bool beyond = isa::order_of(step).strong && isa::order_of(step).scope >= isa::Scope::gpu;
        if (tests == results && !(beyond && !tests)) add(step, step.where);
    });
}

/// In a loop it takes two rounds of the stages until everything has been met that comes round.
void Needless::State::require_rounds() {
    const flow::Graph graph(program);
    std::unordered_set<const Step*> in_loops;
    for (BlockId id = 0; id < program.blocks().size(); ++id) {
        int loop = graph.innermost_loop(id);
        for (const Step& step : program.blocks()[id].steps) {
            int around = loop;
            if (polls(step) && loop != flow::no_loop)
                around = graph.loops()[static_cast<std::size_t>(loop)].parent;
            if (around != flow::no_loop) in_loops.insert(&step);
        }
    }
    for (Candidate& candidate : candidates)
        if (std::ranges::any_of(candidate.steps, [&](const Step* step) { return in_loops.contains(step); }))
            candidate.least = 2 * stages_of(program) + 1;
}

/// What the checker finds without it shows that it is needed, before any launch.
void Needless::State::refute_by_laws(Candidate& candidate) {
    candidate.without =
        std::make_unique<Kernel>(wgrun::without(program, {candidate.steps.begin(), candidate.steps.end()}));
    const FindingSet known(base.check());
    candidate.needed = !std::ranges::all_of(candidate.without->check(),
                                            [&](const Diagnostic& finding) { return known.has(finding); });
}

bool Needless::State::does_without(Kernel& without, const RunOptions& options,
                                   const std::vector<Copied>& wanted) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::optional<Copied> got = clean_run(without, options, i + 1);
        if (!got || !got->same(wanted[i])) return false;
    }
    return true;
}

Needless::Needless(const Kernel& kernel) : state_(std::make_unique<State>(kernel)) {}
Needless::Needless(Needless&&) noexcept = default;
Needless& Needless::operator=(Needless&&) noexcept = default;
Needless::~Needless() = default;

bool Needless::is(const Kernel& kernel) const {
    return kernel.program().where() == state_->program.where() && said_at(kernel) == state_->text;
}

void Needless::launch(Kernel& kernel, const RunOptions& options, int seeds, Pass pass,
                      std::string_view sizes) {
    State& s = *state_;
    if (s.candidates.empty() || !any()) return;
    std::vector<Copied> wanted;
    Counter counter(s.candidates);
    bool clean = !options.unchecked && s.spent < most_of_kernel;
    for (int seed = 1; clean && seed <= seeds; ++seed) {
        std::optional<Copied> run =
            clean_run(s.base, options, static_cast<std::uint64_t>(seed), seed == 1 ? &counter : nullptr);
        clean = run.has_value();
        if (clean) wanted.push_back(std::move(*run));
    }
    if (!clean) {
        ++s.left_out;
        return;
    }
    s.spent += counter.steps() * static_cast<std::uint64_t>(seeds);
    if (pass == Pass::each) {
        ++s.launches;
        s.seeds = seeds;
        std::string name = sizes.empty() ? name_of(kernel.program(), options) : std::string(sizes);
        if (std::ranges::find(s.named, name) == s.named.end()) s.named.push_back(std::move(name));
    }
    const Progress progress(Progress::Is::work, kernel.program().name() + " without");
    std::vector<Candidate*> left_out;  // of pass `together`
    // The last one first: of two that do the same the second is the one too many.
    for (std::size_t i = s.candidates.size(); i-- > 0;) {
        Candidate& candidate = s.candidates[i];
        if (candidate.needed || counter.most(i) == 0) continue;
        candidate.most = std::max(candidate.most, counter.most(i));
        if (!candidate.without) s.refute_by_laws(candidate);
        if (candidate.needed) continue;
        s.spent += counter.steps() * static_cast<std::uint64_t>(seeds);
        if (s.spent >= most_of_kernel) {
            candidate.needed = true;  // nobody knows
            continue;
        }
        if (pass == Pass::each) {
            if (s.does_without(*candidate.without, options, wanted))
                ++candidate.launches;
            else
                candidate.needed = true;
            continue;
        }
        if (candidate.most < candidate.least) continue;
        left_out.push_back(&candidate);
        if (left_out.size() == 1) continue;
        std::unordered_set<const Step*> steps;
        for (const Candidate* one : left_out) steps.insert(one->steps.begin(), one->steps.end());
        Kernel together(without(s.program, steps));
        if (s.does_without(together, options, wanted)) continue;
        candidate.needed = true;
        left_out.pop_back();
    }
}

bool Needless::has_any() const { return !state_->candidates.empty(); }

bool Needless::any() const {
    return state_->launches == 0 ||
           std::ranges::any_of(state_->candidates, [](const Candidate& one) { return !one.needed; });
}

/// Whether no less is proved without it: else launches may need it that the script does not make.
bool Needless::State::proves_as_much(Candidate& candidate) {
    const std::vector<Verdict> with = base.verdicts(), without = candidate.without->verdicts();
    // A wait that is left out leaves the loop around it, of which nothing says that it ends.
    const bool waits = std::ranges::any_of(candidate.steps, [](const Step* step) { return polls(*step); });
    for (std::size_t i = 0; i < with.size(); ++i)
        if (with[i].kind == Verdict::Kind::proved && without[i].kind != Verdict::Kind::proved &&
            (!waits || with[i].property != Property::deadlock))
            return false;
    return true;
}

std::vector<Diagnostic> Needless::remarks() const {
    State& s = *state_;
    std::vector<Diagnostic> out;
    for (Candidate& candidate : s.candidates) {
        if (candidate.needed || candidate.launches == 0 || candidate.most < candidate.least) continue;
        candidate.needed = !s.proves_as_much(candidate);
        if (candidate.needed) continue;
        std::vector<std::string> named(
            s.named.begin(),
            s.named.begin() + static_cast<std::ptrdiff_t>(std::min(s.named.size(), most_named)));
        if (s.named.size() > most_named) named.emplace_back("...");
        out.push_back(rules::finding(
            rules::WG_PERF_07, candidate.where,
            fmt::format("nothing that the simulator has seen needs {}: without it {} with {}"
                        " each gave the same results, and no finding ({})",
                        what_of(candidate), count_of(candidate.launches, "launch", "launches"),
                        count_of(s.seeds, "schedule"), fmt::join(named, "; ")),
            fmt::format("leave out {} (in PTX {}), or what calls it here, unless another launch needs it",
                        call_of(candidate), candidate.ptx)));
    }
    return out;
}

std::string Needless::summary() const {
    const State& s = *state_;
    std::size_t tried = 0, seldom = 0;
    for (const Candidate& candidate : s.candidates) {
        tried += candidate.most > 0 ? 1 : 0;
        seldom += !candidate.needed && candidate.most < candidate.least ? 1 : 0;
    }
    std::string out = fmt::format("without barriers, fences and waits, one at a time ({}): {}", tried,
                                  count_of(s.launches, "launch", "launches"));
    if (seldom != 0) out += fmt::format("; {} executed too seldom to tell", seldom);
    if (s.left_out != 0) out += fmt::format("; {} left out", count_of(s.left_out, "launch", "launches"));
    return out;
}

const std::string& Needless::name() const { return state_->program.name(); }

}  // namespace wgrun
