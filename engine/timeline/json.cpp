// A timeline for programs: as JSON, and as trace events of Chrome and Perfetto.
#include <fmt/format.h>

#include "diag/escape.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun {
namespace {

std::string place(const Where& where) {
    return where ? fmt::format("{}:{}", where.file.view(), where.line) : std::string();
}

}  // namespace

std::string to_chrome(std::span<const Timeline> timelines) {
    // Trace Event Format (Google, 2016): X is a complete event, b and e are the ends of one that may overlap
    // with others, M names a process or a row. Times are microseconds.
    std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
    std::size_t id = 0;
    const auto add = [&](std::string_view event) {
        out += out.ends_with('[') ? "\n" : ",\n";
        out += event;
    };
    for (std::size_t process = 1; process <= timelines.size(); ++process) {
        const Timeline& timeline = timelines[process - 1];
        const double scale = 1 / timeline.ghz / 1000;
        add(fmt::format(
            R"({{"ph": "M", "pid": {}, "name": "process_name", "args": {{"name": {}}}}})", process,
            escape::json_string(fmt::format("{} ({})", timeline.kernel, to_string(timeline.source)))));
        for (std::size_t row = 0; row < timeline.rows.size(); ++row) {
            const std::string of = fmt::format(R"("ph": "M", "pid": {}, "tid": {})", process, row + 1);
            add(fmt::format(R"({{{}, "name": "thread_name", "args": {{"name": {}}}}})", of,
                            escape::json_string(timeline.rows[row].name)));
            add(fmt::format(R"({{{}, "name": "thread_sort_index", "args": {{"sort_index": {}}}}})", of, row));
        }
        for (const Timeline::Span& span : timeline.spans) {
            const std::string name =
                escape::json_string(span.what.empty() ? std::string(to_string(span.kind)) : span.what);
            const std::string head =
                fmt::format(R"("pid": {}, "tid": {}, "cat": {}, "name": {})", process, span.row + 1,
                            escape::json_string(to_string(span.kind)), name);
            const std::string args =
                fmt::format(R"("args": {{"place": {}, "cycles": {:.0f}}})",
                            escape::json_string(place(span.where)), span.end - span.begin);
            if (timeline.rows[static_cast<std::size_t>(span.row)].exclusive) {
                add(fmt::format(R"({{"ph": "X", {}, "ts": {:.4f}, "dur": {:.4f}, {}}})", head,
                                span.begin * scale, (span.end - span.begin) * scale, args));
                continue;
            }
            ++id;
            add(fmt::format(R"({{"ph": "b", {}, "id": {}, "ts": {:.4f}, {}}})", head, id, span.begin * scale,
                            args));
            add(fmt::format(R"({{"ph": "e", {}, "id": {}, "ts": {:.4f}}})", head, id, span.end * scale));
        }
    }
    return out + "\n]}\n";
}

std::string to_json(const Timeline& timeline) {
    const bool model = timeline.source == Timeline::Source::model;
    std::string out = fmt::format(
        "{{\n  \"source\": {},\n  \"kernel\": {},\n  \"cycles\": {:.1f},\n  \"microseconds\": {:.3f},\n"
        "  \"ghz\": {:.3f},\n  \"ctas\": {},\n  \"shown\": {},\n  \"tensor_busy\": {:.4f},\n"
        "  \"memory_busy\": {},\n  \"dropped\": {},\n  \"dropped_warps\": {},\n  \"verdict\": [",
        escape::json_string(to_string(timeline.source)), escape::json_string(timeline.kernel),
        timeline.cycles, timeline.microseconds, timeline.ghz, timeline.ctas, timeline.shown, timeline.tensor,
        model ? fmt::format("{:.4f}", timeline.memory) : "null", timeline.dropped, timeline.dropped_warps);
    for (std::size_t i = 0; i < timeline.verdict.size(); ++i)
        out += (i == 0 ? "\n    " : ",\n    ") + escape::json_string(timeline.verdict[i]);
    out += "\n  ],\n  \"rows\": [";
    for (std::size_t row = 0; row < timeline.rows.size(); ++row) {
        const Timeline::Row& what = timeline.rows[row];
        out += fmt::format("{}\n    {{\"name\": {}, \"warp\": {}, \"exclusive\": {}}}", row == 0 ? "" : ",",
                           escape::json_string(what.name), what.warp < 0 ? "null" : std::to_string(what.warp),
                           what.exclusive);
    }
    out += "\n  ],\n  \"spans\": [";
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
        const Timeline::Span& span = timeline.spans[i];
        out += fmt::format(
            R"({}{{"row": {}, "kind": {}, "begin": {:.1f}, "end": {:.1f}, "what": {}, "file": {}, "line": {}}})",
            i == 0 ? "\n    " : ",\n    ", span.row, escape::json_string(to_string(span.kind)), span.begin,
            span.end, escape::json_string(span.what), escape::json_string(span.where.file), span.where.line);
    }
    out += "\n  ],\n  \"requests\": [";
    for (std::size_t i = 0; i < timeline.requests.size(); ++i) {
        const Timeline::Requests& of = timeline.requests[i];
        out += fmt::format(
            R"({}{{"what": {}, "shared": {}, "count": {}, "units": {}, "needed": {}, "file": {}, "line": {}}})",
            i == 0 ? "\n    " : ",\n    ", escape::json_string(of.what), of.shared, of.count, of.units,
            of.needed, escape::json_string(of.where.file), of.where.line);
    }
    return out + "\n  ]\n}\n";
}

}  // namespace wgrun
