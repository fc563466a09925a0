// Timing by events on the default stream.
//
// An event's clock ticks in half microseconds and a launch takes the host a few, so a round times many calls
// in a row and keeps the device busy while they are queued: with the L2 flush, or with one call that is not
// timed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu/context.hpp"

namespace wgrun::gpu {

namespace {

constexpr double round_us = 500;
constexpr int max_batch = 200;  // the driver queues about a thousand launches before it makes the host wait

class Event {
  public:
    explicit Event(Context& context) : context_(context), cuda_(context.enter()) {
        cuda_.check(cuda_.driver().event_create(&handle_, 0), "making an event");
    }
    ~Event() { cuda_.driver().event_destroy(handle_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    void record() {
        cuda_.check(cuda_.driver().event_record(handle_, nullptr), "recording an event");
        context_.started();
    }

    // Both events must have occurred.
    static double microseconds(const Event& start, const Event& end) {
        float milliseconds = 0;
        start.cuda_.check(start.cuda_.driver().event_elapsed_time(&milliseconds, start.handle_, end.handle_),
                          "reading a time");
        return static_cast<double>(milliseconds) * 1000;
    }

  private:
    Context& context_;
    Context::Entered cuda_;
    abi::Handle handle_ = nullptr;
};

class Timer {
  public:
    Timer(const Device& device, const TimingOptions& options) : device_(device), options_(options) {
        const auto check = [](const char* what, int given, int least) {
            if (given < least || given > 10000)
                throw ArgumentError(fmt::format("{} {}: it must be {} to 10000", what, given, least));
        };
        check("rounds", options.rounds, 1);
        check("warmup", options.warmup, 0);
        // Twice the size of the cache, since some of its sets may keep their old lines.
        if (options.flush_l2)
            flush_ = Buffer(device, std::max<std::size_t>(2 * device.info().l2_bytes, 1 << 20));
    }

    // The number of calls in a row that makes a round long enough to measure.
    int batch(const std::function<void()>& work) {
        for (int i = 0; i < options_.warmup; ++i) work();
        device_.wait();
        if (options_.flush_l2) return 1;
        const double once = round(work, 1);
        return std::clamp(static_cast<int>(std::lround(round_us / std::max(once, 1.0))), 1, max_batch);
    }

    double round(const std::function<void()>& work, int calls) {
        Event start(device_.context());
        Event end(device_.context());
        if (options_.flush_l2)
            flush_.fill(std::byte{0});
        else
            work();
        start.record();
        for (int i = 0; i < calls; ++i) work();
        end.record();
        device_.wait();
        return Event::microseconds(start, end) / calls;
    }

  private:
    const Device& device_;
    const TimingOptions& options_;
    Buffer flush_;
};

}  // namespace

std::vector<double> time(const Device& device, const std::function<void()>& work,
                         const TimingOptions& options) {
    Timer timer(device, options);
    const int calls = timer.batch(work);
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(options.rounds));
    for (int i = 0; i < options.rounds; ++i) times.push_back(timer.round(work, calls));
    return times;
}

ComparedTimes compare(const Device& device, const std::function<void()>& first,
                      const std::function<void()>& second, const TimingOptions& options) {
    Timer timer(device, options);
    const int first_calls = timer.batch(first);
    const int second_calls = timer.batch(second);
    ComparedTimes times;
    for (int i = 0; i < options.rounds; ++i) {
        times.first.push_back(timer.round(first, first_calls));
        times.second.push_back(timer.round(second, second_calls));
    }
    return times;
}

}  // namespace wgrun::gpu
