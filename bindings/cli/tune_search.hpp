// The search of `wgrun tune`: takes every candidate through its steps, on all cores and GPUs.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bindings/cli/tune_records.hpp"

namespace wgrun::cli {

/// What a script describes.
struct Tuning {
    std::string name;
    std::string place;                 ///< what the measurements are valid for (Record)
    bool by_model = false;             ///< the cost model is the measure
    bool on_gpu = false;               ///< candidates are compiled and run on GPUs
    bool keeps = true;                 ///< the script wants results to be kept
    std::string file;                  ///< where the script wants them; empty: it leaves that open
    std::vector<std::string> options;  ///< by candidate
};

/// Of a search.
struct SearchOptions {
    int jobs = 1;                      ///< processes that trace, check and compile
    std::vector<std::string> devices;  ///< a worker for each; "" lets it see all, and use the first
    double prune =
        0;  ///< what the model expects to take so many times as long as the best is left out; 0: nothing
    std::chrono::milliseconds limit{120000};  ///< of a step
};

/// What became of a candidate.
struct Tried {
    enum class As : std::uint8_t { pending, measured, skipped };
    As as = As::pending;
    double microseconds = 0;
    bool cached = false;  ///< the record was there before
    std::string reason;   ///< why it was skipped
};

/// The candidates of shard `shard` of `shards`, which counts from 1: sorted by the hashes of their options,
/// they are dealt out in turn.
std::vector<std::size_t> shard_of(const Tuning& tuning, int shard, int shards);

/// Tries the candidates in `which`; the result is by candidate. Every record goes into the file at once.
/// Throws what TuneWorker and RecordFile throw.
std::vector<Tried> search(const Tuning& tuning, const std::vector<std::size_t>& which,
                          const SearchOptions& options, RecordFile& records);

}  // namespace wgrun::cli
