// What a kernel does when: a run on the simulator, laid out in time by a model of an H200's SM, or a run that
// a GPU has recorded (docs/timeline.md). Functions are thread-safe for different kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// A timeline. All times are cycles of the SM from the start of its first CTA. A plain value.
struct Timeline {
    /// Where the times come from.
    enum class Source : unsigned char {
        model,  ///< the model of an H200's SM
        gpu,    ///< time timestamps that the kernel has written on a GPU
        steps,  ///< the same on the simulator: steps that warps have executed, instead of cycles
    };
    enum class Kind : unsigned char {
        work,      ///< a warp issues instructions, or waits for their results
        copies,    ///< a warp waits for an mbarrier that the bytes of copies complete
        arrivals,  ///< a warp waits for an mbarrier that other threads complete
        products,  ///< a warp waits in wgmma.wait_group
        stores,    ///< a warp waits in cp.async.bulk.wait_group: copies out of shared memory
        barrier,   ///< a warp waits at a barrier of the CTA or of the cluster
        loads,     ///< a warp waits for registers that are loaded from memory
        product,   ///< the tensor core multiplies
        transfer,  ///< bytes move to the SM or away from it
        flight,    ///< a copy, from its issue until its bytes have arrived
    };
    struct Row {
        std::string name;         ///< "producer", "consumer 1", "tensor core"
        int warp = -1;            ///< the warp of the CTA that stands for its role; -1: an engine of the SM
        bool exclusive = false;   ///< its spans do not overlap
        Kind shows = Kind::work;  ///< for an engine: the kind of its spans
    };
    struct Span {
        int row = 0;
        Kind kind = Kind::work;
        double begin = 0, end = 0;
        std::string what;  ///< "pipeline_full[2], phase 3", "m64n256k16"
        Where where;       ///< the step that waits, or that began the span
    };
    /// The requests of one line to memory, of the cluster that was recorded; a request is that of a warp, or
    /// a bulk copy.
    struct Requests {
        Where where;
        std::string what;          ///< "ld.global"; of boxes with their swizzle
        bool shared = false;       ///< to shared memory
        std::uint64_t count = 0;   ///< of requests
        std::uint64_t units = 0;   ///< sectors of 32 bytes that they move, or passes of the banks
        std::uint64_t needed = 0;  ///< that would do for their bytes
    };
    Source source = Source::model;
    std::string kernel;
    std::vector<Row> rows;
    std::vector<Span> spans;  ///< by row, then by time
    double cycles = 0;        ///< until the last CTA shown has ended
    /// model: duration of a launch among others, with the time before its first CTA; gpu: that of `cycles`;
    /// steps: 0.
    double microseconds = 0;
    double ghz = 0;  ///< the clock that the model assumes, or that was measured
    int ctas =
        0;  ///< CTAs that the SM runs in the launch, in turn or at a time; with timestamps, those recorded
    int shown = 0;  ///< CTAs of these in the timeline
    double tensor =
        0;  ///< share of time with the tensor core busy, 0..1; with timestamps, from its peak rate
    double memory = 0;                             ///< likewise the path to the SM; 0 with timestamps
    std::uint64_t dropped = 0, dropped_warps = 0;  ///< timestamps and warps for which there was no room
    std::vector<Requests> requests;                ///< in the order of the program; none with timestamps
    /// What limits the kernel, the most important limit first: "producer waits for empty stages ...".
    std::vector<std::string> verdict;
};

/// Runs one cluster of the launch on the simulator and lays its steps out in time. The tensors then hold what
/// that cluster computed. Throws what Kernel::run throws; ArgumentError for runs that are too long to record.
Timeline timeline_of(Kernel& kernel, const RunOptions& options);

/// How many time timestamps a launch has room for.
struct ProfileOptions : RunOptions {
    int clusters = 1;  ///< the first clusters of the grid are recorded, and those that run on their SMs later
    std::int64_t events = 4096;  ///< per warp
};

/// Runs the launch, on the GPU or the simulator, with a build of the kernel that records when its warps wait,
/// copy and multiply, and lays that out. The tensors hold the results. Throws what Kernel::run throws;
/// ArgumentError if the timestamps need more than 2 GiB.
Timeline profile_of(Kernel& kernel, const ProfileOptions& options);

/// A row of characters for each warp and engine, `columns` wide, with a legend. It shows the cycles `from` to
/// `to`; 0: to the end.
std::string to_text(const Timeline& timeline, int columns = 80, double from = 0, double to = 0);
/// A complete SVG document, for light and dark pages.
std::string to_svg(const Timeline& timeline, double from = 0, double to = 0);
/// Several timelines one below the other; those in units of time share one scale.
std::string to_svg(std::span<const Timeline> timelines, double from = 0, double to = 0);
/// A page of HTML with that picture.
std::string to_html(std::span<const Timeline> timelines, double from = 0, double to = 0);
/// The trace event format of Chrome and Perfetto (ui.perfetto.dev), with a process for each timeline; its
/// microseconds are the timeline's.
std::string to_chrome(std::span<const Timeline> timelines);
/// The whole timeline; docs/timeline.md has the schema.
std::string to_json(const Timeline& timeline);

std::string_view to_string(Timeline::Kind kind);
std::string_view to_string(Timeline::Source source);  ///< "model", "gpu", "simulator"
/// One line: the duration, the work that it covers, and the clock.
std::string headline(const Timeline& timeline);

}  // namespace wgrun

#pragma GCC visibility pop
