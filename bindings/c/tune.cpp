// wg.tune for what a script returns.
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/c/state.hpp"
#include "bindings/c/structs.hpp"
#include "bindings/lua/guard.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/session.hpp"
#include "diag/json_writer.hpp"

namespace wgrun::c {

/// One candidate.
struct Tried {
    std::string options, reason;
    double microseconds = 0;
    bool measured = false, cached = false;
};

/// Immutable, and thread-safe.
struct Tuned {
    std::string name, place, file;
    std::vector<Tried> list{};  ///< the fastest first, then those skipped
    bool by_model = false;
    std::string json{};

    void write_json();
};

template <>
inline constexpr Kind kind_of<Tuned> = Kind::tuning;

void Tuned::write_json() {
    JsonWriter out;
    out.begin('{');
    out.member("name", name);
    out.member("place", place);
    out.member("file", file);
    for (const bool measured : {true, false}) {
        out.key(measured ? "results" : "skipped");
        out.begin('[');
        for (const Tried& tried : list) {
            if (tried.measured != measured) continue;
            out.begin('{');
            out.member("options", tried.options);
            if (measured) {
                out.key("median_us");
                out.verbatim(fmt::format("{}", tried.microseconds));
                out.key("cached");
                out.verbatim(tried.cached ? "true" : "false");
            } else {
                out.member("reason", tried.reason);
            }
            out.end('}');
        }
        out.end(']');
    }
    out.end('}');
    json = out.take();
}

namespace {

// Called as (the script's first result, measure or nil, rounds or nil, cache or nil, describe, add).
constexpr const char* searcher = R"lua(
local given, measure, rounds, cache, describe, add = ...
if type(given) ~= "table" then
  error("the script does not return options to tune: end it with return wg.tuning { name = ..., space = { ... }, "
    .. "build = function(options) return kernel, launch end }", 0)
end
local wg = require "wgrun"
local tuning = wg.tuning(given)
tuning = tuning:with { measure = tuning:measured_by(measure), rounds = rounds, cache = cache }
local _, report = wg.tune(tuning)
describe(tuning.name, tuning:place(), tuning.how == "model", report.cache or "")
for _, one in ipairs(report.results) do add(tuning:text(one.index), one.median_us, one.cached) end
for _, one in ipairs(report.skipped) do add(tuning:text(one.index), one.reason) end
)lua";

struct Search {
    Run& run;
    const wgrun_tune_options& options;
    std::shared_ptr<Tuned> tuned = std::make_shared<Tuned>();
    std::optional<Interruptible> interruptible{};
};

Search& search_of(lua_State* L) { return *static_cast<Search*>(lua_touserdata(L, lua_upvalueindex(1))); }

int describe(lua_State* L) {
    Tuned& tuned = *search_of(L).tuned;
    const char* name = luaL_checkstring(L, 1);
    const char* place = luaL_checkstring(L, 2);
    const char* file = luaL_checkstring(L, 4);
    tuned.by_model = lua_toboolean(L, 3) != 0;
    lua::guarded(L, [&] { tuned.name = name, tuned.place = place, tuned.file = file; });
    return 0;
}

int add(lua_State* L) {
    Tuned& tuned = *search_of(L).tuned;
    const char* options = luaL_checkstring(L, 1);
    const bool measured = lua_type(L, 2) == LUA_TNUMBER;
    const double microseconds = measured ? lua_tonumber(L, 2) : 0;
    const bool cached = lua_toboolean(L, 3) != 0;
    const char* reason = measured ? "" : luaL_tolstring(L, 2, nullptr);
    lua::guarded(L, [&] { tuned.list.push_back({options, reason, microseconds, measured, cached}); });
    return 0;
}

void tune_main(lua_State* L, void* context) {
    auto& search = *static_cast<Search*>(context);
    Engine& engine = search.run.engine();
    lua::set_limits(L, engine.limits);
    std::atomic<bool>& stop = lua::session(L).stop;
    lua::guarded(L, [&] { search.interruptible.emplace(engine, stop); });
    search.run.make_current(L);
    if (luaL_loadbufferx(L, searcher, std::char_traits<char>::length(searcher), "=[wgrun]/tune", "t") !=
        LUA_OK)
        lua_error(L);
    search.run.push_first(L);
    lua_pushstring(L, search.options.measure);  // NULL: nil
    if (search.options.rounds > 0)
        lua_pushinteger(L, search.options.rounds);
    else
        lua_pushnil(L);
    if (engine.options.restricted != 0 || (search.options.results != nullptr && *search.options.results == 0))
        lua_pushboolean(L, 0);
    else
        lua_pushstring(L, search.options.results);
    for (const lua_CFunction function : {describe, add}) {
        lua_pushlightuserdata(L, &search);
        lua_pushcclosure(L, function, 1);
    }
    lua_call(L, 6, 0);
}

}  // namespace
}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

int wgrun_script_tune(wgrun_script* script, const wgrun_tune_options* options, wgrun_tuning** tuning) {
    return answer([&] {
        const std::shared_ptr<Run> run = find<Run>(script);
        const wgrun_tune_options asked =
            options == nullptr ? wgrun_tune_options{} : read_struct(options, "options");
        result(tuning, "tuning");
        if (asked.rounds < 0) refuse_argument("options->rounds is " + std::to_string(asked.rounds));
        const std::string_view measure = asked.measure == nullptr ? "model" : asked.measure;
        if (measure != "model" && measure != "time")
            refuse_argument("options->measure is \"" + std::string(measure) + "\": \"time\" or \"model\"");
        const Turn turn(run->engine());
        const KernelsRun running(*run->state);
        Search search{*run, asked};
        run->state->protect(tune_main, &search);
        search.tuned->write_json();
        give_handle(tuning, search.tuned);
    });
}

int wgrun_tuning_close(wgrun_tuning* tuning) {
    return answer([&] { close_handle(Kind::tuning, tuning); });
}

int wgrun_tuning_count(const wgrun_tuning* tuning, size_t* count) {
    return answer([&] { result(count, "count") = find<Tuned>(tuning)->list.size(); });
}

int wgrun_tuning_get(const wgrun_tuning* tuning, size_t index, wgrun_candidate* candidate) {
    return answer([&] {
        const auto held = find<Tuned>(tuning);
        if (index >= held->list.size())
            refuse_argument("candidate " + std::to_string(index) + " of " +
                            std::to_string(held->list.size()));
        const Tried& found = held->list[index];
        wgrun_candidate out{};
        out.measured = found.measured ? 1 : 0;
        out.cached = found.cached ? 1 : 0;
        out.microseconds = found.microseconds;
        out.options = found.options.c_str();
        out.reason = found.reason.c_str();
        write_struct(candidate, out, "candidate");
    });
}

int wgrun_tuning_json(const wgrun_tuning* tuning, const char** json) {
    return answer([&] { result(json, "json") = find<Tuned>(tuning)->json.c_str(); });
}

}  // extern "C"
