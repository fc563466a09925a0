// The messages of threads in a launch, and their text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun {

/// Parses a printf format for these registers. Throws ArgumentError where the two do not match. counts:
/// registers of each value; 0: a single one.
std::vector<Message::Piece> parse_format(std::string_view format, std::span<const isa::Type> types,
                                         std::span<const int> counts);

/// Returns the text with the values, each of which is in the low bits.
std::string text_of(const Message& message, std::span<const std::uint64_t> values);

/// The messages of one launch.
///
/// They are sorted when they are printed: by CTA in grid order, and within a CTA the first message of all
/// threads before the second. The order therefore does not depend on which thread was faster, and is the same
/// wherever the kernel runs. Threads of a CTA that say the same there share one line.
class MessageLog {
  public:
    /// Keeps at most `capacity` messages. The program must outlive the log.
    MessageLog(const Program& program, Dim3 grid, std::size_t capacity);

    bool empty() const { return entries_.empty() && printed_.empty() && lost_ == 0; }
    /// Adds a message of a thread; those of one thread are added in the order in which it says them.
    void add(Dim3 cta, std::uint32_t thread, std::uint32_t message, std::span<const std::uint64_t> values,
             std::uint32_t device = 0);
    /// Adds a text as it is to what printed() returns.
    void print(std::string_view text);
    /// Counts messages for which there was no room.
    void lose(std::uint64_t count) { lost_ += count; }
    void append(const MessageLog& other);

    /// Returns the texts one after the other, in the order in which they were added.
    const std::string& printed() const { return printed_; }
    /// Returns "[kernel.lua:12 cta 0 thread 3] x = 1.5" for each message of k:print.
    std::vector<std::string> lines() const;
    /// Returns the failed assertion or the trap; of several, the first in order, with the others as notes.
    std::optional<Diagnostic> end() const;

  private:
    struct Entry {
        std::uint64_t cta = 0;  ///< linear index, x fastest, device slowest
        std::uint32_t thread = 0, message = 0;
        std::size_t first = 0;  ///< index of its first value
    };
    /// Threads of a CTA that say the same.
    struct Line {
        std::uint64_t cta = 0;
        std::uint32_t message = 0;
        std::string text;
        std::vector<std::uint32_t> threads;
    };
    std::vector<Line> folded() const;
    std::string who(const Line& line) const;

    const Program* program_;
    Dim3 grid_;
    std::size_t capacity_ = 0;
    std::uint64_t lost_ = 0;
    std::vector<Entry> entries_;
    std::vector<std::uint64_t> values_;
    std::string printed_;
};

/// These return the number of messages kept per launch, and the bytes of one in the GPU's buffer
/// (isa/device_print.hpp).
std::size_t message_capacity(const Program& program);
std::size_t message_bytes(const Program& program);

}  // namespace wgrun
