// Profiled builds: what gets a stamp, where, and that everything else stays as it is.
#include "program/stamped.hpp"

#include <algorithm>
#include <map>

#include "tests/catch.hpp"

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::Type;
using isa::stamp::Moment;

namespace {

/// An address in a shared buffer.
Operand at(int buffer, std::int64_t offset) {
    Operand out = Operand::address({}, offset);
    out.index = buffer;
    return out;
}

/// A kernel in the making: each step on a line of its own.
struct Script {
    Builder b{"kernel", 128, {}, Where::at("k.lua", 1)};
    int line = 1;

    Reg add(std::string_view op, const Form& form, std::vector<Operand> operands, Reg guard = {}) {
        b.at(Where::at("k.lua", ++line));
        const Step& step = b.add(*isa::find(op), form, std::move(operands), guard);
        return step.operands.empty() ? Reg{} : step.operands[0].reg;
    }
    Form of(Type type) { return Form().set(Field::type, type); }
};

std::map<std::string, int> count(const Program& program) {
    std::map<std::string, int> out;
    for_each_step(program, [&](const Step& step) { ++out[std::string(step.op->name)]; });
    return out;
}

/// while (!try_wait(bar, parity)) {}
void wait_for_mbarrier(Script& s, int bar, const Operand& parity) {
    const Reg address = s.add("mov", s.of(Type::u32), {{}, Operand::shared(bar, 0)});
    s.b.begin_loop();
    const Reg done = s.add("mbarrier.try_wait.parity", {}, {{}, Operand::address(address, 8), parity});
    s.b.loop_condition(s.add("not", s.of(Type::pred), {{}, Operand::of(done)}));
    s.b.end_loop();
}

}  // namespace

TEST_CASE("stamped: waits, copies and groups of products have stamps, and nothing else") {
    Script s;
    const int bar = s.b.shared("bar", 16, 8, {});
    const Reg X =
        s.add("ld.param", s.of(Type::u64), {{}, Operand::param(s.b.param("X", Type::u64, Dtype::f32))});
    const Reg phase = s.add("mov", s.of(Type::u32), {{}, Operand::number(1)});
    wait_for_mbarrier(s, bar, Operand::of(phase));
    wait_for_mbarrier(s, bar, Operand::number(0));
    const Reg elected = s.add("elect.sync", {}, {{}, Operand::integer(0xFFFFFFFF)});
    s.add("cp.async.bulk", {},
          {at(bar, 0), Operand::address(X, 0), Operand::number(16), at(bar, 8), Operand::number(0), {}},
          elected);
    s.add("bar.sync", {}, {Operand::number(3)});
    const Program program = s.b.finish();
    const StampedProgram build = stamped(program);

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
    CHECK(after["stamp.open"] == 1);
    CHECK(after["stamp.close"] == 1);
    CHECK(after["stamp.clock"] == 4);
    CHECK(after["stamp.event"] == 4);
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

TEST_CASE("stamped: products up to their commit are one stamp") {
    Script s;
    const Reg descriptor = s.add("mov", s.of(Type::b64), {{}, Operand::integer(0)});
    const std::vector<Reg> sums = s.b.regs(Type::f32, 4);
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
    const Program program = s.b.finish();
    const StampedProgram build = stamped(program);
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
    CHECK(first[-1] == "stamp.clock");
    CHECK(first[1] == "wgmma.mma_async");
    CHECK(first[2] == "wgmma.commit_group");
    CHECK(first[3] == "stamp.event");
}
