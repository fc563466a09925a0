// Completing a step: types from registers, and checks of operands, with the text of every message.
#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "wgrun/program.hpp"

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::Type;

namespace {

struct Fixture {
    Builder b{"kernel", 128, {}, Where::at("k.lua", 1)};
    int n = b.param("n", Type::u32, {});
    int buffer = b.shared("S", 256, 16, {});

    Operand reg(Type type) { return Operand::of(b.reg(type)); }
    Operand regs(Type type, int count) { return Operand::of(b.regs(type, count)); }
    const Step& add(std::string_view name, const Form& form, std::vector<Operand> operands) {
        return b.add(*isa::find(name), form, std::move(operands));
    }
    /// The form that the step gets.
    std::string form(std::string_view name, const Form& asked, std::vector<Operand> operands) {
        return test::spelled(add(name, asked, std::move(operands)).form);
    }
    /// The message of the refusal.
    std::string refused(std::string_view name, const Form& asked, std::vector<Operand> operands) {
        try {
            return "taken as " + form(name, asked, std::move(operands));
        } catch (const ArgumentError& error) {
            CHECK(error.finding().rule == "WG-FORM-02");
            CHECK(error.finding().section == isa::find(name)->section);
            return error.finding().message;
        }
    }
};

Form typed(Type type) { return Form().set(Field::type, type); }
Form of(std::string_view field, std::string_view text) {
    const auto f = isa::parse_field(field);
    return Form().set(*f, *isa::parse_value(*f, text));
}
const Form bf16_n8 = Form().set(Field::n, 8).set(Field::a, Type::bf16).set(Field::b, Type::bf16);

}  // namespace

TEST_CASE_METHOD(Fixture, "types follow from the registers, sources before destinations") {
    CHECK(form("add", {}, {{}, reg(Type::s32), Operand::number(1)}) == "type=s32");
    CHECK(form("add", {}, {{}, Operand::number(1), reg(Type::f64)}) == "type=f64 round=rn");
    CHECK(form("add", {}, {reg(Type::u64), Operand::number(1), Operand::number(2)}) == "type=u64");
    CHECK(form("mul", of("half", "wide"), {{}, reg(Type::u16), Operand::number(2)}) == "type=u16 half=wide");
    CHECK(form("setp", of("cmp", "lt"), {{}, reg(Type::f32), Operand::number(0)}) == "type=f32 cmp=lt ftz=0");
    CHECK(form("mov", {}, {reg(Type::f32), Operand::number(0)}) == "type=f32");
    CHECK(form("and", {}, {{}, reg(Type::u32), reg(Type::s32)}) == "type=b32");
    CHECK(form("and", {}, {{}, reg(Type::pred), reg(Type::pred)}) == "type=pred");
    CHECK(form("shr", {}, {{}, reg(Type::s64), Operand::number(3)}) == "type=s64");
    CHECK(form("add", {}, {{}, reg(Type::b32), Operand::number(1)}) == "type=s32");
    CHECK(form("cvt", of("type", "f32"), {{}, reg(Type::s32)}) == "type=f32 from=s32 round=rn");
    CHECK(form("cvt", of("from", "bf16"), {reg(Type::f32), reg(Type::b16)}) == "type=f32 from=bf16");
    CHECK(form("ld", of("space", "global"), {reg(Type::f32), Operand::address(b.reg(Type::u64), 0)}) ==
          "type=f32 space=global vec=1");
    CHECK(form("selp", {}, {{}, reg(Type::f32), reg(Type::f32), reg(Type::pred)}) == "type=f32");
    CHECK(form("wgmma.mma_async", bf16_n8, {regs(Type::f32, 4), reg(Type::b64), reg(Type::u64), {}}) ==
          "d=f32 a=bf16 b=bf16 m=64 n=8 k=16 a_in=shared trans_a=0 trans_b=0 scale_a=1 scale_b=1");
    CHECK(form("wgmma.mma_async", bf16_n8, {regs(Type::f32, 4), regs(Type::b32, 4), reg(Type::b64), {}}) ==
          "d=f32 a=bf16 b=bf16 m=64 n=8 k=16 a_in=registers trans_b=0 scale_a=1 scale_b=1");
}

