// Guarded builds: which loops and waits get a guard, and how their places are numbered.
#include "program/guarded.hpp"

#include <algorithm>
#include <map>

#include "isa/guard.hpp"
#include "isa/order.hpp"
#include "isa/timestamp.hpp"
#include "program/profiled.hpp"
#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "tests/script.hpp"

using namespace wgrun;
using isa::Awaits;
using isa::Field;
using isa::Type;
using Kind = GuardSite::Kind;

using test::Script, test::typed;

namespace {

std::map<std::string, int> count(const Program& program) {
    std::map<std::string, int> out;
    for_each_step(program, [&](const Step& step) { ++out[std::string(step.op->name)]; });
    return out;
}

/// while (!try_wait(bar, 0)) {}
void wait_for_mbarrier(Script& s, int bar, Reg guard = {}) {
    const Reg address = s.add("mov", typed(Type::u32), {{}, Operand::shared(bar, 0)});
    s.wait_for(Operand::address(address, 8), Operand::number(0), guard);
}

}  // namespace

TEST_CASE("guarded: a loop that looks at an mbarrier has a limit of its own, the others one of the kernel") {
    Script s;
    const int bar = s.builder.shared("bar", 16, 8, {});
    const Reg n = s.add("mov", typed(Type::u32), {{}, Operand::number(8)});
    s.builder.begin_loop();
    s.builder.loop_condition(s.add("setp",
                                   typed(Type::u32).set(Field::cmp, *isa::parse_value(Field::cmp, "gt")),
                                   {{}, Operand::of(n), Operand::number(0)}));
    wait_for_mbarrier(s, bar);
    s.add("bar.sync", {}, {Operand::number(0)});
    s.builder.end_loop();
    const Program program = s.builder.finish();
    const GuardedProgram guarded = wgrun::guarded(program);

    CHECK(guarded.program.params().size() == program.params().size() + 3);
    CHECK(guarded.program.name() == program.name());
    CHECK(guarded.program.threads() == program.threads());
    CHECK(guarded.program.shared_bytes() == program.shared_bytes());
    std::map<std::string, int> steps = count(guarded.program);
    CHECK(steps["guard.clock"] == 2);
    CHECK(steps["guard.overdue"] == 3);  // the poll, its loop, the loop around
    CHECK(steps["guard.report"] == 3);
    CHECK(steps["guard.note"] == 2);  // before bar.sync and after
    CHECK(steps["guard.mbarrier_word"] == 1);
    CHECK(steps["bar.sync"] == 1);

    std::map<Kind, std::vector<const GuardSite*>> sites;
    for (const GuardSite& site : guarded.sites) sites[site.kind].push_back(&site);
    REQUIRE(sites[Kind::poll].size() == 1);
    CHECK(sites[Kind::poll][0]->awaits == Awaits::mbarrier);
    CHECK(sites[Kind::poll][0]->where.line == 5);
    REQUIRE(sites[Kind::wait].size() == 1);
    CHECK(sites[Kind::wait][0]->awaits == Awaits::barrier);
    CHECK(sites[Kind::wait][0]->where.line == 7);
    CHECK(sites[Kind::loop].size() == 2);

    // The original is untouched, and has nothing of it.
    for (const auto& [name, times] : count(program)) CHECK(!name.starts_with("guard."));
}

TEST_CASE("guarded: a loop that waits for the phase of a state has a limit, too") {
    Script s;
    const int bar = s.builder.shared("bar", 8, 8, {});
    const Reg address = s.add("mov", typed(Type::u32), {{}, Operand::shared(bar, 0)});
    const Operand mbarrier = Operand::address(address, 0);
    const Reg state = s.add("mbarrier.arrive.state", {}, {{}, mbarrier, Operand::number(1)});
    s.builder.begin_loop();
    const Reg done = s.add("mbarrier.test_wait", {}, {{}, mbarrier, Operand::of(state)});
    s.builder.loop_condition(s.add("not", typed(Type::pred), {{}, Operand::of(done)}));
    s.builder.end_loop();
    const Program program = s.builder.finish();

    std::map<std::string, int> steps = count(wgrun::guarded(program).program);
    CHECK(steps["guard.mbarrier_word"] == 1);
    CHECK(steps["guard.report"] == 2);  // the poll and its loop
    const ProfiledProgram build = profiled(program);
    REQUIRE(build.sites.size() == 1);
    CHECK(build.sites[0].moment == isa::timestamp::Moment::other);  // which phase it was is not known
}

