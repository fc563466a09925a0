#include "check/dataflow/convergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "isa/registers.hpp"
#include "isa/warp.hpp"
#include "machine/lanes.hpp"
#include "rules/barrier_words.hpp"
#include "rules/copy_words.hpp"
#include "rules/lane_words.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::check::dataflow {

namespace {

using isa::Participants;
using isa::Uniform;

std::string_view group(Participants participants) {
    switch (participants) {
        case Participants::thread: return "thread";
        case Participants::warp: return "warp";
        case Participants::warpgroup: return "warpgroup";
        case Participants::cta: return "CTA";
        case Participants::cluster: break;
    }
    return "cluster";
}

/// Returns the group of threads over which a condition must be uniform. A barrier counts threads, so only the
/// arriving warp must be whole; barriers_met() decides whether all warps reach it.
Uniform needed(Participants participants) {
    return participants == Participants::warpgroup ? Uniform::warpgroup : Uniform::warp;
}

}  // namespace

// Threads of the other arm end, and do nothing before that.
bool Convergence::others_end(const Scope& scope) const {
    if (scope.what != "branch") return false;
    const std::vector<BasicBlock>& blocks = analysis_.program.blocks();
    const BasicBlock& branch = blocks[scope.block];
    const BasicBlock& other = blocks[scope.arm == 0 ? branch.otherwise : branch.taken];
    return other.end == BasicBlock::End::exit && other.steps.empty();
}

namespace {

/// The way is known of each thread. In a loop threads may leave in different turns; where some have left the
/// kernel, others may have, too.
bool decided(const Scope& scope) { return scope.exact() && !scope.left && scope.what != "loop"; }

}  // namespace

bool Convergence::by_whole_groups(const Step& step) const {
    const auto threads = static_cast<std::size_t>(analysis_.program.threads());
    const auto size = static_cast<std::size_t>(step.op->taken_by == Participants::warpgroup ? sm_90a.warpgroup
                                                                                            : sm_90a.lanes);
    std::vector<bool> comes(threads, true), exists(threads, true);
    for (const Scope& scope : analysis_.scopes) {
        if (!decided(scope)) continue;
        const bool end = step.op->without_ended && others_end(scope);
        for (std::size_t t = 0; t < threads; ++t) {
            if ((scope.condition->exact.of(static_cast<int>(t)) != 0) == (scope.arm == 0)) continue;
            comes[t] = false;
            if (end) exists[t] = false;
        }
    }
    for (std::size_t first = 0; first < threads; first += size) {
        bool any = false, all = true;
        for (std::size_t t = first; t < std::min(first + size, threads); ++t) {
            any = any || comes[t];
            all = all && (comes[t] || !exists[t]);
        }
        if (any && !all) return false;
    }
    return true;
}

bool Convergence::aligned(const Step& step) {
    const Uniform least = needed(step.op->taken_by);
    const int threads = analysis_.program.threads();
    if (step.op->taken_by == Participants::warpgroup && !partial_warpgroup_ &&
        threads % sm_90a.warpgroup != 0 && (threads < sm_90a.warpgroup || !analysis_.in_role())) {
        partial_warpgroup_ = true;
        analysis_.findings.add(
            rules::cited(rules::no_whole_warpgroup(step.op->name, threads), step.op->section), step.where,
            {{analysis_.program.where(), "the kernel is declared here"}});
    }
    const bool parts = std::ranges::any_of(
        analysis_.scopes, [&](const Scope& scope) { return decided(scope) && scope.uniform() < least; });
    const bool whole_groups = parts && by_whole_groups(step);
    for (const Scope& scope : analysis_.scopes) {
        if (whole_groups && decided(scope)) continue;
        // Whether a condition on more than the thread index diverges shows only when the kernel runs.
        if (scope.uniform() >= least) continue;
        if (!scope.exact()) {
            analysis_.doubt(
                Property::convergence,
                fmt::format("whether the condition of the {} of line {} is the same for all threads is not "
                            "known",
                            scope.what, scope.where->line));
            continue;
        }
        if (step.op->without_ended && others_end(scope)) continue;
        if (std::find(divergent_.begin(), divergent_.end(), scope.node) != divergent_.end()) return true;
        divergent_.push_back(scope.node);
        const auto whole =
            step.op->taken_by == Participants::warpgroup ? Participants::warpgroup : Participants::warp;
        const std::string together =
            fmt::format("all threads of the {} execute {} together, but ", group(whole), step.op->name);
        const std::string move = scope.left ? fmt::format("move {} before the branch", step.op->name)
                                            : fmt::format("move {} out of the {}", step.op->name, scope.what);
        analysis_.findings.add(
            rules::cited(
                {rules::WG_SYNC_01,
                 together + (scope.left
                                 ? "some have left at a branch before it"
                                 : fmt::format("the condition of the {} around it is not the same for all "
                                               "of them",
                                               scope.what)),
                 fmt::format("branch on a value that is the same in the whole {}, such as tid.x >> {}, or {}",
                             group(whole),
                             std::countr_zero(static_cast<unsigned>(
                                 whole == Participants::warpgroup ? sm_90a.warpgroup : sm_90a.lanes)),
                             move)},
                step.op->section),
            step.where, {{*scope.where, fmt::format("the {} is here", scope.what)}});
        return true;
    }
    return false;
}

