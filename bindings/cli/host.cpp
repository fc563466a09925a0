#include "bindings/cli/host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "bindings/cli/lua_heap.hpp"
#include "bindings/cli/out_of_memory.hpp"
#include "bindings/cli/watchdog.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/interrupt.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/plain_words.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/script.hpp"
#include "bindings/lua/userdata.hpp"
#include "memory/heap_limit.hpp"
#include "wgrun/isa.hpp"
#include "wgrun/lua.hpp"
#include "wgrun/printable.hpp"
#include "wgrun/report.hpp"

namespace wgrun::cli {

int exit_code(std::string_view code) {
    if (code == "ENODEV") return Exit::no_device;
    if (code == "ECOMPILE") return Exit::not_assembled;
    if (code == "EINTR") return Exit::interrupted;
    return Exit::failed;
}

namespace {

struct Call {
    const Request& request;
    lua::Mode mode;
    Body body;
    void* context;
    Outcome& outcome;
    lua::Raisers raisers{};
    std::optional<Cancellation> cancellation{};  ///< by Ctrl-C
    std::optional<Watchdog> watchdog{};
};

char call_key;  // registry: light userdata, the Call

const Call& call_of(lua_State* L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &call_key);
    const Call& call = *static_cast<const Call*>(lua_touserdata(L, -1));
    lua_pop(L, 1);
    return call;
}

// An error of Lua at a line of the standard library becomes an error at the script's line that called it.
void place_in_script(lua_State* L) {
    constexpr std::string_view library = std::string_view(lua::stdlib_prefix).substr(1);
    if (lua_type(L, 1) != LUA_TSTRING ||
        std::strncmp(lua_tostring(L, 1), library.data(), library.size()) != 0)
        return;
    auto& where = lua::held<Where>(L);
    where = lua::caller(L);
    if (where) {
        const std::string_view file = where.file;
        lua_pushlstring(L, file.data(), file.size());
        lua_pushfstring(L, "%s:%d: in the library, %s", lua_tostring(L, -1), where.line, lua_tostring(L, 1));
        lua_replace(L, 1);
    }
    lua_settop(L, 1);
}

// Message handler: records which function raised the error, and the traceback.
int keep_circumstances(lua_State* L) {
    place_in_script(L);
    const Call& call = call_of(L);
    call.outcome.deliberate = lua::raised_by_script(L, call.raisers);
    if (!call.request.traceback) return 1;
    luaL_traceback(L, L, nullptr, 1);
    const char* text = lua_tostring(L, -1);
    lua::guarded(L, [&] { call.outcome.traceback = text; });
    lua_pop(L, 1);
    return 1;
}

// Whether Ctrl-C ended the script, rather than a limit.
bool stopped(lua_State* L) {
    return lua::session(L).stop && lua::limit_state(L).reached.load() == lua::Limit::none;
}

// Reports the limit that a script has reached, even if the script caught the error or was stopped inside the
// engine.
void report_limit(lua_State* L, Outcome& outcome) {
    lua::LimitState& state = lua::limit_state(L);
    if (state.limits.time.count() != 0) lua::out_of_time(state);
    const lua::Limit limit = state.reached.load();
    if (limit == lua::Limit::none) return;
    lua::guarded(L, [&] {
        const Where where = outcome.findings.empty() ? Where() : outcome.findings.front().where;
        outcome.findings = {lua::limit_finding(limit, state.limits, where)};
    });
    outcome.code = Exit::failed;
    outcome.deliberate = false;
}

// A hint for an error message of Lua itself.
std::string advice_on_message(std::string_view message) {
    if (message.find("'for' ") != std::string_view::npos &&
        message.find("wgrun.reg") != std::string_view::npos)
        return "k:loop(count, function(i) ... end) is a loop in the kernel; Lua's `for` unrolls";
    if (message.find("bad argument") != std::string_view::npos &&
        message.find("got wgrun.reg)") != std::string_view::npos)
        return "Lua's functions take values that are known while the kernel is traced; instructions compute "
               "with registers: k:max, k:ex2_approx_f32, k:sqrt_rn_f32, ...";
    if (message.ends_with(R"(near '<\255>')") || message.ends_with(R"(near '<\254>')"))
        return "a script is UTF-8; a text that begins with this byte is UTF-16";
    constexpr std::string_view mark = "(global '";
    const std::size_t at = message.find(mark);
    if (at == std::string_view::npos || message.find("nil value") == std::string_view::npos) return {};
    std::string_view name = message.substr(at + mark.size());
    name = name.substr(0, name.find('\''));
    if (name == "wg") return "local wg = require \"wgrun\"";
    if (name == "k") return "the function of wg.kernel takes the builder: function(k) ... end";
    if (message.find("attempt to call") == std::string_view::npos || isa::parse_method(name).op == nullptr)
        return {};
    return std::string("an instruction is a method of the builder: k:").append(name).append("(...)");
}

// Moves the error on top of the stack to the outcome.
void take_error(lua_State* L, Outcome& outcome) {
    outcome.code = stopped(L) ? Exit::interrupted : exit_code(lua::error_code(L, -1));
    lua::read_findings(L, -1, outcome.findings);
    lua::guarded(L, [&] {
        for (Diagnostic& finding : outcome.findings) {
            if (finding.rule.empty() && finding.fix.empty()) finding.fix = advice_on_message(finding.message);
            finding.message = lua::in_plain_words(finding.message);
        }
    });
    report_limit(L, outcome);
    lua_pop(L, 1);
}

}  // namespace

