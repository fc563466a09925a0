// The read-eval-print loop, apart from any terminal.
#pragma once

#include <lua.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/repl/graphics.hpp"

namespace wgrun::repl {

/// What can stand at the cursor.
struct Candidate {
    std::string text;   ///< in place of the word that is being typed
    std::string about;  ///< one line; empty where nothing is known
};

struct Completion {
    std::size_t begin = 0;              ///< where the word begins, in bytes
    std::vector<Candidate> candidates;  ///< in the order of the alphabet
};

/// What a console may ask of the loop while a person types. Nothing of the script runs for it: no metamethod
/// and no finalizer.
class Assistant {
  public:
    virtual ~Assistant() = default;
    /// Is `text` the beginning of a chunk, so that Enter means another line?
    virtual bool unfinished(const std::string& text) = 0;
    virtual Completion complete(const std::string& text, std::size_t cursor) = 0;
};

/// Where lines come from and text goes to.
class Console {
  public:
    enum class Input { line, end, interrupted };

    virtual ~Console() = default;
    /// Reads a line into `line`, without its newline. An editor that knows when a chunk is complete may give
    /// several lines at once. `assistant` may be asked until the call returns.
    virtual Input read(std::string_view prompt, Assistant& assistant, std::string& line) = 0;
    /// Results.
    virtual void write(std::string_view text) = 0;
    /// Errors and remarks.
    virtual void remark(std::string_view text) = 0;
    /// Columns of what `write` writes to; 80 where it has none.
    virtual int columns() const { return 80; }
    /// Where `write` can show images; nothing where it cannot. May ask a terminal, and wait for its answer.
    virtual std::optional<Canvas> canvas() { return {}; }
};

/// Reads, runs and prints until the input ends. A line is tried as an expression first; an unfinished one
/// goes on in the next; an interrupted one is dropped. Locals of the top level last; `_` is the last result
/// that is not nil; a line that begins with a dot and a letter is a command (commands.hpp). Errors are shown
/// and the loop goes on, lack of memory too. To be called in a protected call: it raises when there is not
/// even the memory to begin.
void run(lua_State* L, Console& console);

}  // namespace wgrun::repl