TEST_CASE("guarded: a loop that does more than look is none of those that only look") {
    Script s;
    const int bar = s.builder.shared("bar", 16, 8, {});
    const int out = s.builder.param("out", Type::u64, Dtype::u32);
    const Reg to = s.add("ld.param", typed(Type::u64), {{}, Operand::param(out)});
    const Reg address = s.add("mov", typed(Type::u32), {{}, Operand::shared(bar, 0)});
    s.builder.begin_loop();
    const Reg done =
        s.add("mbarrier.test_wait.parity", {}, {{}, Operand::address(address, 0), Operand::number(0)});
    s.builder.loop_condition(s.add("not", typed(Type::pred), {{}, Operand::of(done)}));
    s.add("st", typed(Type::u32).set(Field::space, static_cast<int>(isa::Space::global)),
          {Operand::address(to, 0), Operand::of(address)});
    s.builder.end_loop();
    const GuardedProgram guarded = wgrun::guarded(s.builder.finish());
    REQUIRE(guarded.sites.size() == 1);
    CHECK(guarded.sites[0].kind == Kind::loop);
}

TEST_CASE("guarded: strong loads and atomics in a loop that only looks are polls of memory") {
    Script s;
    const int flag = s.builder.param("flag", Type::u64, Dtype::u32);
    const int guard_block = s.builder.param("guard_block", Type::u32, {});  // a name of a guard's own
    CHECK(guard_block == 1);
    const Reg at = s.add("ld.param", typed(Type::u64), {{}, Operand::param(flag)});
    s.builder.begin_loop();
    const Reg found = s.add("ld",
                            typed(Type::u32)
                                .set(Field::space, static_cast<int>(isa::Space::global))
                                .set(Field::sem, *isa::parse_value(Field::sem, "acquire.gpu")),
                            {{}, Operand::address(at, 16)});
    s.builder.loop_condition(s.add("setp",
                                   typed(Type::u32).set(Field::cmp, *isa::parse_value(Field::cmp, "eq")),
                                   {{}, Operand::of(found), Operand::number(0)}));
    s.builder.end_loop();
    const GuardedProgram guarded = wgrun::guarded(s.builder.finish());
    REQUIRE(guarded.sites.size() == 2);
    CHECK(guarded.sites[0].kind == Kind::poll);
    CHECK(guarded.sites[0].awaits == Awaits::memory);
    CHECK(guarded.sites[0].step.op->name == "ld");
    CHECK(guarded.program.params()[2].name == "guard_block_");
}

TEST_CASE("guarded: a traced build notes each access and lets it end") {
    Script s;
    const int out = s.builder.param("out", Type::u64, Dtype::u32);
    const Reg to = s.add("ld.param", typed(Type::u64), {{}, Operand::param(out)});
    const Reg value = s.add("ld", typed(Type::u32).set(Field::space, static_cast<int>(isa::Space::global)),
                            {{}, Operand::address(to, 0)});
    s.add("st", typed(Type::u32).set(Field::space, static_cast<int>(isa::Space::global)),
          {Operand::address(to, 4), Operand::of(value)});
    const Program program = s.builder.finish();
    CHECK(wgrun::guarded(program).sites.empty());
    const GuardedProgram traced = wgrun::guarded(program, true);
    REQUIRE(traced.sites.size() == 2);
    CHECK(traced.sites[0].kind == Kind::access);
    CHECK(traced.sites[0].where.line == 3);
    CHECK(traced.sites[1].where.line == 4);
    std::map<std::string, int> steps = count(traced.program);
    CHECK(steps["guard.note"] == 4);
    CHECK(steps["fence"] == 2);
}

