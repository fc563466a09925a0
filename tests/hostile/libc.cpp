// Loaded before libc (LD_PRELOAD), it makes of it what a machine in trouble has:
//
//   STRANGE_THREADS=N   the first N threads can be made, no more (EAGAIN)
//   STRANGE_CLOCK=1     the clock on the wall jumps by up to a year, back or forth, each time that it is
//   read;
//                       CLOCK_MONOTONIC goes on as it should
#include <dlfcn.h>
#include <pthread.h>
#include <sys/time.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

std::atomic<long> threads = 0;
std::atomic<std::uint64_t> readings = 0;

/// Seconds to be added to the clock.
std::int64_t jump() {
    static const bool asked = std::getenv("STRANGE_CLOCK") != nullptr;
    if (!asked) return 0;
    constexpr std::int64_t year = 365 * 24 * 3600;
    std::uint64_t x = ++readings * 0x9E3779B97F4A7C15;  // splitmix64: neighbours have nothing in common
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EB;
    return static_cast<std::int64_t>((x ^ (x >> 31U)) % (2 * year)) - year;
}

template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
    static auto* const real = next<decltype(pthread_create)>("pthread_create");
    const char* most = std::getenv("STRANGE_THREADS");
    if (most != nullptr && threads++ >= std::atol(most)) return EAGAIN;
    return real(thread, attributes, start, argument);
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
    static auto* const real = next<decltype(clock_gettime)>("clock_gettime");
    const int failed = real(clock, now);
    if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += jump();
    return failed;
}

int gettimeofday(timeval* now, void*) noexcept {
    timespec precise{};
    clock_gettime(CLOCK_REALTIME, &precise);
    *now = {precise.tv_sec, precise.tv_nsec / 1000};
    return 0;
}

std::time_t time(std::time_t* out) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != nullptr) *out = now.tv_sec;
    return now.tv_sec;
}

}  // extern "C"
