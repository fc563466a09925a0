// What a Kernel holds: a source, what was made of it for the shapes of its launches, and how these start.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernel/look_ahead.hpp"
#include "kernel/specialisation.hpp"
#include "wgrun/host_launch.hpp"

namespace wgrun::gpu {
class HostContext;
}

namespace wgrun {

struct Kernel::State {
    explicit State(KernelSource of);

    /// That of the last launch.
    Specialisation& now() { return *kept.back(); }
    const Specialisation& now() const { return *kept.back(); }
    /// Makes that of the launch the last one.
    void fit(const RunOptions& options);
    void fit(const HostLaunch& launch);

    /// Those that a script launches, and the last one.
    std::vector<Specialisation*> foreseen();
    const std::vector<Diagnostic>& findings();
    std::vector<Verdict> verdicts(const Assumptions& given);

    /// The texts, where no rule that needs no launch is broken.
    KernelTexts& lawful();
    /// The back end that it should run on, if that is possible.
    Backend admitted(const RunOptions& options);
    std::shared_ptr<GpuKernel> compiled(Backend backend, gpu::Isolation isolation, bool lines = false);
    Launch launch(const RunOptions& options, Sharing sharing);
    Timing time_on_simulator(const TimeOptions& options);

    Hosted& hosted(Backend backend, bool unchecked);
    void load(Hosted& hosted, const gpu::HostContext& context);

    KernelSource source;
    std::vector<std::unique_ptr<Specialisation>> kept{};  ///< in the order of their last launches
    FindingSet forgotten{};                               ///< findings of foreseen ones that are not kept
    bool forgets = false;                                 ///< there were some
    FindingSet together{};                                ///< findings of all that are foreseen
    LookAhead ahead{};
    Builds of_text{};  ///< of a text, which is the same for all launches
    std::vector<Diagnostic> remarks{};
};

}  // namespace wgrun
