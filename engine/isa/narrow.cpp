// Products of integers of 24 bits: mul24 and mad24.
#include <algorithm>

#include "isa/families.hpp"
#include "isa/lanes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;

/// Returns the lower 32 of the product's 48 bits, or the upper ones.
template <class T>
T product_of_24(const Form& form, T a, T b) {
    constexpr int unused = 8;
    const auto number = [](T x) {
        return std::int64_t{
            static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(x) << unused) >> unused)};
    };
    const std::int64_t product = number(a) * number(b);
    return static_cast<T>(spelled(Field::half, form.get(Field::half)) == "hi" ? product >> 16 : product);
}

void run_mul24(const Step& s, Machine& m) {
    with_integer(s.form.type(), [&]<class T>(T) {
        if constexpr (sizeof(T) == 4) map2<T, T>(s, m, [&](T a, T b) { return product_of_24(s.form, a, b); });
    });
}

void run_mad24(const Step& s, Machine& m) {
    const bool limits = s.form.get(Field::sat, 0) == 1;
    with_integer(s.form.type(), [&]<class T>(T) {
        if constexpr (sizeof(T) == 4)
            map3<T, T, T>(s, m, [&](T a, T b, T c) {
                const std::int64_t sum = std::int64_t{product_of_24(s.form, a, b)} + c;
                return static_cast<T>(limits ? std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
            });
    });
}

Row halves_of_48() { return {{spelled_as(Field::half, {"lo", "hi"}, "lo"), types({u32, s32})}, {7, 8}}; }

}  // namespace

std::span<const Instruction> narrow_family() {
    static const std::vector<Instruction> list{
        {.name = "mul24",
         .summary =
             "d = a * b of integers of 24 bits: the lower 32 of the product's 48 bits, or the upper ones",
         .section = "9.7.1.5",
         .rows = {halves_of_48()},
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "mul24{.half}{.type} {%d}, {%a}, {%b}",
         .work = Work::arithmetic,
         .run = run_mul24},
        {.name = "mad24",
         .summary = "d = a * b + c, where a and b are integers of 24 bits",
         .section = "9.7.1.6",
         .rows = {halves_of_48(),
                  {{only(s32), spelled_as(Field::half, {"hi"}), Choice{Field::sat, {{1, 1}}, {}, true}},
                   {7, 8}}},
         .operands = {out("d"), in("a"), in("b"), in("c")},
         .ptx = "mad24{.half}{.sat}{.type} {%d}, {%a}, {%b}, {%c}",
         .work = Work::arithmetic,
         .run = run_mad24},
    };
    return list;
}

}  // namespace wgrun::isa
