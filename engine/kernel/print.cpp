#include "kernel/print.hpp"

#include <cstdio>

namespace wgrun {

void print_messages(const MessageLog& messages, const RunOptions& options) {
    if (messages.empty()) return;
    for (std::string& line : messages.lines()) {
        if (options.print) {
            options.print(line);
            continue;
        }
        line += '\n';
        std::fwrite(line.data(), 1, line.size(), stdout);
    }
}

}  // namespace wgrun
