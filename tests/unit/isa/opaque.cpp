// What the opcode of an instruction without a record tells.
#include "isa/opaque.hpp"

#include "tests/catch.hpp"

using namespace wgrun::isa;

namespace {

void check(std::string_view opcode, Reach reach, bool writes, bool address = true) {
    INFO(opcode);
    const OpcodeFacts facts = facts_of(opcode, address);
    CHECK(facts.reach == reach);
    CHECK(facts.writes == writes);
}

}  // namespace

TEST_CASE("the longest beginning of an opcode decides") {
    check("ld.global.f32", Reach::memory, true);
    check("ld.param.b32", Reach::registers, true);
    check("st.global.f32", Reach::memory, false);
    check("st.local.f32", Reach::registers, false);
    check("st.async.weak.b32", Reach::anything, false);
    check("red.global.add.u32", Reach::memory, false);
    check("redux.sync.add.u32", Reach::registers, true);
    check("bar.sync", Reach::anything, false);
    check("barrier.cta.red.popc.u32", Reach::anything, true);
    check("mbarrier.try_wait.b64", Reach::anything, true);
    check("mbarrier.init.b64", Reach::anything, false);
    check("multimem.ld_reduce.f32", Reach::memory, true);
    check("multimem.st.f32", Reach::memory, false);
    check("wmma.mma.sync", Reach::registers, true);
    check("wmma.store.d.sync", Reach::memory, false);
}

TEST_CASE("an opcode that nothing is known of may do anything if it has an address") {
    check("fancy.new.b32", Reach::anything, true, true);
    check("fancy.new.b32", Reach::registers, true, false);
}
