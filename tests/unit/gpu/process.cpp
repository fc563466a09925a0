#include "gpu/process.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;
using namespace wgrun::gpu;
using namespace std::chrono_literals;

namespace {

ProcessResult shell(const std::string& script, std::chrono::milliseconds timeout = 10s) {
    return run_process({"/bin/sh", "-c", script}, timeout);
}

}  // namespace

TEST_CASE("a program's status and both its outputs") {
    const ProcessResult result = shell("echo out; echo err >&2; exit 3");
    CHECK(result.status == 3);
    CHECK_THAT(result.output, ContainsSubstring("out\n") && ContainsSubstring("err\n"));
    CHECK(shell("true").status == 0);
    CHECK(shell("kill -9 $$").status == -9);
    CHECK(shell("cat").output.empty());  // nothing to read, not the terminal
}

TEST_CASE("much output is read to its end and kept in part") {
    const ProcessResult result = shell("head -c 20000000 /dev/zero; exit 4");
    CHECK(result.status == 4);
    CHECK(result.output.size() >= 8000000);
    CHECK(result.output.size() < 9000000);
}

TEST_CASE("a program that does not end is killed") {
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] { return std::chrono::steady_clock::now() - start; };
    CHECK_THROWS_WITH(shell("exec sleep 60", 200ms),
                      ContainsSubstring("did not end within 0.2 s and was killed"));
    CHECK(elapsed() < 5s);
    // One that closes its outputs and goes on.
    CHECK_THROWS_AS(shell("exec sleep 60 >/dev/null 2>&1", 200ms), EnvironmentError);
    CHECK(elapsed() < 5s);
}

TEST_CASE("what a program has started goes with it") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "pid").string();
    const auto gone = [&] {  // whoever wrote its number into the file
        pid_t pid = 0;
        std::ifstream(file) >> pid;
        REQUIRE(pid > 0);
        for (int i = 0; i < 200 && ::kill(pid, 0) == 0; ++i) {
            std::ifstream state("/proc/" + std::to_string(pid) + "/stat");
            const std::string text{std::istreambuf_iterator<char>(state), {}};
            if (text.find(") Z ") != std::string::npos) return true;  // nobody reaps it in a container
            std::this_thread::sleep_for(10ms);
        }
        return ::kill(pid, 0) != 0;
    };
    const auto start = std::chrono::steady_clock::now();
    CHECK_THROWS_WITH(shell("sleep 60 & echo $! >" + file + "; wait", 300ms),
                      ContainsSubstring("did not end"));
    CHECK(gone());
    // It ends and leaves one behind that holds the pipe; what both wrote until then is there.
    const ProcessResult result =
        shell("echo one; (echo two; exec sleep 60) & echo $! >" + file + "; sleep 0.1; exit 5");
    CHECK(result.status == 5);
    CHECK(result.output == "one\ntwo\n");
    CHECK(gone());
    // One that writes for ever.
    CHECK(shell("(while :; do echo x; done) & echo $! >" + file + "; exit 6").status == 6);
    CHECK(gone());
    CHECK(std::chrono::steady_clock::now() - start < 10s);
}

TEST_CASE("a program is interrupted") {
    std::atomic<bool> stop = false;
    std::thread other([&] {
        std::this_thread::sleep_for(100ms);
        stop = true;
    });
    const auto start = std::chrono::steady_clock::now();
    CHECK_THROWS_WITH(run_process({"/bin/sh", "-c", "sleep 60"}, 60s, &stop),
                      ContainsSubstring("was interrupted"));
    CHECK(std::chrono::steady_clock::now() - start < 5s);
    other.join();
}

TEST_CASE("a program that is not there") {
    CHECK_THROWS_WITH(run_process({"/nowhere/ptxas"}, 1s),
                      ContainsSubstring("cannot run /nowhere/ptxas: No such file"));
    try {
        run_process({"/nowhere/ptxas"}, 1s);
    } catch (const EnvironmentError& error) {
        CHECK(error.code() == "ENOENT");
    }
}

TEST_CASE("a temporary folder goes away with its files") {
    std::filesystem::path path;
    {
        const TemporaryFolder folder;
        path = folder.path();
        std::ofstream(path / "file") << "x";
        CHECK(std::filesystem::is_directory(path));
        const TemporaryFolder other;
        CHECK(other.path() != path);
    }
    CHECK_FALSE(std::filesystem::exists(path));
}
