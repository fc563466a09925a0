#include "wgrun/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "check/pressure.hpp"
#include "kernel/errors.hpp"
#include "timeline/measured.hpp"
#include "timeline/one_device.hpp"
#include "timeline/verdict.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/progress.hpp"

namespace wgrun {
namespace {

using timeline::Costs;
using timeline::Occupancy;
using timeline::Schedule;
using timeline::StepCost;
using timeline::Trace;
namespace chip = timeline::chip;

/// CTAs that an SM holds at a time. The number of registers that the assembler uses is an estimate.
int resident_ctas(const Program& program) {
    constexpr int more = 16;  // registers that the estimate omits
    const Target::Residents residents =
        sm_90a.residents(program.threads(), program.shared_bytes(), check::Pressure(program).most() + more);
    return static_cast<int>(std::max<std::int64_t>(1, residents.least()));
}

/// Bytes that the recorded cluster moves from and to global memory.
double traffic(const Trace& trace, const Costs& costs) {
    double out = 0;
    for (const timeline::WarpTrace& warp : trace.warps) {
        for (const timeline::Event& event : warp.events)
            if ((event.kind == timeline::Event::Kind::copy || event.kind == timeline::Event::Kind::store) &&
                event.outside)
                out += event.bytes;
        for (const timeline::Item& item : warp.items) {
            const StepCost& cost = costs.of(item.pc);
            using enum StepCost::Kind;
            if (cost.kind == load || cost.kind == store || cost.kind == copy)
                out += timeline::bytes_of(item, cost);
        }
    }
    return out;
}

/// The share of that traffic that reaches memory: each byte of the tensors once, if they do not fit in the L2
/// cache.
double missed(const Program& program, const RunOptions& options, double traffic) {
    double tensors = 0;
    for (std::size_t i = 0; i < options.args.size() && i < program.params().size(); ++i)
        if (const auto* tensor = std::get_if<Tensor*>(&options.args[i]))
            tensors += static_cast<double>((*tensor)->size_bytes());
    // A smaller working set is in the L2 cache, except in the kernel's first run.
    if (tensors <= static_cast<double>(sm_90a.l2) || traffic <= 0) return 0;
    return std::min(1.0, tensors / traffic);
}

Occupancy occupancy_of(const Program& program, const RunOptions& options, const Trace& trace,
                       const Costs& costs, int& ctas) {
    constexpr int rounds = 3;  // rounds of CTAs that are laid out
    const auto size = static_cast<std::int64_t>(program.cluster().volume());
    const auto clusters = static_cast<std::int64_t>(options.grid.volume()) / size;
    ctas = static_cast<int>((clusters * size + sm_90a.multiprocessors - 1) / sm_90a.multiprocessors);
    Occupancy out;
    out.resident = resident_ctas(program);
    out.ctas = std::min(ctas, rounds * out.resident);
    out.missed = missed(program, options, traffic(trace, costs) * static_cast<double>(clusters));
    return out;
}

void add_rows(Timeline& out, const timeline::Roles& roles) {
    using Kind = Timeline::Kind;
    for (const timeline::Role& role : roles.list)
        out.rows.push_back({role.name, role.warp, true, Kind::work});
    if (out.source == Timeline::Source::model) {
        out.rows.push_back({"tensor core", -1, true, Kind::product});
        out.rows.push_back({"memory to SM", -1, true, Kind::transfer});
    } else {
        out.rows.push_back({"products", -1, false, Kind::product});
    }
    out.rows.push_back({"copies", -1, false, Kind::flight});
}

/// Sorts the spans of a schedule, and splits the work of warps at their waits.
void add_spans(Timeline& out, const Schedule& schedule, std::vector<int>& barriers) {
    std::vector<std::size_t> order(schedule.spans.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const Timeline::Span &x = schedule.spans[a], &y = schedule.spans[b];
        const bool x_work = x.kind != Timeline::Kind::work, y_work = y.kind != Timeline::Kind::work;
        return std::tie(x.row, x.begin, x_work) < std::tie(y.row, y.begin, y_work);
    });
    const auto add = [&](const Timeline::Span& span, int barrier) {
        out.spans.push_back(span);
        barriers.push_back(barrier);
    };
    const Timeline::Span* work = nullptr;  // and the time from which it remains
    double from = 0;
    const auto cut = [&](double to) {
        if (work == nullptr || std::min(to, work->end) <= from) return;
        Timeline::Span piece = *work;
        piece.begin = from;
        piece.end = std::min(to, work->end);
        add(piece, -1);
    };
    for (std::size_t i : order) {
        const Timeline::Span& span = schedule.spans[i];
        if (work != nullptr && (span.kind == Timeline::Kind::work || span.row != work->row)) {
            cut(work->end);
            work = nullptr;
        }
        if (span.kind == Timeline::Kind::work) {
            work = &span;
            from = span.begin;
            continue;
        }
        cut(span.begin);
        from = std::max(from, span.end);
        add(span, schedule.barriers[i]);
    }
    if (work != nullptr) cut(work->end);
}

}  // namespace

