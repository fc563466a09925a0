#include "bindings/cli/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "bindings/cli/cli.hpp"

namespace wgrun::cli {
namespace {

std::atomic<std::atomic<bool>*> target = nullptr;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::atomic<bool>*>::is_always_lock_free);

void handle(int) {
    std::atomic<bool>* flag = target.load();
    if (flag == nullptr || flag->exchange(true)) _exit(Exit::interrupted);
}

}  // namespace

void on_interrupt(std::atomic<bool>* flag) {
    target = flag;
    struct sigaction action {};
    action.sa_handler = handle;  // without SA_RESTART: a read of the terminal returns
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
}

}  // namespace wgrun::cli
