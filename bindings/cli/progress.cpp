#include "bindings/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "file/signals.hpp"
#include "wgrun/picture.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds silence{1000}, pause{200};

std::string duration_text(double seconds) {
    const auto whole = std::lround(seconds);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
    return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

void write(std::string_view text) noexcept {
    // What a terminal does not take is not worth a complaint.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string progress_text(const std::vector<Progress::Part>& parts, Clock::time_point now, int columns) {
    if (parts.empty() || now - parts.front().begin < silence) return {};
    std::string out;
    for (const Progress::Part& part : parts) {
        if (!out.empty()) out += ": ";
        out += printable(part.what);
        if (part.total > 0)
            out +=
                fmt::format(" {} of {}{}{}", part.done, part.total, part.unit.empty() ? "" : " ", part.unit);
    }
    const Progress::Part& last = parts.back();
    const double spent = std::chrono::duration<double>(now - last.begin).count();
    if (last.total > 0 && last.done > 0 && last.done < last.total)
        out +=
            fmt::format(", about {} left", duration_text(spent * static_cast<double>(last.total - last.done) /
                                                         static_cast<double>(last.done)));
    else
        out += fmt::format(", {}", duration_text(spent));
    if (out.size() > static_cast<std::size_t>(columns)) out.resize(static_cast<std::size_t>(columns));
    return out;
}

bool can_show_progress() {
    const char* term = std::getenv("TERM");
    return term != nullptr && *term != 0 && std::string_view(term) != "dumb" && isatty(STDERR_FILENO) != 0;
}

ProgressLine::ProgressLine(bool wanted) {
    if (!wanted) return;
    const file::SignalsHeld for_the_thread_that_runs_lua;
    try {
        thread_ = std::jthread([this] { watch(); });
    } catch (const std::system_error&) {
        return;
    }
    set_progress_listener(this);
}

ProgressLine::~ProgressLine() {
    set_progress_listener(nullptr);
    const std::lock_guard lock(mutex_);
    erase();
    over_ = true;
    over_changed_.notify_all();
}

void ProgressLine::ended() noexcept {
    const std::lock_guard lock(mutex_);
    erase();
}

void ProgressLine::erase() noexcept {
    if (shown_) write("\r\x1b[K");
    shown_ = false;
}

void ProgressLine::watch() {
    std::unique_lock lock(mutex_);
    while (!over_changed_.wait_for(lock, pause, [this] { return over_; })) {
        const int known = terminal_columns(STDERR_FILENO);
        const std::string text = progress_text(progress_parts(), Clock::now(), (known > 0 ? known : 80) - 1);
        if (text.empty()) continue;
        write("\r" + text + "\x1b[K");
        shown_ = true;
    }
}

}  // namespace wgrun::cli
