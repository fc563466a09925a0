// The rounding of floats, and the flushing of subnormals, by the qualifiers of a form.
#pragma once

#include <cfenv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "isa/lanes.hpp"

namespace wgrun::isa {

/// Returns `a` with .ftz applied: a subnormal becomes zero of its sign.
inline float flushed(float a) {
    return std::abs(a) < std::numeric_limits<float>::min() ? std::copysign(0.F, a) : a;
}
inline double flushed(double a) { return a; }

/// Returns the value with .sat applied: within 0 to 1, and 0 in place of a NaN.
template <class T>
T saturated(T a) {
    return a > 0 ? (a < 1 ? a : T{1}) : T{0};
}

/// The host rounds as `mode` says until the end of the scope, also if that is an exception (of a register
/// that is not known, say).
class HostRounding {
  public:
    explicit HostRounding(int mode) { std::fesetround(mode); }
    HostRounding(const HostRounding&) = delete;
    HostRounding& operator=(const HostRounding&) = delete;
    ~HostRounding() { std::fesetround(FE_TONEAREST); }
};

/// Calls f while the host rounds as the form does. The values that f uses are passed through calls, so that
/// no compiler moves the computation out of here.
template <class F>
void with_rounding(const Form& form, F f) {
    constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};  // .rn, .rz, .rm, .rp
    const int mode = form.get(Field::round, 0);
    if (mode == 0 || static_cast<std::size_t>(mode) >= std::size(modes))
        return f();  // "contract" is .rn here
    const HostRounding rounding(modes[mode]);
    f();
}

/// Computes d = f(sources) of floats or integers, rounded and flushed as the form says.
template <class T, std::size_t arity, class F>
void map_rounded(const Step& s, Machine& m, F f) {
    const auto map = [&](auto g) {
        if constexpr (arity == 1)
            map1<T, T>(s, m, g);
        else if constexpr (arity == 2)
            map2<T, T>(s, m, g);
        else
            map3<T, T, T>(s, m, g);
    };
    if constexpr (!std::is_floating_point_v<T>)
        map(f);
    else
        with_rounding(s.form, [&] {
            const bool flushes = s.form.get(Field::ftz, 0) == 1, limits = s.form.get(Field::sat, 0) == 1;
            if (flushes && limits)
                map([&](auto... a) { return saturated(flushed(f(flushed(a)...))); });
            else if (flushes)
                map([&](auto... a) { return flushed(f(flushed(a)...)); });
            else if (limits)
                map([&](auto... a) { return saturated(f(a...)); });
            else
                map(f);
        });
}

}  // namespace wgrun::isa
