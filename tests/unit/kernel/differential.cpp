// The rehearsal against the simulator, on random small kernels with barriers and mbarriers, most of them
// broken in one or two places. Some schedule of the simulator finds what the rehearsal reports. Where every
// schedule finds a fault of synchronisation, the rehearsal reports one, or does not claim to have seen the
// kernel to its end.
#include <algorithm>
#include <random>

#include "check/rehearsal.hpp"
#include "tests/unit/sim/async_script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

constexpr int bytes = 64;      // of a copy
constexpr int most_warps = 3;  // of a CTA
constexpr int schedules = 16;  // of a kernel
constexpr int lines_a_warp = 60;

struct Op {
    enum class Kind { sync, arrive_named, sync_named, arrive, copy, wait, cluster_arrive, cluster_wait };
    Kind kind;
    int which = 0;  ///< barrier or mbarrier
    int count = 0;  ///< threads of a named barrier, arrivals, bytes that are expected
    int parity = 0;
};
using Role = std::vector<Op>;

/// A kernel as what each warp of a CTA does; every CTA of the cluster does the same.
struct Plan {
    std::vector<Role> roles;
    std::vector<int> arrivals;  ///< of each mbarrier
    int ctas = 1;
    bool announced = true;  ///< do all meet behind the inits?
};

class Planner {
  public:
    explicit Planner(unsigned seed) : random_(seed) {}

    Plan plan() {
        Plan out = right();
        for (int faults = pick(4) == 0 ? 0 : 1 + pick(2); faults > 0; --faults) spoil(out);
        return out;
    }

  private:
    int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

    Plan right() {
        Plan out;
        const int warps = 1 + pick(most_warps);
        out.roles.resize(static_cast<std::size_t>(warps));
        out.ctas = pick(4) == 0 ? 2 : 1;
        for (int m = 1 + pick(2); m > 0; --m) {
            out.arrivals.push_back(1 + pick(warps));
            phases_.push_back(0);
        }
        for (int rounds = 1 + pick(5); rounds > 0; --rounds) round(out);
        return out;
    }
    void round(Plan& plan) {
        using enum Op::Kind;
        const int warps = static_cast<int>(plan.roles.size());
        switch (pick(5)) {
            case 0:
                for (Role& role : plan.roles) role.push_back({sync});
                return;
            case 1: {  // some of the warps; one of them waits at least
                const int first = pick(warps), last = first + pick(warps - first), id = 1 + pick(3);
                for (int w = first; w <= last; ++w)
                    plan.roles[static_cast<std::size_t>(w)].push_back(
                        {w > first && pick(2) == 0 ? arrive_named : sync_named, id, 32 * (last - first + 1)});
                // A warp that has only arrived must not arrive again before the others have arrived.
                for (Role& role : plan.roles) role.push_back({sync});
                return;
            }
            case 2:
                for (Role& role : plan.roles) {
                    role.push_back({cluster_arrive});
                    role.push_back({cluster_wait});
                }
                return;
            default: {
                const int m = pick(static_cast<int>(plan.arrivals.size()));
                const auto at = static_cast<std::size_t>(m);
                const int copier = pick(3) == 0 ? pick(plan.arrivals[at]) : -1;
                for (int w = 0; w < plan.arrivals[at]; ++w)
                    plan.roles[static_cast<std::size_t>(w)].push_back(w == copier ? Op{copy, m, bytes}
                                                                                  : Op{arrive, m, 1});
                for (Role& role : plan.roles) role.push_back({wait, m, 0, phases_[at] & 1});
                ++phases_[at];
            }
        }
    }
    void spoil(Plan& plan) {
        Role& role = plan.roles[static_cast<std::size_t>(pick(static_cast<int>(plan.roles.size())))];
        if (role.empty()) return;
        const auto at = static_cast<std::size_t>(pick(static_cast<int>(role.size())));
        Op& op = role[at];
        switch (pick(8)) {
            case 0: role.erase(role.begin() + static_cast<std::ptrdiff_t>(at)); return;
            case 1: role.insert(role.begin() + static_cast<std::ptrdiff_t>(at), Op(op)); return;
            case 2: role.resize(at); return;
            case 3: op.parity ^= 1; return;
            case 4:
                if (op.kind == Op::Kind::copy)
                    op.count += pick(2) == 0 ? 16 : -16;
                else if (op.kind == Op::Kind::arrive)
                    ++op.count;
                else
                    op.count += 32;
                return;
            case 5: std::swap(op, role[role.size() - 1]); return;
            case 6:
                ++plan.arrivals[static_cast<std::size_t>(pick(static_cast<int>(plan.arrivals.size())))];
                return;
            default: plan.announced = false;
        }
    }

    std::mt19937 random_;
    std::vector<int> phases_;  ///< of each mbarrier, that are complete
};

