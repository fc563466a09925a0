#include "kernel/print.hpp"

#include <algorithm>
#include <cstdio>

namespace wgrun {

void print_messages(const MessageLog& messages, const RunOptions& options) {
    if (messages.empty()) return;
    std::string_view text = messages.printed();
    if (!options.print) std::fwrite(text.data(), 1, text.size(), stdout);
    while (options.print && !text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        options.print(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
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
