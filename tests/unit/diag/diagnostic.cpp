#include "wgrun/diagnostic.hpp"

#include <array>
#include <string>

#include "tests/catch.hpp"

using namespace wgrun;

TEST_CASE("a Where outlives the string it was made of, and compares by value") {
    Where where;
    CHECK_FALSE(where);
    {
        std::string name = "kern";
        name += "el.lua";
        where = Where::at(name, 7);
    }
    CHECK(where);
    CHECK(where.file == "kernel.lua");
    CHECK(where == Where::at("kernel.lua", 7));
    CHECK(where.file.view().data() == Where::at("kernel.lua", 8).file.view().data());
    CHECK_FALSE(where == Where::at("kernel.lua", 8));
    CHECK_FALSE(where == Where::at("other.lua", 7));
}

TEST_CASE("nearest: the closest word within reach, else nothing") {
    const std::array<std::string_view, 3> choices{"wgmma_fence", "wgmma_commit_group", "wgmma_wait_group"};
    CHECK(nearest("wgmma_fense", choices) == ": did you mean `wgmma_fence`?");
    CHECK(nearest("wgmma_waitgroup", choices) == ": did you mean `wgmma_wait_group`?");
    CHECK(nearest("wgmma_fenec", choices) == ": did you mean `wgmma_fence`?");
    CHECK(nearest("tensor", choices).empty());
    CHECK(nearest("", choices).empty());
    const std::array<std::string_view, 2> sizes{"64B", "128B"};
    CHECK(nearest("64b", sizes) == ": did you mean `64B`?");
}

TEST_CASE("errors carry a code and a finding") {
    const ArgumentError argument("extents must be at least 1", "use 8");
    CHECK(argument.code() == "EINVAL");
    CHECK(std::string(argument.what()) == "extents must be at least 1");
    CHECK(argument.finding().fix == "use 8");
    CHECK(argument.finding().severity == Severity::error);

    Diagnostic finding;
    finding.rule = "WG-FORM-01";
    finding.message = "k8 is not legal for bf16 (legal: k16)";
    CHECK(ArgumentError(finding).finding().rule == "WG-FORM-01");

    const EnvironmentError environment("ENODEV", "no device");
    CHECK(environment.code() == "ENODEV");
    CHECK(environment.finding().rule.empty());
}

TEST_CASE("severities are spelled as compilers spell them") {
    CHECK(to_string(Severity::note) == "note");
    CHECK(to_string(Severity::warning) == "warning");
    CHECK(to_string(Severity::error) == "error");
}
