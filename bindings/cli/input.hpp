// Files that the command line names.
#pragma once

#include <string>

#include "wgrun/diagnostic.hpp"

namespace wgrun::cli {

/// A file that the command line names cannot be read: wrong usage.
class Unreadable : public EnvironmentError {
  public:
    /// Names the reason, errno.
    explicit Unreadable(const std::string& name);
};

/// Returns all of a file; - is standard input. Throws Unreadable.
std::string contents(const std::string& name);

}  // namespace wgrun::cli
