// shfl.sync, vote.sync, redux.sync and bar.warp.sync: meanings, and which membermasks are refused.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "tests/catch.hpp"
#include "tests/unit/isa/bench.hpp"

using namespace bench;

namespace {

Lanes numbers() {
    Lanes out{};
    for (std::size_t l = 0; l < lanes; ++l) out[l] = 1000 + l;
    return out;
}

Form mode(std::string_view name) { return with({}, Field::op, name); }

struct Shuffled {
    Lanes d, p;
};

Shuffled shuffle(std::string_view name, Raw b, Raw c, isa::Mask mask = ~isa::Mask{0}) {
    Machine m;
    m.mask = mask;
    const Reg d = m.put(Type::b32, {}), p = m.put(Type::pred, {}), a = m.put(Type::b32, numbers());
    const isa::Step s =
        step("shfl.sync", mode(name),
             {Operand::of(d), Operand::of(a), Operand::immediate(static_cast<std::int64_t>(b)),
              Operand::immediate(static_cast<std::int64_t>(c)), Operand::of(p), Operand::immediate(mask)});
    s.op->run(s, m);
    return {m.get(d), m.get(p)};
}

/// What CUDA's guide says of __shfl_*_sync with a width: segments of `width` lanes.
int source(std::string_view name, int lane, int by, int width) {
    const int first = lane / width * width, in_segment = lane - first;
    if (name == "idx") return first + by % width;
    const int to = name == "up" ? in_segment - by : name == "down" ? in_segment + by : in_segment ^ by;
    // bfly goes out of a segment, but only towards lower lanes.
    if (name == "bfly") return first + to >= first + width ? lane : first + to;
    return to < 0 || to >= width ? lane : first + to;
}

isa::Step vote(const Form& form, Reg d, Reg a, std::int64_t mask = -1) {
    return step("vote.sync", form, {Operand::of(d), Operand::of(a), Operand::immediate(mask)});
}

}  // namespace

TEST_CASE("shfl.sync reads the lane that its mode says, in segments of every width") {
    for (const char* name : {"up", "down", "bfly", "idx"})
        for (int width : {32, 16, 8, 4, 2})
            for (int by = 0; by < 32; ++by) {
                if (std::string_view(name) == "bfly" && by >= width) continue;  // below
                INFO(name << " by " << by << " in segments of " << width);
                const Raw c = static_cast<Raw>((32 - width) << 8) | (std::string_view(name) == "up" ? 0 : 31);
                const auto [d, p] = shuffle(name, static_cast<Raw>(by), c);
                for (int lane = 0; lane < lanes; ++lane) {
                    const int from = source(name, lane, by, width);
                    REQUIRE(d[static_cast<std::size_t>(lane)] == 1000 + static_cast<Raw>(from));
                    const bool stayed = from == lane && by != 0 && std::string_view(name) != "idx";
                    REQUIRE(p[static_cast<std::size_t>(lane)] == !stayed);
                }
            }
}

TEST_CASE("shfl.sync.bfly beyond a segment reaches lower lanes only") {
    // Lane 20 in segments of 8, xor 8: lane 28 is above segment 16..23. Lane 28, xor 8: lane 20 is below.
    const auto [d, p] = shuffle("bfly", 8, 24 << 8 | 31);
    CHECK(d[20] == 1020);
    CHECK(p[20] == 0);
    CHECK(d[28] == 1020);
    CHECK(p[28] == 1);
}

TEST_CASE("shfl.sync uses five bits of b, and each lane its own") {
    CHECK(shuffle("idx", 37, 31).d[0] == 1005);
    Machine m;
    Lanes b{};
    for (std::size_t l = 0; l < lanes; ++l) b[l] = (7 * l) % 32;
    const Reg d = m.put(Type::b32, {});
    const isa::Step s =
        step("shfl.sync", mode("idx"),
             {Operand::of(d), Operand::of(m.put(Type::b32, numbers())), Operand::of(m.put(Type::b32, b)),
              Operand::immediate(31), Operand{}, Operand::immediate(-1)});
    s.op->run(s, m);  // without the predicate
    for (std::size_t l = 0; l < lanes; ++l) CHECK(m.get(d)[l] == 1000 + (7 * l) % 32);
}

TEST_CASE("shfl.sync: what lies outside the membermask is no value") {
    const auto [d, p] = shuffle("down", 8, 15, 0x0000FFFF);
    CHECK(d[7] == 1015);
    CHECK(d[8] == 1008);  // lane 16 is beyond the segment: its own value
    CHECK(p[8] == 0);
    CHECK(d[16] == 0);  // did not execute it
    CHECK_THROWS_WITH(shuffle("down", 8, 31, 0x0000FFFF),
                      ContainsSubstring("lane 8 reads lane 16, which takes no part (membermask 0xFFFF)"));
}

