#include "bindings/repl/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace wgrun::repl {

namespace {

// Ctrl-C waits from here on, except inside wait_for_input: one that comes between two reads is not lost.
class HeldInterrupts {
  public:
    HeldInterrupts() {
        sigset_t interrupts;
        sigemptyset(&interrupts);
        sigaddset(&interrupts, SIGINT);
        sigprocmask(SIG_BLOCK, &interrupts, &before_);
    }
    HeldInterrupts(const HeldInterrupts&) = delete;
    HeldInterrupts& operator=(const HeldInterrupts&) = delete;
    ~HeldInterrupts() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

}  // namespace

bool wait_for_input() {
    sigset_t open;
    sigprocmask(SIG_SETMASK, nullptr, &open);
    sigdelset(&open, SIGINT);
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ppoll(&input, 1, nullptr, &open) >= 0 || errno != EINTR;
}

Terminal::Terminal(const Options& options) : interactive_(isatty(STDIN_FILENO) != 0) {
    if (!interactive_ || isatty(STDOUT_FILENO) == 0) return;
    if (options.history) history_ = History(History::standard_path());
    editor_ = Editor::open(history_, options.colour);
}

Console::Input Terminal::read_plain(std::string_view prompt, std::string& line) {
    if (interactive_) write(prompt);
    if (interactive_ && !wait_for_input()) {
        write("\n");
        return Input::interrupted;
    }
    char* text = nullptr;
    std::size_t capacity = 0;
    const ssize_t size = ::getline(&text, &capacity, stdin);
    if (size >= 0) line.assign(text, static_cast<std::size_t>(size));
    std::free(text);
    if (size < 0) return Input::end;
    if (line.ends_with('\n')) line.pop_back();
    return Input::line;
}

Console::Input Terminal::read(std::string_view prompt, Assistant& assistant, std::string& line) {
    std::optional<HeldInterrupts> held;
    if (interactive_) held.emplace();
    if (editor_ == nullptr) return read_plain(prompt, line);
    const Input input = editor_->read(prompt, assistant, line);
    if (const std::string trouble = history_.trouble(); !trouble.empty())
        remark("wgrun: the history is not kept: " + trouble + "\n");
    return input;
}

void Terminal::write(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void Terminal::remark(std::string_view text) {
    std::fflush(stdout);
    std::fwrite(text.data(), 1, text.size(), stderr);
}

int Terminal::columns() const {
    struct winsize size {};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20;
    return known ? size.ws_col : Console::columns();
}

}  // namespace wgrun::repl
