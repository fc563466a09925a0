// Where the lines of k:print go.
#pragma once

#include "program/messages.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun {

/// Hands the lines to options.print, or writes them to standard output.
void print_messages(const MessageLog& messages, const RunOptions& options);

}  // namespace wgrun