TEST_CASE("vote.sync over all lanes and over some") {
    const auto run = [](std::string_view name, Raw bits, isa::Mask mask) {
        Machine m;
        m.mask = mask;
        Lanes a{};
        for (std::size_t l = 0; l < lanes; ++l) a[l] = bits >> l & 1U;
        const Reg d = m.put(name == "ballot" ? Type::b32 : Type::pred, {});
        const isa::Step s = vote(mode(name), d, m.put(Type::pred, a), static_cast<std::int64_t>(mask));
        s.op->run(s, m);
        return m.get(d)[static_cast<std::size_t>(std::countr_zero(mask))];
    };
    std::mt19937 random{3};
    for (isa::Mask mask : {0xFFFFFFFFU, 0x0000FFFFU, 0x80000001U, 0x00000400U})
        for (int i = 0; i < 40; ++i) {
            const Raw votes = i == 0 ? 0 : i == 1 ? 0xFFFFFFFF : i == 2 ? mask : i == 3 ? ~mask : random();
            const Raw counted = votes & mask;
            INFO(fmt::format("votes {:X} of {:X}", votes, mask));
            CHECK(run("ballot", votes, mask) == counted);
            CHECK(run("any", votes, mask) == (counted != 0));
            CHECK(run("all", votes, mask) == (counted == mask));
            CHECK(run("uni", votes, mask) == (counted == 0 || counted == mask));
        }
}

TEST_CASE("vote.sync takes negated predicates") {
    Machine m;
    const Reg d = m.put(Type::b32, {}), a = m.put(Type::pred, {1, 1, 0, 1});
    isa::Step s = vote(mode("ballot"), d, a);
    s.operands[1].negated = true;
    s.op->run(s, m);
    CHECK(m.get(d)[0] == 0xFFFFFFF4);
}

TEST_CASE("match.any and match.all over all lanes and over some") {
    std::mt19937_64 random{11};
    for (const Type type : {Type::b32, Type::b64})
        for (const isa::Mask mask : {0xFFFFFFFFU, 0x0000FFFFU, 0x80000001U, 0x00000400U})
            for (const unsigned kinds : {1U, 2U, 7U}) {
                Machine m;
                m.mask = mask;
                Lanes a{};
                for (Raw& raw : a)
                    raw = type == Type::b64 ? Raw{random() % kinds} << 40 | 5 : Raw{random() % kinds};
                const Reg any = m.put(Type::b32, {}), all = m.put(Type::b32, {}), p = m.put(Type::pred, {}),
                          in = m.put(type, a);
                const Operand members = Operand::immediate(mask);
                const isa::Step first =
                    step("match.any.sync", typed(type), {Operand::of(any), Operand::of(in), members});
                first.op->run(first, m);
                const isa::Step second = step("match.all.sync", typed(type),
                                              {Operand::of(all), Operand::of(in), Operand::of(p), members});
                second.op->run(second, m);
                for (std::size_t l = 0; l < lanes; ++l) {
                    isa::Mask same = 0;
                    for (std::size_t other = 0; other < lanes; ++other)
                        if ((mask >> other & 1U) != 0 && a[other] == a[l]) same |= 1U << other;
                    const bool on = (mask >> l & 1U) != 0;
                    CHECK(m.get(any)[l] == (on ? same : 0));
                    CHECK(m.get(all)[l] == (on && same == mask ? mask : 0));
                    CHECK(m.get(p)[l] == (on && same == mask ? 1 : 0));
                }
            }
}

TEST_CASE("activemask names the lanes that execute it") {
    Machine m;
    m.mask = 0x00F00F01;
    const Reg d = m.put(Type::b32, {});
    const isa::Step s = step("activemask", {}, {Operand::of(d)});
    s.op->run(s, m);
    CHECK(m.get(d)[0] == 0x00F00F01);
    CHECK(m.get(d)[1] == 0);
}

