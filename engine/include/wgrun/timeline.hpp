// What a kernel does when: a run of the simulator, laid out in time by a model of an H200's SM
// (docs/timeline.md). Plain values, and functions that any thread may call.
#pragma once

#include <string>
#include <vector>

#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// All times are cycles of the SM from the start of its first CTA.
struct Timeline {
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
        bool exclusive = false;  ///< its spans do not overlap
    };
    struct Span {
        int row = 0;
        Kind kind = Kind::work;
        double begin = 0, end = 0;
        std::string what;  ///< "pipeline_full[2], phase 3", "m64n256k16"
        Where where;       ///< of the step that waits, or that began it
    };
    std::string kernel;
    std::vector<Row> rows;
    std::vector<Span> spans;  ///< by row, then by time
    double cycles = 0;        ///< until the last CTA that is shown has ended
    double microseconds = 0;  ///< of a launch among others: with what comes before the first CTA
    double ghz = 0;           ///< that this supposes
    int ctas = 0;             ///< that the SM runs in the launch, one after the other or at a time
    int shown = 0;            ///< of them
    double tensor = 0,
           memory = 0;  ///< shares of the time that the tensor core, and the way to the SM, are busy
    /// What limits the kernel, the most important first: "producer waits for empty stages ...".
    std::vector<std::string> verdict;
};

/// Runs one cluster of the launch on the simulator and lays its steps out in time. The tensors hold what that
/// cluster has computed. Throws what Kernel::run throws; ArgumentError for runs that are too long to record.
Timeline timeline_of(Kernel& kernel, const RunOptions& options);

/// A row of characters for each warp and engine, `columns` wide, with a legend. From cycle `from` to `to`; 0:
/// to the end.
std::string to_text(const Timeline& timeline, int columns = 80, double from = 0, double to = 0);
/// A complete SVG document, for light and dark pages.
std::string to_svg(const Timeline& timeline, double from = 0, double to = 0);
/// The trace event format of Chrome and Perfetto (ui.perfetto.dev); a microsecond there is one here.
std::string to_chrome(const Timeline& timeline);
/// The whole timeline; docs/timeline.md has the schema.
std::string to_json(const Timeline& timeline);

std::string_view to_string(Timeline::Kind kind);

}  // namespace wgrun

#pragma GCC visibility pop
