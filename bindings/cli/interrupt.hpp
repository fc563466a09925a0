// Ctrl-C.
#pragma once

namespace wgrun::cli {

/// From now on the first Ctrl-C stops the script; another one, before the script has stopped, ends the
/// process with exit code 130.
void watch_interrupts();

}  // namespace wgrun::cli