bool call_protected(lua_State* L, int arguments, Outcome& outcome, int results) {
    const int handler = lua_gettop(L) - arguments;
    lua_pushcfunction(L, keep_circumstances);
    lua_insert(L, handler);
    bool good = lua_pcall(L, arguments, results, handler) == LUA_OK;
    if (!good && lua_touserdata(L, -1) == &call_key) {
        lua_settop(L, handler + results);
        good = true;
    }
    if (!good) take_error(L, outcome);
    lua_remove(L, handler);
    return good;
}

namespace {

bool run_code(lua_State* L, const std::string& code, Outcome& outcome) {
    if (lua::load_text(L, code, "=(command line)") != LUA_OK) {
        take_error(L, outcome);
        return false;
    }
    return call_protected(L, 0, outcome);
}

bool run_file(lua_State* L, const Request& request, Outcome& outcome, int results) {
    const char* file = request.file == "-" ? nullptr : request.file.c_str();
    if (file != nullptr && !request.restricted) lua::set_script_path(L, file);
    const int status = lua::load_script(L, file, request.text ? &*request.text : nullptr);
    if (status != LUA_OK) {
        const int reason = errno;
        take_error(L, outcome);
        if (status != LUA_ERRFILE) return false;
        outcome.code = Exit::usage;
        lua::guarded(L, [&] {
            outcome.findings.front() = {};
            outcome.findings.front().message = "cannot read " + request.file + ": " + std::strerror(reason);
        });
        return false;
    }
    luaL_checkstack(L, static_cast<int>(request.args.size()) + 2, "too many arguments");
    for (const std::string& arg : request.args) lua_pushlstring(L, arg.data(), arg.size());
    return call_protected(L, static_cast<int>(request.args.size()), outcome, results);
}

// os.exit while tracing ends the script, not the command: call_protected() recognises the error value.
int end_script(lua_State* L) {
    lua_pushlightuserdata(L, &call_key);
    return lua_error(L);
}

// Message handler of the outermost call.
int take_last_error(lua_State* L) {
    lua_settop(L, 1);
    take_error(L, call_of(L).outcome);
    lua_pushnil(L);
    return 1;
}

void open_libraries(lua_State* L, const Request& request) {
    if (request.restricted) return lua::open_restricted(L);
    luaL_openlibs(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_wgrun);
    lua_setfield(L, -2, "wgrun");
    lua_pop(L, 1);
}

int body_main(lua_State* L) {
    auto& call = *static_cast<Call*>(lua_touserdata(L, 1));
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &call_key);
    open_libraries(L, call.request);
    call.raisers = lua::raisers(L);
    lua::Session& session = lua::session(L);
    session.mode = call.mode;
    session.backend = call.request.backend;
    session.numerics = call.request.numerics;
    session.isolation = call.request.isolation;
    session.seed = call.request.seed;
    session.colour = call.request.colour;
    session.colour_output = call.request.colour_output;
    lua::guarded(L, [&] {
        session.remark = [](std::string_view text) { remark("wgrun: " + std::string(text)); };
        session.warn = [&call](const Diagnostic& finding) {
            if (call.request.keep_warnings)
                call.outcome.findings.push_back(finding);
            else
                print_findings(call.request, {&finding, 1});
        };
    });
    if (call.mode == lua::Mode::trace && !call.request.restricted) {
        lua_getglobal(L, "os");
        lua_pushcfunction(L, end_script);
        lua_setfield(L, -2, "exit");
        lua_pop(L, 1);
    }
    lua::install_interrupt(L);
    lua::push_script_arguments(L, call.request.program, call.request.file, call.request.args);
    lua_setglobal(L, "arg");
    lua::set_limits(L, call.request.limits);
    lua::LimitState& limits = lua::limit_state(L);
    limits.deadline = std::min(limits.deadline, call.request.deadline);  // the time is that of the command
    lua::guarded(L, [&] {
        call.cancellation.emplace(&session.stop);
        // Work of the engine and of Lua looks whether it is to stop.
        if (limits.limits.time.count() != 0)
            call.watchdog.emplace(limits.deadline, [&limits, &stop = session.stop] {
                limits.reached = lua::Limit::time;
                stop = true;
            });
    });
    call.body(L, call.request, call.outcome, call.context);
    return 0;
}

