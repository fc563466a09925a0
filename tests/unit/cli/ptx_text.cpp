// Where instructions go into a PTX text, and what a diff of a long one costs.
#include "bindings/cli/ptx_text.hpp"

#include "bindings/cli/unified_diff.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using cli::PtxText;

namespace {

Change insertion(int line, Change::Kind kind) {
    return {Where::at("k.ptx", line), kind, {{"wgmma_fence()", "wgmma.fence.sync.aligned"}}};
}

}  // namespace

TEST_CASE("instructions go before the line, or behind the end of the statement, as it is indented") {
    const PtxText text(
        "\tmov.b32 %r1, // ; a comment\n"
        "\t\t%r2 /* ; another\n"
        "\t ; */ ;\n"
        "\tret;\n");
    CHECK(text.with({insertion(1, Change::Kind::before)}).starts_with("\twgmma.fence.sync.aligned;\n\tmov"));
    CHECK(text.with({insertion(1, Change::Kind::after)})
              .ends_with("*/ ;\n\twgmma.fence.sync.aligned;\n\tret;\n"));
    CHECK(text.with({insertion(4, Change::Kind::after)}).ends_with("\tret;\n\twgmma.fence.sync.aligned;\n"));
    for (const char* odd : {"", "\n", "/*", ";", "no end"})
        for (int line : {-1, 0, 1, 9})
            for (const auto kind : {Change::Kind::before, Change::Kind::after})
                CHECK_NOTHROW(PtxText(odd).with({insertion(line, kind)}));
}

TEST_CASE("an alignment is changed where the line gives it") {
    const PtxText text(".shared .align 128 .b8 a[64];\n.shared .align 16 .b8 b[64];\n");
    const auto set = [](int line, const char* from) {
        return Change{Where::at("k.ptx", line), Change::Kind::option, {}, {"align", ".align"}, from, "1024"};
    };
    CHECK(text.with({set(1, "128")}).starts_with(".shared .align 1024 .b8 a[64];\n"));
    CHECK(text.resolved(set(1, "16")) == set(1, "16"));
}

TEST_CASE("a diff of a long text with changes at both ends") {
    std::string middle;
    for (int i = 0; i < 100000; ++i) middle += std::to_string(i % 7) + "\n";
    const std::string diff = cli::unified_diff("f", "a\n" + middle + "b\n", "A\n" + middle + "b\nc\n");
    CHECK(diff ==
          "--- f\n+++ f\n@@ -1,4 +1,4 @@\n-a\n+A\n 0\n 1\n 2\n@@ -100000,3 +100000,4 @@\n 3\n 4\n b\n+c\n");
}
