#include "bindings/c/failure.hpp"

#include <array>
#include <new>
#include <utility>

#include "bindings/c/structs.hpp"
#include "wgrun/kernel.hpp"
#include "wgrun/report.hpp"

namespace wgrun::c {
namespace {

/// Strings are views of `findings` where possible: a failure is kept even if there is not enough memory for
/// its text.
struct Last {
    int status = WGRUN_OK;
    std::string code, file, text, traceback;
    std::vector<Diagnostic> findings;
};

thread_local Last last;

constexpr std::array<std::pair<std::string_view, int>, 11> statuses = {{{"EINVAL", WGRUN_BAD_ARGUMENT},
                                                                        {"ENOENT", WGRUN_NO_FILE},
                                                                        {"EIO", WGRUN_IO_FAILED},
                                                                        {"EACCES", WGRUN_IO_FAILED},
                                                                        {"ENODEV", WGRUN_NO_DEVICE},
                                                                        {"ENOMEM", WGRUN_NO_MEMORY},
                                                                        {"ECOMPILE", WGRUN_NOT_COMPILED},
                                                                        {"ETIMEDOUT", WGRUN_TIMED_OUT},
                                                                        {"EFAULT", WGRUN_DEVICE_FAILED},
                                                                        {"EINTR", WGRUN_INTERRUPTED},
                                                                        {"ELIMIT", WGRUN_LIMIT_REACHED}}};

int keep(int status, std::string code, std::vector<Diagnostic> findings, std::string traceback = {}) {
    Last now;
    now.status = status;
    now.code = std::move(code);
    now.traceback = std::move(traceback);
    if (!findings.empty()) now.file = findings.front().where.file;
    now.text = text_of(findings);
    now.findings = std::move(findings);
    last = std::move(now);
    return status;
}

// Of the exception that is being handled. Throws std::bad_alloc where there is no memory to keep it.
int keep_current() {
    try {
        throw;
    } catch (const Failure& failure) {
        return keep(failure.status(), failure.code(), failure.findings(), failure.traceback());
    } catch (const CheckError& error) {
        return keep(WGRUN_FOUND_ERRORS, error.code(), error.findings());
    } catch (const Error& error) {
        return keep(status_of(error.code()), error.code(), {error.finding()});
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        return keep(WGRUN_INTERNAL, "EINTERNAL",
                    {plain_error(std::string("internal error: ") + error.what())});
    } catch (...) {
        return keep(WGRUN_INTERNAL, "EINTERNAL", {plain_error("internal error")});
    }
}

}  // namespace

Failure::Failure(int status, std::string code, std::string message)
    : status_(status), code_(std::move(code)) {
    findings_.emplace_back().message = std::move(message);
}

Failure::Failure(int status, std::string code, std::vector<Diagnostic> findings, std::string traceback)
    : status_(status),
      code_(std::move(code)),
      findings_(std::move(findings)),
      traceback_(std::move(traceback)) {}

void refuse_argument(std::string message) { throw Failure(WGRUN_BAD_ARGUMENT, "EINVAL", std::move(message)); }

int status_of(std::string_view code) {
    for (const auto& [name, status] : statuses)
        if (name == code) return status;
    return WGRUN_INTERNAL;
}

int remember_failure() noexcept {
    try {
        return keep_current();
    } catch (...) {  // not enough memory, for the work or for reporting its failure
        last.status = WGRUN_NO_MEMORY;
        last.code.clear();
        last.file.clear();
        last.text.clear();
        last.traceback.clear();
        last.findings.clear();
        return WGRUN_NO_MEMORY;
    }
}

std::vector<Diagnostic> last_findings() { return last.findings; }

std::string text_of(const std::vector<Diagnostic>& findings) { return to_report(findings, "wgrun: ", false); }

}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" int wgrun_last_error(wgrun_error* error) {
    if (error == nullptr || error->size < sizeof *error) return WGRUN_BAD_ARGUMENT;
    static const wgrun::Diagnostic none;
    const wgrun::Diagnostic& finding = last.findings.empty() ? none : last.findings.front();
    const bool bare = last.findings.empty() && last.status == WGRUN_NO_MEMORY;
    error->status = last.status;
    error->line = finding.where.line;
    error->code = bare ? "ENOMEM" : last.code.c_str();
    error->message = bare ? "not enough memory" : finding.message.c_str();
    error->file = last.file.c_str();
    error->rule = finding.rule.c_str();
    error->fix = finding.fix.c_str();
    error->text = bare ? "wgrun: not enough memory\n" : last.text.c_str();
    error->traceback = last.traceback.c_str();
    return WGRUN_OK;
}
