// wg.kernel, and what can be done with a kernel.
#include "wgrun/kernel.hpp"

#include <fmt/format.h>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/trace.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/own_files.hpp"

namespace wgrun::lua {
namespace {

// wg.kernel(name, { threads =, cluster = }, function(k) ... end)
int kernel_new(lua_State* L) {
    static constexpr std::string_view keys[] = {"threads", "cluster"};
    if (lua_type(L, 1) != LUA_TSTRING || lua_type(L, 2) == LUA_TFUNCTION)
        fail(L, [] {
            return ArgumentError("wg.kernel: a name, a table of options and a function are expected",
                                 "wg.kernel(\"name\", { threads = 128 }, function(k) ... end)");
        });
    const std::string_view name = string_argument(L, 1);
    const Options options(L, 2, "wg.kernel", keys);
    const std::int64_t threads = options.integer("threads", 128, 0, INT32_MAX);
    const Dim3 cluster = options.extents("cluster");
    if (lua_type(L, 3) != LUA_TFUNCTION) fail_argument(L, 3, "a function that builds the kernel");
    const Where where = caller(L);
    limit_state(L).parts = 0;

    lua_pushvalue(L, 3);
    BuilderBox& box = push_object<BuilderBox>(L, [&] {
        auto trace = std::make_shared<Trace>();
        trace->name = name;
        trace->threads = static_cast<int>(threads);
        trace->builder.emplace(std::string(name), static_cast<int>(threads), cluster, where);
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
    // A copy: a finalizer may run the kernel while the list is made, which adds to its findings.
    auto& findings = held<std::vector<Diagnostic>>(L);
    guarded(L, [&] { findings = kernel.check(); });
    push_findings(L, findings);
    return 1;
}

template <const std::string& (Kernel::*text)()>
int kernel_text(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const std::string* result = guarded(L, [&] { return &(kernel.*text)(); });
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

// kernel(...): calls it as in CUDA
int kernel_called(lua_State* L) {
    fail(L, [] {
        return ArgumentError("a kernel is no function: it is launched",
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
    static const luaL_Reg methods[] = {{"check", kernel_check},
                                       {"ptx", kernel_text<&Kernel::ptx>},
                                       {"cuda", kernel_text<&Kernel::cuda>},
                                       {"report", kernel_report},
                                       {nullptr, nullptr}};
    static const luaL_Reg fields[] = {
        {"name", kernel_name}, {"shared_bytes", kernel_shared_bytes}, {nullptr, nullptr}};
    static const luaL_Reg metamethods[] = {
        {"__tostring", kernel_tostring}, {"__call", kernel_called}, {nullptr, nullptr}};
    declare<Kernel>(L, {.methods = methods, .fields = fields, .metamethods = metamethods});
    lua_pushcfunction(L, kernel_new);
    lua_setfield(L, -2, "kernel");
}

}  // namespace wgrun::lua
