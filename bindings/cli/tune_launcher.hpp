// `wgrun tune` on many machines, by what sites run already: Slurm's job arrays, or GNU parallel over ssh.
//
// A shell script runs one shard, and is all that the machines are given: they share the file system. A shard
// whose machine dies leaves its results, and no mark that it is done; it is started again, and knows what it
// had measured.
#pragma once

#include <string>

#include "bindings/cli/cli.hpp"
#include "bindings/cli/tune_records.hpp"

namespace wgrun::cli {

struct LauncherOptions {
    std::string launcher;  ///< "slurm" or "parallel"
    int shards = 1;
    std::string arguments;  ///< further ones of sbatch or parallel, as a shell reads them
    std::string hosts;      ///< of parallel: a file with a line for each machine; empty: this one
    bool gpu = true;        ///< of Slurm: a shard gets one
    std::string results;    ///< where the results of all shards are merged
};

/// Runs all shards to their end, and merges their results. ArgumentError without a place for results;
/// EnvironmentError ENOENT without the launcher's program, EIO when shards fail however often they are
/// started: then what they have measured is merged and kept.
void launch_shards(const Request& request, const LauncherOptions& options);

}  // namespace wgrun::cli
