// The debugger's parts: whom a stop is for, fragments as matrices, and runs that are begun again.
#include "wgrun/debugger.hpp"

#include <bit>
#include <cstring>
#include <map>

#include "debug/matrix_text.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::debugging;
using isa::Type;

TEST_CASE("debugger: whom a stop is for") {
    const DebugWhen when = DebugWhen::parse("cta=3,warp=1,lane=31,nth=2");
    CHECK(when.cta == 3);
    CHECK(when.warp == 1);
    CHECK(when.lane == 31);
    CHECK(when.nth == 2);
    CHECK(DebugWhen::parse("thread=37").warp == 1);
    CHECK(DebugWhen::parse("thread=37").lane == 5);
    CHECK_FALSE(DebugWhen::parse("").cta);
    for (const char* text :
         {"cta", "cta=", "cta=x", "cta=-1", "lane=32", "nth=0", "block=1", "cta=1;warp=2", "="})
        CHECK_THROWS_AS(DebugWhen::parse(text), ArgumentError);
    const DebugDump dump = DebugDump::parse("tile[1]@42");
    CHECK(dump.name == "tile[1]");
    CHECK(dump.line == 42);
    for (const char* text : {"acc", "@42", "acc@", "acc@x", "acc@-2"})
        CHECK_THROWS_AS(DebugDump::parse(text), ArgumentError);
}

namespace {

/// A program with one mma.sync, whose operands are these registers.
struct Product {
    Builder b{"product", 32, {}, Where::at("k.lua", 1)};
    std::vector<Reg> d = b.regs(Type::f32, 4), c = b.regs(Type::f32, 4), a = b.regs(Type::b32, 4),
                     bb = b.regs(Type::b32, 2);
    Program make() {
        isa::Form form;
        for (const isa::Field field : {isa::Field::a, isa::Field::b}) form.set(field, Type::bf16);
        form.set(isa::Field::d, Type::f32)
            .set(isa::Field::m, 16)
            .set(isa::Field::n, 8)
            .set(isa::Field::k, 16);
        b.add(*isa::find("mma.sync"), form,
              {Operand::of(d), Operand::of(a), Operand::of(bb), Operand::of(c)});
        return b.finish();
    }
};

}  // namespace

TEST_CASE("debugger: registers of a product are matrices, each element from the thread that holds it") {
    Product product;
    const Program program = product.make();
    const std::vector<FragmentUse> d = fragments_of(program, product.d), a = fragments_of(program, product.a);
    REQUIRE(d.size() == 1);
    REQUIRE(a.size() == 1);
    CHECK(d.front().fragment.rows == 16);
    CHECK(a.front().fragment.per_register == 2);
    CHECK(fragments_of(program, {product.d[1], product.d[0]}).empty());
    CHECK(fragments_of(program, {product.d[0]}).empty());

    // D: each register holds 100 * its number + lane; A: bf16 pairs of the same.
    std::map<std::uint32_t, std::vector<std::byte>> values;
    const auto fill = [&](const std::vector<Reg>& regs, const auto& word) {
        for (std::size_t r = 0; r < regs.size(); ++r) {
            auto& lanes = values[regs[r].id];
            lanes.resize(128);
            for (int lane = 0; lane < 32; ++lane) {
                const std::uint32_t bits = word(static_cast<int>(r), lane);
                std::memcpy(lanes.data() + 4 * lane, &bits, sizeof bits);
            }
        }
    };
    fill(product.d,
         [](int r, int lane) { return std::bit_cast<std::uint32_t>(static_cast<float>(100 * r + lane)); });
    fill(product.a, [](int r, int lane) {
        const auto half = [](float x) { return std::bit_cast<std::uint32_t>(x) >> 16; };
        return half(static_cast<float>(32 * r + lane)) | half(-1.0F) << 16;
    });
    const auto lanes = [&](int, isa::Reg reg) -> const std::byte* { return values.at(reg.id).data(); };
    const Matrix matrix = matrices_of(d, 0, lanes).front();
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
            const int lane = row % 8 * 4 + column / 2, reg = row / 8 * 2 + column % 2;  // PTX ISA 9.7.14.5.8
            CHECK(matrix.at(row, column) == std::to_string(100 * reg + lane));
        }
    const Matrix left = matrices_of(a, 0, lanes).front();
    CHECK(left.at(0, 0) == "0");
    CHECK(left.at(0, 1) == "-1");
    CHECK(left.at(8, 0) == "32");
    CHECK(left.at(0, 8) == "64");
    const std::string text = to_text(matrix, true);
    CHECK(text.find("16 x 8\n") != std::string::npos);
    CHECK(text.find("\n 9: ") != std::string::npos);
}

