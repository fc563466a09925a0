// kernel:timeline and kernel:profile: tables of when a cluster does what.
#include "bindings/lua/timeline.hpp"

#include <span>

#include "bindings/lua/args.hpp"
#include "bindings/lua/launch_options.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun::lua {
namespace {

constexpr Option profile_key[] = {
    {"clusters", "integer = 1",
     "how many clusters of the grid are noted, and those that run on their SMs later"},
    {"events", "integer = 4096", "room for so many events of each warp"}};
constexpr auto profile_keys = joined(launch_keys, profile_key);

/// The timelines by their tables, in the registry; a table that is collected takes its timeline along.
constexpr char timelines_key = 0;

void keep_timeline(lua_State* L, int table, const Timeline& timeline) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &timelines_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_createtable(L, 0, 1);
        lua_pushliteral(L, "k");
        lua_setfield(L, -2, "__mode");
        lua_setmetatable(L, -2);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &timelines_key);
    }
    lua_pushvalue(L, table);
    auto& kept = held<Timeline>(L);
    guarded(L, [&] { kept = timeline; });
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/// A timeline with its texts. Does not live in a C++ frame.
struct Texts {
    Timeline timeline;
    std::string text, svg, html, perfetto, json;
};

// What the prompt shows of a timeline, and print.
int timeline_tostring(lua_State* L) { return lua_getfield(L, 1, "text"), 1; }

void push_timeline(lua_State* L, const Texts& texts) {
    const Timeline& timeline = texts.timeline;
    lua_createtable(L, 0, 19);
    put_string(L, "source", to_string(timeline.source));
    put_integer(L, "dropped", static_cast<std::int64_t>(timeline.dropped));
    put_integer(L, "dropped_warps", static_cast<std::int64_t>(timeline.dropped_warps));
    put_number(L, "cycles", timeline.cycles);
    put_number(L, "microseconds", timeline.microseconds);
    put_number(L, "ghz", timeline.ghz);
    put_number(L, "tensor_busy", timeline.tensor);
    if (timeline.source == Timeline::Source::model) put_number(L, "memory_busy", timeline.memory);
    put_string(L, "text", texts.text);
    put_string(L, "svg", texts.svg);
    put_string(L, "html", texts.html);
    put_string(L, "perfetto", texts.perfetto);
    put_string(L, "json", texts.json);
    lua_createtable(L, static_cast<int>(timeline.verdict.size()), 0);
    for (std::size_t i = 0; i < timeline.verdict.size(); ++i) {
        lua_pushlstring(L, timeline.verdict[i].data(), timeline.verdict[i].size());
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "verdict");
    lua_createtable(L, static_cast<int>(timeline.rows.size()), 0);
    for (std::size_t i = 0; i < timeline.rows.size(); ++i) {
        lua_createtable(L, 0, 3);
        put_string(L, "name", timeline.rows[i].name);
        if (timeline.rows[i].warp >= 0) put_number(L, "warp", timeline.rows[i].warp);
        put_boolean(L, "exclusive", timeline.rows[i].exclusive);
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "rows");
    lua_createtable(L, static_cast<int>(timeline.spans.size()), 0);
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
        const Timeline::Span& span = timeline.spans[i];
        lua_createtable(L, 0, 7);
        put_integer(L, "row", span.row + 1);
        put_string(L, "kind", to_string(span.kind));
        put_number(L, "first", span.begin);
        put_number(L, "last", span.end);
        put_string(L, "what", span.what);
        put_string(L, "file", span.where.file);
        put_integer(L, "line", span.where.line);
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "spans");
    lua_createtable(L, static_cast<int>(timeline.requests.size()), 0);
    for (std::size_t i = 0; i < timeline.requests.size(); ++i) {
        const Timeline::Requests& of = timeline.requests[i];
        lua_createtable(L, 0, 7);
        put_string(L, "what", of.what);
        put_boolean(L, "shared", of.shared);
        put_integer(L, "count", static_cast<std::int64_t>(of.count));
        put_integer(L, "units", static_cast<std::int64_t>(of.units));
        put_integer(L, "needed", static_cast<std::int64_t>(of.needed));
        put_string(L, "file", of.where.file);
        put_integer(L, "line", of.where.line);
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "requests");
    if (luaL_newmetatable(L, "wgrun.timeline") != 0) {
        lua_pushcfunction(L, timeline_tostring);
        lua_setfield(L, -2, "__tostring");
    }
    lua_setmetatable(L, -2);
    keep_timeline(L, lua_gettop(L), timeline);
}

