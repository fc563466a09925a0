#include "memory/heap_limit.hpp"

#include <array>
#include <atomic>
#include <numeric>

namespace wgrun::memory {
namespace {

/// What some threads have taken: one counter for all would be a place where they wait for each other.
struct alignas(64) Share {
    std::atomic<std::int64_t> bytes = 0;
};
constinit std::array<Share, 16> shares;
constinit std::atomic<std::uint64_t> limit = 0;
constinit std::atomic<bool> refused = false;

Share& own_share() noexcept {
    constinit static std::atomic<unsigned> threads = 0;
    constinit thread_local Share* own = nullptr;
    if (own == nullptr) own = &shares[threads.fetch_add(1, std::memory_order_relaxed) % shares.size()];
    return *own;
}

std::int64_t all_taken() noexcept {
    return std::accumulate(shares.begin(), shares.end(), std::int64_t{0},
                           [](std::int64_t sum, const Share& share) {
                               return sum + share.bytes.load(std::memory_order_relaxed);
                           });
}

}  // namespace

void limit_heap(std::uint64_t bytes) noexcept {
    for (Share& share : shares) share.bytes = 0;
    refused = false;
    limit = bytes;
}

std::uint64_t heap_limit() noexcept { return limit.load(std::memory_order_relaxed); }

bool count_taken(std::size_t bytes) noexcept {
    const std::uint64_t most = heap_limit();
    if (most == 0) return true;
    // The sum is only looked at where a share has grown by as much, so that it is mostly one addition.
    constexpr unsigned step_bits = 16;
    std::atomic<std::int64_t>& share = own_share().bytes;
    const auto size = static_cast<std::int64_t>(bytes);
    const std::int64_t before = share.fetch_add(size, std::memory_order_relaxed);
    if (before >> step_bits == (before + size) >> step_bits) return true;
    if (all_taken() <= static_cast<std::int64_t>(most)) return true;
    share.fetch_sub(size, std::memory_order_relaxed);
    refused.store(true, std::memory_order_relaxed);
    return false;
}

void count_given(std::size_t bytes) noexcept {
    if (heap_limit() == 0) return;
    own_share().bytes.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
}

bool heap_refused() noexcept { return refused.load(std::memory_order_relaxed); }

}  // namespace wgrun::memory
