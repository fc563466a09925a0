// Timelines that C holds.
#include "wgrun/timeline.hpp"

#include <array>
#include <map>
#include <mutex>
#include <tuple>

#include "bindings/c/convert.hpp"
#include "bindings/c/structs.hpp"
#include "bindings/c/with_kernel.hpp"
#include "wgrun/host_launch.hpp"

namespace wgrun::c {

/// Immutable; its texts are made on first use. Thread-safe.
class HeldTimeline {
  public:
    explicit HeldTimeline(Timeline made) : timeline(std::move(made)) {
        for (const Timeline::Span& span : timeline.spans) span_files.emplace_back(span.where.file);
        for (const Timeline::Requests& of : timeline.requests) request_files.emplace_back(of.where.file);
    }

    const std::string& text(int format, int columns, double from, double to) {
        const std::lock_guard lock(mutex_);
        const auto [found, made] = texts_.try_emplace({format, columns, from, to});
        if (made) found->second = make(format, columns, from, to);
        return found->second;
    }

    const Timeline timeline;
    std::vector<std::string> span_files, request_files;  ///< strings that end with NUL

  private:
    std::string make(int format, int columns, double from, double to) const {
        const std::span<const Timeline> only(&timeline, 1);
        switch (format) {
            case WGRUN_TIMELINE_TEXT: return to_text(timeline, columns, from, to);
            case WGRUN_TIMELINE_SVG: return to_svg(only, from, to);
            case WGRUN_TIMELINE_HTML: return to_html(only, from, to);
            case WGRUN_TIMELINE_PERFETTO: return to_chrome(only);
            default: return to_json(timeline);
        }
    }

    std::mutex mutex_;
    std::map<std::tuple<int, int, double, double>, std::string> texts_;
};

template <>
inline constexpr Kind kind_of<HeldTimeline> = Kind::timeline;

namespace {

template <class T>
const T& at(const std::vector<T>& list, std::size_t index, const char* what) {
    if (index >= list.size())
        refuse_argument(std::string(what) + " " + std::to_string(index) + " of " +
                        std::to_string(list.size()));
    return list[index];
}

/// Runs the launch on the caller's memory, and lays it out by `make`.
template <class Make>
int lay_out(wgrun_kernel* handle, const wgrun_launch* launch, wgrun_timeline** out, Make make) {
    return with_limited_work(handle, [&](KernelRef& ref) {
        result(out, "timeline");
        HostSimulation wanted = launch_of(launch);
        wanted.limits.steps = ref.engine().limits.simulation_steps;
        const HostRun run = run_of(*ref.kernel, wanted);
        give_handle(out, std::make_shared<HeldTimeline>(make(*ref.kernel, run.options, wanted.backend)));
    });
}

constexpr int least_columns = 32, most_columns = 1000, usual_columns = 80;

}  // namespace
}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

int wgrun_kernel_timeline(wgrun_kernel* kernel, const wgrun_launch* launch, wgrun_timeline** timeline) {
    return lay_out(kernel, launch, timeline,
                   [](wgrun::Kernel& of, const wgrun::RunOptions& run, wgrun::Backend) {
                       return wgrun::timeline_of(of, run);
                   });
}

int wgrun_kernel_profile(wgrun_kernel* kernel, const wgrun_launch* launch, int clusters, int64_t events,
                         wgrun_timeline** timeline) {
    return lay_out(kernel, launch, timeline,
                   [&](wgrun::Kernel& of, const wgrun::RunOptions& run, wgrun::Backend backend) {
                       wgrun::ProfileOptions profile;
                       if (clusters < 0 || events < 0) refuse_argument("clusters or events is negative");
                       static_cast<wgrun::RunOptions&>(profile) = run;
                       profile.backend = backend;
                       if (clusters > 0) profile.clusters = clusters;
                       if (events > 0) profile.events = events;
                       return wgrun::profile_of(of, profile);
                   });
}

int wgrun_timeline_close(wgrun_timeline* timeline) {
    return answer([&] { close_handle(Kind::timeline, timeline); });
}

