// wg.kernel, and the class wgrun.kernel.
#include "wgrun/kernel.hpp"

#include <fmt/format.h>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/host_interrupt.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/trace.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/own_files.hpp"

namespace wgrun::lua {
namespace {

constexpr Option kernel_keys[] = {
    {"threads", "integer|table = 128", "the threads of a CTA: 1 to 1024, or { x, y, z }"},
    {"cluster", "integer|table = 1", "the CTAs of a cluster: a number, or { x, y, z }"},
    {"grid", "integer|table?",
     "the CTAs of its only grid: launches have it unless they name one, another one is refused, and verdicts "
     "are of this one. { 2, \"any\", 1 }: along y a launch may have any number"},
    {"translated", "boolean|table = false",
     R"(a compiler has made it, and wgrun lua has translated it: rules that compilers keep only in part warn (docs/foreign.md). A list names what is assumed since only a launch decides it, "threads" or "cluster": what follows from that is not checked)"},
    {"names", "boolean = false",
     "remembers the script's names of registers, for kernel:debug; wgrun debug sets it by itself"}};

/// The option `translated`: a boolean, or a list of what is assumed.
std::optional<Assumed> read_assumed(lua_State* L, const Options& options) {
    Assumed out;
    if (options.push("translated") != LUA_TTABLE) {
        lua_pop(L, 1);
        return options.boolean("translated") ? std::optional(out) : std::nullopt;
    }
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; ++i) {
        const std::string_view word = lua_type(L, -1) == LUA_TSTRING ? string_argument(L, -1) : "";
        if (word != "threads" && word != "cluster")
            options.fail_value("translated", "true, or a list of \"threads\" and \"cluster\"");
        (word == "threads" ? out.threads : out.cluster) = true;
        lua_pop(L, 1);
    }
    lua_pop(L, 2);
    return out;
}

// wg.kernel(name, { threads =, cluster =, grid = }, function(k) ... end)
int kernel_new(lua_State* L) {
    if (lua_type(L, 1) != LUA_TSTRING || lua_type(L, 2) == LUA_TFUNCTION)
        fail(L, [] {
            return ArgumentError("wg.kernel: expected a name, a table of options and a function",
                                 "wg.kernel(\"name\", { threads = 128 }, function(k) ... end)");
        });
    const std::string_view name = string_argument(L, 1);
    const Options options(L, 2, "wg.kernel", kernel_keys);
    const bool several = options.push("threads") == LUA_TTABLE;
    lua_pop(L, 1);
    const std::int64_t threads = several ? 0 : options.integer("threads", 128, 0, INT32_MAX);
    const Dim3 block = several ? options.extents("threads") : Dim3{static_cast<std::uint32_t>(threads), 1, 1};
    const Dim3 cluster = options.extents("cluster");
    const bool has_grid = options.has("grid");
    const Dim3 grid = options.extents("grid", "any");
    std::optional<Assumed> translated;
    if (options.has("translated")) translated = read_assumed(L, options);
    const bool names = options.boolean("names", session(L).name_registers);
    if (lua_type(L, 3) != LUA_TFUNCTION) fail_argument(L, 3, "a function that builds the kernel");
    limit_state(L).parts = 0;

    lua_pushvalue(L, 3);
    BuilderBox& box = push_object<BuilderBox>(L, [&] {
        auto trace = std::make_shared<Trace>();
        trace->name = name;
        trace->names = names;
        trace->builder.emplace(std::string(name), block, cluster, caller(L));
        if (has_grid) trace->builder->only_grid(grid);
        if (translated) trace->builder->translated(*translated);
        trace->threads = static_cast<int>(block.volume());
        trace->cluster = static_cast<int>(cluster.volume());
        return BuilderBox{std::move(trace)};
    });
    lua_pushvalue(L, -1);
    lua_insert(L, -3);  // keep the builder below the call
    lua_call(L, 1, 0);
    push_object<Kernel>(L, [&] {
        Program program = box.trace->builder->finish();
        box.trace->builder.reset();
        return Kernel(std::move(program));
    });
    remember_kernel(L, -1);
    return 1;
}

// kernel:check()
int kernel_check(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    // A copy, since a finalizer may run the kernel while the list is made, which adds findings.
    auto& findings = held<std::vector<Diagnostic>>(L);
    guarded_work(L, [&] { findings = kernel.check(); });
    push_findings(L, findings);
    return 1;
}

void set_text(lua_State* L, const char* key, std::string_view text) {
    lua_pushlstring(L, text.data(), text.size());
    lua_setfield(L, -2, key);
}

constexpr Option verdict_keys[] = {
    {"grid", "integer|table?", "the CTAs of the grid: a number, or { x, y, z }"},
    {"assume", "table?",
     "numbers of the launch by their names: of a parameter, or `p+8` of the structure p, 8 bytes from its "
     "start"},
    {"budget", "number = 10", "the seconds that proofs may take, counted in operations"}};

/// Adds the option `assume` to the numbers.
void read_numbers(lua_State* L, const Options& options, const Program& program, Assumptions& given) {
    if (options.push("assume") == LUA_TNIL) return;
    if (!lua_istable(L, -1)) options.fail_value("assume", "a table of integers by name");
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        int is_integer = 0;
        const lua_Integer value = lua_tointegerx(L, -1, &is_integer);
        if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TNUMBER || is_integer == 0)
            options.fail_value("assume", "a table of integers by name");
        guarded(L, [&] {
            const std::string name = lua_tostring(L, -2);
            if (!names_number(program, name))
                throw ArgumentError(
                    fmt::format("kernel:verdicts: option `assume`: the kernel has no number `{}`", name));
            given.numbers.emplace_back(name, value);
        });
    }
}