namespace {

/// X[tid] = 1, then X[tid] = 2.
Kernel twice() {
    Builder b("twice", 32, {}, Where::at("k.lua", 1));
    const int x = b.param("X", Type::u64, Dtype::u32);
    const auto line = [&](int number) { b.at(Where::at("k.lua", number)); };
    const auto of = [](Type type) { return isa::Form().set(isa::Field::type, type); };
    const Reg base = b.add(*isa::find("ld.param"), of(Type::u64), {{}, Operand::param(x)}).operands[0].reg;
    const Reg tid =
        b.add(*isa::find("special"),
              of(Type::u32).set(isa::Field::sreg, *isa::parse_value(isa::Field::sreg, "tid.x")), {})
            .operands[0]
            .reg;
    const Reg at = b.add(*isa::find("mad"),
                         of(Type::u32).set(isa::Field::half, *isa::parse_value(isa::Field::half, "wide")),
                         {{}, Operand::of(tid), Operand::number(4), Operand::of(base)})
                       .operands[0]
                       .reg;
    for (const int value : {1, 2}) {
        line(value * 10);
        b.add(*isa::find("st"),
              of(Type::u32).set(isa::Field::space, *isa::parse_value(isa::Field::space, "global")),
              {Operand::address(at, 0), Operand::number(value)});
    }
    line(30);
    b.name({"at", {at}, false, Where::at("k.lua", 5)});
    b.breakpoint();
    return Kernel(b.finish());
}

std::string debugged(std::vector<std::string> commands, Tensor& x) {
    Kernel kernel = twice();
    RunOptions options;
    options.args = {&x};
    std::string out;
    std::size_t next = 0;
    DebugConsole console;
    console.read = [&]() -> std::optional<std::string> {
        return next < commands.size() ? std::optional(commands[next++]) : std::nullopt;
    };
    console.write = [&](std::string_view text) { out += text; };
    debug(kernel, options, console);
    return out;
}

}  // namespace

TEST_CASE("debugger: who wrote it, also after the end, and the tensors are as after one run") {
    Tensor x = Tensor::zeros(Dtype::u32, {32});
    const std::string out = debugged({"c", "who X[0,7]", "c", "who X[0,7]", "print X[0,7]"}, x);
    CHECK(out.find("k:breakpoint\nk.lua:30") != std::string::npos);
    CHECK(out.find("k.lua:10, cta 0 warp 0, thread 7: 0x00000000 -> 0x00000001") != std::string::npos);
    CHECK(out.find("k.lua:20, cta 0 warp 0, thread 7: 0x00000001 -> 0x00000002") != std::string::npos);
    CHECK(out.find("the kernel has ended") != std::string::npos);
    CHECK(out.find("X[0,7] = 2") != std::string::npos);
    std::uint32_t value = 0;
    std::memcpy(&value, std::as_const(x).data() + 7 * sizeof value, sizeof value);
    CHECK(value == 2);
}

TEST_CASE("debugger: going back undoes what was written; a watch stops behind the write") {
    Tensor x = Tensor::zeros(Dtype::u32, {32});
    const std::string out = debugged({"watch X[0,3]", "c", "print X[0,3]", "c", "print X[0,3]", "back",
                                      "print X[0,3]", "back", "print X[0,3]", "quit"},
                                     x);
    CHECK(out.find("X[0,3] changed from 0x00000000 to 0x00000001") != std::string::npos);
    std::vector<std::string> values;
    for (std::size_t at = out.find("X[0,3] = "); at != std::string::npos; at = out.find("X[0,3] = ", at + 1))
        values.push_back(out.substr(at + 9, 1));
    CHECK(values == std::vector<std::string>{"1", "2", "1", "0"});
    std::uint32_t value = 9;
    std::memcpy(&value, std::as_const(x).data() + 3 * sizeof value, sizeof value);
    CHECK(value == 0);  // after quit the tensors are as before
}

TEST_CASE("debugger: a dump has the place and the value, and says whether anybody came") {
    Tensor x = Tensor::zeros(Dtype::u32, {32});
    Kernel kernel = twice();
    RunOptions options;
    options.args = {&x};
    std::vector<DebugDump> dumps{DebugDump::parse("X[0,5]@20"), DebugDump::parse("X[0,5]@20"),
                                 DebugDump::parse("X@99")};
    dumps[1].when.cta = 1;
    std::string out;
    const std::vector<bool> done = dump(kernel, options, dumps, [&](std::string_view text) { out += text; });
    CHECK(done == std::vector<bool>{true, false, false});
    CHECK(out == "X[0,5]@20 cta 0 warp 0\nX[0,5] = 1\n");
    dumps = {DebugDump::parse("nobody@20")};
    CHECK_THROWS_AS(dump(kernel, options, dumps, [](std::string_view) {}), ArgumentError);
}