Program made(const Plan& plan) {
    using enum Op::Kind;
    const int warps = static_cast<int>(plan.roles.size());
    AsyncScript k(32 * warps, {static_cast<std::uint32_t>(plan.ctas), 1, 1});
    k.builder.param("x", isa::Type::u64, Dtype::u32);
    const Reg global = k(1, "ld_param_u64", {Operand::param(0)});
    const Reg warp = k(1, "shr_u32", {k.thread, 5});
    const Reg leads = k(1, "setp_eq_u32", {k.special("laneid"), 0});
    const int tile = k.buffer("tile", bytes * most_warps);
    const int bars = k.mbarriers("bars", static_cast<int>(plan.arrivals.size()));
    for (std::size_t m = 0; m < plan.arrivals.size(); ++m)
        k.step(2, "mbarrier_init", {in_buffer(bars, 8 * static_cast<int>(m)), plan.arrivals[m]}, {k.first});
    k.step(3, "fence_mbarrier_init", {}, {k.first});
    if (plan.announced) k.step(4, "bar_sync", {0});
    for (int w = 0; w < warps; ++w) {
        int line = 10 + w * lines_a_warp;
        k.begin_if(line, k(line, "setp_eq_u32", {warp, w}));
        ++line;
        for (const Op& op : plan.roles[static_cast<std::size_t>(w)]) {
            const Arg bar = in_buffer(bars, 8 * op.which);
            switch (op.kind) {
                case sync: k.step(line, "bar_sync", {0}); break;
                case arrive_named: k.step(line, "bar_arrive", {op.which, op.count}); break;
                case sync_named: k.step(line, "bar_sync", {op.which, op.count}); break;
                case arrive: k.step(line, "mbarrier_arrive", {bar, op.count}, {leads}); break;
                case copy:
                    k.step(line, "mbarrier_arrive_expect_tx", {bar, op.count}, {leads});
                    k.step(line + 1, "cp_async_bulk", {in_buffer(tile, bytes * w), at(global), bytes, bar},
                           {leads});
                    ++line;
                    break;
                case wait: k.wait(line, bar, op.parity); break;
                case cluster_arrive: k.step(line, "barrier_cluster_arrive"); break;
                case cluster_wait: k.step(line, "barrier_cluster_wait"); break;
            }
            ++line;
        }
        k.builder.end_if();
    }
    return k.finish();
}

std::string text_of(const std::vector<Diagnostic>& findings) {
    std::string out;
    for (const Diagnostic& finding : findings) out += "  " + to_text(finding) + "\n";
    return out;
}

/// Returns whether `told` and `found` report the same fault. A hang has several places, of which either may
/// name one first.
bool same(const Diagnostic& told, const Diagnostic& found) {
    return told.rule == found.rule &&
           (told.where == found.where ||
            std::ranges::any_of(found.notes, [&](const Note& note) { return note.where == told.where; }));
}

/// Returns whether it is a fault of synchronisation. The rehearsal does not follow, for example, which of two
/// copies lands last.
bool synchronises(const Diagnostic& finding) {
    return finding.rule.starts_with("WG-MBAR") || finding.rule.starts_with("WG-SYNC");
}

}  // namespace

TEST_CASE("the rehearsal tells what schedules of the simulator show") {
    int told = 0, right = 0, every = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        const Plan plan = Planner(seed).plan();
        const Program program = made(plan);
        const check::Pressure pressure(program);
        check::Skeleton skeleton(program, &pressure);
        skeleton.stored.resize(program.shared().size());
        check::Rehearsal rehearsal(program, skeleton, {{static_cast<std::uint32_t>(plan.ctas), 1, 1}, {0}});
        rehearsal.run();
        const std::vector<Diagnostic> said = rehearsal.first_findings();

        std::vector<std::byte> data(256);
        const std::vector<GlobalBuffer> buffers{{data.data(), std::ssize(data), 0x10000}};
        std::vector<std::uint64_t> params{0x10000};
        std::vector<std::vector<Diagnostic>> found;
        for (std::uint64_t schedule = 0; schedule < schedules; ++schedule) {
            Launch launch;
            launch.grid = {static_cast<std::uint32_t>(plan.ctas), 1, 1};
            launch.params = params;
            launch.buffers = buffers;
            launch.seed = schedule;
            found.push_back(run(program, launch).findings);
        }
        std::string shown;
        for (const auto& schedule : found)
            if (const std::string text = text_of(schedule); shown.find(text) == std::string::npos)
                shown += "a schedule:\n" + text;
        INFO("seed " << seed << "\nthe rehearsal:\n" << text_of(said) << shown);
        for (const Diagnostic& finding : said) {
            // Findings after the first may be its consequences; then a schedule stops at another place.
            const bool first = &finding == said.data();
            const bool somewhere = std::ranges::any_of(found, [&](const auto& schedule) {
                return std::ranges::any_of(schedule, [&](const auto& other) {
                    return first ? same(finding, other) : finding.rule == other.rule;
                });
            });
            CHECK(somewhere);
        }
        const bool always = std::ranges::all_of(
            found, [](const auto& schedule) { return std::ranges::any_of(schedule, synchronises); });
        if (always) CHECK((!said.empty() || !rehearsal.complete()));
        told += !said.empty();
        every += always;
        right +=
            said.empty() && std::ranges::all_of(found, [](const auto& schedule) { return schedule.empty(); });
    }
    // There is something to compare.
    CHECK(told > 60);
    CHECK(every > 60);
    CHECK(right > 60);
}
