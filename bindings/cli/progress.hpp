// A line on the terminal that says what takes long.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "diag/progress_listener.hpp"

namespace wgrun::cli {

/// What is shown at `now`: empty until the outermost part has lasted a second. At most `columns` characters.
std::string progress_text(const std::vector<Progress::Part>& parts, std::chrono::steady_clock::time_point now,
                          int columns);

/// While it lives, what lasts more than a second is shown on standard error, and gone again before anything
/// else is printed. Only one at a time.
class ProgressLine final : public ProgressListener {
  public:
    /// Shows nothing unless `wanted`, and where no thread can be made.
    explicit ProgressLine(bool wanted);
    ~ProgressLine() override;
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void ended() noexcept override;

  private:
    void watch();
    void erase() noexcept;

    std::mutex mutex_;
    std::condition_variable over_changed_;
    bool over_ = false;
    bool shown_ = false;
    std::jthread thread_;
};

/// Is there a person who reads standard error on a terminal that can erase a line?
bool can_show_progress();

}  // namespace wgrun::cli
