#include <cstring>

#include "tests/fuzz/bodies.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tile.hpp"

namespace wgrun::fuzz {

void descriptor(Bytes bytes) {
    std::uint64_t bits = 0;
    if (!bytes.empty()) std::memcpy(&bits, bytes.data(), std::min(bytes.size(), sizeof bits));
    try {
        const Descriptor decoded = Descriptor::decode(bits);
        if (decoded.encode() != bits) throw Broken("decoded and encoded: " + std::to_string(bits));
        if (explain(decoded).empty()) throw Broken("no explanation: " + std::to_string(bits));
    } catch (const ArgumentError& error) {
        if (*error.what() == '\0') throw Broken("a refusal without a word: " + std::to_string(bits));
    }
}

}  // namespace wgrun::fuzz
