// The names of files that places refer to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>

namespace wgrun {

/// Keeps names, each once. A long-lived process may load many chunks under new names, so there is a limit.
class FileNames {
  public:
    static constexpr std::size_t most_bytes = 4 << 20, longest = 4096;
    static constexpr std::string_view beyond = "(one of many chunks)";

    /// Returns the name, cut to `longest` characters, which lasts as long as the table; or `beyond`,
    /// where a new one has no room.
    std::string_view kept(std::string_view name);

  private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    // A set of strings never moves its elements, so that the views stay good.
    std::unordered_set<std::string, Hash, std::equal_to<>> names_;
    std::size_t bytes_ = 0;
};

}  // namespace wgrun
