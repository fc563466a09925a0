#include "number/integer.hpp"

namespace wgrun {

std::int8_t to_s8(double value, IntegerRounding rounding) { return to_integer<std::int8_t>(value, rounding); }
std::uint8_t to_u8(double value, IntegerRounding rounding) {
    return to_integer<std::uint8_t>(value, rounding);
}
std::int32_t to_s32(double value, IntegerRounding rounding) {
    return to_integer<std::int32_t>(value, rounding);
}
std::uint32_t to_u32(double value, IntegerRounding rounding) {
    return to_integer<std::uint32_t>(value, rounding);
}
std::int64_t to_s64(double value, IntegerRounding rounding) {
    return to_integer<std::int64_t>(value, rounding);
}
std::uint64_t to_u64(double value, IntegerRounding rounding) {
    return to_integer<std::uint64_t>(value, rounding);
}

}  // namespace wgrun
