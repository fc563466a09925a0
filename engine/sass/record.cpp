#include "sass/record.hpp"

#include <algorithm>
#include <array>

namespace wgrun::sass {
namespace {

using enum Does;
using enum Writes;
constexpr Memory shared = Memory::shared, global = Memory::global, local = Memory::local;

/// By name, so that the longest one that fits comes last.
constexpr std::array records{
    Record{"ACQBULK", wait_for_grids, nothing},
    Record{"ARRIVES", mbarrier_copies, nothing, shared},
    Record{"ATOM", atomic, first, Memory::generic},
    Record{"ATOMG", atomic, first, global},
    Record{"ATOMS", atomic, first, shared},
    Record{"BAR.ARV", barrier_arrive, nothing},
    Record{"BAR.RED", barrier, nothing},
    Record{"BAR.SYNC", barrier, nothing},
    Record{"BGMMA", product, accumulators},
    Record{"BRA", branch, nothing},
    Record{"BREAK", other, nothing},
    Record{"BRX", indirect, nothing},
    Record{"BSSY", other, nothing},
    Record{"BSYNC", other, nothing},
    Record{"CALL", call, nothing},
    Record{"CCTL", other, nothing},
    Record{"DEPBAR", wait_scoreboard, nothing},
    Record{"DSETP", other, nothing},
    Record{"ELECT", other, nothing},
    Record{"EXIT", Does::exit, nothing},
    Record{"FCHK", other, nothing},
    Record{"FENCE.VIEW.ASYNC", proxy_fence, nothing},
    Record{"FSETP", other, nothing},
    Record{"HGMMA", product, accumulators},
    Record{"HSETP2", other, nothing},
    Record{"IGMMA", product, accumulators},
    Record{"ISETP", other, nothing},
    Record{"JMX", indirect, nothing},
    Record{"KILL", Does::exit, nothing},
    Record{"LD", load, first, Memory::generic},
    Record{"LDG", load, first, global},
    Record{"LDGDEPBAR", copy_commit, nothing},
    Record{"LDGSTS", copy, nothing, shared},
    Record{"LDL", load, first, local},
    Record{"LDS", load, first, shared},
    Record{"LDSM", load, first, shared},
    Record{"MEMBAR", fence, nothing},
    Record{"PLOP3", other, nothing},
    Record{"PREEXIT", launch_dependents, nothing},
    Record{"QGMMA", product, accumulators},
    Record{"R2P", other, nothing},
    Record{"R2UR", other, nothing},
    Record{"RED", atomic, nothing, Memory::generic},
    Record{"REDAS", atomic, nothing, Memory::generic},
    Record{"REDG", atomic, nothing, global},
    Record{"REDS", atomic, nothing, shared},
    Record{"RET", ret, nothing},
    Record{"ST", store, nothing, Memory::generic},
    Record{"STAS", store, nothing, Memory::generic},
    Record{"STG", store, nothing, global},
    Record{"STL", store, nothing, local},
    Record{"STS", store, nothing, shared},
    Record{"STSM", store, nothing, shared},
    Record{"SYNCS.ARRIVE.TRANS64", mbarrier_arrive, first, shared},
    Record{"SYNCS.ARRIVE.TRANS64.RED.A0TR", mbarrier_expect, nothing, shared},
    Record{"SYNCS.ARRIVE.TRANS64.RED.A0TX", mbarrier_expect, nothing, shared},
    Record{"SYNCS.CCTL.IV", mbarrier_inval, nothing, shared},
    Record{"SYNCS.EXCH.64", mbarrier_init, nothing, shared},
    Record{"SYNCS.PHASECHK", mbarrier_test, nothing, shared},
    Record{"UBLKCP", bulk_load, nothing, shared},
    Record{"UBLKCP.G.S", bulk_store, nothing, shared},
    Record{"UBLKCP.S.S", bulk_store, nothing, shared},
    Record{"UBLKRED", bulk_store, nothing, shared},
    Record{"UCGABAR_ARV", cluster_arrive, nothing},
    Record{"UCGABAR_WAIT", cluster_wait, nothing},
    Record{"USETMAXREG", set_registers, nothing},
    Record{"UTMACMDFLUSH", bulk_commit, nothing},
    Record{"UTMALDG", bulk_load, nothing, shared},
    Record{"UTMAREDG", bulk_store, nothing, shared},
    Record{"UTMASTG", bulk_store, nothing, shared},
    Record{"WARPGROUP.ARRIVE", order_registers, nothing},
    Record{"WARPGROUP.DEPBAR", wait_products, nothing},
};
static_assert(std::ranges::is_sorted(records, {}, &Record::name));

constexpr Record opaque{};

}  // namespace

const Record& record_of(std::string_view mnemonic) {
    for (std::string_view name = mnemonic;;) {
        const auto found = std::ranges::lower_bound(records, name, {}, &Record::name);
        if (found != records.end() && found->name == name) return *found;
        const std::size_t dot = name.rfind('.');
        if (dot == std::string_view::npos) return opaque;
        name = name.substr(0, dot);
    }
}

}  // namespace wgrun::sass
