// The part of a program that decides about synchronisation, and its layout for the warps of an abstract
// execution.
#include "check/skeleton.hpp"

#include "tests/catch.hpp"
#include "tests/unit/check/abstract_kit.hpp"

using namespace kit;

namespace {

using Kind = check::SkeletonOp::Kind;

std::vector<Kind> kinds(const check::Skeleton& skeleton) {
    std::vector<Kind> out;
    for (const auto& op : skeleton.ops) out.push_back(op.kind);
    return out;
}

std::vector<std::string> names(const check::Skeleton& skeleton) {
    std::vector<std::string> out;
    for (const auto& op : skeleton.ops)
        if (op.step != nullptr) out.emplace_back(op.step->op->name);
    return out;
}

}  // namespace

TEST_CASE("a program that does not synchronise has no skeleton") {
    Roles k;
    const int tile = k.memory("tile", 1024);
    k.store(k.address_of(tile));
    k.fence();
    k.wait(0);
    const Program program = k.builder().finish();
    CHECK(check::Skeleton(program).ops.empty());
}

TEST_CASE("it keeps what gives operands and guards, and nothing else") {
    Roles k;
    const int bars = k.memory("bars", 64);
    const Reg offset = k.shift_left(k.add(k.n(), Kernel::imm(1)), 3);
    const Reg bar = k.add(k.address_of(bars), Operand::of(offset));
    for (int i = 0; i < 10; ++i) k.store(k.add(k.thread, Kernel::imm(i)));  // decides nothing
    k.once([&] { return k.init(Roles::at(bar), 1); });
    const Program program = k.builder().finish();
    const check::Skeleton skeleton(program);
    CHECK(names(skeleton) == std::vector<std::string>{"special", "setp", "ld.param", "add", "shl", "mov",
                                                      "add", "mbarrier.init"});
    CHECK(skeleton.ops.back().kind == Kind::end);
    CHECK(skeleton.ops[7].synchronises);
    CHECK(skeleton.ops[7].reg == k.first);
    CHECK(skeleton.slot_count == 7);  // tid.x, first, n, n + 1, offset, address, bar
}

TEST_CASE("a value from memory is opaque, and what it comes from is left out") {
    Roles k;
    const int bars = k.memory("bars", 64);
    const Reg address = k.address_of(bars), from_memory = k.unknown();
    k.arrive(Roles::at(k.add(address, Operand::of(from_memory))));
    const Program program = k.builder().finish();
    const check::Skeleton skeleton(program);
    CHECK(names(skeleton) == std::vector<std::string>{"mov", "ld", "add", "mbarrier.arrive"});
    REQUIRE(skeleton.ops.size() == 6);  // and a jump to the end
    CHECK(skeleton.ops[1].opaque);
    CHECK_FALSE(skeleton.ops[2].opaque);
    CHECK_FALSE(skeleton.depends_on_launch());
}

TEST_CASE("branches jump over their arms") {
    Roles k;
    k.branch(
        k.first, [&] { k.bar_sync(1, 32); }, [&] { k.bar_sync(2, 32); });
    const Program program = k.builder().finish();
    const check::Skeleton skeleton(program);
    REQUIRE(kinds(skeleton) == std::vector{Kind::step, Kind::step, Kind::branch, Kind::step, Kind::jump,
                                           Kind::step, Kind::jump, Kind::end});
    CHECK(skeleton.ops[2].ways.taken == 3);
    CHECK(skeleton.ops[2].ways.otherwise == 5);
    CHECK(skeleton.ops[2].ways.join == 7);
    CHECK(skeleton.ops[4].ways.taken == 7);
    CHECK(skeleton.ops[6].ways.taken == 7);
    CHECK(skeleton.ops[2].both_arms);
}

TEST_CASE("an arm that does not synchronise is empty") {
    Roles k;
    k.branch(
        k.first, [&] { k.bar_sync(1, 32); }, [&] { k.constant(1); });
    const Program program = k.builder().finish();
    const check::Skeleton skeleton(program);
    REQUIRE(kinds(skeleton) ==
            std::vector{Kind::step, Kind::step, Kind::branch, Kind::step, Kind::jump, Kind::end});
    CHECK(skeleton.ops[2].ways.otherwise == 5);
    CHECK_FALSE(skeleton.ops[2].both_arms);
}

TEST_CASE("loops test behind their head and repeat from there") {
    Roles k;
    k.loop([&](Reg) { k.bar_sync(); });
    const Program program = k.builder().finish();
    const check::Skeleton skeleton(program);
    // n, i = 0; i < n; bar.sync; i + 1
    REQUIRE(kinds(skeleton) == std::vector{Kind::step, Kind::step, Kind::jump, Kind::step, Kind::branch,
                                           Kind::step, Kind::step, Kind::jump, Kind::end});
    CHECK(skeleton.ops[7].ways.taken == 3);
    CHECK(skeleton.ops[4].ways.taken == 5);
    CHECK(skeleton.ops[4].ways.otherwise == 8);
    CHECK_FALSE(skeleton.ops[4].both_arms);
    CHECK(skeleton.integers == std::vector{0});
    CHECK(skeleton.depends_on_launch());
}