TEST_CASE_METHOD(Fixture, "destinations that are left out are made, and fallbacks taken") {
    const Step& sum = add("add", {}, {{}, reg(Type::s32), Operand::number(1)});
    CHECK(b.type_of(sum.operands[0].reg) == Type::s32);
    const Step& wide =
        add("mul", Form(typed(Type::s32)).set(Field::half, 2), {{}, reg(Type::s32), reg(Type::s32)});
    CHECK(b.type_of(wide.operands[0].reg) == Type::s64);
    const Step& half = add("cvt", typed(Type::bf16), {{}, reg(Type::f32)});
    CHECK(b.type_of(half.operands[0].reg) == Type::b16);
    const Step& test = add("setp", of("cmp", "eq"), {{}, reg(Type::b32), Operand::number(1)});
    CHECK(b.type_of(test.operands[0].reg) == Type::pred);
    const Step& load = add("ld", Form(typed(Type::s8)).set(Field::space, 1).set(Field::vec, 4),
                           {{}, Operand::address(b.reg(Type::u32), 4)});
    REQUIRE(load.operands[0].list.size() == 4);
    CHECK(b.type_of(load.operands[0].list[3]) == Type::s16);
    const Step& bar = add("bar.sync", {}, {});
    CHECK((bar.operands[0].imm == 0 && bar.operands[1].imm == 0));
    const Step& mma = add("wgmma.mma_async", bf16_n8, {regs(Type::f32, 4), reg(Type::b64), reg(Type::b64)});
    CHECK((mma.operands[3].kind == Operand::Kind::imm && mma.operands[3].imm == 1));
}

TEST_CASE_METHOD(Fixture, "literals become the bits of their type") {
    const auto bits = [&](Type type, const Operand& literal) {
        return add("mov", typed(type), {{}, literal}).operands[1].imm;
    };
    CHECK(bits(Type::f32, Operand::number(1.5)) == 0x3FC00000);
    CHECK(bits(Type::f32, Operand::number(-0.0)) == INT32_MIN);
    CHECK(bits(Type::f64, Operand::number(1.5)) == 0x3FF8000000000000);
    CHECK(bits(Type::f32, Operand::integer(3)) == 0x40400000);
    CHECK(bits(Type::u32, Operand::number(4294967295.0)) == 4294967295);
    CHECK(bits(Type::s32, Operand::number(-1)) == -1);
    CHECK(bits(Type::b64, Operand::integer(INT64_MIN)) == INT64_MIN);
    CHECK(bits(Type::u64, Operand::integer(0x4000000040000001)) == 0x4000000040000001);
    CHECK(bits(Type::f32, Operand::integer(1LL << 60)) == 0x5D800000);
    CHECK(bits(Type::pred, Operand::integer(1)) == 1);
    CHECK(std::isinf(
        std::bit_cast<float>(static_cast<std::int32_t>(bits(Type::f32, Operand::number(HUGE_VAL))))));
}

TEST_CASE_METHOD(Fixture, "literals that their type does not hold") {
    const auto mov = [&](Type type, const Operand& literal) {
        return refused("mov", typed(type), {{}, literal});
    };
    CHECK(mov(Type::u32, Operand::number(0.5)) ==
          "mov, operand a: an integer of type u32 is expected, not 0.5");
    CHECK(mov(Type::u32, Operand::number(NAN)) ==
          "mov, operand a: an integer of type u32 is expected, not nan");
    CHECK(mov(Type::u64, Operand::number(0x1p64)) ==
          "mov, operand a: an integer of type u64 is expected, not 1.8446744073709552e+19");
    CHECK(mov(Type::u32, Operand::number(4294967296.0)) == "mov, operand a: 4294967296 does not fit u32");
    CHECK(mov(Type::s32, Operand::number(-2147483649.0)) == "mov, operand a: -2147483649 does not fit s32");
    CHECK(mov(Type::b16, Operand::number(65536)) == "mov, operand a: 65536 does not fit b16");
    CHECK(mov(Type::pred, Operand::number(2)) == "mov, operand a: 2 does not fit pred");
    CHECK(mov(Type::pred, Operand::number(-1)) == "mov, operand a: -1 does not fit pred");
    CHECK(mov(Type::f32, Operand::number(1e39)) == "mov, operand a: 1e+39 does not fit f32");
    CHECK(refused("wgmma.wait_group", {}, {Operand::number(-1)}) ==
          "wgmma.wait_group, operand n: -1 is out of range (legal: 0 or more)");
    CHECK(refused("bar.sync", {}, {Operand::number(16)}) ==
          "bar.sync, operand barrier: 16 is out of range (legal: 0 to 15)");
    CHECK(refused("bar.sync", {}, {{}, Operand::number(100)}) ==
          "bar.sync, operand threads: 100 is out of range (legal: 0 to 1024 in steps of 32)");
    CHECK(refused("wgmma.mma_async", bf16_n8,
                  {regs(Type::f32, 4), reg(Type::b64), reg(Type::b64), Operand::number(2)}) ==
          "wgmma.mma_async, operand scale_d: 2 is out of range (legal: 0 to 1)");
}

