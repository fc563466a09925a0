// A kernel in the CUDA contexts of the program that embeds the engine.
//
// The context is the one that is current in the calling thread, as the CUDA runtime and PyTorch set it. It is
// never reset or waited for, and nothing is allocated in it but the kernel's code. Each context gets the code
// when it is first asked for; that is possible while a stream is captured too. Code that a graph has captured
// stays loaded for good, for nobody says when the last graph is gone.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/host_driver.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

/// The context of the work, current in this thread as long as the object lives.
class HostContext {
  public:
    /// `device` is a CUDA ordinal, whose primary context is used where the thread's own context is not of
    /// that device; -1: whatever context the thread has. EnvironmentError ENODEV: it has none, or one of a
    /// device that is no sm_90; EFAULT: the context has failed.
    HostContext(const HostDriver& driver, int device);
    HostContext(const HostContext&) = delete;
    HostContext& operator=(const HostContext&) = delete;

    const HostDriver& driver() const { return driver_; }
    abi::Handle handle() const { return handle_; }
    unsigned long long id() const { return id_; }
    abi::DeviceOrdinal device() const { return device_; }

    /// Throws EnvironmentError ENOMEM or EFAULT for a result other than success. The context is left as it
    /// is.
    void check(abi::Result result, std::string_view doing) const;

  private:
    /// The primary context of `device`, while it is current only for this object.
    struct Entered {
        explicit Entered(const HostDriver& of) : driver(of) {}
        ~Entered();
        Entered(const Entered&) = delete;
        Entered& operator=(const Entered&) = delete;

        const HostDriver& driver;
        abi::DeviceOrdinal device = 0;
        bool pushed = false;
    };

    const HostDriver& driver_;
    Entered entered_;
    abi::Handle handle_ = nullptr;
    unsigned long long id_ = 0;
    abi::DeviceOrdinal device_ = 0;
};

/// PTX or machine code with one kernel. Thread-safe.
class HostModule {
  public:
    /// `image`: PTX text, or the bytes of a cubin. `needs`: shared_bytes and non_portable_cluster of all
    /// launches.
    HostModule(std::string image, std::string kernel, LaunchConfig needs);
    /// Unloads the code from the contexts that still exist, except where a graph may hold it. Never throws.
    ~HostModule();
    HostModule(const HostModule&) = delete;
    HostModule& operator=(const HostModule&) = delete;

    /// Loads the code into the context, if it is not there. CompileError; EnvironmentError.
    void load(const HostContext& context);

    /// Starts the kernel with `config` (grid, block, stream, overlaps_previous); does not wait.
    /// check_launch's errors; EnvironmentError EFAULT when the driver refuses; what load throws. The driver
    /// copies the parameters.
    void launch(const HostContext& context, const LaunchConfig& config,
                std::span<const Parameter> parameters);

    /// As Function::resident_clusters.
    int resident_clusters(const HostContext& context, const Extents& cluster);

  private:
    struct Loaded;
    Loaded& in(const HostContext& context);
    std::unique_ptr<Loaded> make(const HostContext& context) const;

    std::string image_;
    std::string kernel_;
    LaunchConfig needs_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Loaded>> loaded_;
};

/// Assembles PTX to machine code with the driver. CompileError; EnvironmentError ENODEV, EFAULT.
Cubin driver_assemble(const HostContext& context, std::string_view ptx);

}  // namespace wgrun::gpu
