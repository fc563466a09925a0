// The output of k:print and of vprintf.
#pragma once

#include "program/messages.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun {

/// Passes the lines to options.print, or writes them to standard output: first what vprintf has printed.
void print_messages(const MessageLog& messages, const RunOptions& options);

}  // namespace wgrun
