// The memory through which a process talks with its worker: a ring of messages one way, an answer at a time
// the other.
//
// A message is taken in the order in which it was sent. Most want no answer, so that sending one costs the
// sender a copy into the ring; the worker looks at the ring for a while after the last message before it
// sleeps, so that a chain of launches wakes nobody up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace wgrun::gpu {

/// The processor's hint for a loop that waits for memory to change.
inline void spin_pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Both ends of a channel are objects of this class; comments say which end calls a function. Not
/// thread-safe.
class Channel {
  public:
    static constexpr std::size_t ring_bytes = std::size_t{1} << 20;
    static constexpr std::size_t largest_message = std::size_t{64} << 10;
    static constexpr std::size_t staging_bytes = std::size_t{4} << 20;
    static constexpr std::size_t largest_answer = largest_message;

    /// Makes a channel. EnvironmentError ENOMEM.
    Channel();
    /// The other end of the channel with this descriptor. EnvironmentError EINVAL if it is not a channel.
    explicit Channel(int descriptor);
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    int descriptor() const { return descriptor_; }

    /// Either end: bytes that are too many for a message or an answer. Whose they are goes with the messages.
    std::span<std::byte> staging() const;

    // For the sender.

    /// Puts a message into the ring; false when it is full.
    bool send(std::uint32_t kind, std::span<const std::byte> body);
    /// Answers so far.
    std::uint32_t answers() const;
    /// Sleeps until there are more than `known` answers, at most so long; a signal ends it too.
    void wait_for_answer(std::uint32_t known, std::chrono::milliseconds limit);
    /// The latest answer.
    std::span<const std::byte> answer() const;

    // For the worker.

    struct Message {
        std::uint32_t kind;
        std::span<const std::byte> body;  ///< valid until done()
    };
    /// The next message: polls for a while, then sleeps until there is one.
    Message receive();
    /// Returns the space of the last received message to the ring.
    void done();
    /// Sends an answer (at most largest_answer) and wakes the sender if it waits for it.
    void reply(std::span<const std::byte> answer);

  private:
    struct Shared;
    struct Head;
    void map();

    int descriptor_;
    Shared* shared_ = nullptr;
    std::uint64_t taken_ = 0;  // the worker's: where the message received last ends
};

}  // namespace wgrun::gpu