int wgrun_timeline_info_get(const wgrun_timeline* handle, wgrun_timeline_info* info) {
    return answer([&] {
        const auto held = find<HeldTimeline>(handle);
        const wgrun::Timeline& timeline = held->timeline;
        wgrun_timeline_info out{};
        out.kernel = timeline.kernel.c_str();
        out.source = to_string(timeline.source).data();  // constants, which end with NUL
        out.cycles = timeline.cycles;
        out.microseconds = timeline.microseconds;
        out.ghz = timeline.ghz;
        out.tensor_busy = timeline.tensor;
        out.memory_busy = timeline.memory;
        out.ctas = timeline.ctas;
        out.shown = timeline.shown;
        out.dropped = timeline.dropped;
        out.dropped_warps = timeline.dropped_warps;
        out.row_count = timeline.rows.size();
        out.span_count = timeline.spans.size();
        out.request_count = timeline.requests.size();
        out.verdict_count = timeline.verdict.size();
        write_struct(info, out, "info");
    });
}

int wgrun_timeline_row_get(const wgrun_timeline* handle, size_t index, wgrun_timeline_row* row) {
    return answer([&] {
        const auto held = find<HeldTimeline>(handle);
        const wgrun::Timeline::Row& found = at(held->timeline.rows, index, "row");
        wgrun_timeline_row out{};
        out.name = found.name.c_str();
        out.warp = found.warp;
        out.exclusive = found.exclusive ? 1 : 0;
        write_struct(row, out, "row");
    });
}

int wgrun_timeline_span_get(const wgrun_timeline* handle, size_t index, wgrun_timeline_span* span) {
    return answer([&] {
        const auto held = find<HeldTimeline>(handle);
        const wgrun::Timeline::Span& found = at(held->timeline.spans, index, "span");
        wgrun_timeline_span out{};
        out.row = found.row;
        out.line = found.where.line;
        out.kind = to_string(found.kind).data();  // constants, which end with NUL
        out.begin = found.begin;
        out.end = found.end;
        out.what = found.what.c_str();
        out.file = held->span_files[index].c_str();
        write_struct(span, out, "span");
    });
}

int wgrun_timeline_requests_get(const wgrun_timeline* handle, size_t index,
                                wgrun_timeline_requests* requests) {
    return answer([&] {
        const auto held = find<HeldTimeline>(handle);
        const wgrun::Timeline::Requests& found = at(held->timeline.requests, index, "requests");
        wgrun_timeline_requests out{};
        out.shared = found.shared ? 1 : 0;
        out.line = found.where.line;
        out.what = found.what.c_str();
        out.file = held->request_files[index].c_str();
        out.count = found.count;
        out.units = found.units;
        out.needed = found.needed;
        write_struct(requests, out, "requests");
    });
}

int wgrun_timeline_verdict(const wgrun_timeline* handle, size_t index, const char** sentence) {
    return answer([&] {
        const auto held = find<HeldTimeline>(handle);
        result(sentence, "sentence") = at(held->timeline.verdict, index, "sentence").c_str();
    });
}

int wgrun_timeline_text(wgrun_timeline* handle, int format, int columns, double from, double to,
                        const char** text, size_t* length) {
    return answer([&] {
        const auto held = find<HeldTimeline>(handle);
        if (format < WGRUN_TIMELINE_TEXT || format > WGRUN_TIMELINE_JSON)
            refuse_argument("format " + std::to_string(format) + ": not a wgrun_timeline_format");
        if (columns == 0) columns = usual_columns;
        if (columns < least_columns || columns > most_columns)
            refuse_argument("columns is " + std::to_string(columns) + ": 32 to 1000");
        if (!(from >= 0) || !(to >= 0)) refuse_argument("from and to are cycles: 0 or more");
        const std::string& made = held->text(format, columns, from, to);
        result(text, "text") = made.c_str();
        if (length != nullptr) *length = made.size();
    });
}

}  // extern "C"
