// Ctrl-C.
#pragma once

#include <atomic>

namespace wgrun::cli {

/// From now on the first Ctrl-C raises `flag`; another one, while it is still raised, ends the process with
/// 130. Null: Ctrl-C ends the process, as before.
void on_interrupt(std::atomic<bool>* flag);

}  // namespace wgrun::cli