int kernel_verdicts(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:verdicts", verdict_keys, Options::Missing::empty);
    auto& given = held<Assumptions>(L);
    if (options.has("grid")) given.grid = options.extents("grid");
    read_numbers(L, options, kernel.program(), given);
    given.seconds = options.number("budget", given.seconds);
    if (!(given.seconds >= 0)) {
        options.push("budget");
        options.fail_value("budget", "seconds, 0 or more");
    }
    given.stop = &session(L).stop;
    auto& verdicts = held<std::vector<Verdict>>(L);
    guarded_work(L, [&] { verdicts = kernel.verdicts(given); });
    lua_createtable(L, static_cast<int>(verdicts.size()), 0);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const Verdict& verdict = verdicts[i];
        lua_createtable(L, 0, 6);
        set_text(L, "property", row_of(verdict.property).id);
        set_text(L, "verdict", to_string(verdict.kind));
        if (verdict.kind == Verdict::Kind::proved) {
            set_text(L, "domain", verdict.domain);
        } else {
            set_text(L, "reason", verdict.reason);
            if (verdict.where) {
                set_text(L, "file", verdict.where.file);
                lua_pushinteger(L, verdict.where.line);
                lua_setfield(L, -2, "line");
            }
        }
        if (!verdict.assumption.empty()) set_text(L, "assumption", verdict.assumption);
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    return 1;
}

template <const std::string& (Kernel::*text)()>
int kernel_text(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const std::string* result = nullptr;
    guarded_work(L, [&] { result = &(kernel.*text)(); });
    lua_pushlstring(L, result->data(), result->size());
    return 1;
}

