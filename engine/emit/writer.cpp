#include "emit/writer.hpp"

#include <fmt/format.h>

namespace wgrun::emit {

void Writer::raw(std::string_view text, Where where) {
    text_.text.append(static_cast<std::size_t>(depth_) * 4, ' ').append(text).append("\n");
    text_.lines.push_back(where);
}

void Writer::line(std::string_view text, Where where) {
    if (where && where != last_) {
        // The name without its folder: texts do not depend on where a script lies.
        const std::size_t slash = where.file.rfind('/');
        raw(fmt::format("// {}:{}",
                        slash == std::string_view::npos ? where.file : where.file.substr(slash + 1),
                        where.line),
            where);
        last_ = where;
    }
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        raw(text.substr(at, end - at), where);
        at = end + 1;
    }
}

}  // namespace wgrun::emit
