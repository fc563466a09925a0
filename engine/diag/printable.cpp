#include "wgrun/printable.hpp"

#include <fmt/format.h>

namespace wgrun {

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        const bool kept = byte == '\n' || byte == '\t';
        if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
            out += fmt::format("\\x{:02x}", next);  // U+0080 to U+009F
            ++i;
        } else if ((byte < 0x20 && !kept) || byte == 0x7F) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += text[i];
        }
    }
    return out;
}

}  // namespace wgrun
