#include "file/leftovers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

namespace wgrun::file {
namespace {

enum class State : unsigned char { free, reserved, file, folder, processes };

struct Slot {
    std::atomic<State> state = State::free;
    pid_t owner = 0;  ///< a forked process has a copy of the table, in which no entry is its own
    int folder = -1;
    pid_t group = 0;
    char name[64] = {};
};
static_assert(std::atomic<State>::is_always_lock_free);

constinit std::array<Slot, 128> slots;
constinit std::atomic<int> starting = 0;
static_assert(std::atomic<int>::is_always_lock_free);

int take(State state, int folder, std::string_view name, pid_t group) {
    if (name.size() >= sizeof Slot::name) return -1;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        State expected = State::free;
        if (!slots[i].state.compare_exchange_strong(expected, State::reserved)) continue;
        slots[i].owner = ::getpid();
        slots[i].folder = folder;
        slots[i].group = group;
        slots[i].name[name.copy(slots[i].name, sizeof Slot::name - 1)] = '\0';
        slots[i].state.store(state, std::memory_order_release);
        return static_cast<int>(i);
    }
    return -1;
}

}  // namespace

void remove_leftovers() noexcept {
    const int before = errno;
    const pid_t self = ::getpid();
    constexpr int longest_wait = 1000;  // ms
    for (int waited = 0; starting.load() > 0 && waited < longest_wait; ++waited) ::poll(nullptr, 0, 1);
    for (const State state :
         {State::processes, State::file, State::folder})  // first the programs, which may still write
        for (const Slot& slot : slots) {
            if (slot.state.load(std::memory_order_acquire) != state || slot.owner != self) continue;
            if (state == State::processes)
                ::kill(-slot.group, SIGKILL);
            else
                ::unlinkat(slot.folder, slot.name, state == State::folder ? AT_REMOVEDIR : 0);
        }
    errno = before;
}

Leftover Leftover::file(int folder, std::string_view name) {
    Leftover made;
    made.slot_ = take(State::file, folder, name, 0);
    return made;
}

Leftover Leftover::folder(int folder, std::string_view name) {
    Leftover made;
    made.slot_ = take(State::folder, folder, name, 0);
    return made;
}

Leftover Leftover::processes(pid_t group) {
    Leftover made;
    made.slot_ = take(State::processes, -1, {}, group);
    return made;
}

Leftover::Leftover(Leftover&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

Leftover& Leftover::operator=(Leftover&& other) noexcept {
    if (this != &other) {
        forget();
        slot_ = std::exchange(other.slot_, -1);
    }
    return *this;
}

void Leftover::forget() noexcept {
    const int slot = std::exchange(slot_, -1);
    if (slot >= 0) slots[static_cast<std::size_t>(slot)].state.store(State::free, std::memory_order_release);
}

Starting::Starting() noexcept {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
    ++starting;
}

void Starting::forked() const noexcept {
    starting = 0;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Starting::~Starting() {
    --starting;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace wgrun::file
