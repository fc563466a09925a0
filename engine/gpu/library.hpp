// Shared libraries of CUDA and its programs, looked for at run time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

/// Why CUDA must not be used ("switched off by WGRUN_CUDA=off"); empty if it may be.
std::string cuda_switched_off();

/// The folders of toolkits: $CUDA_HOME and $CUDA_PATH if they are set, then the usual place.
std::vector<std::string> toolkit_roots();

/// The library folders of the toolkits that the environment names, then "" (wherever the loader looks), then
/// those of the usual place.
std::vector<std::string> toolkit_library_folders();

/// A library that is open for as long as the process lives (CUDA's do not survive being closed).
struct Library {
    void* handle = nullptr;
    Part part;  ///< the path, or why it is missing; the caller fills in the version

    /// Stores the address of `symbol`; false (and null) when the library has none.
    template <class F>
    bool bind(F*& function, const char* symbol) const {
        function = reinterpret_cast<F*>(find(symbol));
        return function != nullptr;
    }

  private:
    void* find(const char* symbol) const;
};

/// The library folders of CUDA's Python wheels.
std::vector<std::string> wheel_library_folders();

/// Opens the first of `names` that loads from the first of `folders`; the folder "" is wherever the loader
/// looks.
Library open_library(std::span<const std::string_view> names, std::span<const std::string> folders);

/// The path of the program `name` on the PATH; empty when there is none.
std::string find_on_path(const std::string& name);

/// The same, and then in the bin folders of the toolkits and of the Python wheels.
std::string find_program(const std::string& name);

}  // namespace wgrun::gpu
