// Work that is ended from outside.
#include "wgrun/cancellation.hpp"

#include <thread>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

namespace {

/// The code with which work ends that polls for ever, or so many times.
std::string ended(int polls = 100000000) {
    try {
        for (int i = 0; i < polls; ++i) Cancellation::poll();
    } catch (const EnvironmentError& error) {
        return error.code();
    }
    return {};
}

}  // namespace

TEST_CASE("cancellation: by a flag, of the scope that has it and of those within") {
    CHECK_FALSE(Cancellation::possible());
    CHECK(ended(100).empty());
    std::atomic<bool> stop = true;
    {
        const Cancellation outer(&stop);
        CHECK(ended(1) == "EINTR");
        const Cancellation inner(nullptr);
        CHECK(ended(1) == "EINTR");
        CHECK(Cancellation::requested());
        stop = false;
        CHECK_FALSE(Cancellation::requested());
        CHECK(ended(1000).empty());
        const std::jthread other([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            stop = true;
        });
        CHECK(ended() == "EINTR");
    }
    CHECK_FALSE(Cancellation::requested());
    CHECK(ended(1000).empty());
}

TEST_CASE("cancellation: by the time, and by an answer") {
    {
        const Cancellation late(nullptr, Cancellation::Clock::now() + std::chrono::milliseconds(20));
        CHECK(ended() == "ETIMEDOUT");
        CHECK(ended(1) == "ETIMEDOUT");
    }
    int asked = 0;
    const Cancellation third([&] { return ++asked == 3; });
    CHECK(ended() == "EINTR");
    CHECK(asked == 3);
    CHECK(ended(1) == "EINTR");
    CHECK(asked == 3);
}

TEST_CASE("cancellation: other threads go on") {
    std::atomic<bool> stop = true;
    const Cancellation mine(&stop);
    std::string other = "none";
    std::jthread([&] { other = ended(1000); }).join();
    CHECK(other.empty());
}
