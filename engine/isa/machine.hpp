// The machine that the `run` functions of records use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "isa/bulk_copy.hpp"
#include "isa/map_field.hpp"
#include "isa/special.hpp"
#include "isa/token.hpp"
#include "isa/warp.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

struct AsyncMma;     // isa/effects.hpp
struct MemoryOrder;  // isa/order.hpp

/// Is thrown when a value that a step depends on is not known (in an abstract execution); the step has had no
/// effect.
struct Unknown {};

/// How the votes of bar.red combine.
enum class Vote : std::uint8_t { count, all, any };

/// How an arrival counts.
struct Arrival {
    bool drops = false;     ///< later phases expect so many fewer
    bool completes = true;  ///< false: the program promises that it does not complete the phase
};

/// What a step can do to the machine. The simulator implements it; a record's `run` calls it. Everything
/// refers to the executing warp, or, in a step that a whole warpgroup executes together, to the warp chosen
/// by select().
class Machine {
  public:
    virtual ~Machine() = default;

    virtual Mask active() const = 0;    ///< lanes that execute the step (guard applied)
    virtual Mask existing() const = 0;  ///< all lanes of the warp, unless the CTA ends within it
    /// Returns the 32 lanes of a register: elements of 4 bytes for types up to 32 bits and predicates, else
    /// of 8. A machine that does not know all of them throws Unknown.
    virtual const void* read(Reg reg) = 0;
    /// Returns the same, and in `known` which lanes are known; the values of the others mean nothing.
    virtual const void* read_some(Reg reg, Mask& known) {
        known = ~Mask{0};
        return read(reg);
    }
    virtual void* write(Reg reg) = 0;  ///< only the active lanes may be changed
    virtual std::uint64_t special(Special which, int lane) = 0;
    virtual std::uint64_t param(int index) = 0;
    virtual std::uint64_t param_address(int index) = 0;    ///< in the parameter space, bytes
    virtual std::uint32_t shared_address(int buffer) = 0;  ///< in the shared window, bytes

    /// Generic-proxy access: lane l copies `bytes` bytes between address[l] and data + l * stride.
    virtual void load(Space space, const Addresses& address, int bytes, void* data, int stride) = 0;
    virtual void store(Space space, const Addresses& address, int bytes, const void* data, int stride) = 0;

    /// Atomic access: calls change(l, place) for each active lane l in order, where `place` holds the `bytes`
    /// bytes at address[l]. No other update of the grid accesses them meanwhile.
    virtual void update(Space space, const Addresses& address, int bytes,
                        const std::function<void(int, std::byte*)>& change) = 0;

    /// The global memory [address[l], address[l] + bytes) of each active lane l has no value any more.
    virtual void discard(const Addresses&, int /*bytes*/) {}

    virtual void barrier(std::uint32_t id, std::uint32_t threads) = 0;
    virtual void barrier_arrive(std::uint32_t id, std::uint32_t threads) = 0;  ///< does not wait
    /// Waits like barrier(). Then `to` holds in every thread what the votes of all threads that wait there
    /// combine to.
    virtual void barrier_vote(std::uint32_t id, std::uint32_t threads, Vote vote, Mask votes, Reg to) = 0;
    virtual void trap() {}  ///< the kernel ends with an error
    /// These of the active lanes divide an integer by zero, in this step.
    virtual void divide_by_zero(Mask) {}
    virtual void converge(Mask) {}  ///< these of the active lanes wait for each other
    virtual void proxy_fence(std::optional<Space> space) = 0;
    /// Orders accesses before and after it; those of the step itself are ordered by its form.
    virtual void fence(const MemoryOrder&) {}

    // mbarriers (PTX ISA 9.7.13.15), for every active lane. Addresses are of the shared window; those that
    // map_shared returned are in another CTA of the cluster.
    virtual void mbarrier_init(const Addresses& address, const Counts& arrivals) = 0;
    virtual void mbarrier_inval(const Addresses& address) = 0;
    /// Adds `bytes` to the tx-count, then arrives `arrivals` times. Either may be 0. Returns the state of the
    /// object before the arrivals (isa/token.hpp).
    virtual Tokens mbarrier_arrive(const Addresses& address, const Counts& bytes, const Counts& arrivals,
                                   Arrival how = {}) = 0;
    /// Subtracts `bytes` from the tx-count, as a copy of so many does.
    virtual void mbarrier_complete(const Addresses& address, const Counts& bytes) = 0;
    /// Returns the active lanes for which the phase of that parity is complete. If it returns nothing, the
    /// warp sleeps until a barrier changes, and executes the step again. state: what the parities are of;
    /// null where the instruction names parities.
    virtual std::optional<Mask> mbarrier_wait(const Addresses& address, const Counts& parity,
                                              const Tokens* state) = 0;
    virtual void mbarrier_fence_init() = 0;  ///< fence.mbarrier_init