TEST_CASE_METHOD(Fixture, "registers of the wrong type") {
    CHECK(refused("add", typed(Type::f32), {{}, reg(Type::f32), reg(Type::u32)}) ==
          "add, operand b: register of type u32 where an f32 register is expected");
    CHECK(refused("add", typed(Type::u32), {{}, reg(Type::u64), Operand::number(1)}) ==
          "add, operand a: register of type u64 where a u32 register is expected");
    CHECK(refused("add", {}, {reg(Type::f32), reg(Type::u32), reg(Type::u32)}) ==
          "add, operand d: register of type f32 where a u32 register is expected");
    CHECK(refused("selp", typed(Type::u32), {{}, reg(Type::u32), reg(Type::u32), reg(Type::u32)}) ==
          "selp, operand p: register of type u32 where a pred register is expected");
    CHECK(refused("cvt.pair", typed(Type::bf16x2), {reg(Type::f32), reg(Type::f32), reg(Type::f32)}) ==
          "cvt.pair, operand d: register of type f32 where a b32 register is expected");
    CHECK(refused("wgmma.mma_async", bf16_n8, {regs(Type::f32, 4), reg(Type::u32), reg(Type::b64)}) ==
          "wgmma.mma_async, operand a: register of type u32 where a u64 register is expected");
    CHECK(refused("wgmma.mma_async", bf16_n8, {regs(Type::f32, 4), regs(Type::f32, 4), reg(Type::b64)}) ==
          "wgmma.mma_async, operand a: register of type f32 where a b32 register is expected");
    CHECK(refused("wgmma.mma_async", Form(bf16_n8).set(Field::d, Type::f32),
                  {regs(Type::u32, 4), reg(Type::b64), reg(Type::b64)}) ==
          "wgmma.mma_async, operand d: register of type u32 where an f32 register is expected");
    CHECK(refused("ld", Form(typed(Type::f32)).set(Field::space, 0),
                  {{}, Operand::address(b.reg(Type::u32), 0)}) ==
          "ld, operand a: register of type u32 where a u64 register is expected");
    Operand negated = reg(Type::pred);
    negated.negated = true;
    CHECK(refused("setp", of("cmp", "eq"), {negated, reg(Type::u32), Operand::number(1)}) ==
          "setp, operand p: a destination cannot be a negated predicate");
    CHECK_THROWS_WITH(add("add", typed(Type::u32), {{}, Operand::of(Reg{99}), Operand::number(1)}),
                      "a register of another kernel");
}

