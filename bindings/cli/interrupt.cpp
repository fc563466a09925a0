#include "bindings/cli/interrupt.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

#include "bindings/cli/cli.hpp"
#include "bindings/lua/interrupt.hpp"

namespace wgrun::cli {
namespace {

pthread_t watcher;  // the thread that runs Lua

void handle(int) {
    // Drivers start threads of their own, and the signal may have come to one of them.
    if (pthread_equal(pthread_self(), watcher) == 0) {
        pthread_kill(watcher, SIGINT);
        return;
    }
    if (!lua::interrupt()) _exit(Exit::interrupted);
}

}  // namespace

void watch_interrupts() {
    watcher = pthread_self();
    struct sigaction action {};
    action.sa_handler = handle;  // without SA_RESTART: a read of a pipe returns
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
}

}  // namespace wgrun::cli
