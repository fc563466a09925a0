// The read-eval-print loop, independent of any terminal.
#pragma once

#include <lua.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/repl/graphics.hpp"

namespace wgrun::repl {

/// A completion at the cursor.
struct Candidate {
    std::string text;   ///< replaces the word that is being typed
    std::string about;  ///< one line; empty if there is no description
};

struct Completion {
    std::size_t begin = 0;              ///< where the word begins, in bytes
    std::vector<Candidate> candidates;  ///< in alphabetical order
};

/// What a console may ask of the loop while a person types. No code of the script runs for it: neither
/// metamethods nor finalizers.
class Assistant {
  public:
    virtual ~Assistant() = default;
    /// Is `text` the beginning of a chunk, so that Enter means another line?
    virtual bool unfinished(const std::string& text) = 0;
    virtual Completion complete(const std::string& text, std::size_t cursor) = 0;
};

/// The source of lines and the sink of text.
class Console {
  public:
    enum class Input { line, end, interrupted };

    virtual ~Console() = default;
    /// Reads a line into `line`, without its newline. An editor that knows when a chunk is complete may give
    /// several lines at once. `assistant` may be asked until the call returns.
    virtual Input read(std::string_view prompt, Assistant& assistant, std::string& line) = 0;
    /// Writes results.
    virtual void write(std::string_view text) = 0;
    /// Writes errors and remarks.
    virtual void remark(std::string_view text) = 0;
    /// Columns of the output of `write`; 80 if it has no width.
    virtual int columns() const { return 80; }
    /// The area where `write` can show images, if it can. May query a terminal and wait for its answer.
    virtual std::optional<Canvas> canvas() { return {}; }
};

/// Reads, runs and prints until the input ends. A line is tried as an expression first; an unfinished one
/// continues on the next line; an interrupted one is dropped. Locals of the top level persist; `_` is the
/// last result that is not nil; a line that begins with a dot and a letter is a command (commands.hpp).
/// Errors, also lack of memory, are shown and the loop continues. Call it in a protected call: it raises if
/// there is not enough memory to begin.
void run(lua_State* L, Console& console);

}  // namespace wgrun::repl
