// Work over the elements of a large tensor, split among the machine's cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace wgrun {

/// Elements that loops convert at a time: what fits the first-level cache, and a multiple of eight so that
/// b1 elements of one byte never belong to two threads.
inline constexpr std::int64_t chunk_items = 4096;

/// Calls work(part, begin, end) for consecutive parts of 0 .. items, each a multiple of chunk_items but for
/// the last, at once if `items` is worth it. `part` counts from 0 to below max_parts, in the order of the
/// elements. The first exception that a part throws is thrown again here when all have ended.
inline constexpr int max_parts = 16;

template <class Work>
void for_parts(std::int64_t items, const Work& work) {
    constexpr std::int64_t worth_a_thread = 64 * chunk_items;
    const std::int64_t cores =
        std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, max_parts);
    const std::int64_t parts = std::clamp<std::int64_t>(items / worth_a_thread, 1, cores);
    const std::int64_t chunks = items / chunk_items;
    const auto begin = [&](std::int64_t part) {
        return part == parts ? items : chunks / parts * part * chunk_items;
    };

    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(parts));
    const auto run = [&](std::int64_t part) {
        try {
            work(static_cast<int>(part), begin(part), begin(part + 1));
        } catch (...) {
            failures[static_cast<std::size_t>(part)] = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> threads;
        threads.reserve(static_cast<std::size_t>(parts));
        for (std::int64_t part = 1; part < parts; ++part) {
            try {
                threads.emplace_back(run, part);
            } catch (const std::exception&) {  // no further thread could be started: do the work here
                run(part);
            }
        }
        run(0);
    }
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

/// Calls work(begin, count) for the chunks of begin .. end.
template <class Work>
void for_chunks(std::int64_t begin, std::int64_t end, const Work& work) {
    for (; begin < end; begin += chunk_items)
        work(begin, static_cast<std::size_t>(std::min(chunk_items, end - begin)));
}

}  // namespace wgrun
