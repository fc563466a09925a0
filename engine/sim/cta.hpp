// One CTA at work: its warps, its memories, and the machine that the records' `run` speak to.
#pragma once

#include <array>

#include "sim/clocks.hpp"
#include "sim/code.hpp"
#include "sim/memory.hpp"
#include "sim/registers.hpp"
#include "sim/report.hpp"
#include "sim/shadow.hpp"

namespace wgrun::sim {

/// A warp: where it is, which lanes run, and what it waits for.
struct Warp {
    enum class State : std::uint8_t { ready, at_barrier, at_collective, ended };
    /// Lanes to go on with: after the construct, and in its other arm.
    struct Frame {
        isa::Mask outside, other;
    };

    explicit Warp(const Code& code) : registers(code) {}

    std::uint32_t pc = 0;
    isa::Mask all = 0;      ///< lanes that exist
    isa::Mask running = 0;  ///< lanes of the current path
    isa::Mask active = 0;   ///< lanes that execute the collective step it waits at
    State state = State::ready;
    std::uint32_t barrier = 0;  ///< at which it waits
    std::vector<Frame> frames;
    Registers registers;
};

/// A CTA. Used for one after the other of a grid.
class Cta final : public isa::Machine {
  public:
    Cta(const Program& program, const Code& code, const Launch& launch);

    /// Runs CTA number `index` of the grid to its end, or until it deadlocks or `launch.stop` is set.
    void run(std::uint64_t index);

    Report& report() { return report_; }
    std::uint64_t steps() const { return steps_; }  ///< of the last run
    std::uint64_t mmas() const { return mmas_; }

    isa::Mask active() const override { return active_; }
    isa::Mask existing() const override { return warps_[static_cast<std::size_t>(current_)].all; }
    const void* read(Reg reg) override;
    void* write(Reg reg) override;
    std::uint32_t special(int sreg, int lane) override;
    std::uint64_t param(int index) override { return launch_.params[static_cast<std::size_t>(index)]; }
    std::uint32_t shared_address(int buffer) override { return shared_.address_of(buffer); }
    void load(isa::Space space, const std::array<std::uint64_t, isa::lanes>& address, int bytes, void* data,
              int stride) override;
    void store(isa::Space space, const std::array<std::uint64_t, isa::lanes>& address, int bytes,
               const void* data, int stride) override;
    void update(isa::Space space, const isa::Addresses& address, int bytes,
                const std::function<void(int, std::byte*)>& change) override;
    void barrier(std::uint32_t id, std::uint32_t threads) override;
    void proxy_fence(std::optional<isa::Space> space) override;
    void order_registers() override;
    void select(int warp_of_group) override;
    void begin_mma(const isa::AsyncMma& mma) override;
    const std::byte* async_read_shared(std::uint32_t address, int bytes, unsigned warps) override;
    const void* async_read(Reg reg, isa::Mask read) override;
    void* async_write(Reg reg) override;
    void end_mma() override;
    isa::Numerics numerics() const override { return launch_.numerics; }
    void commit_mma() override;
    void wait_mma(int pending) override;

  private:
    struct Barrier {
        std::uint32_t expected = 0;  ///< threads
        std::uint32_t waiting = 0;   ///< bit w: warp w has arrived
    };
    static constexpr std::size_t barriers = 16;

    // scheduler.cpp
    std::uint32_t draw(std::uint32_t below);
    void burst(std::uint32_t steps);
    void jump(Warp& warp, const Op& op);
    void step(Warp& warp, const Op& op);
    void collective(Warp& warp, const Op& op, isa::Mask active);
    void execute(const Op& op);
    void end(Warp& warp);
    isa::Mask condition(const Op& op);
    void report_deadlock();

    // machine.cpp
    Warp& warp() { return warps_[static_cast<std::size_t>(current_)]; }
    Actor actor() const;
    void touch(Registers& registers, RegisterState& state, bool write);
    void in_flight(const Registers& registers, const RegisterState& state, bool write);
    void use(Registers& registers, RegisterState& state, const isa::AsyncMma& mma, bool accumulator);
    void check_overlap(const std::array<std::uint64_t, isa::lanes>& address, int bytes, const void* data,
                       int stride);
    template <class Move>
    void for_each_access(bool store, isa::Space space, const std::array<std::uint64_t, isa::lanes>& address,
                         int bytes, Move move);

    const Program& program_;
    const Code& code_;
    const Launch& launch_;
    GlobalMemory global_;
    SharedMemory shared_;
    Report report_;
    Clocks clocks_;
    Shadow shadow_;
    std::vector<Warp> warps_;
    std::array<Barrier, barriers> barriers_;
    std::vector<std::byte> outside_;  ///< what a read outside every buffer gives
    Dim3 position_;                   ///< in the grid
    std::uint64_t random_ = 0;        ///< state of the scheduler's draws

    // The step at hand.
    int current_ = 0;  ///< warp
    isa::Mask active_ = 0;
    std::uint32_t pc_ = 0;
    std::uint32_t serial_ = 0;  ///< of the wgmma at hand
    std::uint64_t steps_ = 0, mmas_ = 0;
};

}  // namespace wgrun::sim
