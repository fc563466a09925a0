// Profiled builds: which steps get a timestamp, where, and that everything else stays as it is.
#include "program/profiled.hpp"

#include <algorithm>
#include <map>

#include "tests/catch.hpp"
#include "tests/script.hpp"

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::Type;
using isa::timestamp::Moment;

using test::Script, test::typed, test::in_buffer;

namespace {

std::map<std::string, int> count(const Program& program) {
    std::map<std::string, int> out;
    for_each_step(program, [&](const Step& step) { ++out[std::string(step.op->name)]; });
    return out;
}

/// while (!try_wait(bar, parity)) {}
void wait_for_mbarrier(Script& s, int bar, const Operand& parity) {
    const Reg address = s.add("mov", typed(Type::u32), {{}, Operand::shared(bar, 0)});
    s.wait_for(Operand::address(address, 8), parity);
}

}  // namespace

TEST_CASE("profiled: waits, copies and groups of products have timestamps, and nothing else") {
    Script s;
    const int bar = s.builder.shared("bar", 16, 8, {});
    const Reg X = s.add("ld.param", typed(Type::u64),
                        {{}, Operand::param(s.builder.param("X", Type::u64, Dtype::f32))});
    const Reg phase = s.add("mov", typed(Type::u32), {{}, Operand::number(1)});
    wait_for_mbarrier(s, bar, Operand::of(phase));
    wait_for_mbarrier(s, bar, Operand::number(0));
    const Reg elected = s.add("elect.sync", {}, {{}, Operand::integer(0xFFFFFFFF)});
    s.add("cp.async.bulk", {},
          {in_buffer(bar, 0),
           Operand::address(X, 0),
           Operand::number(16),
           in_buffer(bar, 8),
           Operand::number(0),
           {}},
          elected);
    s.add("bar.sync", {}, {Operand::number(3)});
    const Program program = s.builder.finish();
    const ProfiledProgram build = profiled(program);

    REQUIRE(build.sites.size() == 4);
    CHECK(build.sites[0].moment == Moment::mbarrier);
    CHECK(build.sites[0].step->where.line == 5);
    CHECK(build.sites[1].moment == Moment::mbarrier);
    CHECK(build.sites[2].moment == Moment::copy);
    CHECK(build.sites[3].moment == Moment::barrier);
    CHECK(build.program.params().size() == 2);
    CHECK(build.program.params().back().name == "profile");
    CHECK(build.program.shared_bytes() == program.shared_bytes());
    std::map<std::string, int> before = count(program), after = count(build.program);
    CHECK(after["timestamp.open"] == 1);
    CHECK(after["timestamp.close"] == 1);
    CHECK(after["timestamp.clock"] == 4);
    CHECK(after["timestamp.event"] == 4);
    for (const auto& [name, times] : before)
        if (name.find('.') != std::string::npos && name != "ld.param") CHECK(after[name] == times);
    // The loops that look have nothing inside that they had not before.
    const std::vector<BasicBlock>& blocks = build.program.blocks();
    for (const BasicBlock& block : blocks) {
        if (block.label.kind != Label::Kind::loop) continue;
        CHECK(block.steps.size() == 2);
        REQUIRE(block.end == BasicBlock::End::branch);
        CHECK(blocks[block.taken].steps.empty());
        CHECK(blocks[block.taken].taken == static_cast<BlockId>(&block - blocks.data()));
    }
}

TEST_CASE("profiled: products up to their commit are one timestamp") {
    Script s;
    const Reg descriptor = s.add("mov", typed(Type::b64), {{}, Operand::integer(0)});
    const std::vector<Reg> sums = s.builder.regs(Type::f32, 4);
    const auto product = [&] {
        s.add("wgmma.mma_async",
              Form()
                  .set(Field::n, 8)
                  .set(Field::a, static_cast<int>(Type::bf16))
                  .set(Field::b, static_cast<int>(Type::bf16)),
              {Operand::of(sums), Operand::of(descriptor), Operand::of(descriptor), Operand::number(0)});
    };
    s.add("wgmma.fence", {}, {});
    product();
    product();
    s.add("wgmma.commit_group", {}, {});
    s.add("wgmma.wait_group", {}, {Operand::number(0)});
    product();  // without a commit in its block
    const Program program = s.builder.finish();
    const ProfiledProgram build = profiled(program);
    REQUIRE(build.sites.size() == 3);
    CHECK(build.sites[0].moment == Moment::product);
    CHECK(build.sites[0].products.size() == 2);
    CHECK(build.sites[1].moment == Moment::products);
    CHECK(build.sites[2].moment == Moment::product);
    CHECK(build.sites[2].products.size() == 1);
    // The clock is read before the first product; nothing comes between it and the commit.
    std::vector<std::string_view> steps;
    for_each_step(build.program, [&](const Step& step) { steps.push_back(step.op->name); });
    const auto first = std::ranges::find(steps, "wgmma.mma_async");
    REQUIRE(steps.end() - first > 4);
    CHECK(first[-1] == "timestamp.clock");
    CHECK(first[1] == "wgmma.mma_async");
    CHECK(first[2] == "wgmma.commit_group");
    CHECK(first[3] == "timestamp.event");
}
