#include "sim/reduce.hpp"

#include <cstring>

#include "isa/combine.hpp"

namespace wgrun::sim {

bool reduce(isa::BulkCopy::Reduction op, isa::Type type, std::byte* to, const std::byte* from,
            std::int64_t count) {
    if (!isa::can_combine(op, type)) return false;
    const auto bytes = static_cast<std::size_t>(isa::bits(type)) / 8;
    for (; count > 0; --count, to += bytes, from += bytes) {
        std::uint64_t old = 0, value = 0;
        std::memcpy(&old, to, bytes);
        std::memcpy(&value, from, bytes);
        const std::uint64_t result = isa::combined(op, type, false, old, value);
        std::memcpy(to, &result, bytes);
    }
    return true;
}

}  // namespace wgrun::sim
