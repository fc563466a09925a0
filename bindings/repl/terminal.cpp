#include "bindings/repl/terminal.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace wgrun::repl {

Terminal::Terminal() : interactive_(isatty(STDIN_FILENO) != 0) {
    if (!interactive_) return;
    void* editor = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    if (editor == nullptr) return;
    readline_ = reinterpret_cast<decltype(readline_)>(dlsym(editor, "readline"));
    add_history_ = reinterpret_cast<decltype(add_history_)>(dlsym(editor, "add_history"));
}

Console::Input Terminal::read_plain(std::string_view prompt, std::string& line) {
    if (interactive_) write(prompt);
    char* text = nullptr;
    std::size_t capacity = 0;
    errno = 0;
    const ssize_t size = ::getline(&text, &capacity, stdin);
    const bool interrupted = size < 0 && errno == EINTR;
    if (size >= 0) line.assign(text, static_cast<std::size_t>(size));
    std::free(text);
    if (interrupted) {
        std::clearerr(stdin);
        write("\n");
        return Input::interrupted;
    }
    if (size < 0) return Input::end;
    if (line.ends_with('\n')) line.pop_back();
    return Input::line;
}

Console::Input Terminal::read(std::string_view prompt, std::string& line) {
    if (readline_ == nullptr || add_history_ == nullptr) return read_plain(prompt, line);
    char* text = readline_(std::string(prompt).c_str());
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
