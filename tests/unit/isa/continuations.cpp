// The continuations offered for a partly typed method.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "wgrun/isa.hpp"
#include "wgrun/nearest.hpp"

using namespace wgrun::isa;

TEST_CASE("methods go on with qualifiers that are legal together") {
    const auto methods = [](std::string_view beginning) {
        std::vector<std::string> out;
        for (const Continuation& one : continuations(beginning)) out.push_back(one.method);
        return out;
    };
    const auto has = [&](std::string_view beginning, std::string_view method) {
        return std::ranges::count(methods(beginning), method) == 1;
    };
    CHECK(has("add_", "add_f32"));
    CHECK(has("add_f", "add_f32"));
    CHECK_FALSE(has("add_f", "add_u32"));
    CHECK(has("st_shared_v2_", "st_shared_v2_f32"));
    CHECK(has("st_shared_v", "st_shared_v4"));
    CHECK(methods("add").empty());  // names of instructions are listed elsewhere
    CHECK(methods("nothing_").empty());
    CHECK(methods("_").empty());
    CHECK(methods("add_f32_nonsense_").empty());
}

TEST_CASE("every form that is offered is one") {
    for (const Instruction* op : all()) {
        std::string name(op->name);
        std::ranges::replace(name, '.', '_');
        for (const Continuation& one : continuations(name + "_")) {
            INFO(one.method);
            CHECK(parse_method(one.method).op != nullptr);
            CHECK(one.method.starts_with(name + "_"));
        }
    }
}