/// What Lua's own program does with warn: nothing until a script says "@on", then it goes to stderr.
struct Warnings {
    bool on = false, continues = false;
};
void print_warning(void* context, const char* message, int to_be_continued) {
    auto& warnings = *static_cast<Warnings*>(context);
    const bool begins = !warnings.continues;
    warnings.continues = to_be_continued != 0;
    if (begins && !warnings.continues && message[0] == '@') {
        if (std::strcmp(message, "@on") == 0) warnings.on = true;
        if (std::strcmp(message, "@off") == 0) warnings.on = false;
    } else if (warnings.on) {
        std::fprintf(stderr, "%s%s%s", begins ? "Lua warning: " : "", printable(message).c_str(),
                     warnings.continues ? "" : "\n");
    }
}

struct CloseState {
    void operator()(lua_State* L) const {
        lua::forget_interrupt();
        lua_close(L);
    }
};

}  // namespace

Outcome with_state(const Request& request, lua::Mode mode, Body body, void* context) {
    Outcome outcome;
    LuaHeap heap;
    Warnings warnings;
    const std::unique_ptr<lua_State, CloseState> state(lua_newstate(LuaHeap::allocate, &heap));
    // Destroyed before the state, which the watchdog may stop.
    Call call{request, mode, body, context, outcome, {}, {}, {}};
    if (state == nullptr) throw std::bad_alloc();
    lua_State* L = state.get();
    lua_setwarnf(L, print_warning, &warnings);
    lua_pushcfunction(L, take_last_error);
    lua_pushcfunction(L, body_main);
    lua_pushlightuserdata(L, &call);
    const int status = lua_pcall(L, 1, 0, 1);
    if (status != LUA_OK && (outcome.findings.empty() || outcome.findings.front().message.empty())) {
        outcome.code = Exit::failed;
        outcome.findings.resize(1);
        outcome.findings.front().message =
            status == LUA_ERRMEM ? "not enough memory" : "an error without a text";
    }
    if (request.limits.memory > 0)
        for (Diagnostic& finding : outcome.findings)
            if (finding.message == "not enough memory" && (lua::memory_refused(L) || !memory::heap_refused()))
                finding = lua::limit_finding(lua::Limit::memory, request.limits, finding.where);
    if (memory::heap_refused())
        for (Diagnostic& finding : outcome.findings)
            if (finding.message == "not enough memory") {
                finding.message = fmt::format("{}; the Lua state has {} MiB of it", out_of_memory(),
                                              lua_gc(L, LUA_GCCOUNT) >> 10);
                finding.facts = {{"limit", "memory"}};
            }
    return outcome;
}

bool run_scripts(lua_State* L, const Request& request, Outcome& outcome, int results) {
    bool good = true;
    for (const std::string& code : request.code) good = good && run_code(L, code, outcome);
    good = good && (request.file.empty() || run_file(L, request, outcome, results));
    // A script that caught the interrupt and then ended was interrupted nevertheless.
    if (stopped(L)) outcome.code = Exit::interrupted;
    if (good) report_limit(L, outcome);
    return good;
}

void forgive_missing_results(lua_State* L, Outcome& outcome) {
    if (outcome.code != Exit::failed || !outcome.deliberate || !lua::session(L).withheld) return;
    lua::guarded(L, [&] {
        for (Diagnostic& finding : outcome.findings) lua::excuse_missing_results(finding);
    });
    outcome.code = Exit::ok;
}

void for_each_kernel(lua_State* L, Outcome& outcome, void (*visit)(Kernel& kernel, void* context),
                     void* context) {
    lua::push_kernels(L);
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
    lua::LimitState& limits = lua::limit_state(L);
    // The time may end while the kernels are visited; that it has ended before is known.
    bool over = limits.reached.load() == lua::Limit::time;
    for (lua_Integer i = 1; i <= count && outcome.code != Exit::interrupted && !over; ++i) {
        lua_rawgeti(L, -1, i);
        auto& kernel = lua::check<Kernel>(L, -1);
        lua::guarded(L, [&] {
            try {
                visit(kernel, context);
            } catch (const Error& error) {
                over = limits.limits.time.count() != 0 && lua::out_of_time(limits);
                outcome.code = over ? Exit::failed : exit_code(error.code());
                outcome.findings.push_back(over ? lua::limit_error(limits).finding() : error.finding());
            }
        });
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

bool has_errors(std::span<const Diagnostic> findings) {
    return std::ranges::any_of(findings,
                               [](const Diagnostic& finding) { return finding.severity == Severity::error; });
}

int conclude(Results& results, const Outcome& outcome, std::span<const Diagnostic> findings) {
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    if (!results.finish()) return Exit::failed;
    if (outcome.code != Exit::ok) return outcome.code;
    return has_errors(findings) ? Exit::failed : Exit::ok;
}

void print_findings(const Request& request, std::span<const Diagnostic> findings) {
    std::fflush(stdout);
    std::fputs(to_report(findings, "wgrun: ", request.colour).c_str(), stderr);
}

void run_or_guard(Backend backend, Kernel& kernel, RunOptions options) {
    options.backend = backend;
    if (backend != Backend::sim) {
        options.guarded = true;
        options.timeout = std::min(options.timeout, ReplayOptions().timeout);
    }
    kernel.run(options);
}

}  // namespace wgrun::cli
