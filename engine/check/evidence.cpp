#include "check/evidence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "check/assigned.hpp"
#include "check/box_starts.hpp"
#include "check/counted.hpp"
#include "check/dataflow.hpp"
#include "check/drawn_numbers.hpp"
#include "check/findings.hpp"
#include "check/gaps.hpp"
#include "check/global_memory.hpp"
#include "check/launch_loads.hpp"
#include "check/metadata.hpp"
#include "check/proof.hpp"
#include "isa/effects.hpp"
#include "isa/opaque.hpp"
#include "machine/mma_matrix.hpp"
#include "wgrun/inline_ptx.hpp"

namespace wgrun::check {
namespace {

/// What a program does at all: a property of what it does not do is proved by that.
class Features final : public isa::Effects {
  public:
    explicit Features(const Program& program) {
        for_each_step(program, [&](const Step& step) {
            step_ = &step;
            isa::visit_effects(step, *this);
            const isa::InlinePtx* text = isa::inline_ptx_of(*step.op);
            if (isa::is_opaque(*step.op) || (text != nullptr && !text->simulated)) note(opaque);
            if (step.op->taken_by != isa::Participants::thread) note(together);
        });
    }

    std::optional<Where> opaque{}, stores_global{}, accesses_global{}, accesses_shared{}, stores_shared{},
        multiplies{}, copies{}, thread_copies{}, together{};

    /// Whether it accesses shared memory through the generic proxy and the async one.
    bool both_proxies() const { return accesses_shared && (multiplies || copies); }

  private:
    void note(std::optional<Where>& first) {
        if (!first) first = step_->where;
    }
    void memory(const isa::MemoryAccess& access) override {
        using enum isa::Space;
        if (access.space == local || access.space == param) return;
        const bool is_global = access.space == global,
                   is_shared = access.space == shared || access.space == shared_cluster;
        if (!is_shared) {
            note(accesses_global);
            if (access.write) note(stores_global);
        }
        if (!is_global) {
            note(accesses_shared);
            if (access.write) note(stores_shared);
        }
    }
    void copy_async(const isa::AsyncCopy&) override {
        note(thread_copies);
        note(accesses_shared);
        note(accesses_global);
    }
    void bulk_copy(const isa::BulkAccess& copy) override {
        note(copies);
        if (copy.direction == isa::BulkCopy::Direction::to_global) note(stores_global);
        if (copy.coordinates == nullptr) note(accesses_global);
    }
    void issue_mma(const isa::AsyncMma&) override { note(multiplies); }

