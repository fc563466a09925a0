// The conversion of exceptions to statuses, and the thread's last failure.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "wgrun.h"
#include "wgrun/diagnostic.hpp"

namespace wgrun::c {

/// A failure of the C API itself.
class Failure : public std::exception {
  public:
    Failure(int status, std::string code, std::string message);
    Failure(int status, std::string code, std::vector<Diagnostic> findings, std::string traceback);

    int status() const { return status_; }
    const std::string& code() const { return code_; }
    const std::vector<Diagnostic>& findings() const { return findings_; }
    const std::string& traceback() const { return traceback_; }

  private:
    int status_;
    std::string code_;
    std::vector<Diagnostic> findings_;
    std::string traceback_;
};

/// Throws Failure WGRUN_BAD_ARGUMENT.
[[noreturn]] void refuse_argument(std::string message);

/// The status for one of the engine's codes: "ENODEV" is WGRUN_NO_DEVICE.
int status_of(std::string_view code);

/// Keeps the exception that is being handled as the thread's last failure, and returns its status.
int remember_failure() noexcept;

/// The findings of the thread's last failure.
std::vector<Diagnostic> last_findings();

/// As the command-line tool prints them.
std::string text_of(const std::vector<Diagnostic>& findings);

/// Runs the body of a function of the API.
template <class Body>
int answer(Body&& body) noexcept {
    try {
        body();
        return WGRUN_OK;
    } catch (...) {
        return remember_failure();
    }
}

}  // namespace wgrun::c
