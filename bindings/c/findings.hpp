// Findings that C holds.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/c/handle.hpp"
#include "wgrun.h"
#include "wgrun/diagnostic.hpp"

namespace wgrun::c {

/// Immutable; its texts are made on first use. Thread-safe.
class Findings {
  public:
    explicit Findings(std::vector<Diagnostic> list);

    const std::vector<Diagnostic>& list() const { return list_; }
    /// Of finding `index`, and of its note: a string that ends with NUL.
    const char* file(std::size_t index) const { return files_[index].c_str(); }
    const char* note_file(std::size_t index, std::size_t note) const {
        return note_files_[index][note].c_str();
    }
    const std::string& text();
    const std::string& json();

  private:
    std::vector<Diagnostic> list_;
    std::vector<std::string> files_;
    std::vector<std::vector<std::string>> note_files_;
    std::once_flag text_once_, json_once_;
    std::string text_, json_;
};

template <>
inline constexpr Kind kind_of<Findings> = Kind::findings;

void give_findings(wgrun_findings** out, std::vector<Diagnostic> list);

}  // namespace wgrun::c
