// Structs that begin with `size`, which may be those of an older or a newer header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "bindings/c/failure.hpp"

namespace wgrun::c {

/// The caller's struct, extended by zeros if it is older than the library's. A newer struct may be longer, as
/// long as the rest is zeros. `least` is the size that the struct had in version 1.
template <class T>
T read_struct(const T* given, const char* name, std::size_t least = sizeof(T)) {
    if (given == nullptr) refuse_argument(std::string(name) + " is NULL");
    const std::size_t size = given->size;
    if (size < least)
        refuse_argument(std::string(name) + "->size is " + std::to_string(size) + ": set it to sizeof");
    const auto* bytes = reinterpret_cast<const unsigned char*>(given);
    if (size > sizeof(T) &&
        std::any_of(bytes + sizeof(T), bytes + size, [](unsigned char b) { return b != 0; }))
        refuse_argument(std::string(name) +
                        " asks for something that this version of the library does not know");
    T value{};
    std::memcpy(static_cast<void*>(&value), given, std::min(size, sizeof(T)));
    return value;
}

/// Writes as much of `value` as the caller's struct has room for.
template <class T>
void write_struct(T* out, T value, const char* name, std::size_t least = sizeof(T)) {
    if (out == nullptr) refuse_argument(std::string(name) + " is NULL");
    if (out->size < least)
        refuse_argument(std::string(name) + "->size is " + std::to_string(out->size) + ": set it to sizeof");
    value.size = out->size;
    std::memcpy(static_cast<void*>(out), &value, std::min(out->size, sizeof(T)));
}

/// Throws if the pointer to a result is NULL.
template <class T>
T& result(T* out, const char* name) {
    if (out == nullptr) refuse_argument(std::string(name) + " is NULL");
    return *out;
}

}  // namespace wgrun::c
