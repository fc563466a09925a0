#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "bindings/cli/cli.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::cli {

Results::Results(bool exclusive) : file_(stdout) {
    if (!exclusive) return;
    const int own = dup(STDOUT_FILENO);
    std::FILE* file = own < 0 ? nullptr : fdopen(own, "w");
    if (file == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;
    file_ = file;
}

Results::~Results() {
    if (file_ != stdout) std::fclose(file_);
}

void Results::write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), file_); }

bool Results::finish() { return flush(file_); }

bool flush(std::FILE* file) {
    if (std::fflush(file) == 0 && std::ferror(file) == 0) return true;
    static bool told = false;
    if (!std::exchange(told, true))
        std::fprintf(stderr, "wgrun: cannot write the results: %s\n", std::strerror(errno));
    return false;
}

void open_standard_streams() {
    for (;;) {
        // open() returns the lowest free number. Only standard error may be written to, and its output is
        // discarded.
        const int opened = open("/dev/null", O_RDONLY);
        if (opened < 0) return;
        if (opened == STDERR_FILENO) {
            const int writable = open("/dev/null", O_WRONLY | O_CLOEXEC);
            if (writable >= 0) dup2(writable, opened);
            if (writable >= 0) close(writable);
        }
        if (opened > STDERR_FILENO) {
            close(opened);
            return;
        }
    }
}

void remark(std::string_view text) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", printable(text).c_str());
}

}  // namespace wgrun::cli
