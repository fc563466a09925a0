// What is known about a value: joins over operands, constants.
#include <algorithm>

#include "isa/families.hpp"

namespace wgrun::isa {

Value joined(const Step& step, const ValueOf& of) {
    constexpr int none = 64;  // it depends on no thread index
    Value out;
    out.uniform = Uniform::grid;
    int shift = none;
    for (std::size_t i = 1; i < step.operands.size(); ++i) {
        const Value value = of(step.operands[i]);
        out.uniform = std::min(out.uniform, value.uniform);
        if (value.uniform < Uniform::cta) shift = std::min(shift, value.thread_shift);
    }
    if (shift != none) out.thread_shift = shift;
    return out;
}

std::optional<std::int64_t> plain(const Value& value) {
    return value.thread_shift < 0 ? value.constant : std::nullopt;
}

std::int64_t wrapped(Type type, std::int64_t value) {
    const int unused = 64 - bits(type);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
}

std::int64_t number_of(Type type, std::int64_t value) {
    if (is_signed(type) || bits(type) == 64) return wrapped(type, value);
    return value & ((std::int64_t{1} << bits(type)) - 1);
}

Uniform of_groups(int shift) {
    return shift >= 10  ? Uniform::cta
           : shift >= 7 ? Uniform::warpgroup
           : shift >= 5 ? Uniform::warp
                        : Uniform::thread;
}

}  // namespace wgrun::isa
