// What threads have said in a launch, and how it is written down.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun {

/// Reads a format of printf's for these registers. ArgumentError where the two do not fit each other.
/// counts: registers of each value; 0: a single one.
std::vector<Message::Piece> parse_format(std::string_view format, std::span<const isa::Type> types,
                                         std::span<const int> counts);

/// The text with the values, of which each lies in the low bits.
std::string text_of(const Message& message, std::span<const std::uint64_t> values);

/// The messages of one launch.
///
/// They are put in order when they are written down: CTAs as the grid counts them, and of each the first
/// message of all threads before the second one. So the order does not depend on who was faster, and is the
/// same wherever the kernel runs. Threads of a CTA that say the same there are one line.
class MessageLog {
  public:
    /// As many as that are kept. The program must outlive the log.
    MessageLog(const Program& program, Dim3 grid, std::size_t capacity);

    bool empty() const { return entries_.empty() && lost_ == 0; }
    /// Another message of a thread: they come in the order in which it says them.
    void add(Dim3 cta, std::uint32_t thread, std::uint32_t message, std::span<const std::uint64_t> values);
    /// That many more had no room.
    void lose(std::uint64_t count) { lost_ += count; }
    void append(const MessageLog& other);

    /// "[kernel.lua:12 cta 0 thread 3] x = 1.5", for each message of k:print.
    std::vector<std::string> lines() const;
    /// The assertion that failed, or the trap: of several the first in order; the others are notes.
    std::optional<Diagnostic> end() const;

  private:
    struct Entry {
        std::uint64_t cta = 0;  ///< x counts first
        std::uint32_t thread = 0, message = 0;
        std::size_t first = 0;  ///< of its values
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
};

/// How many messages of a launch are kept, and the bytes of one in the buffer of the GPU (isa/say.hpp).
std::size_t message_capacity(const Program& program);
std::size_t message_bytes(const Program& program);

}  // namespace wgrun
