// Steps that all stand on one line, as those of a library do: what is found of one of them neither hides nor
// takes back what another one breaks. `run_both` compares.
#include "async_script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

TEST_CASE("a copy that is read too early is another one than that which nobody waits for") {
    AsyncScript k(32);
    k.builder.param("x", isa::Type::u64, Dtype::u32);
    const Reg from = k(1, "ld_param_u64", {Operand::param(0)});
    const Reg one = k.address(k.buffer("one", 512), k.thread, 16);
    const Reg two = k.address(k.buffer("two", 512), k.thread, 16);
    k.step(10, "cp_async_cg", {at(one), at(from)});
    k.step(11, "cp_async_cg", {at(two), at(from)});
    k(12, "ld_shared_u32", {at(one)});
    std::vector<std::byte> data(16);
    const GlobalBuffer buffer{data.data(), std::ssize(data), 0x10000};
    CHECK(found(run_with(k.finish(), 0, {&buffer, 1})) == Found{{"WG-GROUP-04", 12}, {"WG-GROUP-06", 11}});
}

TEST_CASE("what is written too late is another place than that which nothing writes") {
    AsyncScript k(64);
    const int buffer = k.buffer("words", 16);
    k.begin_if(2, k(2, "setp_ge_u32", {k.thread, 32}));
    k(10, "ld_shared_u32", {in_buffer(buffer)});
    k(11, "ld_shared_u32", {in_buffer(buffer, 4)});
    k.builder.end_if();
    k.step(20, "st_shared_u32", {in_buffer(buffer), 7}, {k.first});
    const Program program = k.finish();
    for (std::uint64_t seed = 0; seed < 24; ++seed)
        CHECK(found(run_with(program, seed)).contains({"WG-MEM-04", 11}));
}

TEST_CASE("steps that are refused break laws of their own") {
    AsyncScript k(32);
    const isa::Form shuffle = isa::parse_method("shfl_sync_idx_b32").form;
    const isa::Instruction& op = *isa::find("shfl.sync");
    k.add(10, op, shuffle, {Operand(), k.thread, 0, 31, Operand(), 1});
    k(11, "mbarrier_pending_count", {k(1, "mov_u64", {5})});
    expect(k.finish(), {{"WG-SYNC-08", 10}, {"WG-MBAR-06", 11}});
}

TEST_CASE("a race at another step does not speak for the CTA that may not have begun") {
    AsyncScript k(64, {2, 1, 1});
    const int own = k.buffer("own", 16), sent = k.buffer("sent", 16);
    const Reg rank = k.special("cluster_ctarank");
    const Reg there = k(1, "mapa_u32", {k.in(sent), k(1, "xor_b32", {rank, 1})});
    k.step(10, "st_shared_u32", {in_buffer(own), k.thread}, {k(1, "setp_eq_u32", {k.thread, 0})});
    k.step(10, "st_shared_u32", {in_buffer(own), k.thread}, {k(1, "setp_eq_u32", {k.thread, 32})});
    k.step(11, "st_shared_cluster_u32", {at(there), 1}, {k(1, "setp_eq_u32", {k.thread, 32})});
    k.step(12, "barrier_cluster_arrive");
    k.step(13, "barrier_cluster_wait");
    const Program program = k.finish();
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const Outcome outcome = run_mapped(program, {}, seed, {2});
        INFO(text_of(outcome));
        CHECK(found(outcome) == Found{{"WG-RACE-01", 10}, {"WG-SYNC-05", 11}});
    }
}
