// Delays signals.
#pragma once

#include <pthread.h>

#include <csignal>

namespace wgrun::file {

/// While it lives, no signal is delivered to this thread, nor to threads that it makes meanwhile: what has
/// come is delivered at the end. Those that this thread's own faults raise (SIGSEGV and the like) do not
/// wait. SIGKILL cannot.
class SignalsHeld {
  public:
    SignalsHeld() noexcept {
        sigset_t held;
        sigfillset(&held);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
            sigdelset(&held, fault);
        pthread_sigmask(SIG_BLOCK, &held, &before_);
    }
    ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

  private:
    sigset_t before_;
};

}  // namespace wgrun::file
