// Ctrl-C, and the other signals that end a process.
#pragma once

namespace wgrun::cli {

/// From now on the first Ctrl-C stops the script; another one, before the script has stopped, or one while
/// there is none, ends the process with exit code 130. Whatever signal ends it (but SIGKILL), its temporary
/// files and the programs that it has started go first.
void watch_signals();

}  // namespace wgrun::cli
