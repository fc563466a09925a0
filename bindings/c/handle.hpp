// Handles: numbers that stand for objects, each used once, so that a closed one is never another's.
#pragma once

#include <memory>
#include <string_view>

namespace wgrun::c {

enum class Kind : unsigned char {
    engine,
    script,
    kernel,
    plan,
    findings,
    verdicts,
    tensor,
    cancellation,
    timeline,
    files,
    tuning
};

/// The kind of handle that stands for a T. Specialise it for every type that C holds.
template <class T>
inline constexpr Kind kind_of = Kind::engine;

/// These throw Failure (failure.hpp) WGRUN_BAD_HANDLE for anything but an open handle of the kind.
/// Thread-safe.
void* add_handle(Kind kind, std::shared_ptr<void> object);
std::shared_ptr<void> find_handle(Kind kind, const void* handle);
void close_handle(Kind kind, const void* handle);

template <class Handle, class T>
void give_handle(Handle** out, std::shared_ptr<T> object) {
    *out = static_cast<Handle*>(add_handle(kind_of<T>, std::move(object)));
}

template <class T>
std::shared_ptr<T> find(const void* handle) {
    return std::static_pointer_cast<T>(find_handle(kind_of<T>, handle));
}

}  // namespace wgrun::c
