#include "bindings/repl/terminal.hpp"

#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
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

// False: a signal came first.
bool wait_for_input() {
    sigset_t open;
    sigprocmask(SIG_SETMASK, nullptr, &open);
    sigdelset(&open, SIGINT);
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ppoll(&input, 1, nullptr, &open) >= 0 || errno != EINTR;
}

bool was_interrupted = false;

// libedit's source of characters: as its own, but a signal ends the line, which libedit would go on with.
int read_character(std::FILE*) {
    unsigned char byte = 0;
    const auto next = [&] {
        was_interrupted = !wait_for_input();
        return !was_interrupted && ::read(STDIN_FILENO, &byte, 1) == 1;
    };
    if (!next()) return -1;
    // libedit wants whole characters: UTF-8 is put together here.
    const int following = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0;
    int character = following == 0 ? byte : byte & (0x3F >> following);
    for (int i = 0; i < following; ++i) {
        if (!next()) return -1;
        character = character << 6 | (byte & 0x3F);
    }
    return character;
}

template <class T>
T* symbol(void* library, const char* name) {
    return reinterpret_cast<T*>(dlsym(library, name));
}

}  // namespace

Terminal::Terminal() : interactive_(isatty(STDIN_FILENO) != 0) {
    if (!interactive_) return;
    void* editor = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    if (editor == nullptr) return;
    auto* catch_signals = symbol<int>(editor, "rl_catch_signals");
    auto* getc_function = symbol<int (*)(std::FILE*)>(editor, "rl_getc_function");
    add_history_ = symbol<int(const char*)>(editor, "add_history");
    if (catch_signals == nullptr || getc_function == nullptr || add_history_ == nullptr) return;
    *catch_signals = 0;
    *getc_function = read_character;
    std::setlocale(LC_CTYPE, "");  // for characters beyond ASCII; numbers stay as Lua writes them
    readline_ = symbol<char*(const char*)>(editor, "readline");
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

Console::Input Terminal::read(std::string_view prompt, Assistant&, std::string& line) {
    std::optional<HeldInterrupts> held;
    if (interactive_) held.emplace();
    if (readline_ == nullptr) return read_plain(prompt, line);
    was_interrupted = false;
    char* text = readline_(std::string(prompt).c_str());
    if (was_interrupted) {
        std::free(text);
        write("\n");
        return Input::interrupted;
    }
    if (text == nullptr) return Input::end;
    if (*text != 0) add_history_(text);
    line = text;
    std::free(text);
    return Input::line;
}

void Terminal::write(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void Terminal::remark(std::string_view text) {
    std::fflush(stdout);
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace wgrun::repl
