#include "kernel/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "check/sizes.hpp"
#include "isa/generic.hpp"
#include "kernel/synthetic_params.hpp"
#include "memory/pages.hpp"
#include "sim/sim.hpp"
#include "wgrun/assumptions.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/target.hpp"

namespace wgrun {
namespace {

/// Of each tensor, in bytes. They become memory where they are accessed.
constexpr std::int64_t tensor_bytes = std::int64_t{1} << 22;
constexpr std::uint64_t steps_of_replay = std::uint64_t{1} << 23;
constexpr std::uint64_t first_address = std::uint64_t{1} << 32;

/// Zeros; nothing where there is no memory.
std::optional<memory::Pages> pages(std::size_t bytes) {
    try {
        return memory::Pages(bytes);
    } catch (const std::bad_alloc&) {
        return std::nullopt;
    }
}

sim::TensorMap tensor_of(const TensorBox& box, std::uint64_t handle, std::uint64_t address) {
    sim::TensorMap out{handle, address, synthetic_extents(box), {}, &box};
    std::int64_t stride = out.extents[0] * bits(box.dtype) / 8;
    for (std::size_t d = 0; d + 1 < box.extents.size(); ++d) {
        out.strides.push_back(stride);
        stride *= box.extents[d + 1];
    }
    return out;
}

/// A launch with zeros in memory.
class SyntheticLaunch {
  public:
    explicit SyntheticLaunch(const Program& program)
        : memory_(pages((program.params().size() + 1) * static_cast<std::size_t>(tensor_bytes))) {
        const std::vector<Param>& params = program.params();
        values_.resize(params.size());
        structures_.resize(params.size());
        for (std::size_t i = 0; memory_ && i < params.size(); ++i) {
            const Param& param = params[i];
            const std::int64_t at = static_cast<std::int64_t>(i) * tensor_bytes;
            structures_[i].resize(static_cast<std::size_t>(param.structure));
            if (!param.pointee && !param.box) continue;
            // Far apart, so that what leaves one does not get into another.
            values_[i] = first_address + static_cast<std::uint64_t>(at) * 64;
            buffers_.push_back({memory_->data() + at, tensor_bytes, values_[i], param.constant});
            if (!param.box) continue;
            const std::uint64_t place =
                isa::param_base + static_cast<std::uint64_t>(program.param_offset(static_cast<int>(i)));
            const std::uint64_t handle = isa::generic_of(isa::Space::param, place);
            maps_.push_back(tensor_of(*param.box, handle, std::exchange(values_[i], handle)));
        }
    }

    /// The parameters that are no memory become these numbers.
    void give(const Program& program, std::span<const std::int64_t> numbers) {
        for (std::size_t i = 0; i < values_.size(); ++i)
            if (const Param& param = program.params()[i]; !param.pointee && !param.box)
                values_[i] = static_cast<std::uint64_t>(numbers[i]);
    }

    /// Returns what is found, without accesses beyond tensors: how long those of a launch are is not known.
    /// synthetic: null, if the zeros in memory may decide.
    std::vector<Diagnostic> run(const Program& program, check::Made made, const sim::Synthetic* synthetic,
                                sim::Observer* observer, Dim3 grid, std::uint64_t seed = 0) {
        if (!memory_) return {};
        sim::SimulatedLaunch launch;
        launch.grid = grid;
        launch.seed = seed;
        launch.params = values_;
        launch.structures = structures_;
        launch.buffers = buffers_;
        launch.tensor_maps = maps_;
        launch.synthetic = synthetic;
        launch.most_steps = synthetic == nullptr ? steps_of_replay : 0;
        launch.observer = observer;
        launch.by_compiler = made == check::Made::by_compiler;
        try {
            std::vector<Diagnostic> found = sim::run(program, launch).findings;
            std::erase_if(found, [](const Diagnostic& finding) { return breaks(finding, rules::WG_MEM_01); });
            return found;
        } catch (const Error&) {
            return {};
        }
    }

