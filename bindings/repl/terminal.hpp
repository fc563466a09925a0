// The console of a person: standard input and output, with an editor if possible.
#pragma once

#include <memory>

#include "bindings/repl/editor.hpp"
#include "bindings/repl/repl.hpp"

namespace wgrun::repl {

class Terminal : public Console {
  public:
    struct Options {
        bool colour = false;   ///< colours for input; pictures as images
        bool history = false;  ///< keep it in a file
    };

    /// Prompts and edits lines only if standard input and output are terminals.
    explicit Terminal(const Options& options);

    Input read(std::string_view prompt, Assistant& assistant, std::string& line) override;
    void write(std::string_view text) override;
    void remark(std::string_view text) override;
    int columns() const override;
    /// Queries the terminal on the first call.
    std::optional<Canvas> canvas() override;

    /// Is there a person who reads prompts?
    bool interactive() const { return interactive_; }

  private:
    Input read_plain(std::string_view prompt, std::string& line);
    void ask();

    bool interactive_;
    bool images_ = false;  ///< not known to be impossible
    bool asked_ = false;
    Answers answers_;
    std::optional<Graphics> graphics_;
    History history_;
    std::unique_ptr<Editor> editor_;
};

}  // namespace wgrun::repl
