// wgrun tune FILE: finds the fastest options of the kernel that a script describes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/cli/tune_devices.hpp"
#include "bindings/cli/tune_launcher.hpp"
#include "bindings/cli/tune_records.hpp"
#include "bindings/cli/tune_search.hpp"
#include "bindings/cli/tune_worker.hpp"
#include "bindings/lua/guard.hpp"
#include "wgrun/own_files.hpp"
#include "wgrun/version.hpp"

namespace wgrun::cli {
namespace tune_detail {
namespace {

using Json = nlohmann::ordered_json;

// Called as (the script's result, file, measure or nil, describe, option). The result is what wg.tuning
// returns or takes.
constexpr const char* lister = R"lua(
local given, file, measure, describe, option = ...
local wg = require "wgrun"
if type(given) ~= "table" then
  error(file .. " does not return options to tune: end it with return wg.tuning { name = ..., space = { ... }, "
    .. "build = function(options) return kernel, launch end }", 0)
end
local tuning = wg.tuning(given)
local place = tuning:place()
local how = tuning:measured_by(measure)
describe(tuning.name, place, how == "model", place ~= "sim" and place ~= "none", tuning.cache ~= false,
  type(tuning.cache) == "string" and tuning.cache or "")
for i = 1, #tuning.candidates do option(tuning:text(i)) end
)lua";

struct Options {
    int rounds = 0;  ///< 0: the script decides
    std::size_t show = 10;
    std::string measure;  ///< empty: the script decides
    std::string results;  ///< empty: the script decides
    std::string shard = "1/1";
    std::string devices;
    std::optional<int> jobs;
    double prune = 2;
    double timeout = 120;  ///< seconds
    std::string merge;
    std::string launcher;  ///< empty: this machine alone
    int shards = 8;
    std::string launcher_arguments, hosts;
    bool worker = false;
};

struct Described {
    const Options& options;
    Tuning tuning;
};

Described& described(lua_State* L) {
    return *static_cast<Described*>(lua_touserdata(L, lua_upvalueindex(1)));
}

int describe(lua_State* L) {
    Tuning& tuning = described(L).tuning;
    const char* name = luaL_checkstring(L, 1);
    const char* place = luaL_checkstring(L, 2);
    const char* file = luaL_checkstring(L, 6);
    tuning.by_model = lua_toboolean(L, 3) != 0;
    tuning.on_gpu = lua_toboolean(L, 4) != 0;
    tuning.keeps = lua_toboolean(L, 5) != 0;
    lua::guarded(L, [&] {
        tuning.name = name;
        tuning.place = tuning.by_model ? "model, wgrun " WGRUN_VERSION : place;
        tuning.file = file;
    });
    return 0;
}

int add_option(lua_State* L) {
    Tuning& tuning = described(L).tuning;
    const char* text = luaL_checkstring(L, 1);
    lua::guarded(L, [&] { tuning.options.emplace_back(text); });
    return 0;
}

void list_body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    const Options& options = static_cast<Described*>(context)->options;
    if (!run_scripts(L, request, outcome, 1)) return;
    if (luaL_loadbufferx(L, lister, std::char_traits<char>::length(lister), "=[wgrun]/tune", "t") != LUA_OK)
        lua_error(L);
    lua_insert(L, -2);
    lua_pushlstring(L, request.file.data(), request.file.size());
    if (options.measure.empty())
        lua_pushnil(L);
    else
        lua_pushlstring(L, options.measure.data(), options.measure.size());
    for (const lua_CFunction function : {describe, add_option}) {
        lua_pushlightuserdata(L, context);
        lua_pushcclosure(L, function, 1);
    }
    lua_call(L, 5, 0);
}

/// "2/8" as {2, 8}. ArgumentError for anything else.
std::pair<int, int> shard_named(const std::string& text) {
    int shard = 0, shards = 0;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, shard);
    const bool slash = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
    const auto second = slash ? std::from_chars(first.ptr + 1, end, shards) : first;
    if (!slash || second.ec != std::errc() || second.ptr != end || shard < 1 || shards < shard)
        throw ArgumentError("--shard " + text + ": expected I/N, a number from 1 to N");
    return {shard, shards};
}

/// Where results are kept; empty: nowhere.
std::string file_of(const Options& options, const Tuning& tuning, const Request& request) {
    if (!options.results.empty()) return options.results;
    if (!tuning.keeps || request.restricted) return {};
    if (!tuning.file.empty()) return tuning.file;
    try {
        return own_folder("tune") + "/measured.jsonl";
    } catch (const EnvironmentError&) {  // the cache is off
        return {};
    }
}

