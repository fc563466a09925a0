#include "gpu/channel.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <ctime>
#include <thread>

#include "wgrun/diagnostic.hpp"

namespace wgrun::gpu {

namespace {

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 4);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

constexpr std::uint32_t skip_mark =
    ~std::uint32_t{0};            // the rest of the ring is empty: go on at its beginning
constexpr std::size_t unit = 16;  // messages begin at multiples of it

// How long the worker polls for a message before it sleeps: a wake-up costs both ends more than that.
constexpr std::chrono::microseconds message_polling{50};

void futex_wait(Word& word, std::uint32_t expected, const timespec* limit) {
    ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, limit, nullptr, 0);
}

void futex_wake(Word& word) { ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace

struct Channel::Head {
    std::uint32_t bytes;  // of the body
    std::uint32_t kind;
};

// Each end writes to cache lines of its own.
struct Channel::Shared {
    alignas(64) std::atomic<std::uint64_t> sent;  // bytes, from the beginning of time
    Word bell;                                    // changes to wake a sleeping worker
    alignas(64) std::atomic<std::uint64_t> taken;
    Word worker_sleeps;
    alignas(64) Word answers;
    std::uint32_t answer_bytes;
    alignas(64) Word sender_sleeps;
    alignas(64) std::byte answer[largest_answer];
    alignas(64) std::byte ring[ring_bytes];
    alignas(4096) std::byte staging[staging_bytes];
};

Channel::Channel() : descriptor_(::memfd_create("wgrun-channel", MFD_CLOEXEC)) {
    if (descriptor_ >= 0 && ::ftruncate(descriptor_, sizeof(Shared)) == 0) map();
    if (shared_ != nullptr) return;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw EnvironmentError("ENOMEM", "no shared memory for a worker process");
}

Channel::Channel(int descriptor) : descriptor_(descriptor) {
    struct stat facts {};
    if (::fstat(descriptor_, &facts) == 0 && facts.st_size == sizeof(Shared)) map();
    if (shared_ == nullptr) throw EnvironmentError("EINVAL", "this is not a channel of wgrun");
}

void Channel::map() {
    void* at = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (at != MAP_FAILED)
        shared_ = static_cast<Shared*>(at);  // the zeros of the new file are its initial state
}

Channel::~Channel() {
    ::munmap(shared_, sizeof(Shared));
    ::close(descriptor_);
}

std::span<std::byte> Channel::staging() const { return shared_->staging; }

bool Channel::send(std::uint32_t kind, std::span<const std::byte> body) {
    const std::size_t size = (sizeof(Head) + body.size() + unit - 1) / unit * unit;
    std::uint64_t at = shared_->sent.load(std::memory_order_relaxed);
    const std::size_t to_end = ring_bytes - at % ring_bytes;
    const std::size_t needed = size <= to_end ? size : to_end + size;
    if (ring_bytes - (at - shared_->taken.load(std::memory_order_acquire)) < needed) return false;
    if (size > to_end) {
        const Head head{0, skip_mark};
        std::memcpy(shared_->ring + at % ring_bytes, &head, sizeof head);
        at += to_end;
    }
    std::byte* const to = shared_->ring + at % ring_bytes;
    const Head head{static_cast<std::uint32_t>(body.size()), kind};
    std::memcpy(to, &head, sizeof head);
    if (!body.empty()) std::memcpy(to + sizeof head, body.data(), body.size());
    // Sequentially consistent, as in receive(): either the worker sees the message before it sleeps, or it is
    // seen asleep here.
    shared_->sent.store(at + size);
    if (shared_->worker_sleeps.load() != 0) {
        ++shared_->bell;
        futex_wake(shared_->bell);
    }
    return true;
}

std::uint32_t Channel::answers() const { return shared_->answers.load(std::memory_order_acquire); }

void Channel::wait_for_answer(std::uint32_t known, std::chrono::milliseconds limit) {
    shared_->sender_sleeps = 1;
    if (shared_->answers.load() == known) {
        const timespec time{static_cast<std::time_t>(limit.count() / 1000),
                            static_cast<long>(limit.count() % 1000 * 1000000)};
        futex_wait(shared_->answers, known, &time);
    }
    shared_->sender_sleeps = 0;
}

std::span<const std::byte> Channel::answer() const { return {shared_->answer, shared_->answer_bytes}; }

Channel::Message Channel::receive() {
    using Clock = std::chrono::steady_clock;
    for (auto start = Clock::now(); shared_->sent.load(std::memory_order_acquire) == taken_;) {
        for (int i = 0; i < 64 && shared_->sent.load(std::memory_order_acquire) == taken_; ++i) spin_pause();
        if (Clock::now() - start < message_polling) continue;
        const std::uint32_t bell = shared_->bell;
        shared_->worker_sleeps = 1;
        if (shared_->sent.load() == taken_) futex_wait(shared_->bell, bell, nullptr);
        shared_->worker_sleeps = 0;
        start = Clock::now();
    }
    Head head{};
    std::memcpy(&head, shared_->ring + taken_ % ring_bytes, sizeof head);
    if (head.kind == skip_mark) {
        taken_ += ring_bytes - taken_ % ring_bytes;
        std::memcpy(&head, shared_->ring + taken_ % ring_bytes, sizeof head);
    }
    const std::byte* const body = shared_->ring + taken_ % ring_bytes + sizeof head;
    taken_ += (sizeof head + head.bytes + unit - 1) / unit * unit;
    return {head.kind, {body, head.bytes}};
}

void Channel::done() { shared_->taken.store(taken_, std::memory_order_release); }

void Channel::reply(std::span<const std::byte> answer) {
    if (!answer.empty()) std::memcpy(shared_->answer, answer.data(), answer.size());
    shared_->answer_bytes = static_cast<std::uint32_t>(answer.size());
    shared_->answers.fetch_add(1);
    if (shared_->sender_sleeps.load() != 0) futex_wake(shared_->answers);
}

}  // namespace wgrun::gpu
