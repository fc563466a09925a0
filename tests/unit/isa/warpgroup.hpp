// A warpgroup for the tests of wgmma's meaning, and the places of its fragments' elements.
#pragma once

#include <vector>

#include "tests/unit/isa/bench.hpp"

namespace bench {

inline constexpr int rows = 64;

/// A warpgroup: four files of registers, and shared memory.
class Warpgroup final : public isa::ThreadMachine {
  public:
    void refuse() override { throw std::logic_error("not a step of a warpgroup"); }
    Memory shared{1024, std::vector<std::byte>(std::size_t{160} * 1024)};
    isa::AsyncMma opened{};
    bool ended = false;
    std::vector<unsigned> readers = std::vector<unsigned>(shared.bytes.size());  // warps, by byte

    Reg put() {
        files_.emplace_back();
        return {static_cast<std::uint32_t>(files_.size() - 1)};
    }
    std::vector<Reg> put(int count) {
        std::vector<Reg> out;
        for (int i = 0; i < count; ++i) out.push_back(put());
        return out;
    }
    /// The register of thread 0..127.
    std::uint32_t& word(Reg reg, int thread) {
        return files_[reg.id][static_cast<std::size_t>(thread / 32)]
            .words[static_cast<std::size_t>(thread % 32)];
    }
    void put_wide(Reg reg, std::uint64_t value) {
        for (Warp& warp : files_[reg.id]) warp.wide.fill(value), warp.is_wide = true;
    }

    isa::Mask active() const override { return ~isa::Mask{0}; }
    isa::Mask existing() const override { return ~isa::Mask{0}; }
    const void* read(Reg reg) override {
        const Warp& warp = files_[reg.id][static_cast<std::size_t>(warp_)];
        return warp.is_wide ? static_cast<const void*>(warp.wide.data()) : warp.words.data();
    }
    const void* async_read(Reg reg, isa::Mask) override { return read(reg); }
    void* async_write(Reg reg) override {
        return files_[reg.id][static_cast<std::size_t>(warp_)].words.data();
    }
    const std::byte* async_read_shared(std::uint32_t address, int bytes, unsigned warps) override {
        for (int i = 0; i < bytes; ++i) readers[address - shared.base + static_cast<std::size_t>(i)] |= warps;
        return shared.at(address, static_cast<std::size_t>(bytes));
    }
    void select(int warp) override { warp_ = warp; }
    void begin_mma(const isa::AsyncMma& mma) override { opened = mma; }
    void end_mma() override { ended = true; }
    isa::Numerics sums;  ///< how it adds up
    isa::Numerics numerics() const override { return sums; }

    void* write(Reg) override { throw std::logic_error("write"); }
    std::uint64_t special(isa::Special, int) override { throw std::logic_error("special"); }
    std::uint64_t param(int) override { throw std::logic_error("param"); }
    std::uint64_t param_address(int index) override { return 0x210 + 8 * static_cast<std::uint64_t>(index); }
    std::uint32_t shared_address(int) override { throw std::logic_error("shared_address"); }
    void load(Space, const isa::Addresses&, int, void*, int) override { throw std::logic_error("load"); }
    void store(Space, const isa::Addresses&, int, const void*, int) override {
        throw std::logic_error("store");
    }
    void update(Space, const isa::Addresses&, int, const std::function<void(int, std::byte*)>&) override {
        throw std::logic_error("update");
    }
    void barrier(std::uint32_t, std::uint32_t) override { throw std::logic_error("barrier"); }
    void proxy_fence(std::optional<Space>) override { throw std::logic_error("proxy_fence"); }
    void order_registers() override { throw std::logic_error("order_registers"); }
    void commit_mma() override { throw std::logic_error("commit_mma"); }
    void wait_mma(int) override { throw std::logic_error("wait_mma"); }

  private:
    struct Warp {
        std::array<std::uint32_t, lanes> words{};
        std::array<std::uint64_t, lanes> wide{};
        bool is_wide = false;
    };
    std::vector<std::array<Warp, 4>> files_;
    int warp_ = 0;
};

}  // namespace bench
