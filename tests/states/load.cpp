// Many kernels in one process: built, checked, printed and run on the simulator, by several threads with a
// Lua state each. Neither memory nor time may grow with the number of kernels that came before.
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/states/state.hpp"
#include "wgrun/gpu.hpp"

using wgrun::test::State;

namespace {

// work(i): kernels that differ in name, shape, text, constants and chunk name.
constexpr const char* script = R"(
    local wg = require "wgrun"
    function work(i)
        local source = [[
            local wg, i = ...
            local n = 8 * (1 + i % 32)
            local tile = wg.tile {dtype = "bf16", mn = 64, k = 64}
            local kernel = wg.kernel("k" .. i, {threads = 128}, function(k)
                local to = k:param("to", "f32*")
                local a, b = k:shared(tile, "a"), k:shared(wg.tile {dtype = "bf16", mn = n, k = 64}, "b")
                local from = k:param("from", "const bf16*")
                for _, to in ipairs {a, b} do
                    k:copy_tile {to = to, from = from, ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true}
                end
                k:fence_proxy_async()
                k:bar_sync(0)
                local acc = k:regs("f32", n // 2)
                k:wgmma_fence()
                k:mma(acc, {a = a, b = b, scale_d = 0})
                k:wgmma_wait_group(0)
                for r = 0, #acc - 1 do k:mov(acc[r], i) end
                k:store_accumulator(acc, {to = to, ld = n, row = 0, col = 0, rows = 64, cols = n})
            end)
            local D = wg.zeros("f32", {64, n})
            assert(#kernel:check() >= 0 and #kernel:ptx() > 1000 and #kernel:cuda() > 1000)
            kernel:run {grid = 1, args = {D, wg.zeros("bf16", {64, 64})}, backend = "sim", unchecked = true, seed = i}
            assert(D[{63, n - 1}] == i, "wrong result")
            D:close()
        ]]
        assert(load(source, "=chunk" .. i .. ".lua"))(wg, i)
        local good = pcall(wg.tile, {dtype = "bf16", mn = i, k = 7})
        assert(not good)
    end

    function assemble(i)
        local kernel = wg.kernel("assembled" .. i, {threads = 128}, function(k)
            local to = k:param("to", "u32*")
            for j = 1, 20 do k:st_global_u32(to, i * j) end
        end)
        assert(kernel:report().registers > 0)
    end
)";

/// Resident memory of the process in KiB, without what is free and would be used again.
long resident() {
    malloc_trim(0);
    std::ifstream file("/proc/self/statm");
    long pages = 0;
    file >> pages >> pages;
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/// Calls `function`, work or assemble, for kernels first .. last - 1; what went wrong, or "good".
std::string kernels(int first, int last, const std::string& function = "work") {
    State state;
    state.open();
    if (std::string made = state.run(script); made != "nil") return made;
    const std::string loop = "for i = " + std::to_string(first) + ", " + std::to_string(last - 1) + " do " +
                             function + "(i) end return 'good'";
    return state.run(loop.c_str());
}

struct Round {
    double seconds;
    long kib;
};

/// `rounds` rounds of `count` kernels, shared by `threads` threads.
std::vector<Round> load(int rounds, int count, int threads) {
    std::vector<Round> out;
    for (int round = 0; round < rounds; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        std::vector<std::string> results(static_cast<std::size_t>(threads));
        {
            std::vector<std::jthread> workers;
            for (int t = 0; t < threads; ++t)
                workers.emplace_back([&, t] {
                    const int share = count / threads, first = round * count + t * share;
                    results[static_cast<std::size_t>(t)] = kernels(first, first + share);
                });
        }
        for (const std::string& result : results) CHECK(result == "good");
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        out.push_back({took.count(), resident()});
    }
    return out;
}

/// `rounds` rounds of `count` kernels that ptxas assembles: others in each round, or always those of the
/// first one, which are in the cache.
std::vector<Round> assembled(int rounds, int count, bool cached) {
    std::vector<Round> out;
    for (int round = 0; round < rounds; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        const int first = cached ? 0 : round * count;
        CHECK(kernels(first, first + count, "assemble") == "good");
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        out.push_back({took.count(), resident()});
    }
    return out;
}

/// A cache of its own while it lives.
class OwnCache {
  public:
    OwnCache() : folder_("/tmp/wgrun_load_" + std::to_string(getpid())) {
        setenv("WGRUN_CACHE", folder_.c_str(), 1);
    }
    ~OwnCache() {
        unsetenv("WGRUN_CACHE");
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    OwnCache(const OwnCache&) = delete;
    OwnCache& operator=(const OwnCache&) = delete;

  private:
    std::string folder_;
};

bool no_ptxas() {
    const wgrun::gpu::Part ptxas = wgrun::gpu::doctor().ptxas;
    if (!ptxas) std::printf("skipped: no ptxas (%s)\n", ptxas.missing.c_str());
    return !ptxas;
}

bool freed_is_kept() {
#ifdef __SANITIZE_ADDRESS__
    std::printf("skipped: the address sanitizer keeps what is freed\n");
    return true;
#else
    return false;
#endif
}

void print(const char* what, const std::vector<Round>& rounds, int kernels_a_round) {
    std::printf("%s\n", what);
    for (const Round& round : rounds)
        std::printf("  %7.2f ms a kernel  %8.1f MiB\n", 1e3 * round.seconds / kernels_a_round,
                    static_cast<double>(round.kib) / 1024);
}

}  // namespace

TEST_CASE("kernels leave nothing behind: memory after the eighth round is that after the second") {
    if (freed_is_kept()) return;
    mallopt(M_ARENA_MAX, 1);  // which thread has which arena, and keeps it, is no matter of the kernels
    const std::vector<Round> rounds = load(8, 24, 1);
    CHECK(rounds.back().kib - rounds[1].kib < 4096);
}

TEST_CASE("eight threads with a state each") { CHECK(load(1, 64, 8).size() == 1); }

// test_states "[.load]", KERNELS of them (10000): the table of docs/experiments/launches.md.
TEST_CASE("the load that docs/experiments/launches.md has", "[.load]") {
    const char* given = std::getenv("KERNELS");
    const int all = given != nullptr ? std::atoi(given) : 10000;
    for (const int threads : {1, 8}) {
        const std::vector<Round> rounds = load(10, all / 10, threads);
        print((std::to_string(all) + " kernels, threads: " + std::to_string(threads)).c_str(), rounds,
              all / 10);
    }
}

TEST_CASE("kernels that come from the cache leave nothing behind") {
    if (freed_is_kept() || no_ptxas()) return;
    const OwnCache cache;
    const std::vector<Round> rounds = assembled(10, 6, true);
    CHECK(rounds.back().kib - rounds[1].kib < 2048);
}

// test_states "[.assembled]": 1000 kernels from the cache, 200 that are not there.
TEST_CASE("the load with ptxas that docs/reliability.md has", "[.assembled]") {
    if (no_ptxas()) return;
    const OwnCache cache;
    constexpr int fresh = 40, kept = 200;
    print("assembled by ptxas", assembled(5, fresh, false), fresh);
    REQUIRE(kernels(0, kept, "assemble") == "good");
    const std::vector<Round> rounds = assembled(5, kept, true);
    print("from the cache", rounds, kept);
    CHECK(rounds.back().kib - rounds.front().kib < 4096);
}

TEST_CASE("states after the first take the library as it was compiled: with its names and lines") {
    const auto described = [] {
        State state;
        state.open();
        return state.run(R"(
            local wg, lines = require "wgrun", {}
            for name, what in pairs(wg) do
                -- Those that are shielded have the function of the library as an upvalue.
                local _, inside = debug.getupvalue(type(what) == "function" and what or print, 1)
                local info = type(inside) == "function" and debug.getinfo(inside, "SuL")
                if info and info.what == "Lua" then
                    local active = {}
                    for line in pairs(info.activelines) do active[#active + 1] = line end
                    table.sort(active)
                    lines[#lines + 1] = table.concat({ name, info.source, info.linedefined, info.lastlinedefined, info.nparams,
                                                       table.concat(active, " ") }, ",")
                end
            end
            table.sort(lines)
            return table.concat(lines, "\n")
        )");
    };
    const std::string first = described();
    REQUIRE(first.find("=[wgrun]/") != std::string::npos);
    CHECK(described() == first);
    std::vector<std::string> others(4);
    std::vector<std::thread> threads;
    for (std::string& other : others) threads.emplace_back([&other, &described] { other = described(); });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& other : others) CHECK(other == first);
}