/// Makes a timeline by `make`, and its texts.
template <class Run, class Make>
int timeline_by(lua_State* L, Kernel& kernel, Run& run, Make make) {
    auto& texts = held<Texts>(L);
    if (session(L).mode == Mode::trace) {
        trace_launch(L, kernel, run);
        return push_timeline(L, texts), 1;
    }
    run_guarded(L, [&] {
        texts.timeline = make(kernel, run);
        texts.text = to_text(texts.timeline);
        texts.svg = to_svg(texts.timeline);
        texts.html = to_html(std::span(&texts.timeline, 1));
        texts.perfetto = to_chrome(std::span(&texts.timeline, 1));
        texts.json = to_json(texts.timeline);
    });
    return push_timeline(L, texts), 1;
}

// kernel:timeline{ grid =, args =, seed =, timeout_ms =, numerics =, unchecked = }: a table
int kernel_timeline(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:timeline", launch_keys);
    auto& run = held<WithTensors<RunOptions>>(L);
    read_launch_options(L, kernel, options, run);
    return timeline_by(L, kernel, run, timeline_of);
}

// kernel:profile{ grid =, args =, ..., clusters =, events = }: a table
int kernel_profile(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:profile", profile_keys);
    auto& run = held<WithTensors<ProfileOptions>>(L);
    read_launch_options(L, kernel, options, run);
    run.clusters = static_cast<int>(options.integer("clusters", 1, 1, INT32_MAX));
    run.events = options.integer("events", 4096, 1, INT32_MAX);
    return timeline_by(L, kernel, run, profile_of);
}

}  // namespace

const Timeline* timeline_at(lua_State* L, int index) {
    if (lua_type(L, index) != LUA_TTABLE) return nullptr;
    index = lua_absindex(L, index);
    const Timeline* found = nullptr;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &timelines_key) == LUA_TTABLE) {
        lua_pushvalue(L, index);
        lua_rawget(L, -2);
        found = test<Timeline>(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return found;
}

void open_timeline(lua_State* L) {
    static const Member methods[] = {{"timeline", kernel_timeline, R"(
Computes the timeline of one cluster of a launch by a model of an H200's SM (docs/timeline.md): what each warp, the tensor core and the copies do at which time, and what limits the kernel. The cluster runs on the simulator; afterwards the tensors hold its results.
@param options table
@return table
@field cycles number  the cycles until the last CTA of the cluster has ended
@field microseconds number  the estimated time of the whole launch, one of many in a row
@field ghz number  the clock that this assumes
@field tensor_busy number  the share of the time in which the tensor core multiplies
@field memory_busy number  the share of the time in which bytes are in flight between memory and the SM
@field verdict table  sentences: what limits the kernel, then the other waits, the longest first
@field rows table  a list of { name =, warp =, exclusive = }; warp is nil for engines of the SM
@field spans table  a list of { row =, kind =, first =, last =, what =, file =, line = }; first and last are cycles
@field requests table  a list of { what =, shared =, count =, units =, needed =, file =, line = }: requests of a line to memory, the sectors of 32 bytes (of shared memory: passes of its banks) that they take in all, and how many would do for their bytes
@field text string  the picture as text, 80 columns wide
@field svg string  the picture as SVG
@field html string  a page of HTML with that
@field perfetto string  trace events for ui.perfetto.dev
@field json string  everything as JSON
@example
  print(kernel:timeline { grid = { 132 }, args = { A, B, D } }.text))",
                                      launch_keys},

                                     {"profile", kernel_profile, R"(
Runs a launch with a build of the kernel that notes when its warps wait, copy and multiply (docs/timeline.md), on the GPU or on the simulator, which counts steps instead of cycles. The tensors hold the results. The kernel without notes stays as it is.
@param options table
@return table  as kernel:timeline, with these differences
@field source string  "gpu" or "simulator"; of kernel:timeline "model"
@field cycles number  of the SM's clock, from the begin of its first CTA until the last that is shown has ended
@field microseconds number  the same; 0 on the simulator
@field tensor_busy number  share of the time that the products take at the tensor core's full speed; 0 on the simulator
@field memory_busy number?  nil
@field dropped integer  events for which there was no room
@field dropped_warps integer  warps for which there was no room
@field verdict table  empty on the simulator
@field rows table  products and copies: those that have begun and are not known to have ended
@see kernel:timeline
@example
  print(kernel:profile { grid = { 132 }, args = { A, B, D } }.text))",
                                      profile_keys},

                                     {}};
    add_methods<Kernel>(L, methods);
}

}  // namespace wgrun::lua
