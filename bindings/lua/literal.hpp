// A string literal as a template argument: lua_CFunctions that differ in a name alone are one template.
#pragma once

#include <algorithm>
#include <cstddef>

namespace wgrun::lua {

template <std::size_t size>
struct Literal {
    // Implicit, so that a literal is the argument itself: unary<"neg">.
    consteval Literal(const char (&literal)[size]) { std::copy_n(literal, size, text); }
    char text[size]{};
};

}  // namespace wgrun::lua
