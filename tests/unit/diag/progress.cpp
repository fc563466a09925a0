#include "diag/progress_listener.hpp"

#include "tests/catch.hpp"

using wgrun::Progress;

namespace {

struct Counter final : ProgressListener {
    Counter() { set_progress_listener(this); }
    ~Counter() override { set_progress_listener(nullptr); }
    void ended() noexcept override {
        ++ends;
        at_end = progress_parts().size();
    }
    int ends = 0;
    std::size_t at_end = 0;
};

}  // namespace

TEST_CASE("nothing is kept of work that nobody hears of") {
    const Progress before(Progress::Is::work, "before");
    CHECK(progress_parts().empty());
    Counter counter;
    CHECK(progress_parts().empty());
}

TEST_CASE("work is told with what it is a part of, and no longer when it has ended") {
    Counter counter;
    {
        Progress around(Progress::Is::around, "schedule", 8);
        around.done(3);
        CHECK(progress_parts().empty());  // a script runs, and may print
        {
            Progress work(Progress::Is::work, "kernel", 10, "CTAs");
            work.done(4);
            const auto parts = progress_parts();
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
