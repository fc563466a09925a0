// An abstract execution needs launch sizes, which a program under check does not have yet: it is executed
// abstractly with several, and a finding must occur with each of them.
#include "check/sizes.hpp"

#include <algorithm>

#include "check/abstract_execution.hpp"
#include "check/register_requests.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::check {

namespace {

using abstract::Fault;

// Small sizes suffice: a finding must occur with all sizes, so the first run may be short.
constexpr std::int64_t usual = 256, large = 4096, few = 8;
constexpr std::uint32_t usual_clusters = 16;

LaunchSizes all(const Program& program, std::int64_t value, std::uint32_t clusters) {
    const Dim3 size = program.cluster();
    return {program.grid_like({size.x * clusters, size.y, size.z}),
            std::vector<std::int64_t>(program.params().size(), value)};
}

/// Returns the sizes to try after the first, which had findings. In some, all parameters are equal, from
/// small to large; in others, one is a multiple or a fraction of the rest: a kernel may take an extent and
/// its number of blocks.
std::vector<LaunchSizes> other_sizes(const Program& program, const Skeleton& skeleton) {
    std::vector<LaunchSizes> out{all(program, usual, 1), all(program, usual, sm_90a.multiprocessors)};
    const std::vector<int>& integers = skeleton.integers;
    if (integers.empty()) return out;
    for (std::int64_t value = 1; value <= large; value *= 2) out.push_back(all(program, value, 1));
    out.push_back(all(program, 768, usual_clusters));
    if (integers.size() < 2) return out;
    for (const int index : integers)
        for (std::int64_t part = 2; part <= 512; part *= 2) {
            const auto i = static_cast<std::size_t>(index);
            out.push_back(all(program, few, usual_clusters));
            out.back().params[i] = few * part;
            out.push_back(all(program, few * part, usual_clusters));
            out.back().params[i] = few;
        }
    for (LaunchSizes& sizes : out) raise_to_least(program, sizes.params);
    return out;
}

void add_all(std::vector<Diagnostic> findings, Findings& out) {
    for (Diagnostic& finding : findings) out.add(std::move(finding));
}

/// Returns whether the abstract execution shows that the fault, of the first one, does not occur with its
/// sizes. A size proves nothing if it is too small for any warp to reach the step, or too large to follow.
/// The step may be one that a warp only comes to where an attempt to wait was in vain: then it need not be
/// reached where the attempt was not. Of an unrolled loop, another step of the line may break the rule.
bool refutes(const AbstractExecution& execution, const Fault& fault, const AbstractExecution& first) {
    const bool succeeds = std::ranges::any_of(first.given_up(), [&](const Step* attempt) {
        return execution.came_to(attempt) && !execution.given_up().contains(attempt);
    });
    return !execution.gave_up() && (execution.came_to(fault.at) || succeeds) &&
           std::ranges::none_of(execution.faults(), [&](const Fault& other) {
               return same_finding(other.finding, fault.finding);
           });
}

}  // namespace

void raise_to_least(const Program& program, std::vector<std::int64_t>& params) {
    for (std::size_t i = 0; i < params.size(); ++i)
        params[i] = std::max(params[i], program.params()[i].least);
}

FoundIn launch_of(const Program& program, const LaunchSizes& sizes, std::span<const int> integers) {
    const auto extents = [](Dim3 of) { return std::array{of.x, of.y, of.z}; };
    FoundIn out{.kernel = program.name(),
                .grid = extents(sizes.grid),
                .block = extents(program.block()),
                .cluster = extents(program.cluster())};
    for (const int index : integers) {
        const auto i = static_cast<std::size_t>(index);
        out.numbers.emplace_back(program.params()[i].name, sizes.params[i]);
    }
    return out;
}

namespace {

/// The faults of an abstract execution that others with other sizes have, too.
std::vector<Fault> faults_of_all(const Program& program, const Skeleton& skeleton,
                                 const AbstractExecution& first, const LaunchSizes& sizes) {
    std::vector<Fault> found = first.first_faults();
    if (skeleton.depends_on_launch()) {
        for (const LaunchSizes& others : other_sizes(program, skeleton)) {
            if (found.empty()) return {};
            AbstractExecution again(program, skeleton, others);
            again.run();
            std::erase_if(found, [&](const Fault& fault) { return refutes(again, fault, first); });
        }
    }
    for (Fault& fault : found) fault.finding.launch = launch_of(program, sizes, skeleton.integers);
    return found;
}

}  // namespace

bool execute_abstractly(const Outline& outline, std::vector<bool> stored, Findings& findings) {
    const Program& program = outline.program();
    const Pressure pressure(outline);
    Skeleton skeleton(outline, &pressure);
    skeleton.stored = std::move(stored);
    if (skeleton.ops.empty()) return true;
    LaunchSizes sizes = all(program, usual, usual_clusters);
    raise_to_least(program, sizes.params);
    AbstractExecution first(program, skeleton, sizes);
    first.run();
    add_all(first.remarks(), findings);
    std::vector<Fault> found = faults_of_all(program, skeleton, first, sizes);
    const bool decided = first.complete() || !found.empty();
    // What stops an abstract execution does not bring more registers.
    if (!decided && requests_once(outline)) {
        const Skeleton registers = Skeleton::of_registers(outline);
        AbstractExecution of_registers(program, registers, sizes);
        if (!registers.ops.empty()) {
            of_registers.run();
            found = faults_of_all(program, registers, of_registers, sizes);
            std::erase_if(found,
                          [](const Fault& fault) { return fault.finding.rule != rules::WG_REG_02.id; });
            // A launch comes to it where what stops the abstract execution lets it.
            for (Fault& fault : found) fault.finding.launch.reset();
        }
    }
    add_all(reported_once(std::move(found)), findings);
    return decided;
}

LaunchCheck::LaunchCheck(const Program& program)
    : program_(program), skeleton_(std::make_unique<const Skeleton>(program)) {}
LaunchCheck::LaunchCheck(LaunchCheck&&) noexcept = default;
LaunchCheck::~LaunchCheck() = default;

LaunchSizes LaunchCheck::relevant(LaunchSizes sizes) const {
    LaunchSizes out{{1, 1, 1}, std::vector<std::int64_t>(sizes.params.size(), 0)};
    if (skeleton_->ops.empty() || !skeleton_->depends_on_launch()) return out;
    out.grid = sizes.grid;  // its last cluster is looked at
    for (const int index : skeleton_->integers)
        out.params[static_cast<std::size_t>(index)] = sizes.params[static_cast<std::size_t>(index)];
    return out;
}

std::vector<Diagnostic> LaunchCheck::findings(const LaunchSizes& sizes) const {
    Findings findings;
    if (skeleton_->ops.empty() || !skeleton_->depends_on_launch()) return {};
    const Dim3 size = program_.cluster();
    const Dim3 last{sizes.grid.x / size.x - 1, sizes.grid.y / size.y - 1, sizes.grid.z / size.z - 1};
    for (const Dim3 cluster : {Dim3{0, 0, 0}, last}) {
        AbstractExecution execution(program_, *skeleton_, sizes, cluster);
        execution.run();
        std::vector<Diagnostic> found = reported_once(execution.first_faults());
        for (Diagnostic& finding : found) {
            finding.launch = launch_of(program_, sizes, skeleton_->integers);
            if (cluster == last) finding.launch->first = sizes.grid.volume() / size.volume() - 1;
        }
        add_all(std::move(found), findings);
        if (last == Dim3{0, 0, 0}) break;
    }
    return std::move(findings).sorted(program_.where().file);
}

}  // namespace wgrun::check
