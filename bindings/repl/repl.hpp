// The read-eval-print loop, apart from any terminal.
#pragma once

#include <lua.hpp>

#include <string>
#include <string_view>

namespace wgrun::repl {

/// Where lines come from and text goes to.
class Console {
  public:
    enum class Input { line, end, interrupted };

    virtual ~Console() = default;
    /// Reads a line into `line`, without its newline.
    virtual Input read(std::string_view prompt, std::string& line) = 0;
    /// Results.
    virtual void write(std::string_view text) = 0;
    /// Errors and remarks.
    virtual void remark(std::string_view text) = 0;
};

/// Reads, runs and prints until the input ends. A line is tried as an expression first; an unfinished one
/// goes on in the next; an interrupted one is dropped. Errors are shown and the loop goes on. To be called in
/// a protected call: only lack of memory raises.
void run(lua_State* L, Console& console);

/// Pushes the text of the value at `index`: as tostring, but tables without __tostring are written out, to a
/// depth and length that a person can read. May raise.
void push_display(lua_State* L, int index);

}  // namespace wgrun::repl
