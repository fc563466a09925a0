// How much stack the checker needs: that of a small thread, whatever a text looks like.
#include <pthread.h>

#include <fmt/format.h>

#include <functional>
#include <string>

#include "tests/catch.hpp"
#include "wgrun/foreign.hpp"

using namespace wgrun;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t stack = std::size_t{1} << 20;  // sanitizers put red zones around each variable
#else
constexpr std::size_t stack = std::size_t{64} << 10;  // docs/limits.md
#endif

/// Runs the work in a thread with that stack.
void in_small_thread(std::function<void()> work) {
    pthread_attr_t attributes;
    pthread_t thread;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, stack) == 0);
    const auto run = [](void* given) -> void* {
        (*static_cast<std::function<void()>*>(given))();
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, run, &work) == 0);
    REQUIRE(pthread_join(thread, nullptr) == 0);
    pthread_attr_destroy(&attributes);
}

std::string kernel_of(const std::string& body) {
    return ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) .reqntid 32 {\n"
           ".reg .pred %p<3>;\n.reg .u32 %r<3>;\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 7;\n" +
           body + "ret;\n}\n";
}

std::string repeated(int count, const std::function<std::string(int)>& text) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text(i);
    return out;
}

}  // namespace

TEST_CASE("texts that are deep are checked with little stack") {
    const std::string nested =
        kernel_of(repeated(200, [](int i) { return fmt::format("L{}:\nadd.u32 %r1, %r1, 1;\n", i); }) +
                  repeated(200, [](int i) { return fmt::format("@%p1 bra L{};\n", 199 - i); }));
    const std::string too_deep =
        kernel_of(repeated(3000, [](int i) { return fmt::format("L{}:\nadd.u32 %r1, %r1, 1;\n", i); }) +
                  repeated(3000, [](int i) { return fmt::format("@%p1 bra L{};\n", 2999 - i); }));
    const std::string scopes =
        kernel_of(repeated(20000, [](int) { return "{\n"; }) + repeated(20000, [](int) { return "}\n"; }));
    const std::string lists = kernel_of("mov.u32 %r1, " + std::string(20000, '{') + "\n");
    std::string calls = ".version 8.0\n.target sm_90a\n.address_size 64\n";
    for (int i = 40; i-- > 0;)
        calls += fmt::format(".func f{}() {{ {} ret; }}\n", i,
                             i == 39 ? "" : fmt::format("call f{}; call f{};", i + 1, i + 1));
    calls += ".visible .entry k() { call f0; ret; }\n";
    for (const std::string& text : {nested, too_deep, scopes, lists, calls}) {
        ForeignText out;
        in_small_thread([&] { out = check_ptx("text.ptx", text); });
        CHECK(out.kernels.size() + out.errors.size() >= 1);
    }
}

TEST_CASE("loops that are too deep are a finding of their kernel, with its place") {
    const std::string text =
        kernel_of(repeated(300, [](int i) { return fmt::format("L{}:\nadd.u32 %r1, %r1, 1;\n", i); }) +
                  repeated(300, [](int i) { return fmt::format("@%p1 bra L{};\n", 299 - i); })) +
        ".visible .entry other() { ret; }\n";
    const ForeignText out = check_ptx("text.ptx", text);
    REQUIRE(out.kernels.size() == 2);
    REQUIRE(out.kernels[0].findings.size() == 1);
    CHECK(out.kernels[0].findings[0].message ==
          "this loop is inside 256 others: loops may be nested 256 deep");
    CHECK(out.kernels[0].findings[0].where.line > 8);
    CHECK(out.kernels[1].findings.empty());
}
