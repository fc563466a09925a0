#include "bindings/cli/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "bindings/cli/cli.hpp"
#include "bindings/lua/interrupt.hpp"

namespace wgrun::cli {
namespace {

void handle(int) {
    if (!lua::interrupt()) _exit(Exit::interrupted);
}

}  // namespace

void watch_interrupts() {
    struct sigaction action {};
    action.sa_handler = handle;  // without SA_RESTART: a read of the terminal returns
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
}

}  // namespace wgrun::cli