  private:
    std::optional<memory::Pages> memory_;
    std::vector<std::uint64_t> values_;
    std::vector<std::vector<std::byte>> structures_;
    std::vector<sim::GlobalBuffer> buffers_;
    std::vector<sim::TensorMap> maps_;
};

}  // namespace

std::vector<std::int64_t> synthetic_extents(const TensorBox& box) {
    constexpr std::int64_t unit = sm_90a.tensor_maps.unit;
    const std::int64_t bits = wgrun::bits(box.dtype);
    std::vector<std::int64_t> out = box.extents;
    out[0] = (out[0] * bits / 8 + unit - 1) / unit * unit * 8 / bits;
    return out;
}

std::vector<Diagnostic> found_in_every_launch(const Program& program, check::Made made,
                                              sim::Observer* observer) {
    const Dim3 grid = program.grid_like(program.cluster());
    const sim::Synthetic synthetic;
    std::vector<Diagnostic> out = SyntheticLaunch(program).run(program, made, &synthetic, observer, grid);
    for (Diagnostic& finding : out) finding.launch = check::launch_of(program, {grid, {}});
    return out;
}

sim::Outcome run_synthetic(const Program& program, const FoundIn& launch, sim::Synthetic limits) {
    const SyntheticParams params = synthetic_params(program, *launch.others);
    limits.numbers = false;
    limits.memory = launch.others;
    limits.first = launch.first;
    sim::SimulatedLaunch simulated;
    simulated.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
    simulated.params = params.values;
    simulated.structures = params.structures;
    simulated.seed = launch.seed;
    simulated.synthetic = &limits;
    simulated.by_compiler = true;
    return sim::run(program, simulated);
}

Program with_numbers_of(const Program& program, const FoundIn& launch) {
    Assumptions given{.numbers = launch.numbers};
    if (launch.others) {
        const std::vector<bool> addresses = synthetic_params(program, *launch.others).addresses;
        std::erase_if(given.numbers, [&](const auto& number) {
            const auto at = std::ranges::find(program.params(), number.first, &Param::name);
            return at != program.params().end() &&
                   addresses[static_cast<std::size_t>(at - program.params().begin())];
        });
    }
    return with_numbers(program, given);
}

std::vector<Diagnostic> found_again(const Program& program, check::Made made, const FoundIn& launch,
                                    bool memory_decides) {
    const Program with = with_numbers_of(program, launch);
    if (launch.others) {
        sim::BoxSizes boxes;
        const sim::Synthetic limits{.steps = steps_of_replay, .boxes = &boxes, .goes_on = true};
        run_synthetic(with, launch, limits);  // it tells how long boxes are
        return run_synthetic(with, launch, limits).findings;
    }
    const sim::Synthetic synthetic{
        .numbers = launch.numbers.empty(), .first = launch.first, .steps = steps_of_replay};
    return SyntheticLaunch(with).run(with, made, memory_decides ? nullptr : &synthetic, nullptr,
                                     {launch.grid[0], launch.grid[1], launch.grid[2]}, launch.seed);
}

namespace {

/// What the first of so many clusters breaks in a launch whose parameters are these numbers, as far as
/// nothing depends on what is in memory: with a note that names them.
std::vector<Diagnostic> found_in_launch(const Program& program, std::span<const std::int64_t> numbers,
                                        std::uint32_t clusters) {
    SyntheticLaunch launch(program);
    launch.give(program, numbers);
    Dim3 grid = program.cluster();
    grid.x *= clusters;
    const sim::Synthetic ahead{.numbers = false, .steps = 1U << 16};
    std::vector<Diagnostic> out =
        launch.run(program, check::Made::by_author, &ahead, nullptr, program.grid_like(grid));
    std::string said = clusters == 1 ? "" : fmt::format("{} along x", count_of(clusters, "cluster"));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (const Param& param = program.params()[i]; !param.pointee && !param.box)
            said += fmt::format("{}{} = {}", said.empty() ? "" : ", ", param.name, numbers[i]);
    for (Diagnostic& finding : out)
        if (!said.empty())
            finding.notes.push_back({program.where(), fmt::format("in a launch with {}", said)});
    return out;
}

}  // namespace

std::vector<Diagnostic> found_with_sizes(const Program& program, const check::Evidence& evidence) {
    if (evidence.launches.empty()) return {};
    constexpr std::ptrdiff_t most_launches = 4;
    std::vector<std::vector<std::int64_t>> launches(
        evidence.launches.begin(),
        evidence.launches.begin() + std::min(std::ssize(evidence.launches), most_launches));
    // About a period of the usual rings, and beyond two.
    for (const std::int64_t number : {1, 2, 3, 4, 5, 7, 8, 9, 17, 33})
        launches.emplace_back(program.params().size(), number);
    for (std::vector<std::int64_t>& numbers : launches) check::raise_to_least(program, numbers);
    std::vector<Diagnostic> out;
    const std::vector<std::uint32_t> grids = program.grid() ? std::vector{1U} : std::vector{1U, 4U};
    for (const auto& numbers : launches)
        for (const std::uint32_t clusters : grids)
            std::ranges::move(found_in_launch(program, numbers, clusters), std::back_inserter(out));
    // With these numbers an address may be anything.
    constexpr std::array of_global_memory{Property::bounds, Property::descriptors, Property::global_races};
    std::erase_if(out, [&](const Diagnostic& finding) {
        const Rule* rule = find_rule(finding.rule);
        return rule == nullptr ||
               std::ranges::find(of_global_memory, rule->property) != of_global_memory.end() ||
               std::ranges::find(evidence.gaps, rule->property, &Gap::property) == evidence.gaps.end();
    });
    for (Diagnostic& finding : out)
        if (finding.severity == Severity::error) finding.severity = Severity::warning;
    return out;
}

}  // namespace wgrun