struct Found {
    Tuning tuning;
    std::vector<std::size_t> which;  ///< candidates of this shard, the fastest first, then those skipped
    std::vector<Tried> tried;
    std::string file;
    std::size_t measured = 0;
};

/// The fastest first, then those skipped.
void sort(Found& found) {
    std::stable_sort(found.which.begin(), found.which.end(), [&](std::size_t a, std::size_t b) {
        const auto order = [&](std::size_t i) {
            return std::pair(found.tried[i].as == Tried::As::skipped, found.tried[i].microseconds);
        };
        return order(a) < order(b);
    });
    for (const std::size_t i : found.which)
        found.measured += found.tried[i].as == Tried::As::measured ? 1 : 0;
}

Found tune(Tuning tuning, const Options& options, const Request& request) {
    const auto [shard, shards] = shard_named(options.shard);
    Found found{std::move(tuning), {}, {}, {}, 0};
    found.which = shard_of(found.tuning, shard, shards);
    found.file = file_of(options, found.tuning, request);
    Records known;
    if (shards > 1 && !found.file.empty()) {
        known = read_records(found.file);
        found.file = shard_file(found.file, shard, shards);
    }
    RecordFile records(found.file);
    records.know(known);
    SearchOptions how;
    how.jobs = options.jobs.value_or(std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
    if (!found.tuning.by_model) how.devices = devices_named(options.devices);
    how.prune = found.tuning.on_gpu ? options.prune : 0;
    how.limit = std::chrono::milliseconds(std::llround(options.timeout * 1000));
    found.tried = search(found.tuning, found.which, how, records);
    sort(found);
    return found;
}

/// Has shards do the work, and finds the candidates' results in the file. On what they are measured there
/// decide the machines, so they are found by what they are called.
Found tune_elsewhere(Tuning tuning, const Options& options, const Request& request) {
    launch_shards(request, {options.launcher, options.shards, options.launcher_arguments, options.hosts,
                            options.measure != "model", options.results});
    Found found{std::move(tuning), {}, {}, options.results, 0};
    std::map<std::string, Tried> known;
    for (const auto& [key, record] : read_records(options.results)) {
        if (record.name != found.tuning.name) continue;
        const bool good = record.failure.empty();
        known[record.options] = {good ? Tried::As::measured : Tried::As::skipped, record.microseconds, false,
                                 record.failure};
        found.tuning.place = record.place;
    }
    found.tuning.by_model = found.tuning.place.starts_with("model");
    for (std::size_t i = 0; i < found.tuning.options.size(); ++i) {
        const auto result = known.find(found.tuning.options[i]);
        found.tried.push_back(result != known.end()
                                  ? result->second
                                  : Tried{Tried::As::skipped, 0, false,
                                          "no result: it does not fit, is slow by the model, or is "
                                          "the same kernel as another"});
        found.which.push_back(i);
    }
    sort(found);
    return found;
}

std::string to_text(const Found& found, std::size_t shown) {
    std::string text;
    for (std::size_t n = 0; n < std::min(shown, found.measured); ++n) {
        const Tried& tried = found.tried[found.which[n]];
        text += fmt::format("{:>12.2f} us  {}{}\n", tried.microseconds, found.tuning.options[found.which[n]],
                            tried.cached ? "  (measured before)" : "");
    }
    const std::size_t skipped = found.which.size() - found.measured;
    text += fmt::format("{} measured, {} skipped{}\n", found.measured, skipped,
                        found.tuning.by_model ? ", by the cost model of an H200" : "");
    for (std::size_t n = found.measured; n < std::min(found.measured + 3, found.which.size()); ++n)
        text += fmt::format("  skipped: {}: {}\n", found.tuning.options[found.which[n]],
                            found.tried[found.which[n]].reason);
    if (skipped > 3) text += "  ... (--json lists them all)\n";
    return text;
}

void add_to(Json& json, const Found& found) {
    Json results = Json::array(), skipped = Json::array();
    for (const std::size_t i : found.which) {
        const Tried& tried = found.tried[i];
        if (tried.as == Tried::As::measured)
            results.push_back({{"options", found.tuning.options[i]},
                               {"median_us", tried.microseconds},
                               {"cached", tried.cached}});
        else
            skipped.push_back({{"options", found.tuning.options[i]}, {"reason", tried.reason}});
    }
    json["name"] = found.tuning.name;
    json["place"] = found.tuning.place;
    json["file"] = found.file;
    json["results"] = std::move(results);
    json["skipped"] = std::move(skipped);
}

int merge(const Request& request, const Options& options) {
    std::vector<std::string> files{request.file};
    files.insert(files.end(), request.args.begin(), request.args.end());
    const std::size_t count = merge_records(files, options.merge);
    Results results(false);
    const Json json{{"findings", Json::array()},
                    {"file", options.merge},
                    {"records", count},
                    {"results", Json::array()},
                    {"skipped", Json::array()}};
    results.write(request.json ? json.dump(2) + "\n" : fmt::format("{}: {} results\n", options.merge, count));
    return results.finish() ? Exit::ok : Exit::failed;
}

int find_fastest(const Request& request, const Options& options) {
    Results results(true);
    Described described{options, {}};
    const Outcome outcome = with_state(request, lua::Mode::run, list_body, &described);
    Found found;
    if (outcome.code == Exit::ok)
        found = options.launcher.empty() ? tune(std::move(described.tuning), options, request)
                                         : tune_elsewhere(std::move(described.tuning), options, request);
    if (request.json) {
        Json json = Json::parse(wgrun::to_json(outcome.findings));
        add_to(json, found);
        results.write(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    } else {
        print_findings(request, outcome.findings);
        if (outcome.code == Exit::ok) results.write(to_text(found, options.show));
    }
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    if (!results.finish()) return Exit::failed;
    // Of a shard it may be that nothing works.
    if (outcome.code != Exit::ok || found.measured > 0 || options.shard != "1/1") return outcome.code;
    remark("wgrun: no candidate works");
    return Exit::failed;
}

int run_tune(const Request& request, const Options& options) {
    if (options.worker) return serve_tuning(request, options.rounds);
    try {
        if (!options.merge.empty()) return merge(request, options);
        if (request.file == "-") throw ArgumentError("wgrun tune needs a script that is a file");
        return find_fastest(request, options);
    } catch (const Error& error) {
        remark(fmt::format("wgrun: {}", error.what()));
        return error.code() == "EINVAL" ? Exit::usage : Exit::failed;
    }
}

Command::Run declare(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    arguments
        .option("--rounds", options->rounds,
                "Number of measurements of each candidate (by default the script's)")
        .between(1, 100000);
    arguments.option("--show", options->show, "Number of the fastest options to print").shows_default();
    arguments
        .option("--measure", options->measure,
                "Run candidates, or ask the cost model, as is done by default where there is no GPU")
        .one_of({"time", "model"});
    arguments
        .option("--results", options->results,
                "Where results are kept (by default in wgrun's cache folder); what the file has is not "
                "measured again")
        .unit("FILE");
    arguments
        .option("--jobs", options->jobs, "Number of processes that check and compile (by default one a core)")
        .between(1, 1024);
    arguments
        .option("--devices", options->devices,
                "GPUs that measure, a process each: all, or numbers as in 0,2 (by default the first)")
        .unit("LIST");
    arguments
        .option("--prune", options->prune,
                "Do not run what the model expects to take this many times as long as the best; 0: run all")
        .shows_default();
    arguments.option("--timeout", options->timeout, "Seconds after which a step of a candidate is ended")
        .shows_default();
    constexpr const char* group = "Many machines (docs/tuning.md)";
    arguments
        .option("--shard", options->shard,
                "Try the I-th of N parts of the candidates, and keep the results in FILE.I-of-N")
        .unit("I/N")
        .group(group);
    arguments
        .option("--merge", options->merge, "Add the results in FILE and in the files after it to this one")
        .unit("INTO")
        .group(group);
    arguments
        .option("--launcher", options->launcher,
                "Have Slurm (a job array) or GNU parallel (over ssh) try the shards, and merge their results")
        .one_of({"slurm", "parallel"})
        .group(group);
    arguments.option("--shards", options->shards, "Number of shards for the launcher")
        .between(1, 10000)
        .shows_default()
        .group(group);
    arguments
        .option("--launcher-args", options->launcher_arguments,
                "More arguments for sbatch or parallel, in one word: '--partition=h200 --time=1:00:00'")
        .unit("ARGS")
        .group(group);
    arguments.option("--hosts", options->hosts, "The machines of parallel, one a line (its --sshloginfile)")
        .unit("FILE")
        .group(group);
    arguments.flag("--worker", options->worker, "Serve a search: started by wgrun itself").group("");
    return [options](const Request& request) { return run_tune(request, *options); };
}

}  // namespace
}  // namespace tune_detail

const Command tune_command{"tune", "Find the fastest options of the kernel that a script describes",
                           Takes::script, tune_detail::declare};

}  // namespace wgrun::cli
