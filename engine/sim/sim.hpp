// The CPU machine: runs a program as an sm_90 GPU would, and reports every ordering fault of the run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "program/messages.hpp"
#include "sim/devices.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"
#include "wgrun/target.hpp"

namespace wgrun::sim {

class Executed;  // executed.hpp
class Observer;  // observer.hpp
struct Overlap;  // overlap.hpp

/// A piece of host memory that the kernel sees as global memory.
struct GlobalBuffer {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    std::uint64_t address = 0;  ///< where the kernel sees it
    bool constant = false;      ///< the kernel declared it read-only: stores are refused
};

/// A tensor map: a tensor in global memory, and the box of the parameter that the map is passed for.
struct TensorMap {
    std::uint64_t handle = 0;           ///< the value of the parameter: where the kernel sees the map
    std::uint64_t address = 0;          ///< of the tensor, as the kernel sees it
    std::vector<std::int64_t> extents;  ///< elements, dimension 0 contiguous
    std::vector<std::int64_t> strides;  ///< bytes, of dimensions 1 and up
    const TensorBox* box = nullptr;
    std::uint32_t device = 0;  ///< that has this parameter
};

/// By the handle of a tensor map: the bytes of its boxes.
using BoxSizes = std::map<std::uint64_t, std::uint32_t>;

/// What is made up of a launch: the run ends, without further findings, where it would depend on that.
struct Synthetic {
    bool numbers = true;  ///< the numbers among the arguments, and the grid; else memory alone
    /// What memory holds in which the launch has no tensor, as words of 32 bits. The whole launch is
    /// synthetic then, and what memory holds decides as a launch's own would; accesses to no tensor do no
    /// harm, and boxes that no tensor map describes bring the bytes that their mbarriers expect. Nothing: as
    /// above.
    std::optional<std::uint32_t> memory{};
    std::uint64_t first = 0;         ///< the cluster of the grid that is run first
    std::uint64_t clusters = 1;      ///< of the grid that are run, the first ones
    std::uint64_t steps = 1U << 17;  ///< of a cluster: what has not shown by then is left to a launch
    /// When the run ends, too; nothing: never.
    std::optional<std::chrono::steady_clock::time_point> until{};
    /// How long the boxes are that no tensor map describes; a run that comes to its end adds what it tells.
    /// Null: nobody knows.
    BoxSizes* boxes = nullptr;
    bool goes_on = false;  ///< after an error as before it; else it ends soon then
    /// Where a run first ended before its end, other than by a finding; untouched if none did.
    EndOfRunAhead* ended = nullptr;
};

/// What a launch is to the simulator.
struct SimulatedLaunch {
    Dim3 grid;        ///< of each device
    Devices devices;  ///< that run it, and share the buffers
    /// Raw 64-bit values, one per parameter: those of the first device, then those of the next one.
    std::span<const std::uint64_t> params;
    /// The bytes of the parameters that are structures, as `params`, the others empty; none at all where no
    /// parameter is a structure.
    std::span<const std::vector<std::byte>> structures;
    std::span<const GlobalBuffer> buffers;
    std::span<const TensorMap> tensor_maps;
    std::uint64_t seed = 0;  ///< of the scheduler: the same seed gives the same run
    /// Checks the order of shared-memory accesses (WG-RACE, WG-PROXY, WG-MEM-04). Bounds, registers and
    /// barriers are always checked.
    bool detect_races = true;
    isa::Numerics numerics;                   ///< how wgmma accumulates
    const std::atomic<bool>* stop = nullptr;  ///< polled; the run ends with Error EINTR
    std::chrono::milliseconds timeout{0};     ///< from `started` on; 0: none. Ends with ETIMEDOUT
    std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
    int multiprocessors = sm_90a.multiprocessors;
    std::uint64_t most_steps = 0;  ///< warp instructions of the whole grid; 0: any number. Ends with ELIMIT
    /// Receives what threads print, however the run ends. A failed assertion or a trap ends the cluster and
    /// is a finding.
    MessageLog* messages = nullptr;
    /// Is told each finding before its severity counts, and may change it. On any thread.
    std::function<void(Diagnostic&)> weigh{};
    bool by_compiler = false;              ///< copies of registers are no accesses (WgmmaUnit::copy)
    const Synthetic* synthetic = nullptr;  ///< null: nothing
    /// Observes the run. Clusters then run one after the other, on the caller's thread; an exception of the
    /// observer ends the run.
    Observer* observer = nullptr;
    /// Notes which steps are executed, however the run ends. Null: nobody asks.
    Executed* executed = nullptr;
    /// Launches that may run at the same time, before and after this one. Null: there are none.
    Overlap* overlap = nullptr;
};

struct Outcome {
    std::vector<Diagnostic> findings;  ///< each (rule, place) once
    std::uint64_t steps = 0;           ///< warp instructions executed
    std::uint64_t mmas = 0;            ///< wgmma instructions executed
};

/// A thread has reached an instruction that the simulator does not know; its place is the instruction's.
class UnknownInstruction : public ArgumentError {
  public:
    using ArgumentError::ArgumentError;
};

/// Runs every cluster of the grid on each device, on as many host threads as the machine has. The outcome
/// depends on the seed alone: the findings are all those of the first cluster that has an error, or, if none
/// has, of the first that has a warning; those of other clusters are dropped. Throws ArgumentError when grid
/// or parameters do not fit the program; UnknownInstruction; EnvironmentError when stopped (EINTR) or when
/// the run exceeds its limits (ETIMEDOUT, ELIMIT).
Outcome run(const Program& program, const SimulatedLaunch& launch);

}  // namespace wgrun::sim
