// Editing of lines on a terminal: libedit, with what a prompt for Lua wants besides.
#pragma once

#include <memory>

#include "bindings/repl/history.hpp"
#include "bindings/repl/repl.hpp"

namespace wgrun::repl {

/// Reads chunks from standard input, a terminal. Enter gives a chunk that is complete and goes to the next
/// line in one that is not; a paste (bracketed, as terminals mark them) is one piece of text; Tab completes;
/// the arrow keys move through the lines, and beyond them through the history, among the entries that begin
/// as the text in front of the cursor does; Ctrl-R searches it. ~/.editrc is read. For the main thread: the
/// terminal and the signals SIGWINCH and SIGCONT belong to it while it reads.
class Editor {
  public:
    /// Null where wgrun was built without libedit, and on a terminal that cannot move its cursor. `history`
    /// must outlive the editor.
    static std::unique_ptr<Editor> open(History& history, bool colour);

    virtual ~Editor() = default;
    Editor(const Editor&) = delete;
    Editor& operator=(const Editor&) = delete;

    virtual Console::Input read(std::string_view prompt, Assistant& assistant, std::string& line) = 0;
    /// What has been read of standard input and is to be read once more: keys.
    virtual void put_back(std::string_view keys) = 0;
    /// Answers to question() (graphics.hpp) may come, too late, between keys: they are dropped.
    virtual void ignore_answers() = 0;

  protected:
    Editor() = default;
};

/// Waits for standard input, with Ctrl-C let through meanwhile. False: a signal came first.
bool wait_for_input();

}  // namespace wgrun::repl
