// wgrun bench FILE: runs a script, and measures every kernel:run of it.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/lua/types.hpp"
#include "bindings/lua/userdata.hpp"
#include "wgrun/lua.hpp"

namespace wgrun::cli {
namespace bench_detail {
namespace {

using Json = nlohmann::ordered_json;

// Called as (methods of kernels, rounds, report). After kernel:run, its launch is measured on copies of its
// tensors. Launches of the same kernel over the same grid share a row.
constexpr const char* wrapper = R"lua(
local methods, rounds, report = ...
local run, time, known = methods.run, methods.time, {}
function methods.run(kernel, launch)
  local backend = run(kernel, launch)
  local grid = type(launch) == "table" and launch.grid or {}
  if type(grid) ~= "table" then grid = { grid } end
  local where = kernel.name .. " " .. table.concat(grid, "x")
  if backend == "none" or known[where] then return backend end
  known[where] = true
  local copy, bytes = {}, 0
  for key, value in pairs(launch) do if key ~= "guarded" then copy[key] = value end end
  for _, value in ipairs(launch.args or {}) do
    if type(value) == "userdata" and value.bytes then bytes = bytes + value.bytes end
  end
  copy.rounds = backend == "sim" and 1 or rounds
  local t = time(kernel, copy)
  report(kernel.name, table.concat(grid, "x"), backend, t.median_us, t.min_us, t.max_us, t.rounds, bytes)
  return backend
end
)lua";

struct Row {
    std::string kernel, grid, backend;
    double median_us, min_us, max_us;
    int rounds;
    double bytes;  ///< of the tensors among the arguments
};

struct Bench {
    int rounds;
    std::vector<Row> rows;
};

int report(lua_State* L) {
    auto& bench = *static_cast<Bench*>(lua_touserdata(L, lua_upvalueindex(1)));
    const char* texts[] = {luaL_checkstring(L, 1), luaL_checkstring(L, 2), luaL_checkstring(L, 3)};
    double numbers[5];
    for (int i = 0; i < 5; ++i) numbers[i] = luaL_checknumber(L, 4 + i);
    lua::guarded(L, [&] {
        bench.rows.push_back({texts[0], texts[1], texts[2], numbers[0], numbers[1], numbers[2],
                              static_cast<int>(numbers[3]), numbers[4]});
    });
    return 0;
}

void body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    auto& bench = *static_cast<Bench*>(context);
    luaL_requiref(L, "wgrun", luaopen_wgrun, 0);
    lua_pop(L, 1);
    if (luaL_loadbufferx(L, wrapper, std::char_traits<char>::length(wrapper), "=[wgrun]/bench", "t") !=
        LUA_OK)
        lua_error(L);
    lua::push_methods(L, &lua::class_key<Kernel>, lua::class_name<Kernel>);
    lua_pushinteger(L, bench.rounds);
    lua_pushlightuserdata(L, context);
    lua_pushcclosure(L, report, 1);
    lua_call(L, 3, 0);
    run_scripts(L, request, outcome);
}

std::string to_text(const std::vector<Row>& rows) {
    std::size_t widest = 6;
    for (const Row& row : rows) widest = std::max(widest, row.kernel.size());
    std::string text = fmt::format("{:<{}}  {:>12}  {:>12}  {:>12}  {:>12}  {:>7}  {}\n", "kernel", widest,
                                   "grid", "median us", "min us", "max us", "GB/s", "on");
    for (const Row& row : rows)
        text +=
            fmt::format("{:<{}}  {:>12}  {:>12.2f}  {:>12.2f}  {:>12.2f}  {:>7.1f}  {}, {} round{}\n",
                        row.kernel, widest, row.grid, row.median_us, row.min_us, row.max_us,
                        row.bytes / row.median_us / 1e3, row.backend, row.rounds, row.rounds == 1 ? "" : "s");
    for (const Row& row : rows)
        if (row.backend == "sim")
            return text + "sim: the time of the simulation, which says nothing about the time on a GPU.\n";
    return text;
}

Json to_json(const std::vector<Row>& rows) {
    Json json = Json::array();
    for (const Row& row : rows)
        json.push_back({{"kernel", row.kernel},
                        {"grid", row.grid},
                        {"backend", row.backend},
                        {"median_us", row.median_us},
                        {"min_us", row.min_us},
                        {"max_us", row.max_us},
                        {"rounds", row.rounds},
                        {"tensor_bytes", row.bytes}});
    return json;
}

int run_bench(const Request& request, int rounds) {
    Results results(true);
    Bench bench{rounds, {}};
    const Outcome outcome = with_state(request, lua::Mode::run, body, &bench);
    if (request.json) {
        Json json = Json::parse(wgrun::to_json(outcome.findings));
        json["launches"] = to_json(bench.rows);
        results.write(json.dump(2) + "\n");
    } else {
        print_findings(request, outcome.findings);
        if (!bench.rows.empty()) results.write(to_text(bench.rows));
    }
    if (bench.rows.empty() && outcome.code == Exit::ok)
        remark(fmt::format("wgrun: {} runs no kernel, so there is nothing to measure", request.name()));
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    if (!results.finish()) return Exit::failed;
    return outcome.code != Exit::ok ? outcome.code : bench.rows.empty() ? Exit::failed : Exit::ok;
}

Command::Run declare(Arguments& arguments) {
    const auto rounds = std::make_shared<int>(20);
    arguments.option("--rounds", *rounds, "Number of measurements of a launch on a GPU")
        .between(1, 100000)
        .shows_default();
    return [rounds](const Request& request) { return run_bench(request, *rounds); };
}

}  // namespace
}  // namespace bench_detail

const Command bench_command{"bench", "Run a script, and measure its launches", Takes::script,
                            bench_detail::declare};

}  // namespace wgrun::cli
