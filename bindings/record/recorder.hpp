// What a program has told the driver, and the launches that are kept of it.
#pragma once

#include <array>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bindings/record/driver.hpp"

namespace wgrun::record {

/// A tensor map as the driver was asked for it; of one that copies pixels, `box` is their channels and their
/// number.
struct Map {
    std::array<std::byte, 128> bytes;
    int dtype, interleave, swizzle;
    bool nan_fill;
    DevicePointer address;
    std::vector<std::int64_t> extents, strides, box, steps, lower, upper;
};

/// A launch, as the driver gets it.
struct Start {
    Handle function;
    std::array<unsigned, 3> grid, block, cluster;  ///< a cluster of 0: the text or nobody says it
    unsigned shared;
    Handle stream;
    void** parameters;
    void** extra;  ///< where there are no `parameters`: a buffer that has them
};

/// The image of a module, or of a library of kernels. Text: its PTX; null where it is machine code.
using Text = std::shared_ptr<const std::string>;

/// A kernel, of which the driver has given a handle.
struct Function {
    std::string name;
    Text text;
    bool is_kernel = false;  ///< the handle is a CUkernel, no CUfunction
};

/// Thread-safe. Nothing that goes wrong in it reaches the program: a line on standard error says it.
class Recorder {
  public:
    static Recorder& get();

    void loaded(Handle module, const void* image);
    void loaded_file(Handle module, const char* file);
    /// A module of a library.
    void same_text(Handle library, Handle module);
    void found(Handle function, Handle module, const char* name, bool is_kernel);
    /// The function of a kernel.
    void same_function(Handle kernel, Handle function);
    void encoded(Map map);
    /// Keeps a launch that is about to be made, if it is the first one of its kernel.
    void starts(const Start& start) noexcept;

  private:
    Recorder();
    Function named(Handle function) const;
    void keep(const Start& start, const Function& function);

    std::filesystem::path folder_;
    std::mutex lock_;
    std::map<Handle, Text> texts_;
    std::map<Handle, Function> functions_;
    std::deque<Map> maps_;                                ///< the latest ones
    std::set<std::pair<std::string, std::string>> kept_;  ///< kernels, by name and text
};

}  // namespace wgrun::record