TEST_CASE_METHOD(Fixture, "operands of the wrong kind, lists of the wrong length") {
    const Form u32 = typed(Type::u32);
    CHECK(refused("add", u32, {{}, regs(Type::u32, 2), Operand::number(1)}) ==
          "add, operand a: a register or a number is expected, not a list of registers");
    CHECK(refused("add", u32, {{}, Operand::param(n), Operand::number(1)}) ==
          "add, operand a: a register or a number is expected, not a parameter");
    CHECK(refused("add", u32, {{}, Operand::shared(buffer, 0), Operand::number(1)}) ==
          "add, operand a: a register or a number is expected, not a shared buffer");
    CHECK(refused("add", u32, {Operand::number(1), reg(Type::u32), reg(Type::u32)}) ==
          "add, operand d: a register is expected, not a number");
    CHECK(refused("add", u32, {{}, reg(Type::u32)}) == "add, operand b: is missing");
    CHECK(refused("ld.param", u32, {{}, reg(Type::u32)}) ==
          "ld.param, operand a: a parameter is expected, not a register");
    CHECK(refused("ld.param", typed(Type::f32), {{}, Operand::param(n)}) ==
          "ld.param, operand a: parameter `n` is of type u32, not f32");
    CHECK(refused("wgmma.wait_group", {}, {reg(Type::u32)}) ==
          "wgmma.wait_group, operand n: a number is expected, not a register");

    const Form v4 = Form(typed(Type::b32)).set(Field::space, 0).set(Field::vec, 4);
    const Operand address = Operand::address(b.reg(Type::u64), 0);
    CHECK(refused("ld", v4, {regs(Type::b32, 3), address}) ==
          "ld, operand d: 4 registers are expected, not 3");
    CHECK(refused("ld", v4, {reg(Type::b32), address}) ==
          "ld, operand d: 4 registers are expected, not a register");
    CHECK(refused("st", v4, {address, reg(Type::b32)}) ==
          "st, operand b: 4 registers are expected, not a register");
    CHECK(refused("st", v4, {address, Operand::number(1)}) ==
          "st, operand b: 4 registers are expected, not a number");
    CHECK(refused("ld", v4, {{}, reg(Type::u64)}) == "ld, operand a: an address is expected, not a register");
    CHECK(refused("wgmma.mma_async", bf16_n8, {regs(Type::f32, 8), reg(Type::b64), reg(Type::b64)}) ==
          "wgmma.mma_async, operand d: 4 registers are expected, not 8: m64n8k16: the 64 x 8 = 512 f32 "
          "elements are shared by the 128 "
          "threads of a warpgroup, 4 each");
    CHECK(refused("wgmma.mma_async", bf16_n8, {reg(Type::f32), reg(Type::b64), reg(Type::b64)}) ==
          "wgmma.mma_async, operand d: 4 registers are expected, not a register: m64n8k16: the 64 x 8 = 512 "
          "f32 elements are shared by the 128 "
          "threads of a warpgroup, 4 each");
    CHECK(refused("wgmma.mma_async", bf16_n8, {regs(Type::f32, 4), regs(Type::b32, 2), reg(Type::b64)}) ==
          "wgmma.mma_async, operand a: 4 registers are expected, not 2");
    const Form from_registers = Form(bf16_n8).set(Field::a_in, 1),
               from_shared = Form(bf16_n8).set(Field::a_in, 0);
    CHECK(refused("wgmma.mma_async", from_registers, {regs(Type::f32, 4), reg(Type::b32), reg(Type::b64)}) ==
          "wgmma.mma_async, operand a: 4 registers are expected, not a register");
    CHECK(refused("wgmma.mma_async", from_shared, {regs(Type::f32, 4), regs(Type::b64, 4), reg(Type::b64)}) ==
          "wgmma.mma_async, operand a: one register is expected, not 4");
    CHECK(refused("wgmma.mma_async", bf16_n8, {regs(Type::f32, 4), reg(Type::b64), regs(Type::b64, 2)}) ==
          "wgmma.mma_async, operand b: a register or a number is expected, not a list of registers");
}

TEST_CASE_METHOD(Fixture, "a list of one is that register") {
    const Step& load = add("ld", Form(typed(Type::b32)).set(Field::space, 0),
                           {regs(Type::b32, 1), Operand::address(b.reg(Type::u64), 0)});
    CHECK(load.operands[0].kind == Operand::Kind::reg);
}

TEST_CASE_METHOD(Fixture, "a register stands once in a list that is written") {
    const Reg r = b.reg(Type::f32), s = b.reg(Type::f32);
    CHECK(refused("wgmma.mma_async", bf16_n8,
                  {Operand::of(std::vector{r, s, b.reg(Type::f32), r}), reg(Type::b64), reg(Type::b64)}) ==
          "wgmma.mma_async, operand d: a register stands in the list twice");
    const Form v2 = Form(typed(Type::f32)).set(Field::space, 0).set(Field::vec, 2);
    const Operand address = Operand::address(b.reg(Type::u64), 0);
    CHECK(refused("ld", v2, {Operand::of(std::vector{r, r}), address}) ==
          "ld, operand d: a register stands in the list twice");
    CHECK_NOTHROW(add("st", v2, {address, Operand::of(std::vector{r, r})}));
}

