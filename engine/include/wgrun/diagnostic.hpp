// Diagnostics: where something is, what is wrong with it, and how to mend it.
//
// A Diagnostic is data; it is rendered late (text, JSON, SARIF). An Error is a Diagnostic that is thrown.
// Both are values: any number of threads may read one.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace wgrun {

/// A line of a script. `file` points into a table that lives as long as the process.
struct Where {
    std::string_view file;
    int line = 0;

    /// Interns `file` (thread-safe) so that a Where can be copied freely.
    static Where at(std::string_view file, int line);

    explicit operator bool() const { return line > 0; }
    bool operator==(const Where&) const = default;
};

enum class Severity { note, warning, error };

std::string_view to_string(Severity severity);

/// A second place that belongs to a finding: "issued here".
struct Note {
    Where where;
    std::string message;
};

/// Calls that a script lacks, one a line: "wgmma_fence()", for only the script knows what it calls the
/// kernel.
struct Insertion {
    Where where;         ///< the statement beside which they go
    bool after = false;  ///< behind it, else in front of it
    std::vector<std::string> calls;
    bool operator==(const Insertion&) const = default;
};

/// Insertions that together mend a finding.
using Remedy = std::vector<Insertion>;

/// One finding. `rule` is an id of the catalogue (`wgrun explain ID`), empty for plain errors;
/// `section` is the place in the PTX ISA, such as "9.7.15.7.1".
struct Diagnostic {
    std::string rule;
    Severity severity = Severity::error;
    Where where;
    std::string message;
    std::string fix;
    std::string section;
    std::vector<Note> notes;
    std::vector<Remedy> remedies{};  ///< alternatives to choose from, the most likely first
};

/// "file:line: error: message [RULE]" and, indented below it, the notes and the fix.
std::string to_text(const Diagnostic& finding, bool colour = false);

/// "file:line: message [RULE]" on one line: what an error object prints as.
std::string to_line(const Diagnostic& finding);

/// {"findings": [{rule, severity, file, line, message, fix, section, notes: [{file, line, message}],
/// fixes: [[{file, line, position, text}]]}]}. `text` goes in front of (position "before") the line, or
/// behind the statement that begins there ("after").
std::string to_json(std::span<const Diagnostic> findings);

/// SARIF 2.1.0, one run.
std::string to_sarif(std::span<const Diagnostic> findings);

/// Root of all exceptions that the engine throws. `code` is a short stable word for programs:
/// EINVAL (the caller's mistake) and, for the environment, ENOENT, EIO, ENODEV, ENOMEM, ETIMEDOUT, ECOMPILE,
/// EFAULT.
class Error : public std::runtime_error {
  public:
    Error(std::string code, Diagnostic finding);

    const std::string& code() const { return code_; }
    const Diagnostic& finding() const { return finding_; }
    Diagnostic& finding() { return finding_; }

  private:
    std::string code_;
    Diagnostic finding_;
};

/// The caller asked for something that cannot be: raised as a Lua error. Code EINVAL.
class ArgumentError : public Error {
  public:
    explicit ArgumentError(std::string message, std::string fix = {}, std::string rule = {});
    explicit ArgumentError(Diagnostic finding);
};

/// The machine lacks something (no GPU, no file): Lua gets nil, message, code.
class EnvironmentError : public Error {
  public:
    EnvironmentError(std::string code, std::string message, std::string fix = {});
};

/// "did you mean `x`?" for `word` among `choices`: the nearest by edit distance, empty if none is near.
std::string nearest(std::string_view word, std::span<const std::string_view> choices);

}  // namespace wgrun

#pragma GCC visibility pop
