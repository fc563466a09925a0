#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bindings/cli/cli.hpp"

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

bool Results::finish() {
    if (std::fflush(file_) == 0 && std::ferror(file_) == 0) return true;
    remark(std::string("wgrun: cannot write the results: ") + std::strerror(errno));
    return false;
}

void remark(std::string_view text) {
    std::fflush(stdout);
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace wgrun::cli
