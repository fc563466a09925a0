#include "gpu/link.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "memory/shared_block.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::gpu {

namespace {

using Clock = std::chrono::steady_clock;

// How long the thread polls for an answer before it sleeps.
constexpr std::chrono::microseconds answer_polling{100};
// How long it sleeps before it checks whether the worker is still alive.
constexpr std::chrono::milliseconds slice{20};

// Blocks that the worker has mapped, and those of them that are gone since. Apart from the link, which may be
// busy when a tensor goes.
struct MappedBlocks {
    std::mutex mutex;
    std::set<std::uint64_t> mapped;
    std::vector<std::uint64_t> gone;
};

MappedBlocks& blocks() {
    static MappedBlocks* const instance = new MappedBlocks;
    return *instance;
}

void block_is_gone(std::uint64_t block) noexcept {
    MappedBlocks& all = blocks();
    const std::lock_guard lock(all.mutex);
    const auto it = all.mapped.find(block);
    if (it == all.mapped.end()) return;
    try {
        all.gone.push_back(block);
        all.mapped.erase(it);
    } catch (const std::bad_alloc&) {  // the worker then keeps an unused mapping
    }
}

}  // namespace

Link::Link() {
    memory::on_release(block_is_gone);
    // The driver takes its time to end in order, and a process that nobody waits for stays as a zombie where
    // there is no init. Never destroyed: threads may still talk.
    std::atexit([] {
        Link& link = instance();
        if (link.mutex_.try_lock()) {
            link.end();
            link.mutex_.unlock();
        }
    });
}

Link& Link::instance() {
    static Link* const instance = new Link;
    return *instance;
}

abi::Result Link::begin() {
    if (process_ != nullptr && owner_ == ::getpid()) return abi::success;
    if (process_ != nullptr) {  // a forked child must not use its parent's worker
        static_cast<void>(process_.release());
        static_cast<void>(channel_.release());
    }
    try {
        const Part program = find_worker();
        if (!program) throw EnvironmentError("ENOENT", program.missing);
        {
            MappedBlocks& all = blocks();
            const std::lock_guard lock(all.mutex);
            all.mapped.clear();
            all.gone.clear();
        }
        channel_ = std::make_unique<Channel>();
        process_ = std::make_unique<WorkerProcess>(program.path, channel_->descriptor(), memory::file());
        owner_ = ::getpid();
        return abi::success;
    } catch (const EnvironmentError& error) {
        channel_.reset();
        last_words_ = std::string("cannot be started: ") + error.what();
        return abi::worker_gone;
    }
}

void Link::end() noexcept {
    if (process_ != nullptr && owner_ == ::getpid()) process_->end(std::chrono::seconds(5));
    process_.reset();
    answer_.reset();
    channel_.reset();
}

// Marks the worker as unusable.
abi::Result Link::lose(abi::Result result, std::string words) {
    bool gone = true;
    std::string own = process_->end(std::chrono::seconds(5), &gone);
    end();  // before the words, for which there may be no memory
    last_words_ = own.empty() ? std::move(words) : std::move(own);
    if (!gone) last_words_ += "; the system has not been able to end it yet";
    return result;
}

// The reason to stop waiting; success if there is none. The slow part of every wait.
abi::Result Link::trouble(Clock::time_point start, std::chrono::milliseconds limit) {
    if (const std::atomic<bool>* stop = Patience::current().stop;
        (stop != nullptr && *stop) || Cancellation::requested())
        return lose(abi::interrupted, "was interrupted");
    if (process_->ended()) return lose(abi::worker_gone, "has ended");
    if (limit.count() > 0 && Clock::now() - start > limit)
        return lose(abi::worker_silent,
                    fmt::format("did not answer within {} s", static_cast<double>(limit.count()) / 1000));
    return abi::success;
}

void Link::forget_blocks() {
    MappedBlocks& all = blocks();
    std::vector<std::uint64_t> gone;
    {
        const std::lock_guard lock(all.mutex);
        if (all.gone.empty()) return;
        gone = std::exchange(all.gone, {});
    }
    for (const std::uint64_t block : gone)
        tell(told | static_cast<std::uint32_t>(SpecialCall::forget_block),
             std::as_bytes(std::span(&block, 1)));
}

abi::Result Link::tell(std::uint32_t kind, std::span<const std::byte> body) {
    if (process_ == nullptr || owner_ != ::getpid()) return abi::worker_gone;
    if (channel_->send(kind, body)) return abi::success;
    const std::chrono::milliseconds limit = Patience::current().timeout;
    for (auto start = Clock::now(); !channel_->send(kind, body);) {
        if (const abi::Result why = trouble(start, limit); why != abi::success) return why;
        ::usleep(50);
    }
    return abi::success;
}

abi::Result Link::ask(std::uint32_t kind, std::span<const std::byte> body, std::chrono::milliseconds limit) {
    if (process_ == nullptr || owner_ != ::getpid()) return abi::worker_gone;
    forget_blocks();
    const std::uint32_t known = channel_->answers();
    if (const abi::Result result = tell(kind, body); result != abi::success) return result;
    // A call may have to wait for a kernel with a longer time limit.
    const std::chrono::milliseconds timeout = Patience::current().timeout;
    limit = timeout.count() == 0 ? timeout : std::max(limit, timeout + std::chrono::seconds(10));
    const auto start = Clock::now();
    while (channel_->answers() == known) {
        for (int i = 0; i < 64 && channel_->answers() == known; ++i) spin_pause();
        if (channel_->answers() != known) break;
        if (Clock::now() - start < answer_polling) continue;
        if (const abi::Result why = trouble(start, limit); why != abi::success) return why;
        channel_->wait_for_answer(known, slice);
    }
    answer_.emplace(channel_->answer());
    return answer_->get<abi::Result>();
}

std::optional<BlockPlace> Link::shared_place(const void* bytes, std::size_t size) {
    const std::optional<memory::Place> place = memory::find(bytes, size);
    if (!place) return std::nullopt;
    MappedBlocks& all = blocks();
    const std::lock_guard lock(all.mutex);
    all.mapped.insert(place->block);
    return BlockPlace{place->block, place->block_bytes, place->within};
}

}  // namespace wgrun::gpu
