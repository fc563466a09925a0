// The console of a person: standard input and output, with libedit's line editing where that library is
// installed.
#pragma once

#include "bindings/repl/repl.hpp"

namespace wgrun::repl {

class Terminal : public Console {
  public:
    /// Prompts and edits lines only if standard input is a terminal. libedit is opened at run time.
    Terminal();

    Input read(std::string_view prompt, Assistant& assistant, std::string& line) override;
    void write(std::string_view text) override;
    void remark(std::string_view text) override;

    /// Is there a person who reads prompts?
    bool interactive() const { return interactive_; }

  private:
    Input read_plain(std::string_view prompt, std::string& line);

    bool interactive_;
    char* (*readline_)(const char* prompt) = nullptr;
    int (*add_history_)(const char* line) = nullptr;
};

}  // namespace wgrun::repl
