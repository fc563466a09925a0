// What the command line gives of the launches that check judges kernels for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bindings/cli/arguments.hpp"
#include "wgrun/assumptions.hpp"

namespace wgrun::cli {

/// The options as text.
class GivenWords {
  public:
    void declare(Arguments& arguments);
    /// Throws ArgumentError for what is no size, no number or no time.
    Assumptions read() const;

  private:
    std::string block_, cluster_, grid_;
    std::vector<std::string> numbers_;
    std::optional<double> seconds_;
};

}  // namespace wgrun::cli