void set_integer(lua_State* L, const char* key, std::int64_t value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

// kernel:report(): registers, spills, shared memory, notes, findings
int kernel_report(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    auto& report = held<AssemblyReport>(L);
    const int failed = attempted(L, [&] { report = kernel.report(&session(L).stop); });
    guarded(L, [&] {
        if (const std::string why = gpu::take_cache_problem(); !why.empty() && session(L).remark)
            session(L).remark(why);
    });
    if (failed != 0) return failed;
    lua_createtable(L, 0, 9);
    set_integer(L, "registers", report.registers);
    set_integer(L, "estimated", report.estimated);
    set_integer(L, "spill_stores", report.spill_stores);
    set_integer(L, "spill_loads", report.spill_loads);
    set_integer(L, "static_shared", report.static_shared);
    set_integer(L, "dynamic_shared", report.dynamic_shared);
    lua_pushstring(L, report.assembler.c_str());
    lua_setfield(L, -2, "assembler");
    lua_createtable(L, static_cast<int>(report.notes.size()), 0);
    for (std::size_t i = 0; i < report.notes.size(); ++i) {
        lua_pushstring(L, report.notes[i].c_str());
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "notes");
    push_findings(L, report.findings);
    lua_setfield(L, -2, "findings");
    return 1;
}

int kernel_name(lua_State* L) {
    lua_pushstring(L, check<Kernel>(L, 1).program().name().c_str());
    return 1;
}

int kernel_shared_bytes(lua_State* L) {
    lua_pushinteger(L, check<Kernel>(L, 1).program().shared_bytes());
    return 1;
}

// kernel(...): a call as in CUDA
int kernel_called(lua_State* L) {
    fail(L, [] {
        return ArgumentError("a kernel cannot be called: it is launched",
                             "kernel:run{ grid = { 1 }, args = { A, B } }");
    });
}

int kernel_tostring(lua_State* L) {
    const Program& program = check<Kernel>(L, 1).program();
    lua_pushfstring(L, "kernel %s (%d threads, %d bytes of shared memory)", program.name().c_str(),
                    program.threads(), static_cast<int>(program.shared_bytes()));
    return 1;
}

}  // namespace

void open_kernel(lua_State* L) {
    open_trace(L);
    open_reg(L);
    open_wgmma(L);
    static const Member methods[] = {{"check", kernel_check, R"(
Checks the kernel against the rules of the PTX ISA, without running it.
@return table  a list of findings, empty if there are none
@see finding)"},

                                     {"verdicts", kernel_verdicts, R"(
What is proved of the kernel for every launch, property by property (docs/verdicts.md). Takes some seconds at most.
@param options table?
@return table  a list with a table for each property
@field property string  "no-deadlock", "phases", ...
@field verdict string  "proved", "refuted" or "undecided"
@field domain string  of what is proved: for which launches
@field reason string  of the rest: the rule that is broken, or what stopped the proof
@field file string  and where that is
@field line integer  its line
@field assumption string  what would decide it, if that is known; of what is proved, what is taken for granted of the data)",
                                      verdict_keys},

                                     {"ptx", kernel_text<&Kernel::ptx>, R"(
The PTX of the kernel.
@return string)"},

                                     {"cuda", kernel_text<&Kernel::cuda>, R"(
The CUDA C++ of the kernel.
@return string)"},

                                     {"report", kernel_report, R"(
Assembles the kernel and reports what it uses.
@return table  or nil, message, code where there is no assembler
@field registers integer  the registers of a thread
@field estimated integer  the registers that the checker estimated
@field spill_stores integer  bytes
@field spill_loads integer  bytes
@field static_shared integer  bytes of shared memory
@field dynamic_shared integer  bytes of shared memory
@field assembler string  its name and version
@field notes table  the assembler's messages, a list of strings
@field findings table  those messages as findings at lines of the script)"},
                                     {}};
    static const Member fields[] = {{"name", kernel_name, R"(
The name of the kernel.
@return string)"},
                                    {"shared_bytes", kernel_shared_bytes, R"(
The shared memory of a CTA.
@return integer  bytes)"},
                                    {}};
    static const Member metamethods[] = {{"__tostring", kernel_tostring}, {"__call", kernel_called}, {}};
    declare<Kernel>(L, {.methods = methods, .fields = fields, .metamethods = metamethods, .text = R"(
A kernel, made by wg.kernel. It can be checked, printed, run and timed any number of times.
@see wg.kernel)"});
    static const Member functions[] = {{"kernel", kernel_new, R"(
Makes a kernel: calls the function once, with a builder that records each instruction.
@param name string  the kernel's name in PTX and in messages
@param options table
@param body function(k)  builds the kernel; k is the builder, which is valid until the function returns
@return kernel
@raise for calls that are not legal instructions, at the line of the call.
@see k
@example
  local double = wg.kernel("double", { threads = 128 }, function(k)
    local X = k:param("X", "f32*")
    local at = k:element(X, k:special "tid.x")
    k:st_global_f32(at, k:ld_global_f32(at) * 2.0)
  end))",
                                        kernel_keys},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
