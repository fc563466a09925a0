// All work of the process, for a tool that shows it in one line whatever thread does it.
#pragma once

#include <vector>

#include "wgrun/progress.hpp"

namespace wgrun {

/// Notified when work has ended: it must remove what it shows of it before the call returns, since something
/// else may be printed next. Called from the thread that did the work; must not throw.
class ProgressListener {
  public:
    virtual ~ProgressListener() = default;
    virtual void ended() noexcept = 0;
};

/// Sets the process's only listener, or null. Work that began before is not reported.
void set_progress_listener(ProgressListener* listener);

/// The pieces in flight, the outermost first; empty while there is no work.
std::vector<Progress::Part> progress_parts();

}  // namespace wgrun
