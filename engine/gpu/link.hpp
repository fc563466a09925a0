// The parent's end of its worker: one process at a time, questions with a time limit, and why it is gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "gpu/channel.hpp"
#include "gpu/message.hpp"
#include "gpu/protocol.hpp"
#include "gpu/worker_process.hpp"

namespace wgrun::gpu {

/// The link of this process. Whoever talks holds it (lock()); a question that is not answered in time, that
/// is interrupted, or whose worker dies costs the worker, and every later one is answered with
/// abi::worker_gone until begin().
class Link {
  public:
    static Link& instance();

    [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

    /// Starts a worker where there is none. abi::worker_gone with last_words() when that fails.
    abi::Result begin();
    /// Ends it, with everything that it holds, whatever it is doing.
    void end() noexcept;
    bool running() const { return process_ != nullptr; }
    std::string last_words() const { return last_words_; }

    /// Sends a message that wants no answer.
    abi::Result tell(std::uint32_t kind, std::span<const std::byte> body);

    /// Sends one and waits for its answer at most `limit`, longer where the thread's Patience has more (0:
    /// for ever), or until its `stop`. The first word of the answer is the result; what else is in it,
    /// answer() reads.
    abi::Result ask(std::uint32_t kind, std::span<const std::byte> body, std::chrono::milliseconds limit);
    Unpacker& answer() { return *answer_; }

    std::span<std::byte> staging() const { return channel_->staging(); }

    /// The block of shared memory that holds these bytes, when the worker can map it.
    std::optional<BlockPlace> shared_place(const void* bytes, std::size_t size);

  private:
    Link();
    abi::Result lose(abi::Result result, std::string words);
    abi::Result trouble(std::chrono::steady_clock::time_point start, std::chrono::milliseconds limit);
    void forget_blocks();

    std::mutex mutex_;
    pid_t owner_ = 0;
    std::unique_ptr<Channel> channel_;
    std::unique_ptr<WorkerProcess> process_;
    std::string last_words_ = "was not started";
    std::optional<Unpacker> answer_;
};

/// How long the driver may take to begin, to load a kernel, and for each call that does little.
inline constexpr std::chrono::milliseconds start_limit = std::chrono::seconds(120);
inline constexpr std::chrono::milliseconds load_limit = std::chrono::seconds(60);
inline constexpr std::chrono::milliseconds call_limit = std::chrono::seconds(20);

/// The driver in the worker of this process, as a table like that of libcuda.so.1. Thread-safe.
const Driver& worker_driver();

}  // namespace wgrun::gpu
