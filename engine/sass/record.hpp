// The instructions of machine code that matter to the checks: one record each. All others are opaque, and
// only their registers are read.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sass/instruction.hpp"

namespace wgrun::sass {

/// What an instruction does, as far as the program that it was made of asks for it.
enum class Does : std::uint8_t {
    other,
    // Products of warpgroups.
    product,
    order_registers,
    wait_products,
    // Barriers.
    barrier,
    barrier_arrive,
    cluster_arrive,
    cluster_wait,
    mbarrier_init,
    mbarrier_inval,
    mbarrier_arrive,
    mbarrier_expect,
    mbarrier_test,
    mbarrier_copies,  ///< arrives when copies by threads have landed
    // Copies.
    bulk_load,
    bulk_store,
    bulk_commit,
    copy,
    copy_commit,
    wait_scoreboard,  ///< of groups of copies, and of other things
    // Memory and its order.
    proxy_fence,
    fence,
    load,
    store,
    atomic,
    // Agreements.
    set_registers,
    wait_for_grids,
    launch_dependents,
    // Where it goes on.
    branch,
    indirect,  ///< to one of several places
    call,
    ret,
    exit
};

/// The memory of an access.
enum class Memory : std::uint8_t { none, shared, global, local, generic };

/// Where its results are.
enum class Writes : std::uint8_t {
    nothing,      ///< but predicates and uniform registers
    first,        ///< the first operand that is no predicate
    accumulators  ///< of a product
};

struct Record {
    std::string_view name;  ///< the mnemonic up to a dot; several dots: the longest that fits
    Does does = Does::other;
    Writes writes = Writes::first;
    Memory memory = Memory::none;
};

/// The record of a mnemonic; that of all opaque ones where there is no other.
const Record& record_of(std::string_view mnemonic);

}  // namespace wgrun::sass
