// Eight threads do at the same time what one can do: each has objects of its own, and what is constant is
// shared.
#include <atomic>
#include <barrier>
#include <cstdio>
#include <exception>
#include <lua.hpp>
#include <string>
#include <thread>
#include <vector>
#include <wgrun/kernel.hpp>
#include <wgrun/lua.hpp>
#include <wgrun/picture.hpp>
#include <wgrun/rules.hpp>
#include <wgrun/session.hpp>

namespace {

constexpr int threads = 8;
constexpr int rounds = 3;

std::atomic<int> faults = 0;

void expect(bool good, int thread, const std::string& what) {
    if (good) return;
    std::printf("fault in thread %d: %s\n", thread, what.c_str());
    ++faults;
}

using wgrun::Operand;

// Every lane of 64 adds its number into one place of shared memory, and writes what it finds: `right` with
// atomics and a barrier, else a race.
wgrun::Program program(bool right) {
    const auto line = [](int number) { return wgrun::Where::at("threads.cpp", number); };
    wgrun::Builder k(right ? "right" : "wrong", 64, {}, line(1));
    const auto add = [&](std::string_view method, std::vector<Operand> operands) -> const wgrun::Step& {
        const wgrun::isa::Spelling spelling = wgrun::isa::parse_method(method);
        return k.add(*spelling.op, spelling.form, std::move(operands));
    };
    const auto make = [&](std::string_view method, std::vector<Operand> sources) {
        sources.insert(sources.begin(), Operand());
        return Operand::of(add(method, std::move(sources)).operands[0].reg);
    };
    k.param("y", wgrun::isa::Type::u64, wgrun::Dtype::u32);
    const int sum = k.shared("sum", 4, 16, {});
    k.at(line(2));
    const Operand place = make("mov_u32", {Operand::shared(sum, 0)});
    wgrun::isa::Form tid;
    tid.set(wgrun::isa::Field::sreg, wgrun::isa::parse_value(wgrun::isa::Field::sreg, "tid.x").value());
    const Operand lane = Operand::of(k.add(*wgrun::isa::find("special"), tid, {Operand()}).operands[0].reg);
    const Operand first = make("setp_eq_u32", {lane, Operand::immediate(0)});
    k.begin_if(first.reg);
    add("st_shared_u32", {Operand::address(place.reg, 0), Operand::immediate(0)});
    k.end_if();
    k.at(line(3));
    add("bar_sync", {Operand::immediate(0), Operand()});
    add("red_shared_add_u32", {Operand::address(place.reg, 0), lane});
    k.at(line(4));
    if (right) add("bar_sync", {Operand::immediate(0), Operand()});
    const Operand value = make("ld_shared_u32", {Operand::address(place.reg, 0)});
    k.at(line(5));
    const Operand start = make("cvta_to_global_u64", {make("ld_param_u64", {Operand::param(0)})});
    const Operand at = make("add_u64", {start, make("mul_wide_u32", {lane, Operand::immediate(4)})});
    add("st_global_u32", {Operand::address(at.reg, 0), value});
    return k.finish();
}

void engine(int thread, int round) {
    wgrun::RunOptions options;
    options.backend = wgrun::Backend::sim;
    wgrun::Tensor y = wgrun::Tensor::zeros(wgrun::Dtype::u32, {64});
    options.args = {&y};
    options.grid = {1, 1, 1};
    wgrun::Kernel right(program(true));
    expect(right.check().empty(), thread, "the right kernel has findings");
    right.run(options);
    for (int i = 0; i < 64; ++i) expect(y.get(i) == 2016, thread, "a sum is wrong");
    expect(right.ptx() == wgrun::Kernel(program(true)).ptx(), thread, "two texts of one kernel differ");

    wgrun::Kernel wrong(program(false));
    options.seed = static_cast<std::uint64_t>(round);
    try {
        wrong.run(options);
        expect(false, thread, "the race was not found");
    } catch (const wgrun::CheckError& error) {
        expect(wgrun::find_rule(error.finding().rule) != nullptr, thread, "a rule that is none");
        expect(error.finding().where.file == "threads.cpp", thread, "a finding of another file");
    }
    const std::string file = "file " + std::to_string(thread) + " " + std::to_string(round);
    expect(wgrun::Where::at(file, 1).file == file, thread, "a place of another file");
    expect(!to_text(grid_of(wgrun::wgmma_d(wgrun::Dtype::f32, 64))).empty(), thread, "no picture");
    expect(wgrun::Tensor::randn({1000, 100}, wgrun::Dtype::bf16, 7).get(12345) ==
               wgrun::Tensor::randn({1000, 100}, wgrun::Dtype::bf16, 7).get(12345),
           thread, "random numbers differ");
}

void lua(int thread) {
    lua_State* L = luaL_newstate();
    luaL_openlibs(L);
    luaL_requiref(L, "wgrun", luaopen_wgrun, 0);
    lua_settop(L, 0);
    wgrun::lua::session(L).backend = wgrun::Backend::sim;
    const bool failed = luaL_dostring(L, R"(
        local wg = require "wgrun"
        local gemm = wg.gemm { dtype = "bf16", problem = { 64, 64, 64 } }
        local A = wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 1 }
        local B = wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 2 }
        local D = wg.zeros("bf16", { 64, 64 })
        gemm:run(A, B, D)
        assert(not pcall(wg.tile, { dtype = "bf16", mn = 7, k = 64 }))
    )") != LUA_OK;
    expect(!failed, thread, failed ? luaL_tolstring(L, -1, nullptr) : "");
    lua_close(L);
}

}  // namespace

int main() {
    std::barrier together(threads);
    std::vector<std::jthread> workers;
    for (int thread = 0; thread < threads; ++thread)
        workers.emplace_back([&, thread] {
            together.arrive_and_wait();  // what is made on first use is used first by all at once
            try {
                for (int round = 0; round < rounds; ++round) {
                    engine(thread, round);
                    lua(thread);
                }
            } catch (const std::exception& error) {
                expect(false, thread, error.what());
            }
        });
    workers.clear();
    std::printf("%d faults\n", faults.load());
    return faults == 0 ? 0 : 1;
}