void Convergence::members(const Step& step, const Operand& membermask) {
    const Exact masks = membermask.kind == Operand::Kind::imm
                            ? Exact(membermask.imm)
                            : analysis_.state.values[membermask.reg.id].exact;
    if (!masks.known()) return analysis_.doubt(Property::convergence, "its membermask is not known");
    for (const Scope& scope : analysis_.scopes)
        if (!scope.exact() && scope.uniform() < Uniform::warp)
            analysis_.doubt(Property::convergence, "which lanes come here is not known");
    const bool whole_warps = analysis_.program.threads() % isa::lanes == 0 &&
                             std::ranges::none_of(analysis_.scopes, [](const Scope& scope) {
                                 return scope.exact() && scope.uniform() < Uniform::warp;
                             });
    if (whole_warps && masks.uniform() && static_cast<isa::Mask>(*masks.uniform()) == ~isa::Mask{0})
        return;  // nearly always
    const std::vector<Executing> warps = executing();
    for (std::size_t w = 0; w < warps.size(); ++w) {
        const auto [existing, active] = warps[w];
        if (active == 0) continue;
        std::array<isa::Mask, isa::lanes> own{};
        machine::for_each_lane(existing, [&](int lane) {
            own[static_cast<std::size_t>(lane)] =
                static_cast<isa::Mask>(masks.of(static_cast<int>(w) * isa::lanes + lane));
        });
        if (auto wrong = rules::wrong_membermask(step.op->name, active, existing, own)) {
            std::vector<Note> notes;
            if (!analysis_.scopes.empty())
                notes.push_back({*analysis_.scopes.back().where,
                                 fmt::format("the {} is here", analysis_.scopes.back().what)});
            return analysis_.findings.add(rules::cited(std::move(*wrong), step.op->section), step.where,
                                          std::move(notes));
        }
    }
}

std::vector<Convergence::Executing> Convergence::executing() const {
    for (const Scope& scope : analysis_.scopes) {
        // A condition that is the same in the whole warp lets all its lanes through, or none.
        if (scope.uniform() < Uniform::warp && !decided(scope)) return {};
    }
    const auto executes = [&](int thread, bool by_lane) {
        return std::ranges::all_of(analysis_.scopes, [&](const Scope& scope) {
            return !scope.exact() || by_lane != (scope.uniform() < Uniform::warp) ||
                   (scope.condition->exact.of(thread) != 0) == (scope.arm == 0);
        });
    };
    std::vector<Executing> out;
    const int threads = analysis_.program.threads();
    for (int first = 0; first < threads; first += isa::lanes) {
        Executing& warp = out.emplace_back();
        const bool comes = executes(first, false);
        for (int lane = 0; lane < isa::lanes && first + lane < threads; ++lane) {
            warp.existing |= isa::Mask{1} << lane;
            if (comes && executes(first + lane, true)) warp.active |= isa::Mask{1} << lane;
        }
    }
    return out;
}

void Convergence::copy(const isa::BulkAccess& access) {
    if (access.direction != isa::BulkCopy::Direction::to_global) return;
    bool same = true;
    for (const Operand& operand : analysis_.step->operands) {
        isa::for_each_register(operand, [&](Reg reg) {
            same = same && analysis_.state.values[reg.id].value.uniform >= Uniform::warp;
        });
    }
    if (!same) return;
    int most = 1;
    for (const Executing& warp : executing()) most = std::max(most, std::popcount(warp.active));
    if (most > 1) analysis_.findings.add(rules::copy_by_each_lane(most), analysis_.step->where);
}

void Convergence::barriers_met() {
    if (skipped_.empty() || analysis_.gave_up()) return;
    const Skipped& first = skipped_.front();
    for (const Skipped& other : skipped_)
        if (other.scope.node != first.scope.node || other.scope.arm != first.scope.arm) return;
    if (std::find(divergent_.begin(), divergent_.end(), first.scope.node) != divergent_.end()) return;
    analysis_.findings.add(
        rules::WG_SYNC_02, first.step->where,
        fmt::format("{} waits for all {} of the CTA, but some of them go around the {} that it "
                    "is in",
                    first.step->op->name, count_of(analysis_.program.threads(), "thread"), first.scope.what),
        "move the barrier out, or give it an id and the number of threads that arrive",
        {{*first.scope.where, fmt::format("the {} is here", first.scope.what)}});
}

void Convergence::barrier(const Operand& threads) {
    // Threads that bypass a barrier with a thread count may arrive elsewhere, without waiting.
    const auto count = threads.kind == Operand::Kind::imm ? std::optional(threads.imm) : std::nullopt;
    if (count == 0) {
        const auto scope =
            std::find_if(analysis_.scopes.begin(), analysis_.scopes.end(), [&](const Scope& s) {
                return s.exact() && s.uniform() < Uniform::cta && s.what != "loop" && !others_end(s);
            });
        if (scope != analysis_.scopes.end()) skipped_.push_back({analysis_.step, *scope});
    }
    analysis_.state.barrier();
}

}  // namespace wgrun::check::dataflow
