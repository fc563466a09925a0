// The memories that a CTA sees: the launch's global buffers and its own shared memory, with their bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/tensor.hpp"

namespace wgrun::sim {

/// Global memory: the buffers of a launch. Each host thread has one of its own (it remembers the last buffer
/// found).
class GlobalMemory {
  public:
    GlobalMemory(const Program& program, const SimulatedLaunch& launch);

    /// Returns where the bytes [address, address + bytes) are, or null unless one buffer holds them all.
    std::byte* find(std::uint64_t address, int bytes);

    /// Returns where the kernel sees this place of the host; nothing if no buffer has it.
    std::optional<std::uint64_t> address_of(const std::byte* place) const;

    /// Returns whether one buffer holds them all.
    bool in_buffer(std::uint64_t address, std::int64_t bytes) const;

    /// Returns whether the address is in a buffer that the kernel may not write.
    bool constant(std::uint64_t address) const;

    /// Returns the tensor whose map the kernel on a device sees at `handle`, or one without a map if there is
    /// none.
    MappedTensor tensor(std::uint64_t handle, std::uint32_t device) const;

    /// Returns a place such as "`c` + 32" for an address in a buffer.
    std::string place(std::uint64_t address) const;

    /// Returns the address in words, such as "0x1040, 16 bytes past the end of `c` (64 bytes)".
    std::string describe(std::uint64_t address, int bytes) const;

  private:
    struct Piece {
        GlobalBuffer buffer;
        std::string name;    ///< of the parameter that points to it
        std::string device;  ///< the words for whose it is, where there are several
    };
    std::vector<Piece> pieces_;  ///< by address
    std::vector<MappedTensor> tensors_;
    std::size_t last_ = 0;
};

/// The parameter space of a launch on a device (PTX ISA 5.1.6.1): its parameters one after the other, each
/// aligned.
class ParameterMemory {
  public:
    ParameterMemory(const Program& program, const SimulatedLaunch& launch, std::uint32_t device);

    /// Returns the bytes at the address, or null unless the parameters have them all.
    const std::byte* find(std::uint64_t address, int bytes) const;
    std::uint64_t address_of(int param) const;
    /// Returns what ld.param reads at the start of a parameter: for a tensor map its handle.
    std::uint64_t value(int param) const { return values_[static_cast<std::size_t>(param)]; }
    std::int64_t bytes() const { return static_cast<std::int64_t>(data_.size()); }

  private:
    const Program& program_;
    std::vector<std::uint64_t> values_;
    std::vector<std::byte> data_;
};

/// The dynamic shared memory of a CTA. Addresses are those of the shared window; offsets count from the start
/// of the dynamic shared memory. Both are in bytes.
class SharedMemory {
  public:
    /// The driver reserves the first KiB of the window.
    static constexpr std::uint32_t base = sm_90a.shared_base;

    explicit SharedMemory(const Program& program);

    /// Sets every byte to 0xFF: a NaN in all formats.
    void poison();

    /// Returns whether one declared buffer holds the bytes [address, address + bytes).
    bool declared(std::uint64_t address, int bytes) {
        return (address >= begin_ && address + static_cast<std::uint64_t>(bytes) <= end_) ||
               find(address, bytes);
    }
    /// Returns a pointer to a declared byte.
    std::byte* at(std::uint32_t address) { return data_.data() + (address - base); }
    std::int64_t bytes() const { return static_cast<std::int64_t>(data_.size()); }
    std::uint32_t address_of(int buffer) const;

  private:
    bool find(std::uint64_t address, int bytes);

    const std::vector<SharedBuffer>& buffers_;
    std::vector<std::byte> data_;
    std::uint64_t begin_ = 0, end_ = 0;  ///< addresses of the buffer found last
};

}  // namespace wgrun::sim
