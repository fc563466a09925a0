// Known faults of ptxas, and the kernels that have the shape that they need.
#include "kernel/assembler_faults.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "ptx/lower.hpp"
#include "source_folder.hpp"
#include "tests/catch.hpp"

using namespace wgrun;

namespace {

Program program_of(const std::string& body) {
    const ptx::Parsed parsed =
        ptx::parse("k.ptx",
                   ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k()\n.reqntid 128\n{\n"
                   ".reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<9>;\n" +
                       body + "\nret;\n}\n");
    REQUIRE(parsed.errors.empty());
    return ptx::lower(parsed.module, parsed.module.functions.back()).program;
}

constexpr const char* fragment =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, %rd2, "
    "1, 1, "
    "1, 0;\nwgmma.commit_group.sync.aligned;\n";

}  // namespace

TEST_CASE("versions of ptxas and the PTX that they read") {
    CHECK(assembler_version_of("13.0.88") == AssemblerVersion{13, 0, 88});
    CHECK(assembler_version_of("12.9") == AssemblerVersion{12, 9, 0});
    CHECK_FALSE(assembler_version_of(""));
    CHECK_FALSE(assembler_version_of("none"));
    CHECK(newest_ptx({13, 0, 88}) == isa::PtxVersion{9, 0});
    CHECK(newest_ptx({12, 6, 0}) == isa::PtxVersion{8, 5});
    CHECK(newest_ptx({99, 0, 0}).has_value());
    CHECK_FALSE(newest_ptx({10, 0, 0}));
}

TEST_CASE("A in registers with groups in flight: triton#11781") {
    const Program flying = program_of(fragment + std::string("wgmma.wait_group.sync.aligned 1;"));
    const std::vector<Diagnostic> found = faults_hitting(flying, {13, 0, 88});
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule == "WG-ASM-03");
    CHECK(found[0].severity == Severity::warning);
    CHECK(found[0].where.line == 8);
    CHECK(found[0].message.find("triton#11781") != std::string::npos);
    CHECK(faults_hitting(flying, {13, 3, 0}).empty());
    CHECK(faults_hitting(program_of(fragment + std::string("wgmma.wait_group.sync.aligned 0;")), {12, 9, 86})
              .empty());
}

TEST_CASE("two sums of pairs with one constant: triton#11581") {
    const std::string sum = "mov.b32 %r5, 65537;\nadd.s16x2 %r6, %r1, %r5;\n";
    const Program twice = program_of(sum + "add.s16x2 %r7, %r2, %r5;");
    REQUIRE(faults_hitting(twice, {12, 9, 86}).size() == 1);
    CHECK(faults_hitting(twice, {12, 9, 86})[0].where.line == 10);
    CHECK(faults_hitting(twice, {13, 0, 88}).empty());
    CHECK(faults_hitting(program_of(sum), {12, 9, 86}).empty());
}

TEST_CASE("two equal products of a group") {
    const std::string product =
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, "
        "%rd2, "
        "1, 1, 1, 0;\n";
    const std::string commit = "wgmma.commit_group.sync.aligned;\n",
                      wait = "wgmma.wait_group.sync.aligned 0;\n";
    const auto found = [&](const std::string& between) {
        return faults_hitting(program_of(product + between + product + commit + wait), {13, 5, 37});
    };
    REQUIRE(found("").size() == 1);
    CHECK(found("")[0].where.line == 9);
    CHECK(found(commit).empty());
    CHECK(found("add.u64 %rd2, %rd2, 2;\n").empty());
    CHECK(found("mov.b32 %r3, 0;\n").empty());
    CHECK(found("mov.b32 %r9, 0;\n").size() == 1);
}

TEST_CASE("a shift by more bits than there are") {
    const auto found = [](const std::string& shift) {
        return faults_hitting(program_of(shift), {13, 5, 37});
    };
    REQUIRE(found("shl.b64 %rd1, %rd2, 69;").size() == 1);
    CHECK(found("shl.b64 %rd1, %rd2, 69;")[0].where.line == 8);
    CHECK(found("shl.b64 %rd1, %rd2, 63;").empty());
    CHECK(found("shl.b32 %r1, %r2, 69;").empty());
}

TEST_CASE("descriptors of two layouts of one address, and constants with an upper half alone") {
    const auto found = [](std::vector<std::int64_t> first, std::vector<std::int64_t> second,
                          const std::string& first_op, AssemblerVersion version = {12, 8, 93}) {
        std::string body;
        int next = 1;
        const auto add = [&](const std::string& op, std::int64_t constant) {
            body += fmt::format("{}.{}64 %rd{}, %rd0, {};\n", op, op == "or" ? "b" : "s", next++, constant);
        };
        for (std::size_t i = 0; i < first.size(); ++i)
            add(i == 0 ? first_op : "add", 0x4000004000000000 + first[i]);
        for (std::size_t i = 0; i < second.size(); ++i)
            add(i == 0 ? "or" : "add", 0x2000002000000000 + second[i]);
        for (int i = 1; i < next; ++i)
            body += fmt::format(
                "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{%f0, %f1, %f2, %f3}}, "
                "{{%r1, %r2, %r3, %r4}}, %rd{}, 1, 1, 1, 0;\nwgmma.commit_group.sync.aligned;\n"
                "wgmma.wait_group.sync.aligned 0;\n",
                i);
        return faults_hitting(program_of(body), version);
    };
    // triton#11781 needs a wait that leaves groups in flight: none here.
    REQUIRE(found({0, 2}, {0, 2, 4}, "or").size() == 1);
    CHECK(found({0, 2}, {0, 2, 4}, "or")[0].where.line == 12);
    CHECK(found({0, 2}, {0, 2, 4}, "or")[0].message.find("two layouts") != std::string::npos);
    CHECK(found({0, 2}, {0, 2, 4}, "or", {12, 9, 86}).empty());
    CHECK(found({0, 2}, {0, 2}, "or").empty());
    CHECK(found({0, 2, 4, 6, 8}, {0}, "or").empty());
    REQUIRE(found({0}, {}, "add", {12, 6, 85}).size() == 1);
    CHECK(found({0}, {}, "add", {12, 6, 85})[0].message.find("lower half is 0") != std::string::npos);
    CHECK(found({0}, {}, "add").empty());  // 12.8.93
    CHECK(found({0}, {}, "or", {12, 6, 85}).empty());
    CHECK(found({2}, {}, "add", {12, 6, 85}).empty());
}

TEST_CASE("docs/assemblers.md lists the faults") {
    std::ifstream file(WGRUN_SOURCE_DIR "/docs/assemblers.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    for (const AssemblerFault& fault : assembler_faults()) {
        CHECK(page.find(std::string(fault.reports)) != std::string::npos);
        CHECK(page.find(std::string(fault.remedy)) != std::string::npos);
    }
}
