// --watch: the command again, whenever the script changes.
#pragma once

#include <string>

namespace wgrun::cli {

/// Runs this command line, without --watch, in a process of its own, and again each time that `file` or
/// another script of its folder changes; a run that is not over is ended first. Ctrl-C ends it all. Throws
/// ArgumentError where `file` cannot be watched.
int watch(const std::string& file, int argc, char** argv);

}  // namespace wgrun::cli
