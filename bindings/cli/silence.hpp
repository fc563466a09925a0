// Scripts that are run many times, of which a person wants to see the output once or never.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace wgrun::cli {

/// Suppresses what is written to standard output, as long as it lives.
class Silence {
  public:
    Silence() {
        std::fflush(stdout);
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere < 0) return;
        kept_ = dup(STDOUT_FILENO);
        if (kept_ >= 0) dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
    }
    ~Silence() {
        std::fflush(stdout);
        if (kept_ < 0) return;
        dup2(kept_, STDOUT_FILENO);
        close(kept_);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

  private:
    int kept_ = -1;
};

}  // namespace wgrun::cli