TEST_CASE("the place in the grid is what a launch chooses, the thread is not") {
    const auto [name, depends] = GENERATE(table<std::string, bool>({{"tid.x", false},
                                                                    {"laneid", false},
                                                                    {"cluster_ctarank", false},
                                                                    {"ctaid.x", true},
                                                                    {"nctaid.y", true},
                                                                    {"clusterid.x", true}}));
    Roles k;
    k.branch(k.compare("eq", k.special(name), Kernel::imm(0)), [&] { k.bar_sync(); });
    const Program program = k.builder().finish();
    INFO(name);
    CHECK(check::Skeleton(program).knows_the_grid == depends);
}

TEST_CASE("what changes nothing that others see decides nothing, however its guard comes out") {
    const auto [instruction, synchronises] =
        GENERATE(table<std::string, bool>({{"prefetch.tensormap", false},
                                           {"cp.async.bulk.prefetch.tensor", false},
                                           {"griddepcontrol.wait", false},
                                           {"griddepcontrol.launch_dependents", false},
                                           {"fence.mbarrier_init", true},
                                           {"cp.async.bulk.commit_group", true}}));
    Roles k;
    const Reg map = k.map({Dtype::bf16, {64, 64}, SwizzleMode::b128});
    const Operand at = Operand::of(std::vector<Reg>(2, k.constant(0)));
    k.guard(k.compare("eq", k.unknown(), Kernel::imm(0)));
    if (instruction == "prefetch.tensormap")
        k.step(instruction, {}, {Operand::of(map)});
    else if (instruction == "cp.async.bulk.prefetch.tensor")
        k.step(instruction, Form().set(Field::dim, 2), {Operand::of(map), at});
    else
        k.step(instruction);
    const Program program = k.builder().finish();
    INFO(instruction);
    CHECK(check::Skeleton(program).ops.empty() != synchronises);
}

TEST_CASE("wgmma matters where something brings bytes that an mbarrier counts") {
    const auto [instruction, matters] = GENERATE(table<std::string, bool>({{"none", false},
                                                                           {"cp.async", false},
                                                                           {"cp.async.bulk.store", false},
                                                                           {"cp.async.bulk", true},
                                                                           {"cp.async.bulk.tensor", true},
                                                                           {"cp.async.bulk.cluster", true},
                                                                           {"st.async", true},
                                                                           {"red.async", true}}));
    Roles k(128);
    const int tile = k.buffer(kit::tile()), bar = k.memory("bar", 8);
    const int x = k.builder().param("y", Type::u64, Dtype::u32);
    const Reg global = k.value("ld.param", Kernel::type(Type::u64), {Operand::param(x)});
    const Reg address = k.address_of(tile);
    if (instruction == "cp.async")
        k.step(instruction, Form().set(Field::cop, *isa::parse_value(Field::cop, "cg")),
               {Roles::at(address), Roles::at(global)});
    if (instruction == "cp.async.bulk.store")
        k.step(instruction, {}, {Roles::at(global), Roles::in(tile), Kernel::imm(16)});
    if (instruction == "cp.async.bulk")
        k.step(instruction, {}, {Roles::in(tile), Roles::at(global), Kernel::imm(16), Roles::in(bar)});
    if (instruction == "cp.async.bulk.tensor")
        k.load(Roles::in(tile), k.map({Dtype::bf16, {64, 64}, SwizzleMode::b128}), Roles::in(bar));
    if (instruction == "cp.async.bulk.cluster")
        k.step(instruction, {}, {Roles::at(address), Roles::in(tile), Kernel::imm(16), Roles::in(bar)});
    if (instruction == "st.async")
        k.step(instruction, Kernel::type(Type::b32), {Roles::at(address), Kernel::imm(0), Roles::in(bar)});
    if (instruction == "red.async")
        k.step(instruction, Kernel::type(Type::u32).set(Field::op, *isa::parse_value(Field::op, "add")),
               {Roles::at(address), Operand::of(k.thread), Roles::in(bar)});
    const std::vector<Reg> acc = k.accumulators();
    const Reg d = k.descriptor(tile);
    k.fence();
    k.mma(acc, d, d);
    k.commit();
    k.wait(0);
    const Program program = k.builder().finish();
    const check::Skeleton skeleton(program);
    INFO(instruction);
    const auto multiplies = [](const auto& op) { return op.multiplies; };
    CHECK(std::ranges::count_if(skeleton.ops, multiplies) ==
          (matters ? 3 : 0));  // the fence orders registers alone
}

TEST_CASE("a wgmma matters for its registers too, with the estimate") {
    Roles k(128);
    const int tile = k.buffer(kit::tile());
    const Reg d = k.descriptor(tile);
    k.fence();
    k.mma(k.accumulators(), d, d);
    k.commit();
    k.wait(0);
    const Program program = k.builder().finish();
    CHECK(check::Skeleton(program).ops.empty());
    const check::Pressure pressure(program);
    const check::Skeleton skeleton(program, &pressure);
    const auto mma = std::ranges::find_if(skeleton.ops, [](const auto& op) { return op.multiplies; });
    REQUIRE(mma != skeleton.ops.end());
    CHECK(mma->pressure == 58);
}