TEST_CASE_METHOD(Fixture, "addresses: shared buffers in shared spaces, offsets of 32 bits") {
    const Form global = Form(typed(Type::f32)).set(Field::space, 0),
               shared = Form(typed(Type::f32)).set(Field::space, 1);
    Operand address = Operand::shared(buffer, 16);
    address.kind = Operand::Kind::address;
    CHECK_NOTHROW(add("ld", shared, {{}, address}));
    CHECK(refused("ld", global, {{}, address}) ==
          "ld, operand a: a shared buffer is no address in global memory; use the shared space");
    CHECK(refused("ld", global, {{}, Operand::address(b.reg(Type::u64), std::int64_t{1} << 31)}) ==
          "ld, operand a: offset 2147483648 does not fit 32 bits");
    CHECK_NOTHROW(add("mov", typed(Type::u64), {{}, Operand::shared(buffer, 0)}));
    CHECK(refused("mov", typed(Type::f32), {{}, Operand::shared(buffer, 0)}) ==
          "mov, operand a: the address of a shared buffer is an integer of 32 or 64 bits, not f32");
    CHECK(refused("mov", typed(Type::b16), {{}, Operand::shared(buffer, 0)}) ==
          "mov, operand a: the address of a shared buffer is an integer of 32 or 64 bits, not b16");
}

TEST_CASE_METHOD(Fixture, "a guard is a predicate of the kernel") {
    CHECK_THROWS_WITH(b.add(*isa::find("bar.sync"), {}, {}, b.reg(Type::u32)),
                      "guard of bar.sync: a predicate is expected, not a register of type u32");
    CHECK_THROWS_WITH(b.add(*isa::find("bar.sync"), {}, {}, Reg{1000}), "a register of another kernel");
    const Step& step = b.add(*isa::find("bar.sync"), {}, {}, b.reg(Type::pred), true);
    CHECK((step.guard && step.guard_negated));
}

TEST_CASE_METHOD(Fixture, "a refused step leaves no trace") {
    CHECK_THROWS(add("add", typed(Type::u32), {{}, reg(Type::f32), Operand::number(1)}));
    add("wgmma.fence", {}, {});
    const Program program = b.finish();
    CHECK(program.blocks().front().steps.size() == 1);
}

TEST_CASE_METHOD(Fixture, "a cache policy sets its flag, and only global memory has one") {
    const Form global = Form(typed(Type::f32)).set(Field::space, 0);
    const std::vector<Operand> plain{{}, Operand::address(b.reg(Type::u64), 0)};
    CHECK(form("ld", global, plain) == "type=f32 space=global vec=1");
    std::vector<Operand> hinted = plain;
    hinted.push_back(reg(Type::u64));
    CHECK(form("ld", global, hinted) == "type=f32 space=global vec=1 cache=L2::cache_hint nc=0");
    const std::vector<Operand> shared{{}, Operand::address(b.reg(Type::u32), 0), reg(Type::u64)};
    CHECK_THROWS_WITH(add("ld", of("space", "shared").set(Field::type, Type::f32), shared),
                      "ld takes no `cache` for type=f32, space=shared");
    CHECK(refused("ld", global, {{}, Operand::address(b.reg(Type::u64), 0), reg(Type::u32)}) ==
          "ld, operand policy: register of type u32 where a u64 register is expected");
    CHECK_THROWS_WITH(add("st", Form(global).set(Field::cop, *isa::parse_value(Field::cop, "ca")),
                          {Operand::address(b.reg(Type::u64), 0), reg(Type::f32)}),
                      "st: cop=ca is not legal for type=f32, space=global (legal: cg, cs, wb, wt)");
}

TEST_CASE_METHOD(Fixture, "fractions and sizes of cache policies") {
    const Form last = of("level", "L2::evict_last");
    CHECK(form("createpolicy.fractional", last, {}) == "level=L2::evict_last");
    CHECK(form("createpolicy.fractional", last, {{}, Operand::number(0.25)}) == "level=L2::evict_last");
    for (const char* text : {"0", "-1", "1.5"})
        CHECK(refused("createpolicy.fractional", last, {{}, Operand::number(std::stod(text))}) ==
              fmt::format("createpolicy.fractional, operand fraction: {} is out of range (legal: above 0, "
                          "and at most 1)",
                          text));
    const auto range = [&](double primary, double total) {
        return refused("createpolicy.range", last,
                       {{},
                        Operand::address(b.reg(Type::u64), 0),
                        Operand::integer(static_cast<std::int64_t>(primary)),
                        Operand::integer(static_cast<std::int64_t>(total))});
    };
    CHECK(range(64, 64) == "taken as level=L2::evict_last");
    CHECK(range(128, 64) == "createpolicy.range, operand primary: 128 is more than the total of 64 bytes");
    CHECK(range(0, 64) == "createpolicy.range, operand primary: 0 is out of range (legal: 1 or more)");
}
