#include "bindings/c/handle.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "bindings/c/failure.hpp"

namespace wgrun::c {
namespace {

constexpr std::array<std::string_view, 11> names = {
    "wgrun_engine", "wgrun_script",       "wgrun_kernel",   "wgrun_plan",  "wgrun_findings", "wgrun_verdicts",
    "wgrun_tensor", "wgrun_cancellation", "wgrun_timeline", "wgrun_files", "wgrun_tuning"};

struct Entry {
    Kind kind;
    std::shared_ptr<void> object;
};

struct Table {
    std::shared_mutex mutex;
    std::unordered_map<std::uintptr_t, Entry> open;
    std::uintptr_t last = 0;
};

// Never destroyed: a host may close its handles while the process ends.
Table& table() {
    static Table& all = *new Table;
    return all;
}

std::string_view name_of(Kind kind) { return names[static_cast<std::size_t>(kind)]; }

[[noreturn]] void refuse(Kind kind, const void* handle, const Entry* found) {
    std::string message = "not an open " + std::string(name_of(kind)) + ": ";
    if (handle == nullptr)
        message += "NULL";
    else if (found != nullptr)
        message += "a " + std::string(name_of(found->kind));
    else
        message += "closed, or never opened";
    throw Failure(WGRUN_BAD_HANDLE, "EINVAL", std::move(message));
}

const Entry* look_up(const Table& all, const void* handle) {
    const auto found = all.open.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == all.open.end() ? nullptr : &found->second;
}

}  // namespace

void* add_handle(Kind kind, std::shared_ptr<void> object) {
    Table& all = table();
    const std::unique_lock lock(all.mutex);
    const std::uintptr_t number = all.last + 16;  // aligned like a pointer, for callers that tag pointers
    all.open.emplace(number, Entry{kind, std::move(object)});
    all.last = number;
    return reinterpret_cast<void*>(number);
}

std::shared_ptr<void> find_handle(Kind kind, const void* handle) {
    Table& all = table();
    const std::shared_lock lock(all.mutex);
    const Entry* found = look_up(all, handle);
    if (found == nullptr || found->kind != kind) refuse(kind, handle, found);
    return found->object;
}

void close_handle(Kind kind, const void* handle) {
    if (handle == nullptr) return;
    Table& all = table();
    std::shared_ptr<void> object;  // released after the lock, since its destruction may take long
    const std::unique_lock lock(all.mutex);
    const Entry* found = look_up(all, handle);
    if (found == nullptr || found->kind != kind) refuse(kind, handle, found);
    object = found->object;
    all.open.erase(reinterpret_cast<std::uintptr_t>(handle));
}

}  // namespace wgrun::c
