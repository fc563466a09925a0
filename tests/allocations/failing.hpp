// Allocators that fail when they are told to: operator new, which failing.cpp replaces, and one for Lua.
#pragma once

#include <atomic>
#include <cstddef>

namespace wgrun::test {

inline constexpr long never = 1L << 60;

/// What a program may allocate before main that has wgrun in it, which a host pays for, too.
inline constexpr long most_before_main = 16;

/// Counts allocations, and fails `count` of them from number `first` on.
struct Failing {
    std::atomic<long> made = 0, live = 0;
    std::atomic<long> first = never, count = 0;

    bool next() {
        const long number = made++;
        return number >= first && number < first + count;
    }
    void arm(long at, bool for_good) {
        made = 0;
        count = for_good ? never : 1;
        first = at;
    }
    void disarm() { first = never; }
};

extern Failing of_new, of_lua;

/// Both a lua_Alloc and a wgrun_allocate_function.
void* allocate_for_lua(void*, void* block, std::size_t old_size, std::size_t size);

}  // namespace wgrun::test
