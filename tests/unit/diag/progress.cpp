#include "diag/progress_listener.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

using wgrun::Cancellation;
using wgrun::Progress;
using wgrun::ProgressWatch;

namespace {

struct Counter final : wgrun::ProgressListener {
    Counter() { wgrun::set_progress_listener(this); }
    ~Counter() override { wgrun::set_progress_listener(nullptr); }
    void ended() noexcept override {
        ++ends;
        at_end = wgrun::progress_parts().size();
    }
    int ends = 0;
    std::size_t at_end = 0;
};

}  // namespace

TEST_CASE("nothing is kept of work that nobody hears of") {
    const Progress before(Progress::Is::work, "before");
    CHECK(wgrun::progress_parts().empty());
    Counter counter;
    CHECK(wgrun::progress_parts().empty());
}

TEST_CASE("work is told with what it is a part of, and no longer when it has ended") {
    Counter counter;
    {
        Progress around(Progress::Is::around, "schedule", 8);
        around.done(3);
        CHECK(wgrun::progress_parts().empty());  // a script runs, and may print
        {
            Progress work(Progress::Is::work, "kernel", 10, "CTAs");
            work.done(4);
            const auto parts = wgrun::progress_parts();
            REQUIRE(parts.size() == 2);
            CHECK(parts[0].what == "schedule");
            CHECK(parts[0].done == 3);
            CHECK(parts[1].what == "kernel");
            CHECK(parts[1].unit == "CTAs");
            CHECK(parts[1].done == 4);
            CHECK(parts[1].total == 10);
            CHECK(counter.ends == 0);
        }
        CHECK(counter.ends == 1);
        CHECK(counter.at_end == 0);
    }
    CHECK(counter.ends == 1);
}

namespace {

/// The names of what is in flight, each time that a watch hears.
struct Heard {
    std::vector<std::string> names;
    ProgressWatch::Tell tell() {
        return [this](const std::vector<Progress::Part>& parts) {
            names.emplace_back();
            for (const Progress::Part& part : parts)
                names.back() += part.what + " " + std::to_string(part.done) + ";";
        };
    }
};

constexpr auto no_pause = std::chrono::milliseconds(0);

/// Work that asks whether it is to end, until a watch has been asked.
void poll_for(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) Cancellation::poll();
}

}  // namespace

TEST_CASE("a watch hears of the work of its thread where that asks whether it is to end") {
    Heard heard;
    {
        const ProgressWatch watch(heard.tell(), no_pause);
        poll_for(std::chrono::milliseconds(30));
        CHECK(heard.names.empty());  // nothing is in flight
        Progress outer(Progress::Is::around, "outer", 3);
        outer.done(2);
        const Progress inner(Progress::Is::work, "inner");
        std::thread([] { const Progress other(Progress::Is::work, "other"); }).join();
        poll_for(std::chrono::milliseconds(50));
        REQUIRE_FALSE(heard.names.empty());
        CHECK(heard.names.front() == "outer 2;inner 0;");
        CHECK(heard.names.size() <= 4);  // at most every 20 ms
    }
    const auto before = heard.names.size();
    const Progress after(Progress::Is::work, "after");
    poll_for(std::chrono::milliseconds(30));
    CHECK(heard.names.size() == before);
}

TEST_CASE("a watch within another one hears of what begins within it") {
    Heard outer, inner;
    const ProgressWatch around(outer.tell(), no_pause);
    const Progress first(Progress::Is::work, "first");
    {
        const ProgressWatch watch(inner.tell(), no_pause);
        const Progress second(Progress::Is::work, "second");
        poll_for(std::chrono::milliseconds(30));
    }
    REQUIRE_FALSE(inner.names.empty());
    CHECK(inner.names.front() == "second 0;");
    REQUIRE_FALSE(outer.names.empty());
    CHECK(outer.names.front() == "first 0;");
}

TEST_CASE("work may last longer than its watch, and a watch ends nothing") {
    Heard heard;
    std::optional<ProgressWatch> watch(std::in_place, heard.tell(), no_pause);
    auto work = std::make_unique<Progress>(Progress::Is::work, "work");
    CHECK_FALSE(Cancellation::requested());
    watch.reset();
    work.reset();
    CHECK_NOTHROW(Cancellation::poll());
}