TEST_CASE("guarded: what is asynchronous is noted until it has had the time to end") {
    Script s;
    const int in = s.builder.param("in", Type::u64, Dtype::u32);
    const int to = s.builder.shared("to", 64, 128, {}), bar = s.builder.shared("bar", 8, 8, {});
    const Reg from = s.add("ld.param", typed(Type::u64), {{}, Operand::param(in)});
    const Reg at = s.add("mov", typed(Type::u32), {{}, Operand::shared(to, 0)});
    const Reg full = s.add("mov", typed(Type::u32), {{}, Operand::shared(bar, 0)});
    s.add(
        "cp.async.bulk", {},
        {Operand::address(at, 0), Operand::address(from, 0), Operand::number(64), Operand::address(full, 0)});
    s.add("cp.async.bulk.commit_group", {}, {});
    const Program program = s.builder.finish();
    const GuardedProgram traced = wgrun::guarded(program, true);
    REQUIRE(traced.sites.size() == 1);
    CHECK(traced.sites[0].where.line == 5);
    std::vector<std::string> order;
    for_each_step(traced.program, [&](const Step& step) { order.emplace_back(step.op->name); });
    order.erase(order.begin(), std::ranges::find(order, "guard.note"));
    CHECK(order == std::vector<std::string>{"guard.note", "cp.async.bulk", "guard.settle", "guard.note",
                                            "cp.async.bulk.commit_group"});
}

TEST_CASE("isa: what goes on when the thread has gone on") {
    std::vector<std::string> names;
    for (const isa::Instruction* op : isa::all())
        if (isa::asynchronous(test::step_of(*op, test::some_forms_of(*op).front())))
            names.emplace_back(op->name);
    std::ranges::sort(names);
    CHECK(names == std::vector<std::string>{"cp.async",
                                            "cp.async.bulk",
                                            "cp.async.bulk.cluster",
                                            "cp.async.bulk.prefetch",
                                            "cp.async.bulk.prefetch.tensor",
                                            "cp.async.bulk.prefetch.tensor.im2col",
                                            "cp.async.bulk.store",
                                            "cp.async.bulk.tensor",
                                            "cp.async.bulk.tensor.im2col",
                                            "cp.async.bulk.tensor.store",
                                            "cp.async.bulk.tensor.store.im2col",
                                            "cp.async.ignore_src",
                                            "cp.async.mbarrier.arrive",
                                            "cp.reduce.async.bulk",
                                            "cp.reduce.async.bulk.cluster",
                                            "cp.reduce.async.bulk.tensor",
                                            "cp.reduce.async.bulk.tensor.im2col",
                                            "red.async",
                                            "st.async",
                                            "wgmma.mma_async",
                                            "wgmma.mma_async.sp"});
}

TEST_CASE("isa: what steps wait for") {
    const auto awaits = [](std::string_view name) { return isa::find(name)->awaits; };
    CHECK(awaits("bar.sync") == Awaits::barrier);
    CHECK(awaits("bar.arrive") == Awaits::nothing);
    CHECK(awaits("barrier.cluster.wait") == Awaits::cluster);
    CHECK(awaits("mbarrier.try_wait.parity") == Awaits::mbarrier);
    CHECK(awaits("mbarrier.test_wait.parity") == Awaits::mbarrier);
    CHECK(awaits("setmaxnreg") == Awaits::registers);
    CHECK(awaits("griddepcontrol.wait") == Awaits::grids);
    CHECK(awaits("wgmma.wait_group") == Awaits::nothing);  // wgmma end by themselves
    for (const isa::Instruction* op : isa::all()) CHECK(!op->name.starts_with("guard."));
}

TEST_CASE("guarded: loops of labels are timed from wherever they are entered, also where they overlap") {
    Script s;
    const Reg p = s.builder.reg(Type::pred), q = s.builder.reg(Type::pred);
    const int first = s.builder.label(), second = s.builder.label();
    s.builder.jump(second, p);  // into the middle of the first loop
    s.builder.place(first);
    s.add("wgmma.fence", {}, {});
    s.builder.place(second);
    s.add("wgmma.fence", {}, {});
    s.builder.jump(first, q);
    s.add("wgmma.fence", {}, {});
    s.builder.jump(second, p);
    const Program program = s.builder.finish();
    const GuardedProgram guarded = wgrun::guarded(program);
    std::map<std::string, int> steps = count(guarded.program);
    CHECK(guarded.sites.size() == 2);
    CHECK(steps["guard.overdue"] == 2);
    // Where the kernel begins, and on every way in: from the start, and from one loop to the other.
    CHECK(steps["guard.clock"] == 2 + 2 + 2);
}