    const Step* step_ = nullptr;
};

void of_features(const Features& of, Gaps& gaps) {
    if (of.opaque)
        for (const PropertyRow& row : properties())
            gaps.add(row.property, *of.opaque, "nobody knows what this instruction does");
}

/// Shared memory, where no run of the protocol says more.
void of_shared_memory(const Features& of, Gaps& gaps) {
    const std::optional<Where>& where = of.accesses_shared ? of.accesses_shared : of.multiplies;
    if (where || of.copies) {
        const Where at = where ? *where : *of.copies;
        gaps.add({Property::shared_races, Property::initialisation}, at,
                 "accesses to shared memory are not compared for all sizes", std::string(run_it));
        gaps.add(Property::bounds, at, "where in shared memory it accesses is not known for all sizes");
    }
    if (of.both_proxies())
        gaps.add(Property::proxies, of.stores_shared ? *of.stores_shared : *where,
                 "accesses through both proxies are not compared for all sizes", std::string(run_it));
    if (of.thread_copies)
        gaps.add(Property::groups, *of.thread_copies,
                 "which bytes of cp.async are waited for is left to a run");
    if (of.multiplies)
        gaps.add(Property::descriptors, *of.multiplies, "the descriptor is not known for all sizes");
}

/// Returns, in words, what is no fault then: of a remark about what the text leaves to the driver.
std::optional<std::string> granted(const Diagnostic& finding) {
    return finding.severity == Severity::error ? std::nullopt : machine::granted_place(finding.facts);
}

bool stands_in_the_way(const Diagnostic& finding) {
    return finding.severity == Severity::error && !is_contained(finding);
}

constexpr std::initializer_list<Property> of_protocol{Property::deadlock, Property::phases,
                                                      Property::copy_bytes, Property::cluster_end,
                                                      Property::register_pool};

struct Given {
    Budget budget;
    std::optional<Dim3> grid;
    const LaunchLoads& loads;
    const DrawnNumbers& drawn;
};

/// What is proved of the launches whose memory holds such numbers.
void assume_loaded(const Proof& proof, const Program& program, std::initializer_list<Property> properties,
                   Gaps& gaps) {
    for (const int param : proof.loaded)
        for (const Property property : properties)
            gaps.assume(property, fmt::format("the numbers in {} lie between 0 and 2^30",
                                              program.params()[static_cast<std::size_t>(param)].name));
}

/// Returns whether the protocol is proved.
bool of_warps(const Outline& outline, const Skeleton& protocol, const Features& features,
              std::span<const Diagnostic> findings, const Given& given, Gaps& gaps, Evidence& out,
              BoxSizes& boxes) {
    if (protocol.ops.empty()) return true;
    Proof proof = prove(outline.program(), protocol, given.budget, given.grid);
    if (proof.proved) {
        out.numbers.insert(proof.numbers.begin(), proof.numbers.end());
        out.of_grid = proof.of_grid;
        gaps.add_all(std::move(proof.contained));
        boxes = std::move(proof.boxes);
        assume_loaded(proof, outline.program(), of_protocol, gaps);
        if (features.together) assume_loaded(proof, outline.program(), {Property::convergence}, gaps);
        if (features.copies) assume_loaded(proof, outline.program(), {Property::groups}, gaps);
    } else {
        const auto stops = [&](std::initializer_list<Property> properties) {
            gaps.add(properties, proof.stopped->where, proof.stopped->reason, proof.assumption);
        };
        stops(of_protocol);
        if (proof.findings.empty()) out.launches = std::move(proof.launches);
        // Threads that do not come do not come together, and copies may be left over.
        if (features.together) stops({Property::convergence});
        if (features.copies) stops({Property::groups});
    }
    for (Diagnostic& finding : proof.findings)
        if (std::ranges::none_of(findings,
                                 [&](const Diagnostic& other) { return other.rule == finding.rule; }))
            out.findings.push_back(std::move(finding));
    return proof.proved;
}

/// The same with the accesses to shared memory, which are in no order where the protocol is not proved.
void of_protocol_and_memory(const Outline& outline, const Skeleton& protocol, const Features& features,
                            std::span<const Diagnostic> findings, const Given& given, Gaps& gaps,
                            Evidence& out) {
    BoxSizes boxes;
    const bool proved = of_warps(outline, protocol, features, findings, given, gaps, out, boxes);
    if (!features.accesses_shared && !features.copies && !features.multiplies) return;
    if (!proved) return of_shared_memory(features, gaps);
    Skeleton all(outline, nullptr, true, given.loads, given.drawn);
    all.stored = protocol.stored;
    all.boxes = boxes.fitting();
    if (all.ops.empty()) return;
    Gaps of_memory;
    Proof proof = prove_accesses(outline.program(), all, given.budget, of_memory, given.grid);
    out.launches = std::move(proof.launches);
    if (!proof.proved) {
        gaps.add({Property::shared_races, Property::initialisation}, proof.stopped->where,
                 proof.stopped->reason, proof.assumption);
        return of_shared_memory(features, gaps);
    }
    out.numbers.insert(proof.numbers.begin(), proof.numbers.end());
    out.of_grid |= proof.of_grid;
    assume_loaded(proof, outline.program(),
                  {Property::shared_races, Property::proxies, Property::initialisation, Property::bounds,
                   Property::descriptors},
                  gaps);
    if (!features.both_proxies()) of_memory.drop(Property::proxies);
    gaps.add_all(std::move(of_memory));
}

/// "K >= 512, M, N >= 1": what those numbers are at least.
std::string ranges(const Program& program, const std::set<std::string>& numbers) {
    std::map<std::int64_t, std::vector<std::string>, std::greater<>> by_least;
    for (const std::string& name : numbers) {
        const auto param = std::ranges::find(program.params(), name, &Param::name);
        by_least[param == program.params().end() ? 1 : param->taken_least()].push_back(name);
    }
    std::vector<std::string> out;
    for (const auto& [least, names] : by_least)
        out.push_back(fmt::format("{} >= {}", fmt::join(names, ", "), least));
    return fmt::format("{}", fmt::join(out, ", "));
}

/// unknown: why nothing is proved that depends on the shape of launches; null: it is known.
Evidence evidence_of(const Program& program, std::span<const Diagnostic> findings, Made made,
                     const Gap* unknown, const Assumptions& given) {
    Gaps gaps;
    const std::optional<Dim3> grid = program.grid() ? program.grid() : given.grid;
    const Outline outline(program);
    Findings followed;
    Dataflow dataflow(outline, followed, made);
    dataflow.watch_gaps(gaps);
    dataflow.run();
    if (dataflow.gave_up())
        gaps.add({Property::registers, Property::groups, Property::convergence, Property::descriptors},
                 program.where(), "the program is too long to follow all its paths");
    const Features features(program);
    of_features(features, gaps);
    Evidence out;
    const LaunchLoads loads = launch_loads(program, made);
    const DrawnNumbers drawn = drawn_numbers(program, made);
    Skeleton skeleton(outline, nullptr, false, loads, drawn);
    skeleton.stored = dataflow.stored();
    if (unknown != nullptr && unknown->property != Property::none)
        gaps.add(unknown->property, unknown->where, unknown->reason, unknown->assumption);
    if (unknown != nullptr && unknown->property == Property::none) {
        if (!skeleton.ops.empty())
            gaps.add(of_protocol, unknown->where, unknown->reason, unknown->assumption);
        if (features.accesses_shared || features.copies)
            gaps.add({Property::shared_races, Property::initialisation, Property::proxies, Property::bounds},
                     unknown->where, unknown->reason, unknown->assumption);
        if (features.accesses_global || features.stores_global)
            gaps.add({Property::global_races, Property::bounds}, unknown->where, unknown->reason,
                     unknown->assumption);
        if (features.together)
            gaps.add({Property::convergence, Property::registers, Property::groups, Property::descriptors},
                     unknown->where, unknown->reason, unknown->assumption);
    } else if (const auto error = std::ranges::find_if(findings, stands_in_the_way);
               error != findings.end()) {
        // What follows from an error is not told from other faults.
        for (const PropertyRow& row : properties())
            gaps.add(row.property, error->where, fmt::format("an error stands in the way: {}", error->rule));
    } else if (!features.opaque) {
        const Given what{Budget(given), grid, loads, drawn};
        of_protocol_and_memory(outline, skeleton, features, findings, what, gaps, out);
        if (features.accesses_global || features.stores_global) {
            GlobalMemoryProof proof =
                prove_global_memory(outline, what.budget, gaps, given.grid.value_or(program.grid_sizes()));
            out.numbers.insert(proof.numbers.begin(), proof.numbers.end());
            out.extents = std::move(proof.extents);
            out.limits = std::move(proof.limits);
            out.flat = std::move(proof.flat);
        }
    }
    if (const std::optional<Where> where = maybe_misaligned_box(outline))
        gaps.add(Property::descriptors, *where,
                 "it is not known that the box starts at a multiple of 16 bytes");
    const MetadataProof metadata = prove_metadata(program, made);
    if (const std::string legal = metadata.assumption(); !legal.empty())
        gaps.assume(Property::descriptors, legal);
    if (metadata.gap)
        gaps.add(Property::descriptors, metadata.gap->where, metadata.gap->reason, metadata.gap->assumption);
    if (const std::optional<Where> where = maybe_unassigned(outline, out.numbers)) {
        constexpr std::string_view reason = "a path to here may not have written a register that is read";
        gaps.add(Property::initialisation, *where, std::string(reason));
        // It may be one that holds metadata.
        if (!metadata.words.empty()) gaps.add(Property::descriptors, *where, std::string(reason));
    }
    if (const std::optional<Where> loop = uncounted_loop(outline, skeleton))
        gaps.add(Property::deadlock, *loop, "it is not known that this loop ends");
    for (const Diagnostic& finding : findings)
        if (const auto place = granted(finding)) gaps.assume(Property::descriptors, *place);
    out.assumed = gaps.assumed();
    out.gaps = std::move(gaps).take();
    out.domain = "all launches";
    if (!out.numbers.empty()) out.domain += fmt::format(" with {}", ranges(program, out.numbers));
    Assumptions used = given;
    if (!out.of_grid) used.grid.reset();
    out.domain = narrowed(out.domain, program, used);
    return out;
}

}  // namespace

Evidence evidence(const Program& program, std::span<const Diagnostic> findings, Made made,
                  const OpenShape* unknown, const Assumptions& given) {
    if (unknown == nullptr) return evidence_of(program, findings, made, nullptr, given);
    Evidence open = evidence_of(program, findings, made, &unknown->gap, given);
    if (!unknown->of_clusters) return open;
    Assumptions alone = given;
    alone.cluster = Dim3{1};
    Evidence out = evidence_of(program, findings, made, nullptr, alone);
    // What sends to other CTAs is meant for clusters.
    if (std::ranges::find(out.gaps, Property::cluster_end, &Gap::property) != out.gaps.end()) return open;
    // So may others be: what they break without is none of their faults, nor a reason.
    out.findings.clear();
    out.launches.clear();
    for (Gap& gap : out.gaps)
        if (const auto its = std::ranges::find(open.gaps, gap.property, &Gap::property);
            its != open.gaps.end())
            gap = std::move(*its);
    return out;
}

void add_outside(Evidence& evidence, const Program& program, const LaunchSizes& launch) {
    const auto add = [&](Property property, const std::string& domain, const std::string& passes) {
        if (std::ranges::find(evidence.gaps, property, &Gap::property) != evidence.gaps.end()) return;
        evidence.gaps.push_back({property, program.where(),
                                 fmt::format("the proof holds where {}, and a launch has {}", domain, passes),
                                 std::string(run_it)});
    };
    const auto passed = [&](const LaunchNumber& of) {
        std::vector<std::string> out;
        for (const int param : of.params()) {
            const auto i = static_cast<std::size_t>(param);
            out.push_back(fmt::format("{} = {}", program.params()[i].name, launch.params[i]));
        }
        const Dim3 grid = launch.grid;
        return out.empty() ? fmt::format("a grid of {}, {}, {}", grid.x, grid.y, grid.z)
                           : fmt::format("{}", fmt::join(out, ", "));
    };
    for (const LaunchLimit& limit : evidence.limits)
        if (limit.broken_by(launch))
            for (const Property property : {Property::global_races, Property::bounds})
                add(property, limit.text, passed(limit.number));
}

std::vector<Verdict> verdicts(std::span<const Diagnostic> findings, const Evidence& evidence) {
    std::vector<Diagnostic> refuting;
    std::ranges::copy_if(findings, std::back_inserter(refuting),
                         [](const Diagnostic& finding) { return !granted(finding); });
    std::vector<Verdict> out = verdicts(refuting, evidence.gaps, evidence.domain);
    for (Verdict& verdict : out) {
        if (verdict.kind != Verdict::Kind::proved) continue;
        std::vector<std::string> where;
        if (verdict.property == Property::global_races && !evidence.flat.empty())
            where.push_back(fmt::format("{} = 1", fmt::join(evidence.flat, " = ")));
        if (verdict.property == Property::bounds && !evidence.extents.empty())
            where.push_back(evidence.extents);
        if (verdict.property == Property::global_races || verdict.property == Property::bounds)
            std::ranges::transform(evidence.limits, std::back_inserter(where), &LaunchLimit::text);
        if (!where.empty()) verdict.domain += fmt::format(" where {}", fmt::join(where, ", "));
        if (const auto its = evidence.assumed.find(verdict.property); its != evidence.assumed.end())
            verdict.assumption = fmt::format("{}", fmt::join(its->second, ", and "));
    }
    return out;
}

}  // namespace wgrun::check
