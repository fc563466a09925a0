// The output of k:print.
#pragma once

#include "program/messages.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun {

/// Passes the lines to options.print, or writes them to standard output.
void print_messages(const MessageLog& messages, const RunOptions& options);

}  // namespace wgrun
