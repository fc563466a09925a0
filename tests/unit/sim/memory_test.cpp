// Bounds, alignment and uninitialised values.
#include <array>

#include "script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

/// A kernel with one pointer parameter, and the address of thread t's u32: base + 4 t.
struct GlobalScript : Script {
    explicit GlobalScript(int threads) : Script(threads) {
        builder.param("x", isa::Type::u64, Dtype::u32);
        const Reg base = (*this)(1, "ld_param_u64", {Operand::param(0)});
        mine = (*this)(1, "mad_wide_u32", {tid(), 4, base});
    }
    Reg mine;
};

struct Memory {
    explicit Memory(std::size_t words) : words(words, 0) {}
    std::vector<std::uint32_t> words;
    std::vector<GlobalBuffer> buffers(std::uint64_t address = 0x10000) {
        return {{reinterpret_cast<std::byte*>(words.data()), static_cast<std::int64_t>(words.size() * 4),
                 address}};
    }
};

}  // namespace

TEST_CASE("global memory is read and written where the buffers lie") {
    GlobalScript k(64);
    const Reg value = k(10, "ld_global_u32", {at(k.mine)});
    k.step(11, "st_global_u32", {at(k.mine), k(10, "add_u32", {value, 1})});
    Memory memory(64);
    for (std::size_t i = 0; i < 64; ++i) memory.words[i] = static_cast<std::uint32_t>(i * i);
    const auto buffers = memory.buffers();
    CHECK(run_with(k.finish(), 3, buffers).findings.empty());
    for (std::size_t i = 0; i < 64; ++i) CHECK(memory.words[i] == i * i + 1);
}

TEST_CASE("structures by value are read from the parameter space, within its bounds: WG-MEM-03") {
    GlobalScript k(32);
    const int structure = k.builder.structure("s", 12, 4);
    const Reg at_s = k(2, "param_address_u64", {Operand::param(structure)});
    const Reg generic = k(3, "cvta_param_at_u64", {at_s});
    const Reg sum = k(5, "add_u32", {k(4, "ld_param_at_u32", {at(at_s, 4)}), k(5, "ld_u32", {at(generic)})});
    k.step(6, "st_global_u32", {at(k.mine), sum});
    k(7, "ld_param_at_u64", {at(at_s, 8)});
    k(8, "ld_param_at_u32", {at(at_s, -12)});
    k.step(9, "st_u32", {at(generic), sum});
    Memory memory(32);
    const auto buffers = memory.buffers();
    const std::vector<std::uint64_t> params{buffers[0].address, 0};
    std::vector<std::vector<std::byte>> structures(2);
    const std::array<std::uint32_t, 3> values{1000, 7, 9};
    for (const std::byte b : std::as_bytes(std::span(values))) structures[1].push_back(b);
    SimulatedLaunch launch;
    launch.params = params;
    launch.structures = structures;
    launch.buffers = buffers;
    const Outcome outcome = run_both(k.finish(), launch);
    CHECK(found(outcome) == Found{{"WG-MEM-07", 7}, {"WG-MEM-07", 8}, {"WG-MEM-07", 9}});
    for (const std::uint32_t word : memory.words) CHECK(word == 1007);
}

TEST_CASE("local memory ends before its first byte and behind its last: WG-MEM-07") {
    GlobalScript k(32);
    for (const std::int64_t address : {-8, 0, 1 << 20})
        k.step(2, "st_local_u64", {at(k(2, "mov_u64", {address})), address});
    Memory memory(32);
    CHECK(found(run_with(k.finish(), 0, memory.buffers())) ==
          Found{{"WG-MEM-07", 2}, {"WG-MEM-07", 2}, {"WG-MEM-07", 2}});
}

TEST_CASE("an access past the end of a buffer is a finding, and does not happen: WG-MEM-01") {
    GlobalScript k(64);
    k.step(10, "st_global_u32", {at(k.mine), 1});
    const Program program = k.finish();
    Memory memory(48);
    const auto buffers = memory.buffers();
    const Outcome outcome = run_with(program, 0, buffers);
    REQUIRE(found(outcome) == Found{{"WG-MEM-01", 10}});
    // Only warp 1 is out of bounds; its lanes report in order.
    CHECK(outcome.findings[0].message ==
          "thread 48 stores 4 bytes at 0x100c0, 0 bytes past the end of `x` (192 bytes)");
    CHECK(memory.words == std::vector<std::uint32_t>(48, 1));
}

TEST_CASE("the finding says on which side of which buffer, and the CTA of a larger grid") {
    GlobalScript k(32);
    k(10, "ld_global_u32", {at(k.mine, -8)});
    const Program program = k.finish();
    Memory memory(32);
    const auto buffers = memory.buffers();
    const std::vector<std::uint64_t> params{buffers[0].address};
    SimulatedLaunch launch;
    launch.grid = {2, 2, 1};
    launch.params = params;
    launch.buffers = buffers;
    const Outcome outcome = run_both(program, launch);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].message ==
          "thread 0 of CTA (0, 0, 0) loads 4 bytes at 0xfff8, 8 bytes before `x` (128 bytes)");
    CHECK_FALSE(outcome.findings[0].fix.empty());
}

