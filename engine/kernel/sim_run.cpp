#include "kernel/sim_run.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "isa/generic.hpp"
#include "kernel/arguments.hpp"
#include "kernel/errors.hpp"
#include "kernel/foreign_entry.hpp"
#include "kernel/print.hpp"
#include "sim/executed.hpp"
#include "sim/map_bytes.hpp"
#include "sim/sim.hpp"
#include "wgrun/coverage.hpp"

namespace wgrun {

std::vector<Diagnostic> run_on_simulator(const Program& program, const RunOptions& options,
                                         const ForeignEntry* origin, sim::Overlap* overlap,
                                         const sim::Synthetic* synthetic) {
    std::vector<sim::GlobalBuffer> buffers;
    std::vector<sim::TensorMap> maps;
    std::deque<sim::MapBytes> in_memory;
    std::vector<std::uint64_t> raw;
    std::vector<std::vector<std::byte>> structures;
    std::deque<std::vector<RawArgument>> of_devices;
    // Each tensor gets a region of its own, far from the others, so that an access past its end hits none.
    // It begins as far behind a multiple of what vectors and bulk copies need as its memory does.
    constexpr std::uint64_t widest = 16;
    std::uint64_t next = std::uint64_t{1} << 40;
    const auto add_device = [&](const std::vector<Argument>& args) {
        std::vector<std::uint64_t> addresses;
        for (std::size_t i = 0; i < args.size(); ++i) {
            for (const PassedTensor& passed : passed_tensors(args[i])) {
                const Tensor& tensor = *passed.host;
                const std::uint64_t start = next + reinterpret_cast<std::uintptr_t>(tensor.data()) % widest;
                // Where the parameter is const the simulator refuses stores.
                buffers.push_back({const_cast<std::byte*>(tensor.data()),
                                   static_cast<std::int64_t>(tensor.size_bytes()), start,
                                   may_only_read(program.params()[i])});
                addresses.push_back(start);
                next += (tensor.size_bytes() / 4096 + 2) * 4096;
            }
        }
        const auto device = static_cast<std::uint32_t>(of_devices.size());
        std::vector<RawArgument>& arguments =
            of_devices.emplace_back(raw_arguments(program, args, addresses));
        constexpr std::uint64_t apart = 8192;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            RawArgument& argument = arguments[i];
            raw.push_back(argument.value);
            structures.push_back(std::move(argument.structure));
            for (PassedMap& map : argument.maps) {
                if (argument.in_memory) {
                    const sim::TensorMap made{next, map.address, map.geometry.extents, map.geometry.strides,
                                              &map.box};
                    const auto tensor = std::ranges::find_if(buffers, [&](const sim::GlobalBuffer& buffer) {
                        return map.address - buffer.address < static_cast<std::uint64_t>(buffer.bytes);
                    });
                    in_memory.push_back(sim::to_bytes(
                        made,
                        tensor == buffers.end() ? nullptr : tensor->data + (map.address - tensor->address)));
                    buffers.push_back({in_memory.back().data(), isa::map_bytes, next, false});
                    raw.back() = next;
                    next += apart;
                    continue;
                }
                // The kernel sees it where its parameter is.
                const std::uint64_t place =
                    isa::param_base +
                    static_cast<std::uint64_t>(program.param_offset(static_cast<int>(i)) + map.offset);
                const std::uint64_t handle = isa::generic_of(isa::Space::param, place);
                maps.push_back({handle, map.address, std::move(map.geometry.extents),
                                std::move(map.geometry.strides), &map.box, device});
                if (structures.back().empty()) raw.back() = handle;
            }
        }
    };
    add_device(options.args);
    std::ranges::for_each(options.further_devices, add_device);
    for (const Param& param : program.params()) {
        if (!param.variable) continue;
        const std::span<std::byte> bytes = origin->memory().find(param.name);
        buffers.push_back({bytes.data(), static_cast<std::int64_t>(bytes.size()), next, param.constant});
        raw.push_back(next);
        next += (bytes.size() / 4096 + 2) * 4096;
    }
    structures.resize(raw.size());
    sim::SimulatedLaunch launch;
    launch.grid = options.grid;
    launch.devices.count = static_cast<std::uint32_t>(of_devices.size());
    launch.params = raw;
    launch.structures = structures;
    launch.buffers = buffers;
    launch.tensor_maps = maps;
    launch.seed = options.seed;
    launch.stop = options.stop;
    launch.observer = options.observer;
    sim::Executed executed;
    if (options.coverage != nullptr) launch.executed = &executed;
    launch.overlap = overlap;
    launch.synthetic = synthetic;
    launch.numerics = options.numerics;
    launch.timeout = options.simulation.timeout;
    launch.most_steps = options.simulation.steps;
    if (options.simulation.multiprocessors > 0) launch.multiprocessors = options.simulation.multiprocessors;
    launch.by_compiler = origin != nullptr || program.translated().has_value();
    MessageLog messages(program, options.grid, message_capacity(program));
    launch.messages = &messages;
    if (origin != nullptr)
        launch.weigh = [&](Diagnostic& finding) { tell(origin->module(), finding); };
    else if (program.translated())
        launch.weigh = tell_translated;
    const auto conclude = [&] {
        if (options.coverage != nullptr) options.coverage->add(program, executed.steps());
        print_messages(messages, options);
    };
    std::vector<Diagnostic> findings;
    try {
        findings = sim::run(program, launch).findings;
    } catch (sim::UnknownInstruction& unknown) {
        conclude();
        if (origin != nullptr) origin->name_instruction(unknown.finding());
        throw;
    } catch (...) {
        conclude();
        throw;
    }
    conclude();
    const auto is_error = [](const Diagnostic& finding) { return finding.severity == Severity::error; };
    // Not of std::ranges: clang 14 refuses libstdc++ 12's.
    std::stable_partition(findings.begin(), findings.end(), is_error);
    if (!findings.empty() && is_error(findings.front())) throw CheckError(std::move(findings));
    return findings;
}

}  // namespace wgrun
