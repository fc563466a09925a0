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

/// What a processor is told in a loop that waits for memory to change.
inline void spin_pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Both ends of a channel are of this class; the comments say whose a function is. Not thread-safe.
class Channel {
  public:
    static constexpr std::size_t ring_bytes = std::size_t{1} << 20;
    static constexpr std::size_t largest_message = std::size_t{64} << 10;
    static constexpr std::size_t staging_bytes = std::size_t{4} << 20;
    static constexpr std::size_t largest_answer = largest_message;

    /// A channel of its own. EnvironmentError ENOMEM.
    Channel();
    /// The other end of the channel with this descriptor. EnvironmentError EINVAL when it is none.
    explicit Channel(int descriptor);
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    int descriptor() const { return descriptor_; }

    /// Either end: bytes that are too many for a message or an answer. Whose they are goes with the messages.
    std::span<std::byte> staging() const;

    // The sender's end.

    /// Puts a message into the ring; false when it is full.
    bool send(std::uint32_t kind, std::span<const std::byte> body);
    /// Answers so far.
    std::uint32_t answers() const;
    /// Sleeps until there are more than `known` answers, at most so long; a signal ends it too.
    void wait_for_answer(std::uint32_t known, std::chrono::milliseconds limit);
    /// The answer that came last.
    std::span<const std::byte> answer() const;

    // The worker's end.

    struct Message {
        std::uint32_t kind;
        std::span<const std::byte> body;  ///< valid until done()
    };
    /// The next message; looks for a while, then sleeps until there is one.
    Message receive();
    /// Gives the place of the message that was received last back to the ring.
    void done();
    /// Hands an answer over (at most largest_answer) and wakes who waits for it.
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