    // The bulk-copy engine. Groups belong to the lane that issues the copies.
    virtual void bulk_copy(const BulkCopy& copy) = 0;
    virtual void bulk_commit() = 0;
    /// Waits until at most `pending` groups run. The warp may sleep and execute the step again.
    virtual void bulk_wait(int pending, bool read) = 0;

    // Tensor maps in memory (PTX ISA 9.7.9.26).
    virtual void replace_in_map(Space, const Addresses&, MapField, int /*dimension*/,
                                const Counts& /*value*/) {}
    /// Copies the map from shared to global memory, once for the active lanes, and releases it.
    virtual void publish_map(const Addresses& /*to*/, const Addresses& /*from*/) {}
    virtual void release_maps() {}                 ///< those that were changed before
    virtual void acquire_map(const Addresses&) {}  ///< copies that follow see it as it was released

    // Copies by threads, through the generic proxy (cp.async, PTX ISA 9.7.9.25.3). Groups belong to the lane
    // that issues the copies.
    /// For each active lane, `from_bytes` bytes of global memory, and zeros up to `bytes` (4, 8 or 16), are
    /// written to shared memory some time later.
    virtual void copy_async(const Addresses& to, const Addresses& from, int bytes,
                            const Counts& from_bytes) = 0;
    virtual void commit_copies() = 0;
    /// Waits until at most `pending` groups run; nothing: until all copies have landed, including those in no
    /// group. The warp may sleep and execute the step again.
    virtual void wait_copies(std::optional<int> pending) = 0;
    /// Arrives once when all copies of the lane so far have landed. With `increase`, one more arrival is
    /// expected in this phase.
    virtual void arrive_copies(const Addresses& mbarrier, bool increase) = 0;

    /// For each active lane, the bytes at data + lane * stride are written to the address some time later.
    /// The mbarrier, which is in the same CTA, counts them.
    virtual void store_async(const AsyncStore& store, const Addresses& to, const Addresses& mbarrier,
                             const void* data, int stride) = 0;

    // Clusters.
    virtual std::uint32_t map_shared(std::uint32_t address, std::uint32_t rank) = 0;  ///< mapa
    virtual void cluster_arrive() = 0;
    virtual void cluster_wait() = 0;  ///< the warp may sleep and execute the step again
    /// setmaxnreg to `registers` per thread. While the pool has too few, the warp sleeps and executes the
    /// step again.
    virtual void set_registers(int registers, bool increase) = 0;
    virtual void order_registers() = 0;

    virtual void select(int warp_of_group) = 0;  ///< 0..3, in a step of a whole warpgroup
    virtual void launch_dependents() {}          ///< the next launch may begin
    virtual void wait_for_grids() {}             ///< for the launches before, and their memory

    /// Opens an asynchronous operation of the warpgroup: the accesses below belong to it until it is waited
    /// for.
    virtual void begin_mma(const AsyncMma& mma) = 0;
    /// The operation reads a matrix of shared memory, 'A' or 'B', through this descriptor. Returns whether it
    /// is to be read; if not, the machine has said why.
    virtual bool describe_matrix(const AsyncMma&, char /*name*/, std::uint64_t /*descriptor*/) {
        return true;
    }
    /// Reads for the warps of the group whose bits are set in `warps` (bit w: warp w; 15 for operand B).
    virtual const std::byte* async_read_shared(std::uint32_t address, int bytes, unsigned warps) = 0;
    virtual const void* async_read(Reg reg, Mask read) = 0;  ///< the values of these lanes are used
    virtual void* async_write(Reg reg) = 0;
    virtual void end_mma() = 0;
    virtual void commit_mma() = 0;
    virtual void wait_mma(int pending) = 0;
    virtual Numerics numerics() const { return {}; }
    /// Whether anybody wants the values of products; else they are only read for, and what they write keeps
    /// its value.
    virtual bool computes_products() const { return true; }

    /// The lanes `who` print message `index` of the program, with the values of these registers
    /// (isa/device_print.hpp).
    virtual void say(std::size_t /*index*/, Mask /*who*/, const std::vector<Reg>& /*values*/) {}

    /// vprintf (isa/library.hpp): each active lane prints. Returns in `count` how many values it has printed.
    virtual void print(const Addresses& /*format*/, const Addresses& /*values*/,
                       std::array<std::uint32_t, lanes>& /*count*/) {}
    /// __assertfail: the kernel ends, since an assertion of the active lanes does not hold.
    virtual void fail(const Addresses& /*message*/, const Addresses& /*file*/,
                      const std::array<std::uint32_t, lanes>& /*line*/, const Addresses& /*function*/) {}

    /// Returns a clock: the steps that the warps of the grid have executed so far.
    virtual std::uint64_t clock() { return 0; }
    /// Returns bytes of global memory that only the code of a profile accesses (isa/timestamp.hpp), without
    /// any checks. Null where no tensor has them.
    virtual std::byte* unshared(std::uint64_t /*address*/, std::size_t /*bytes*/) { return nullptr; }
};

}  // namespace wgrun::isa
