#include "bindings/cli/interrupt.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

#include "bindings/cli/cli.hpp"
#include "bindings/lua/interrupt.hpp"
#include "file/leftovers.hpp"

namespace wgrun::cli {
namespace {

pthread_t watcher;                   // the thread that runs Lua
std::atomic<bool> expected = false;  // an alarm after Ctrl-C
static_assert(std::atomic<bool>::is_always_lock_free);
constexpr unsigned grace = 3;  // seconds

void stop_script(int) {
    // Drivers start threads of their own, and the signal may have been delivered to one of them.
    if (pthread_equal(pthread_self(), watcher) == 0) {
        pthread_kill(watcher, SIGINT);
        return;
    }
    if (lua::interrupt()) {
        expected = true;
        alarm(grace);
        return;
    }
    file::remove_leftovers();
    _exit(Exit::interrupted);
}

// Lua looks at nothing while it matches a pattern with many repetitions: a script that has not stopped is
// ended.
void end_what_does_not_stop() {
    if (!lua::interrupted()) return;
    constexpr std::string_view words = "wgrun: interrupted; the script did not stop and was ended\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words.data(), words.size());
    file::remove_leftovers();
    _exit(Exit::interrupted);
}

// The signal ends the process once its temporary files and programs are gone.
void ended(int signal) {
    if (signal == SIGALRM && expected.exchange(false)) return end_what_does_not_stop();
    file::remove_leftovers();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void handle(int signal, void (*handler)(int)) {
    struct sigaction old {};
    // nohup ignores the signal on purpose, but a shell also ignores Ctrl-C for jobs started with &, which
    // must not count.
    if (signal != SIGINT && sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = handler;  // without SA_RESTART: a read of a pipe returns
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

}  // namespace

void watch_signals() {
    watcher = pthread_self();
    handle(SIGINT, stop_script);
    for (const int signal : {SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU}) handle(signal, ended);
    std::signal(SIGXFSZ, SIG_IGN);  // a file that gets too large is an error of write()
}

}  // namespace wgrun::cli
