// What a kernel does when: a run of the simulator, laid out in time by a model of an H200's SM, or what a GPU
// has noted of a run (docs/timeline.md). Plain values, and functions that any thread may call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// All times are cycles of the SM from the start of its first CTA.
struct Timeline {
    /// Where the times come from.
    enum class Source : unsigned char {
        model,  ///< of an H200's SM
        gpu,    ///< stamps that the kernel has made there
        steps,  ///< stamps on the simulator: steps that warps have executed, instead of cycles
    };
    enum class Kind : unsigned char {
        work,      ///< a warp issues instructions, or waits for the result of one
        copies,    ///< waits for an mbarrier that bytes of copies complete
        arrivals,  ///< waits for an mbarrier that other threads complete
        products,  ///< wgmma.wait_group
        stores,    ///< cp.async.bulk.wait_group: copies out of shared memory
        barrier,   ///< waits at a barrier of the CTA or of the cluster
        loads,     ///< waits for registers that come from memory
        product,   ///< the tensor core multiplies
        transfer,  ///< bytes go to the SM, or leave it
        flight,    ///< a copy, from its issue until its bytes are there
    };
    struct Row {
        std::string name;  ///< "producer", "consumer 1", "tensor core"
        int warp = -1;     ///< of the CTA, that stands for the others of its role; -1: an engine of the SM
        bool exclusive = false;   ///< its spans do not overlap
        Kind shows = Kind::work;  ///< of an engine: the kind of its spans
    };
    struct Span {
        int row = 0;
        Kind kind = Kind::work;
        double begin = 0, end = 0;
        std::string what;  ///< "pipeline_full[2], phase 3", "m64n256k16"
        Where where;       ///< of the step that waits, or that began it
    };
    Source source = Source::model;
    std::string kernel;
    std::vector<Row> rows;
    std::vector<Span> spans;  ///< by row, then by time
    double cycles = 0;        ///< until the last CTA that is shown has ended
    /// Of a launch among others, with what comes before the first CTA; of stamps, that of `cycles`. 0 of
    /// steps.
    double microseconds = 0;
    double ghz = 0;  ///< that this supposes, or that was measured
    int ctas =
        0;  ///< that the SM runs in the launch, one after the other or at a time; of stamps, that were noted
    int shown = 0;  ///< of them
    double tensor =
        0;  ///< share of the time that the tensor core is busy; of stamps, by the law of its speed
    double memory = 0;                             ///< likewise, the way to the SM; stamps say nothing of it
    std::uint64_t dropped = 0, dropped_warps = 0;  ///< stamps, and whole warps, for which there was no room
    /// What limits the kernel, the most important first: "producer waits for empty stages ...".
    std::vector<std::string> verdict;
};

/// Runs one cluster of the launch on the simulator and lays its steps out in time. The tensors hold what that
/// cluster has computed. Throws what Kernel::run throws; ArgumentError for runs that are too long to record.
Timeline timeline_of(Kernel& kernel, const RunOptions& options);

/// What the stamps of a launch are to have room for.
struct ProfileOptions : RunOptions {
    int clusters = 1;  ///< the first ones of the grid are noted, and those that run on their SMs later
    std::int64_t events = 4096;  ///< of each warp
};

/// Runs the launch with a build of the kernel that notes when its warps wait, copy and multiply, on the GPU
/// or on the simulator, and lays that out. The tensors hold the results. Throws what Kernel::run throws;
/// ArgumentError for more room than 2 GiB.
Timeline profile_of(Kernel& kernel, const ProfileOptions& options);

/// A row of characters for each warp and engine, `columns` wide, with a legend. From cycle `from` to `to`; 0:
/// to the end.
std::string to_text(const Timeline& timeline, int columns = 80, double from = 0, double to = 0);
/// A complete SVG document, for light and dark pages.
std::string to_svg(const Timeline& timeline, double from = 0, double to = 0);
/// Some of them one below the other; those that have times, on one scale.
std::string to_svg(std::span<const Timeline> timelines, double from = 0, double to = 0);
/// The trace event format of Chrome and Perfetto (ui.perfetto.dev), a process for each of them; a microsecond
/// there is one here.
std::string to_chrome(std::span<const Timeline> timelines);
/// The whole timeline; docs/timeline.md has the schema.
std::string to_json(const Timeline& timeline);

std::string_view to_string(Timeline::Kind kind);
std::string_view to_string(Timeline::Source source);  ///< "model", "gpu", "simulator"
/// One line: how long, for how much, by which clock.
std::string headline(const Timeline& timeline);

}  // namespace wgrun

#pragma GCC visibility pop