TEST_CASE("redux.sync over all lanes and over some") {
    const auto run = [](std::string_view operation, Type type, const Lanes& a, isa::Mask mask) {
        Machine m;
        m.mask = mask;
        const Reg d = m.put(type, {});
        const isa::Step s = step("redux.sync", with(typed(type), Field::op, operation),
                                 {Operand::of(d), Operand::of(m.put(type, a)), Operand::immediate(mask)});
        s.op->run(s, m);
        const Lanes all = m.get(d);
        for (int l = 0; l < lanes; ++l)
            CHECK(all[static_cast<std::size_t>(l)] ==
                  ((mask >> l & 1U) != 0 ? all[static_cast<std::size_t>(std::countr_zero(mask))] : 0));
        return static_cast<std::uint32_t>(all[static_cast<std::size_t>(std::countr_zero(mask))]);
    };
    std::mt19937 random{5};
    for (const isa::Mask mask : {0xFFFFFFFFU, 0x0000FFFFU, 0x80000001U, 0x00000400U}) {
        Lanes a{};
        std::vector<std::uint32_t> taken;
        for (std::size_t l = 0; l < lanes; ++l) {
            a[l] = random();
            if ((mask >> l & 1U) != 0) taken.push_back(static_cast<std::uint32_t>(a[l]));
        }
        const auto folded = [&](auto combine) {
            return std::accumulate(taken.begin() + 1, taken.end(), taken.front(), combine);
        };
        const auto is_less = [](std::uint32_t x, std::uint32_t y) {
            return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
        };
        INFO(fmt::format("membermask {:X}", mask));
        CHECK(run("add", Type::u32, a, mask) == folded(std::plus<>()));
        CHECK(run("add", Type::s32, a, mask) == folded(std::plus<>()));
        CHECK(run("min", Type::u32, a, mask) == *std::ranges::min_element(taken));
        CHECK(run("max", Type::u32, a, mask) == *std::ranges::max_element(taken));
        CHECK(run("min", Type::s32, a, mask) == *std::ranges::min_element(taken, is_less));
        CHECK(run("max", Type::s32, a, mask) == *std::ranges::max_element(taken, is_less));
        CHECK(run("and", Type::b32, a, mask) == folded(std::bit_and<>()));
        CHECK(run("or", Type::b32, a, mask) == folded(std::bit_or<>()));
        CHECK(run("xor", Type::b32, a, mask) == folded(std::bit_xor<>()));
    }
}

TEST_CASE("the membermask names those who execute the step") {
    Machine m;
    m.mask = 0x0000FFFF;
    const auto bar = [&](const Operand& mask) {
        const isa::Step s = step("bar.warp.sync", {}, {mask});
        s.op->run(s, m);
    };
    CHECK_NOTHROW(bar(Operand::immediate(0xFFFF)));
    CHECK_THROWS_WITH(bar(Operand::immediate(-1)),
                      "bar.warp.sync: membermask 0xFFFFFFFF names lane 16, which does not execute it");
    CHECK_THROWS_WITH(bar(Operand::immediate(0xFF)),
                      "bar.warp.sync: lane 8 executes it, and its membermask 0xFF does not name it");
    CHECK_THROWS_WITH(bar(Operand::immediate(0xFF00)),
                      "bar.warp.sync: lane 0 executes it, and its membermask 0xFF00 does not name it");
    Lanes masks{};
    masks.fill(0xFFFF);
    masks[3] = 0xFFFFFFFF;
    CHECK_THROWS_WITH(bar(Operand::of(m.put(Type::b32, masks))), ContainsSubstring("lane 3 with 0xFFFFFFFF"));
    masks[3] = 0xFFFF;
    masks[20] = 7;  // does not execute it
    CHECK_NOTHROW(bar(Operand::of(m.put(Type::b32, masks))));
}

TEST_CASE("lanes with membermasks of their own make parties, which do not know of each other") {
    // The tiles of cooperative groups: four lanes each, of which the second sits out.
    Machine m;
    m.mask = 0xFFFFFF0F;
    Lanes masks{};
    for (std::size_t l = 0; l < lanes; ++l) masks[l] = Raw{0xF} << (l & ~std::size_t{3});
    const Operand members = Operand::of(m.put(Type::u32, masks));
    const Reg a = m.put(Type::u32, numbers()), votes = m.put(Type::pred, {1, 0, 0, 0, 1}),
              sums = m.put(Type::u32, {}), ballot = m.put(Type::b32, {}), equal = m.put(Type::b32, {}),
              moved = m.put(Type::b32, {}), p = m.put(Type::pred, {}), leader = m.put(Type::u32, {});
    const auto run = [&](const isa::Step& s) { s.op->run(s, m); };
    run(step("redux.sync", with(typed(Type::u32), Field::op, "add"),
             {Operand::of(sums), Operand::of(a), members}));
    run(step("vote.sync", mode("ballot"), {Operand::of(ballot), Operand::of(votes), members}));
    run(step("match.any.sync", typed(Type::b32), {Operand::of(equal), Operand::of(sums), members}));
    run(step("shfl.sync", mode("bfly"),
             {Operand::of(moved), Operand::of(a), Operand::immediate(1), Operand::immediate(31), Operand{},
              members}));
    run(step("elect.sync", {}, {Operand::of(p), members, Operand::of(leader)}));
    for (std::size_t l : {0, 3, 8, 10, 31}) {
        const Raw first = l & ~std::size_t{3};
        INFO("lane " << l);
        CHECK(m.get(sums)[l] == 4 * (1000 + first) + 6);
        CHECK(m.get(ballot)[l] == (first == 0 ? 1 : 0));
        CHECK(m.get(equal)[l] == masks[l]);
        CHECK(m.get(moved)[l] == 1000 + (l ^ 1));
        CHECK(m.get(p)[l] == (l == first ? 1 : 0));
        CHECK(m.get(leader)[l] == first);
    }
}