Timeline timeline_of(Kernel& kernel, const RunOptions& options) {
    timeline::expect_one_device(kernel.program(), options);
    timeline::Recorder recorder;
    RunOptions run = options;
    run.backend = Backend::sim;
    run.observer = &recorder;
    const Progress progress(Progress::Is::work, kernel.program().name() + ": making its timeline");
    try {
        kernel.run(run);
    } catch (const timeline::Recorded&) {
    }
    throw_errors_of(recorder.findings());
    const Trace trace = recorder.take();
    const Program& program = kernel.program();
    const sim::Code code = sim::flatten(program);
    const Costs costs(code);
    const timeline::Roles roles = timeline::roles_of(trace, costs);
    Timeline out;
    out.kernel = program.name();
    const Occupancy occupancy = occupancy_of(program, options, trace, costs, out.ctas);
    Schedule schedule = timeline::schedule(code, costs, trace, occupancy, roles, program.registers().size());
    out.cycles = schedule.cycles;
    out.shown = occupancy.ctas;
    out.tensor = schedule.tensor_busy / std::max(schedule.cycles, 1.0);
    out.memory = schedule.memory_busy / std::max(schedule.cycles, 1.0);
    out.ghz = chip::ghz(out.tensor);
    const double all = schedule.cycles * out.ctas / std::max(out.shown, 1);
    out.microseconds = (all + chip::launch_cycles) / out.ghz / 1000;
    add_rows(out, roles);
    std::vector<int> barriers;
    add_spans(out, schedule, barriers);
    out.verdict = timeline::verdict(out, barriers, trace, roles);
    out.requests = recorder.requests().list(code);
    return out;
}

Timeline profile_of(Kernel& kernel, const ProfileOptions& options) {
    const timeline::Timestamps timestamps = timeline::timestamps_of(kernel, options);
    timeline::Measured measured = timeline::measured(kernel.program(), timestamps, options.clusters);
    Timeline out;
    out.source = timestamps.source;
    out.kernel = kernel.program().name();
    out.cycles = measured.schedule.cycles;
    const bool timed = out.source == Timeline::Source::gpu;  // steps do not measure time
    if (timed) out.tensor = measured.schedule.tensor_busy / std::max(out.cycles, 1.0);
    out.ghz = measured.ghz;
    out.microseconds = measured.microseconds;
    out.ctas = measured.ctas;
    out.shown = measured.shown;
    out.dropped = timestamps.dropped;
    out.dropped_warps = timestamps.dropped_warps;
    add_rows(out, measured.roles);
    out.rows.insert(out.rows.end(), measured.others.begin(), measured.others.end());
    std::vector<int> barriers;
    add_spans(out, measured.schedule, barriers);
    if (timed) out.verdict = timeline::verdict(out, barriers, measured.trace, measured.roles);
    return out;
}

std::string_view to_string(Timeline::Source source) {
    constexpr std::string_view names[] = {"model", "gpu", "simulator"};
    return names[static_cast<std::size_t>(source)];
}

std::string headline(const Timeline& timeline) {
    const std::string of = fmt::format("for {} of an SM", count_of(timeline.shown, "CTA"));
    switch (timeline.source) {
        case Timeline::Source::gpu:
            return fmt::format("{}, recorded on the GPU: {:.0f} cycles {}, about {:.1f} us at {:.2f} GHz",
                               timeline.kernel, timeline.cycles, of, timeline.microseconds, timeline.ghz);
        case Timeline::Source::steps:
            return fmt::format(
                "{}, recorded on the simulator: {:.0f} steps of warps {}: an order of events, not times",
                timeline.kernel, timeline.cycles, of);
        default:
            return fmt::format("{}: {:.0f} cycles {}, about {:.1f} us at {:.2f} GHz", timeline.kernel,
                               timeline.cycles, of, timeline.microseconds, timeline.ghz);
    }
}

std::string_view to_string(Timeline::Kind kind) {
    constexpr std::string_view names[] = {"work",
                                          "wait for copies",
                                          "wait for arrivals",
                                          "wait for products",
                                          "wait for stores",
                                          "wait at a barrier",
                                          "wait for loads",
                                          "product",
                                          "transfer",
                                          "copy"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace wgrun
