// The line that says what takes long. When it comes and goes: tests/cli/progress.sh.
#include "bindings/cli/progress.hpp"

#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::cli;
using namespace std::chrono_literals;

TEST_CASE("what takes long is said after a second, with the time that is left") {
    const auto begin = std::chrono::steady_clock::now();
    const Progress::Part around{Progress::Is::around, "schedule", "", 3, 8, begin};
    const Progress::Part run{Progress::Is::work, "gemm on the simulator:", "CTAs", 12, 132, begin + 1s};
    const Progress::Part compile{Progress::Is::work, "ptxas assembles gemm", "", 0, 0, begin};
    CHECK(progress_text({}, begin + 5s, 80).empty());
    CHECK(progress_text({run}, begin + 1900ms, 80).empty());
    CHECK(progress_text({compile}, begin + 1s, 80) == "ptxas assembles gemm, 1 s");
    CHECK(progress_text({run}, begin + 5s, 80) == "gemm on the simulator: 12 of 132 CTAs, about 40 s left");
    CHECK(progress_text({around, run}, begin + 5s, 100) ==
          "schedule 3 of 8: gemm on the simulator: 12 of 132 CTAs, about 40 s left");
    CHECK(progress_text({run}, begin + 61s, 80) ==
          "gemm on the simulator: 12 of 132 CTAs, about 10:00 min left");
    CHECK(progress_text({run}, begin + 3601s, 80) ==
          "gemm on the simulator: 12 of 132 CTAs, about 10:00 h left");
    CHECK(progress_text({run}, begin + 5s, 20) == "gemm on the simulato");
    // At the beginning and at the end there is nothing to reckon with.
    Progress::Part edge = run;
    edge.done = 0;
    CHECK(progress_text({edge}, begin + 5s, 80) == "gemm on the simulator: 0 of 132 CTAs, 4 s");
    edge.done = 132;
    CHECK(progress_text({edge}, begin + 5s, 80) == "gemm on the simulator: 132 of 132 CTAs, 4 s");
    // Names are the script's.
    edge.what = "\x1b[31m";
    CHECK(progress_text({edge}, begin + 5s, 80).find('\x1b') == std::string::npos);
}
