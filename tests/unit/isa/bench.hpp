// A machine of one warp for single steps: registers, byte memories, and a record of the calls.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "isa/effects.hpp"
#include "isa/generic.hpp"
#include "isa/lanes.hpp"
#include "isa/thread_machine.hpp"

namespace bench {

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::lanes;
using isa::Operand;
using isa::Reg;
using isa::Space;
using isa::Type;
using Raw = std::uint64_t;
/// Forms of 128 bits have tests of their own (run_wide.cpp): a Raw has 64.
inline bool is_wide(const Form& form) { return form.type() == Type::b128; }
using Lanes = std::array<Raw, lanes>;  // one value's bits a lane

/// Bytes at addresses from `base` on.
struct Memory {
    std::uint64_t base = 0;
    std::vector<std::byte> bytes = std::vector<std::byte>(8192);

    std::byte* at(std::uint64_t address, std::size_t size) {
        if (address < base || address + size > base + bytes.size()) throw std::out_of_range("address");
        return bytes.data() + (address - base);
    }
};

class Machine : public isa::ThreadMachine {
  public:
    isa::Mask mask = ~isa::Mask{0};
    Memory global{std::uint64_t{1} << 40};
    Memory shared{1024};
    Memory local{256};
    std::vector<std::uint64_t> params;
    std::vector<std::string> calls;
    isa::Numerics sums;

    isa::Numerics numerics() const override { return sums; }
    void refuse() override { throw std::logic_error("not a step of one warp"); }

    /// Adds a register with these values: 4 bytes per lane for types up to 32 bits, 8 up to 64, else 16, of
    /// which the values are the lower half.
    Reg put(Type type, const Lanes& values) {
        files_.push_back({static_cast<std::size_t>(isa::storage_bytes(type)), {}});
        const Reg reg{static_cast<std::uint32_t>(files_.size() - 1)};
        set(reg, values);
        return reg;
    }
    void set(Reg reg, const Lanes& values) {
        File& file = files_[reg.id];
        for (int l = 0; l < lanes; ++l)
            std::memcpy(file.lane(l), &values[static_cast<std::size_t>(l)], file.width());
    }
    Lanes get(Reg reg) const {
        const File& file = files_[reg.id];
        Lanes out{};
        for (int l = 0; l < lanes; ++l)
            std::memcpy(&out[static_cast<std::size_t>(l)], file.lane(l), file.width());
        return out;
    }

    isa::Mask active() const override { return mask; }
    isa::Mask existing() const override { return ~isa::Mask{0}; }
    const void* read(Reg reg) override { return files_[reg.id].bytes.data(); }
    void* write(Reg reg) override { return files_[reg.id].bytes.data(); }
    std::uint64_t special(isa::Special which, int lane) override {
        return static_cast<std::uint64_t>(static_cast<int>(which) * 100 + lane);
    }
    std::uint64_t param(int index) override { return params[static_cast<std::size_t>(index)]; }
    std::uint64_t param_address(int index) override { return 0x210 + 8 * static_cast<std::uint64_t>(index); }
    std::uint32_t shared_address(int buffer) override {
        return static_cast<std::uint32_t>(1024 + 256 * buffer);
    }

    void load(Space space, const isa::Addresses& address, int bytes, void* data, int stride) override {
        if (space == Space::generic)
            return in_each_space(address, [&](Space found, const isa::Addresses& within) {
                load(found, within, bytes, data, stride);
            });
        for (int l = 0; l < lanes; ++l)
            if (mask >> l & 1U)
                std::memcpy(
                    static_cast<std::byte*>(data) + l * stride,
                    memory(space).at(address[static_cast<std::size_t>(l)], static_cast<std::size_t>(bytes)),
                    static_cast<std::size_t>(bytes));
    }
    void store(Space space, const isa::Addresses& address, int bytes, const void* data, int stride) override {
        if (space == Space::generic)
            return in_each_space(address, [&](Space found, const isa::Addresses& within) {
                store(found, within, bytes, data, stride);
            });
        for (int l = 0; l < lanes; ++l)
            if (mask >> l & 1U)
                std::memcpy(
                    memory(space).at(address[static_cast<std::size_t>(l)], static_cast<std::size_t>(bytes)),
                    static_cast<const std::byte*>(data) + l * stride, static_cast<std::size_t>(bytes));
    }

    void update(Space space, const isa::Addresses& address, int bytes,
                const std::function<void(int, std::byte*)>& change) override {
        if (space == Space::generic)
            return in_each_space(address, [&](Space found, const isa::Addresses& within) {
                update(found, within, bytes, change);
            });
        for (int l = 0; l < lanes; ++l)
            if (mask >> l & 1U)
                change(l, memory(space).at(address[static_cast<std::size_t>(l)],
                                           static_cast<std::size_t>(bytes)));
    }

    void barrier(std::uint32_t id, std::uint32_t threads) override {
        calls.push_back("barrier " + std::to_string(id) + " " + std::to_string(threads));
    }
    void proxy_fence(std::optional<Space> space) override {
        calls.push_back("proxy_fence " +
                        (space ? isa::spelled(Field::space, static_cast<int>(*space)) : "all"));
    }
    void order_registers() override { calls.emplace_back("order_registers"); }
    void commit_mma() override { calls.emplace_back("commit_mma"); }
    void wait_mma(int pending) override { calls.push_back("wait_mma " + std::to_string(pending)); }

    // Asynchronous steps of a warpgroup have a machine of their own (run_wgmma.cpp).
    void select(int) override { throw std::logic_error("select"); }
    void begin_mma(const isa::AsyncMma&) override { throw std::logic_error("begin_mma"); }
    const std::byte* async_read_shared(std::uint32_t, int, unsigned) override {
        throw std::logic_error("async_read_shared");
    }
    const void* async_read(Reg, isa::Mask) override { throw std::logic_error("async_read"); }
    void* async_write(Reg) override { throw std::logic_error("async_write"); }
    void end_mma() override { throw std::logic_error("end_mma"); }

  private:
    template <class Access>
    void in_each_space(const isa::Addresses& generic, Access access) {
        const isa::Mask all = mask;
        isa::for_each_space(generic, all, [&](Space space, isa::Mask there, const isa::Addresses& within) {
            mask = there;
            access(space, within);
        });
        mask = all;
    }

    struct File {
        std::size_t bytes_of_lane;
        alignas(8) std::array<std::byte, std::size_t{lanes} * 16> bytes;
        std::byte* lane(int l) { return bytes.data() + static_cast<std::size_t>(l) * bytes_of_lane; }
        const std::byte* lane(int l) const {
            return bytes.data() + static_cast<std::size_t>(l) * bytes_of_lane;
        }
        std::size_t width() const { return std::min<std::size_t>(bytes_of_lane, sizeof(Raw)); }
    };
    Memory& memory(Space space) {
        return space == Space::global ? global : space == Space::local ? local : shared;
    }

    std::vector<File> files_;
};

/// Returns a step as the builder would make it.
inline isa::Step step(std::string_view name, const Form& asked, std::vector<Operand> operands) {
    isa::Step out;
    out.op = isa::find(name);
    if (!out.op) throw std::logic_error("no record " + std::string(name));
    out.form = isa::resolve(*out.op, asked);
    out.operands = std::move(operands);
    return out;
}

inline Form typed(Type type) { return Form().set(Field::type, type); }
inline Form with(Form form, Field field, std::string_view text) {
    return form.set(field, *isa::parse_value(field, text));
}

}  // namespace bench
