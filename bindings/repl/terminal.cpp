#include "bindings/repl/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
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

// Input byte by byte, and not echoed.
class RawInput {
  public:
    RawInput() : good_(tcgetattr(STDIN_FILENO, &before_) == 0) {
        if (!good_) return;
        struct termios raw = before_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        good_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    RawInput(const RawInput&) = delete;
    RawInput& operator=(const RawInput&) = delete;
    ~RawInput() {
        if (good_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    bool good() const { return good_; }

  private:
    struct termios before_ {};
    bool good_;
};

}  // namespace

bool wait_for_input() {
    sigset_t open;
    sigprocmask(SIG_SETMASK, nullptr, &open);
    sigdelset(&open, SIGINT);
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (ppoll(&input, 1, nullptr, &open) < 0) return errno != EINTR;
    // Input typed after a Ctrl-C may arrive before the signal is seen: the signal goes first.
    sigset_t pending;
    sigpending(&pending);
    if (sigismember(&pending, SIGINT) != 1) return true;
    constexpr struct timespec now {};
    return ppoll(nullptr, 0, &now, &open) >= 0 || errno != EINTR;
}

Terminal::Terminal(const Options& options) : interactive_(isatty(STDIN_FILENO) != 0) {
    if (!interactive_ || isatty(STDOUT_FILENO) == 0) return;
    if (options.history) history_ = History(History::standard_path());
    editor_ = Editor::open(history_, options.colour);
    images_ = editor_ != nullptr && options.colour;
}

void Terminal::ask() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds patience(1000);  // for terminals far away
    const TerminalNames names = TerminalNames::of_environment();
    const std::string text = question(names);
    if (text.empty()) return;
    const RawInput raw;
    if (!raw.good()) return;
    write(text);
    std::string bytes;
    for (const Clock::time_point end = Clock::now() + patience; !answers_.complete;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (left.count() <= 0 || poll(&input, 1, static_cast<int>(left.count())) <= 0) break;
        char buffer[256];
        const ssize_t size = ::read(STDIN_FILENO, buffer, sizeof buffer);
        if (size <= 0) break;
        bytes.append(buffer, static_cast<std::size_t>(size));
        answers_ = read_answers(bytes);
    }
    editor_->put_back(answers_.typed);
    if (!answers_.complete) editor_->ignore_answers();
    graphics_ = choose(names, answers_);
}

std::optional<Canvas> Terminal::canvas() {
    if (!images_) return {};
    if (!asked_) ask();
    asked_ = true;
    struct winsize size {};
    if (!graphics_ || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
    // Pixels of the window and of a cell come from its driver, from the terminal, or are not known.
    constexpr int usual_width = 8, usual_height = 16;
    const auto either = [](int one, int other) { return one > 0 ? one : other; };
    const int across = size.ws_col, down = size.ws_row;
    if (across == 0 || down == 0) return {};
    Canvas out{*graphics_, size.ws_xpixel, size.ws_ypixel, 0, answers_.dark};
    if (out.width == 0) out.width = across * either(answers_.cell_width, usual_width);
    if (out.height == 0) out.height = down * either(answers_.cell_height, usual_height);
    out.cell_height = out.height / down;
    out.height -= 2 * out.cell_height;  // the prompt above and below
    return out;
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
