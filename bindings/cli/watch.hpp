// --watch: runs the command again whenever the script changes.
#pragma once

#include <string>

namespace wgrun::cli {

/// Runs this command line, without --watch, in a process of its own, and again each time that `file` or
/// another script in its folder changes; a run that is still going on is ended first. Ctrl-C ends it. Throws
/// ArgumentError if `file` cannot be watched.
int watch(const std::string& file, int argc, char** argv);

}  // namespace wgrun::cli
