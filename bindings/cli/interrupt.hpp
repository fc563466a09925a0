// Ctrl-C, and the other signals that end a process.
#pragma once

namespace wgrun::cli {

/// From now on the first Ctrl-C stops the script. A second one before the script has stopped, three seconds
/// in which it does not stop, or one while there is no script, end the process with exit code 130. Any signal
/// that ends the process, except SIGKILL, first removes its temporary files and ends the programs that it has
/// started.
void watch_signals();

}  // namespace wgrun::cli
