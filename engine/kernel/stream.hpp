// Launches on the simulator that a thread has started and not waited for: they may overlap each other as
// programmatic dependent launches do.
#pragma once

#include <memory>
#include <vector>

#include "sim/overlap.hpp"

namespace wgrun {

/// The stream of a thread. A launch of a kernel with griddepcontrol.wait begins when the one before executes
/// griddepcontrol.launch_dependents, and others when everything before has ended.
class Stream {
  public:
    static Stream& of_this_thread();

    /// A launch of `program` begins. Fills `overlap` with those that may still run.
    void begin(const Program& program, sim::Overlap& overlap);
    /// It has ended on the simulator. token: lives as long as the launch, after which its tensors may be
    /// gone.
    void end(const sim::Overlap& overlap, const std::shared_ptr<const void>& token);
    /// Waits for all of them.
    void wait() { started_.clear(); }

  private:
    struct Started {
        std::weak_ptr<const void> token;
        std::shared_ptr<const sim::Touched> touched;
    };
    std::vector<Started> started_;
};

}  // namespace wgrun
