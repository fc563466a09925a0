#include "check/register_values.hpp"

#include <algorithm>

namespace wgrun::check {

namespace {

bool same(const isa::Value& a, const isa::Value& b) {
    return a.uniform == b.uniform && a.constant == b.constant && a.thread_shift == b.thread_shift &&
           a.buffer == b.buffer && a.is_descriptor == b.is_descriptor && a.offset == b.offset;
}

}  // namespace

bool Known::operator==(const Known& other) const {
    return same(value, other.value) && exact == other.exact && origin == other.origin &&
           inputs == other.inputs && writer == other.writer && written == other.written;
}

Known join(const Known& a, const Known& b, const Known& condition, const void* place) {
    if (a == b) return a;
    // If only one path has written it, the other has no value that may be read.
    if (!a.written || !b.written) return a.written ? a : b;
    Known out = a;
    out.inputs |= b.inputs;
    if (a.writer == b.writer && same(a.value, b.value) && a.exact == b.exact && a.origin == b.origin)
        return out;
    out.writer = place;
    out.value.uniform = std::min({a.value.uniform, b.value.uniform, condition.value.uniform});
    out.inputs |= condition.inputs;
    if (a.origin != b.origin) {
        out.exact = {};
        out.origin = Known::many_buffers;
    } else if (!(a.exact == b.exact)) {
        out.exact = Exact::choose(condition.exact, a.exact, b.exact);
        if (out.exact.known()) out.value.uniform = out.exact.spread();
    }
    if (a.value.constant != b.value.constant || a.value.thread_shift != b.value.thread_shift) {
        out.value.constant.reset();
        out.value.thread_shift = -1;
    }
    if (a.value.buffer != b.value.buffer || a.value.is_descriptor != b.value.is_descriptor) {
        out.value.buffer = -1;
        out.value.is_descriptor = false;
    }
    if (a.value.offset != b.value.offset) out.value.offset.reset();
    return out;
}

std::size_t hash_of(const Known& value) {
    return Hash()
        .with(value.inputs)
        .with(value.writer)
        .with(static_cast<std::uint64_t>(value.exact.uniform().value_or(-1)))
        .with(static_cast<std::uint64_t>(value.value.constant.value_or(-1)))
        .value();
}

void join(RegisterValues& a, const RegisterValues& b, const Known& condition, const void* place,
          const RegisterSet& live) {
    a.meet(
        b, [&](std::size_t i) { return live.has(i); },
        [&](const Known& mine, const Known& other) { return join(mine, other, condition, place); });
}

}  // namespace wgrun::check