TEST_CASE("a misaligned access: WG-MEM-02") {
    Script k(32);
    const int buffer = k.buffer("buf", 1024);
    k.step(10, "st_shared_v4_b32", {at(k.address(buffer, k.tid(), 8)), MmaScript::four(k.constant(1))});
    const Program program = k.finish();
    expect(program, {{"WG-MEM-02", 10}});
    CHECK(run_with(program, 0).findings.at(0).message ==
          "thread 1 stores 16 bytes at 0x408, which is not a multiple of 16");
}

TEST_CASE("shared memory outside every buffer: WG-MEM-03") {
    Script k(32);
    const int buffer = k.buffer("one", 64);
    k.buffer("two", 64);  // begins at 1024: the gap belongs to nobody
    SECTION("between two buffers") {
        k.step(10, "st_shared_u32", {at(k.address(buffer, k.tid(), 4)), 1});
        const Program program = k.finish();
        expect(program, {{"WG-MEM-03", 10}});
        CHECK(run_with(program, 0).findings.at(0).message ==
              "thread 16 stores 4 bytes at byte 64 of the shared memory, outside every buffer declared (the "
              "last "
              "ends at 1088)");
    }
    SECTION("below the first") {
        k(10, "ld_shared_u32", {at(k.constant(0))});
        expect(k.finish(), {{"WG-MEM-03", 10}});
    }
    SECTION("above the last") {
        k(10, "ld_shared_u32", {at(k.constant(0x7FFFFFFC))});
        expect(k.finish(), {{"WG-MEM-03", 10}});
    }
}

TEST_CASE("shared memory begins at 1024 of the window") {
    Script k(32);
    k.buffer("first", 16);
    const int second = k.buffer("second", 16);
    const Reg address = k(1, "mov_u32", {Operand::shared(second, 4)});
    k.step(1, "setp_eq_u32", {address, 2052});
    k.step(10, "st_shared_u32", {at(k.constant(2048)), 9});
    k.step(11, "st_shared_u32", {at(k.constant(1024)), 9});
    expect(k.finish(), {});
}

TEST_CASE("shared memory that nothing has written: WG-MEM-04, by a load and by a wgmma") {
    SECTION("a load") {
        Script k(32);
        const int buffer = k.buffer("buf", 128);
        k.step(10, "st_shared_u32", {at(k.address(buffer, k.tid(), 4)), 1},
               {k(1, "setp_lt_u32", {k.tid(), 31})});
        k(11, "ld_shared_u32", {at(k.address(buffer, k.tid(), 4))});
        const Program program = k.finish();
        expect(program, {{"WG-MEM-04", 11}});
        CHECK(run_with(program, 0).findings.at(0).message ==
              "thread 31 reads `buf` + 124, which nothing has written");
    }
    SECTION("one byte of a word") {
        Script k(32);
        const int buffer = k.buffer("buf", 128);
        const Reg value = k.builder.reg(isa::Type::u16);
        k.step(1, "mov_u16", {value, 5});
        k.step(10, "st_shared_u16", {in_buffer(buffer), value});
        k.step(10, "bar_warp_sync");
        k(11, "ld_shared_u16", {in_buffer(buffer)});
        k(12, "ld_shared_u32", {in_buffer(buffer)});
        expect(k.finish(), {{"WG-MEM-04", 12}});
    }
    SECTION("a wgmma") {
        MmaScript k;
        k.fill_a(10);
        k.step(11, "fence_proxy_async");
        k.step(12, "bar_sync", {0});
        k.whole_mma(20);
        const Program program = k.finish();
        expect(program, {{"WG-MEM-04", 21}});
        CHECK(run_with(program, 0).findings.at(0).message ==
              "the wgmma reads `B`, which nothing has written");
    }
}

TEST_CASE("a register that nothing has written: WG-REG-01, lane by lane") {
    Script k(64);
    const Reg value = k.builder.reg(isa::Type::u32);
    const Reg low = k(1, "setp_lt_u32", {k.tid(), 40});
    k.step(10, "mov_u32", {value, 1}, {low});
    SECTION("read where it was written") {
        k(11, "add_u32", {value, 1}, {low});
        expect(k.finish(), {});
    }
    SECTION("read everywhere") {
        k(11, "add_u32", {value, 1});
        const Program program = k.finish();
        expect(program, {{"WG-REG-01", 11}});
        CHECK(run_with(program, 0).findings.at(0).message ==
              "thread 40 reads a register that nothing has written");
    }
    SECTION("a guard") {
        k(11, "add_u32", {k.tid(), 1}, {k.builder.reg(isa::Type::pred)});
        expect(k.finish(), {{"WG-REG-01", 11}});
    }
}

TEST_CASE("unwritten values read as NaN in every format") {
    GlobalScript k(32);
    const Reg value = k.builder.reg(isa::Type::f32);
    k.step(10, "st_global_f32", {at(k.mine), value});
    Memory memory(32);
    const auto buffers = memory.buffers();
    run_with(k.finish(), 0, buffers);
    CHECK(memory.words[0] == 0xFFFFFFFF);
}

TEST_CASE("a launch that does not fit the kernel is refused") {
    GlobalScript k(32);
    const Program program = k.finish();
    CHECK_THROWS_WITH(run(program, {}), "kernel k has 1 parameter, the launch gives 0");
    SimulatedLaunch launch;
    const std::uint64_t param = 0;
    launch.params = {&param, 1};
    launch.grid = {1, 0, 1};
    CHECK_THROWS_WITH(run(program, launch), "grid {1, 0, 1}: extents are 1 to 2147483647, 65535 and 65535");
}
