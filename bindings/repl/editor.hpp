// A line editor for terminals: libedit, with additions for a Lua prompt.
#pragma once

#include <memory>

#include "bindings/repl/history.hpp"
#include "bindings/repl/repl.hpp"

namespace wgrun::repl {

/// Reads chunks from standard input, a terminal. Enter returns a complete chunk and begins the next line of
/// an incomplete one; a paste (bracketed, as terminals mark them) is one piece of text; Tab completes; the
/// arrow keys move through the lines, and beyond them through the history, among the entries that begin with
/// the text before the cursor; Ctrl-R searches it. ~/.editrc is read. For the main thread: the terminal and
/// the signals SIGWINCH and SIGCONT belong to it while it reads.
class Editor {
  public:
    /// Null if wgrun was built without libedit, and on a terminal that cannot move its cursor. `history` must
    /// outlive the editor.
    static std::unique_ptr<Editor> open(History& history, bool colour);

    virtual ~Editor() = default;
    Editor(const Editor&) = delete;
    Editor& operator=(const Editor&) = delete;

    virtual Console::Input read(std::string_view prompt, Assistant& assistant, std::string& line) = 0;
    /// Input that was read from standard input and is to be read again as keys.
    virtual void put_back(std::string_view keys) = 0;
    /// Answers to question() (graphics.hpp) that arrive too late, between keys, are dropped.
    virtual void ignore_answers() = 0;

  protected:
    Editor() = default;
};

/// Waits for standard input and lets Ctrl-C through meanwhile. False: a signal came first.
bool wait_for_input();

}  // namespace wgrun::repl
