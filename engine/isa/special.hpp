// Special registers (PTX ISA 10): they tell a thread where it is.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "isa/value.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// The values of Field::sreg.
enum class Special : std::uint8_t {
    tid_x,
    tid_y,
    tid_z,
    ntid_x,
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    laneid,
    clusterid_x,
    clusterid_y,
    clusterid_z,
    nclusterid_x,
    nclusterid_y,
    nclusterid_z,
    cluster_ctaid_x,
    cluster_ctaid_y,
    cluster_ctaid_z,
    cluster_nctaid_x,
    cluster_nctaid_y,
    cluster_nctaid_z,
    cluster_ctarank,
    cluster_nctarank,
    warpid,
    nwarpid,
    lanemask_eq,
    lanemask_le,
    lanemask_lt,
    lanemask_ge,
    lanemask_gt,
    smid,
    nsmid,
    total_smem_size,
    dynamic_smem_size,
    gridid,
    is_explicit_cluster,  ///< a predicate
    // The clocks: two reads of one may differ.
    clock,
    clock_hi,
    globaltimer_lo,
    globaltimer_hi,
    clock64,
    globaltimer,
};

/// Their spellings, in the order of the enumeration.
inline constexpr std::array<std::string_view, 46> special_names{"tid.x",
                                                                "tid.y",
                                                                "tid.z",
                                                                "ntid.x",
                                                                "ntid.y",
                                                                "ntid.z",
                                                                "ctaid.x",
                                                                "ctaid.y",
                                                                "ctaid.z",
                                                                "nctaid.x",
                                                                "nctaid.y",
                                                                "nctaid.z",
                                                                "laneid",
                                                                "clusterid.x",
                                                                "clusterid.y",
                                                                "clusterid.z",
                                                                "nclusterid.x",
                                                                "nclusterid.y",
                                                                "nclusterid.z",
                                                                "cluster_ctaid.x",
                                                                "cluster_ctaid.y",
                                                                "cluster_ctaid.z",
                                                                "cluster_nctaid.x",
                                                                "cluster_nctaid.y",
                                                                "cluster_nctaid.z",
                                                                "cluster_ctarank",
                                                                "cluster_nctarank",
                                                                "warpid",
                                                                "nwarpid",
                                                                "lanemask_eq",
                                                                "lanemask_le",
                                                                "lanemask_lt",
                                                                "lanemask_ge",
                                                                "lanemask_gt",
                                                                "smid",
                                                                "nsmid",
                                                                "total_smem_size",
                                                                "dynamic_smem_size",
                                                                "gridid",
                                                                "is_explicit_cluster",
                                                                "clock",
                                                                "clock_hi",
                                                                "globaltimer_lo",
                                                                "globaltimer_hi",
                                                                "clock64",
                                                                "globaltimer"};
static_assert(special_names.size() == static_cast<std::size_t>(Special::globaltimer) + 1);

/// What those are called that no record reads, by the beginnings of their names.
inline constexpr std::array<std::string_view, 3> other_specials{"pm", "envreg", "reserved_smem"};

/// Returns whether a special register has the name, which is without %; its components may be left out.
constexpr bool is_special(std::string_view name) {
    return std::ranges::any_of(special_names,
                               [&](std::string_view known) {
                                   return name == known || name == known.substr(0, known.find('.'));
                               }) ||
           std::ranges::any_of(other_specials,
                               [&](std::string_view begin) { return name.starts_with(begin); });
}

/// Returns the special register that a step of the record `special` reads.
inline Special special_of(const Form& form) { return static_cast<Special>(form.get(Field::sreg)); }

/// Whether it is a size of the grid, in CTAs or clusters.
constexpr bool is_grid_size(Special which) {
    return (which >= Special::nctaid_x && which <= Special::nctaid_z) ||
           (which >= Special::nclusterid_x && which <= Special::nclusterid_z);
}

/// Returns whether it is a clock.
constexpr bool is_clock(Special special) { return special >= Special::clock; }

/// Returns whether it depends on how many CTAs a cluster has.
constexpr bool is_of_cluster(Special special) {
    return (special >= Special::clusterid_x && special <= Special::cluster_nctarank) ||
           special == Special::is_explicit_cluster;
}

/// Returns the type of its value.
constexpr Type type_of(Special special) {
    using enum Special;
    switch (special) {
        case is_explicit_cluster: return Type::pred;
        case gridid:
        case clock64:
        case globaltimer: return Type::u64;
        default: return Type::u32;
    }
}

/// Returns the threads over which the value is the same. (In a CTA of one dimension tid.y and tid.z are 0.)
constexpr Uniform uniform_over(Special special) {
    using enum Special;
    switch (special) {
        case tid_x:
        case tid_y:
        case tid_z:
        case lanemask_eq:
        case lanemask_le:
        case lanemask_lt:
        case lanemask_ge:
        case lanemask_gt:
        case clock:
        case clock_hi:
        case clock64:
        case globaltimer:
        case globaltimer_lo:
        case globaltimer_hi:
        case laneid: return Uniform::thread;
        case warpid: return Uniform::warp;
        case smid:
        case ctaid_x:
        case ctaid_y:
        case ctaid_z:
        case clusterid_x:
        case clusterid_y:
        case clusterid_z:
        case cluster_ctaid_x:
        case cluster_ctaid_y:
        case cluster_ctaid_z:
        case cluster_ctarank: return Uniform::cta;
        default: return Uniform::grid;
    }
}

/// Returns whether it depends on the grid: its size, or the position of a CTA in it.
constexpr bool is_of_grid(Special special) {
    using enum Special;
    return special == smid || (special >= ctaid_x && special <= nctaid_z) ||
           (special >= clusterid_x && special <= nclusterid_z);
}

}  // namespace wgrun::isa
