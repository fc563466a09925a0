#include <algorithm>
#include <string>

#include "ptx/module.hpp"
#include "tests/catch.hpp"
#include "tests/unit/ptx/printer.hpp"

using namespace wgrun;
using namespace wgrun::ptx;

namespace {

const std::string head = ".version 8.0\n.target sm_90a\n.address_size 64\n";

Parsed good(const std::string& text) {
    Parsed out = parse("k.ptx", text);
    for (const Diagnostic& error : out.errors) UNSCOPED_INFO(to_text(error));
    REQUIRE(out.errors.empty());
    return out;
}

/// The statements of an entry whose body is `body`.
Parsed body(const std::string& body) { return good(head + ".visible .entry k()\n{\n" + body + "\n}\n"); }

/// "line:column message" of each error.
std::vector<std::string> errors_of(const std::string& text) {
    std::vector<std::string> out;
    for (const Diagnostic& error : parse("k.ptx", text).errors)
        out.push_back(std::to_string(error.where.line) + " " + error.message);
    return out;
}

bool has(const std::vector<std::string>& list, std::string_view part) {
    return std::ranges::any_of(list,
                               [&](const std::string& one) { return one.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("a module of every kind of item is printed as it was read") {
    const std::string text = head + R"(
.file 1 "kernel.cu", 1700000000, 12
.pragma "nounroll";
.extern .func (.param .b32 result) helper (.param .b64 p, .param .align 8 .b8 s[16]) .noreturn;
.global .align 4 .u32 table[2][2] = {{1, 2}, {0x3, 4U}};
.const .f64 pi = 3.14;
.visible .global .attribute(.managed) .b64 where = table + 4;
.extern .shared .align 128 .b8 dynamic[];
.shared .v4 .f32 four;
.weak .entry k(
    .param .u64 .ptr .global .align 16 a,
    .param .align 64 .b8 map[128],
    .param .f32 x
)
.reqntid 128, 1, 1
.minnctapersm 1 .maxnreg 128
{
    .reg .pred p, q;
    .reg .b32 %r<47900>;
    .reg .v2 .f32 %v;
    .local .align 8 .b8 depot[64];
    .loc 1 5 9, function_name $name0 + 12, inlined_at 1 20 3
$L__begin:
    ld.param.u64 %r1, [a];
    @!p bra $L__begin;
    {
        .reg .b32 inner;
        mov.b32 inner, {%r2, %r3};
        setp.lt.and.s32 p|q, inner, -1, !p;
        mov.f32 %r4, %v.x;
    }
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r1, %r2}, %r5, %r6, p, 1, -1, 0, 1;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [dynamic+16], [%r1, {%r2, 4}], [%r3+-8];
    call.uni (%r1), helper, (%r2, x), proto;
    proto: .callprototype _ (.param .b32 _);
    add.f32 %r1, 0f3F800000, 1.5;
    and.b32 %r1, %r2, (1 << 4) | 3;
    .pragma "used_bytes_mask 15";
    ret;
}
.section .debug_str
{
$name0:
    .b8 107, 0
    .b32 .debug_str+4
}
)";
    const Parsed first = good(text);
    const std::string printed = print(first.module);
    const Parsed second = good(printed);
    CHECK(print(second.module) == printed);
    CHECK(second.module.statements.size() == first.module.statements.size());
    CHECK(second.module.nodes.size() == first.module.nodes.size());
    REQUIRE(first.module.functions.size() == 2);
    const Function& k = first.module.functions[1];
    CHECK(k.entry);
    CHECK(k.params.size() == 3);
    CHECK(k.params[1].extents == std::vector<std::int64_t>{128});
    CHECK(k.directives.size() == 3);
    CHECK(first.module.source(1) == "kernel.cu");
    REQUIRE(first.module.locations.size() == 1);
    CHECK(first.module.locations[0].at_line == 20);
}

TEST_CASE("constant expressions have their values") {
    const auto value = [](const std::string& text) {
        const Parsed parsed = body("mov.b64 %r, " + text + ";");
        const Module& module = parsed.module;
        const Node& first = module.nodes[module.statements[0].operands];
        const Node& second = module.nodes[first.next];
        CHECK(second.kind == Node::Kind::integer);
        CHECK(second.next == nothing);
        return second.value;
    };
    CHECK(value("1 + 2 * 3") == 7);
    CHECK(value("(1 + 2) * 3") == 9);
    CHECK(value("-8 >> 1") == -4);
    CHECK(value("(1 << 4) | 3") == 19);
    CHECK(value("((4))") == 4);
    CHECK(value("~0") == -1);
    CHECK(value("!3 + 1") == 1);
    CHECK(value("7 % 4 == 3 ? 10 : 20") == 10);
    CHECK(value("(.s64) 5 - 6") == -1);
    CHECK(value("0xFFFFFFFFFFFFFFFF + 2") == 1);
    CHECK(value("2 * WARP_SZ") == 64);
}

TEST_CASE("operands of every shape") {
    const Parsed parsed = body("call a, !b, -1, {c, {d, 2}}, [e + 8], [f-8], g|_, %tid.x, [h, {i}], (j, k);");
    const Module& module = parsed.module;
    std::vector<Node> operands;
    for (std::uint32_t at = module.statements[0].operands; at != nothing; at = module.nodes[at].next)
        operands.push_back(module.nodes[at]);
    using Kind = Node::Kind;
    const std::vector<Kind> kinds{Kind::name,    Kind::name, Kind::integer, Kind::vector,  Kind::address,
                                  Kind::address, Kind::pair, Kind::name,    Kind::address, Kind::list};
    REQUIRE(operands.size() == kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) CHECK(operands[i].kind == kinds[i]);
    CHECK(operands[1].negated);
    CHECK(module.nodes[operands[4].child].value == 8);
    CHECK(module.nodes[operands[5].child].value == -8);
    CHECK(module.at(operands[7].text) == "%tid.x");
}

TEST_CASE("what assemblers tell apart is printed as it was") {
    // Without optimisation, an address to which nothing is added is an addition all the same; .attribute
    // stands before .align, and before the name of a function.
    const std::string text = head + R"(.global .attribute(.managed) .align 4 .u32 shared_with_host;
.visible .func .attribute(.unified(19,95)) both;
.visible .entry k(
    .param .u64 p)
{
mov.b64 %rd1, p+0;
ld.global.u32 %r1, [%rd1+0];
ld.param.u32 %r1, [p+WARP_SZ-20];
st.global.u32 [%rd1], %r1;
}
)";
    const std::string printed = print(good(text).module);
    for (const char* kept : {".global .attribute(.managed) .align 4 .u32 shared_with_host;",
                             ".visible .func .attribute(.unified(19,95)) both;", "mov.b64 %rd1, p+0;",
                             "[%rd1+0]", "[p+12]", "[%rd1], %r1"})
        CHECK(printed.find(kept) != std::string::npos);
}

TEST_CASE("every error is reported, with its line and column and what was expected") {
    const std::vector<std::string> errors = errors_of(head + R"(.entry k()
{
    .reg .b33 %r<4>;
    mov.b32 %r1 %r2;
    mov.b32 %r1, %r2
    add.s32 %r1, %r2, ;
    @5 bra L;
    mul.lo.s32 %r1, %r2, [%r3;
    mov.b32 %r1, 0f12;
    .reg .b32 %q<;
    sub.s32 %r1, %r2, %r3;
}
.globl x;
)");
    CHECK(errors.size() == 9);
    CHECK(has(errors, "6 expected a type, such as .b32, found `.b33` (column 10)"));
    CHECK(has(errors, "7 expected `,` or `;` after an operand of mov.b32, found `%r2` (column 17)"));
    CHECK(has(errors, "8 expected `;` at the end of mov.b32 (column 21)"));
    CHECK(has(errors, "9 expected an operand, found `;` (column 23)"));
    CHECK(has(errors, "10 expected a predicate after @, found `5` (column 6)"));
    CHECK(has(errors, "11 expected `,` or `]`, found `;` (column 30)"));
    CHECK(has(errors, "12 expected an operand, found 0f is followed by 8 hexadecimal digits (column 18)"));
    CHECK(has(errors, "13 expected a number of registers, found `;` (column 18)"));
    CHECK(has(errors, "16 expected a directive of modules, found `.globl` (column 1)"));
}

TEST_CASE("an error shows the line with a caret") {
    const Parsed parsed = parse("k.ptx", head + ".entry k()\n{\n\tmov.b32 %r1 %r2;\n}\n");
    REQUIRE(parsed.errors.size() == 1);
    REQUIRE(parsed.errors[0].notes.size() == 1);
    CHECK(parsed.errors[0].notes[0].message == "\n mov.b32 %r1 %r2;\n             ^");
}

TEST_CASE("braces that do not match are named where they open") {
    CHECK(has(errors_of(head + ".entry k()\n{\n{\nret;\n}\n"), "5 this `{` is never closed"));
    CHECK(has(errors_of(head + ".entry k()\n{\nret;\n.visible .entry l()\n{ ret; }\n"),
              "5 this `{` is not closed before the next function"));
}

TEST_CASE("what is no PTX is refused, however strange it is") {
    CHECK(errors_of("").size() == 1);
    CHECK_FALSE(errors_of("hello, world").empty());
    CHECK_FALSE(errors_of(std::string("\x7f"
                                      "ELF\x02\x01\x01\x00",
                                      8))
                    .empty());
    CHECK_FALSE(errors_of(head + ".entry k()\n{ mov.b32 " + std::string(100000, '[')).empty());
    CHECK_FALSE(errors_of(head + ".entry k()\n{ mov.b32 %r, " + std::string(100000, '(') + ";}").empty());
    CHECK_FALSE(errors_of(head + ".entry k()\n{ mov.b32 %r, " + std::string(100000, '-') + "1;}").empty());
    CHECK_FALSE(errors_of(head + ".entry k()\n" + std::string(100000, '{')).empty());
    CHECK(errors_of(head + std::string(1000, '!')).size() <= 101);
    std::string many = head + ".entry k()\n{\n";
    for (int i = 0; i < 1000; ++i) many += "mov.b32 %r1 2;\n";
    CHECK(errors_of(many + "}\n").size() == 101);
}

TEST_CASE("scopes nest as deep as a text likes") {
    std::string deep(20000, '{');
    deep += " ret; ";
    deep.append(20000, '}');
    CHECK(body(deep).module.statements.size() == 40001);
}

TEST_CASE("every truncation of a text is either read or refused") {
    const std::string text =
        head +
        ".visible .entry k(.param .u64 a)\n.maxntid 128, 1, 1\n{\n.reg .b32 %r<8>;\n"
        "{ .reg .pred P; W: mbarrier.try_wait.parity.shared::cta.b64 P, [%r1], %r2; @P bra D; bra W; D: }\n"
        "st.shared.v2.b32 [%r1+8], {%r2, 0x1F}; /* end */ ret;\n}\n.section .debug { .b8 1 }\n";
    for (std::size_t size = 0; size <= text.size(); ++size) {
        const Parsed parsed = parse("k.ptx", text.substr(0, size));
        CHECK(print(parsed.module).size() < 4 * text.size() + 64);
    }
}
