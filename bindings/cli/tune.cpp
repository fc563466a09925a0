// wgrun tune FILE: finds the fastest options of a kernel that a script describes.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/lua/guard.hpp"

namespace wgrun::cli {
namespace tune_detail {
namespace {

using Json = nlohmann::ordered_json;

// Called as (the script's result, rounds or nil, file, row). The result is an option table of wg.tune.
constexpr const char* caller = R"lua(
local space, rounds, file, row = ...
local wg = require "wgrun"
if type(space) ~= "table" then
  error(file .. " does not return options to tune: end it with return { name = ..., space = { ... }, build = function(options) "
    .. "return kernel, launch end }", 0)
end
local opts = {}
for key, value in pairs(space) do opts[key] = value end
opts.rounds = rounds or opts.rounds
local _, report = wg.tune(opts)
local function text(options)
  local keys, parts = {}, {}
  for key in pairs(options) do if key ~= "problem" then keys[#keys + 1] = tostring(key) end end
  table.sort(keys)
  for _, key in ipairs(keys) do
    local value = options[key]
    if type(value) == "table" then
      local items = {}
      for i, item in ipairs(value) do items[i] = tostring(item) end
      value = table.concat(items, "x")
    end
    parts[#parts + 1] = key .. " = " .. tostring(value)
  end
  return #parts > 0 and table.concat(parts, ", ") or "(none)"
end
for _, result in ipairs(report.results) do row(text(result.options), result.median_us, result.cached) end
for _, skipped in ipairs(report.skipped) do row(text(skipped.options), -1, false, tostring(skipped.reason)) end
)lua";

struct Row {
    std::string options;
    double median_us;  ///< negative: skipped
    bool cached;
    std::string reason;
};

struct Tune {
    int rounds;  ///< 0: the script decides
    std::vector<Row> rows;
};

int add_row(lua_State* L) {
    auto& tune = *static_cast<Tune*>(lua_touserdata(L, lua_upvalueindex(1)));
    const char* options = luaL_checkstring(L, 1);
    const double us = luaL_checknumber(L, 2);
    const bool cached = lua_toboolean(L, 3) != 0;
    const char* reason = luaL_optstring(L, 4, "");
    lua::guarded(L, [&] { tune.rows.push_back({options, us, cached, reason}); });
    return 0;
}

void body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    auto& tune = *static_cast<Tune*>(context);
    if (!run_scripts(L, request, outcome, 1)) return;
    if (luaL_loadbufferx(L, caller, std::char_traits<char>::length(caller), "=[wgrun]/tune", "t") != LUA_OK)
        lua_error(L);
    lua_insert(L, -2);
    if (tune.rounds > 0)
        lua_pushinteger(L, tune.rounds);
    else
        lua_pushnil(L);
    lua_pushlstring(L, request.file.data(), request.file.size());
    lua_pushlightuserdata(L, context);
    lua_pushcclosure(L, add_row, 1);
    lua_call(L, 4, 0);
}

std::string to_text(const std::vector<Row>& rows, std::size_t shown) {
    std::string text;
    std::size_t measured = 0, skipped = 0;
    for (const Row& row : rows) {
        if (row.median_us < 0) {
            ++skipped;
            continue;
        }
        if (measured++ < shown)
            text += fmt::format("{:>12.2f} us  {}{}\n", row.median_us, row.options,
                                row.cached ? "  (measured before)" : "");
    }
    text += fmt::format("{} measured, {} skipped\n", measured, skipped);
    std::size_t told = 0;
    for (const Row& row : rows)
        if (row.median_us < 0 && told++ < 3)
            text += fmt::format("  skipped: {}: {}\n", row.options, row.reason);
    if (skipped > 3) text += "  ... (--json lists them all)\n";
    return text;
}

Json to_json(const std::vector<Row>& rows) {
    Json results = Json::array(), skipped = Json::array();
    for (const Row& row : rows) {
        if (row.median_us < 0)
            skipped.push_back({{"options", row.options}, {"reason", row.reason}});
        else
            results.push_back(
                {{"options", row.options}, {"median_us", row.median_us}, {"cached", row.cached}});
    }
    return {{"results", std::move(results)}, {"skipped", std::move(skipped)}};
}

struct Options {
    int rounds = 0;
    std::size_t show = 10;
};

int run_tune(const Request& request, const Options& options) {
    Results results(true);
    Tune tune{options.rounds, {}};
    const Outcome outcome = with_state(request, lua::Mode::run, body, &tune);
    if (request.json) {
        Json json = Json::parse(wgrun::to_json(outcome.findings));
        json.update(to_json(tune.rows));
        results.write(json.dump(2) + "\n");
    } else {
        print_findings(request, outcome.findings);
        if (!tune.rows.empty()) results.write(to_text(tune.rows, options.show));
    }
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    return results.finish() ? outcome.code : Exit::failed;
}

Command::Run declare(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    arguments
        .option("--rounds", options->rounds,
                "Number of measurements of each candidate (by default the script's)")
        .between(1, 100000);
    arguments.option("--show", options->show, "Number of the fastest options to print").shows_default();
    return [options](const Request& request) { return run_tune(request, *options); };
}

}  // namespace
}  // namespace tune_detail

const Command tune_command{"tune", "Find the fastest options of the kernel that a script describes",
                           Takes::script, tune_detail::declare};

}  // namespace wgrun::cli
