// What a process asks of its worker: most of the driver's functions as they are, and some that need more than
// their arguments.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/cuda_abi.hpp"
#include "wgrun/version.hpp"

namespace wgrun::gpu {

/// The version of the protocol: both ends must agree on it.
inline constexpr const char* protocol = "wgrun-worker-1 " WGRUN_VERSION;

template <auto... Members>
struct Calls {};

/// Functions of Driver whose arguments are plain values, or pointers to plain results.
using PlainCalls =
    Calls<&Driver::init, &Driver::driver_get_version, &Driver::device_get_count, &Driver::device_get,
          &Driver::device_get_attribute, &Driver::device_total_mem, &Driver::mem_get_info, &Driver::mem_alloc,
          &Driver::mem_free, &Driver::memset_d8_async, &Driver::module_unload,
          &Driver::function_get_attribute, &Driver::function_set_attribute, &Driver::function_get_param_info,
          &Driver::stream_query, &Driver::event_create, &Driver::event_destroy, &Driver::event_record,
          &Driver::event_query, &Driver::event_elapsed_time>;

template <auto A, auto B>
constexpr bool same_member() {
    if constexpr (std::is_same_v<decltype(A), decltype(B)>)
        return A == B;
    else
        return false;
}

template <auto Member, auto... Members>
constexpr std::uint32_t number_in(Calls<Members...>) {
    std::uint32_t number = 0;
    bool found = false;
    ((found = found || same_member<Member, Members>(), number += found ? 0 : 1), ...);
    return number;
}

/// The kind of the messages that ask for a plain call.
template <auto Member>
constexpr std::uint32_t kind_of() {
    constexpr std::uint32_t number = number_in<Member>(PlainCalls{});
    static_assert(number < 100);
    return number;
}

/// A kind with this bit has no answer: an error becomes the result of a later message.
inline constexpr std::uint32_t told = std::uint32_t{1} << 30;

/// The kinds of the other messages.
enum class SpecialCall : std::uint32_t {
    error_texts = 100,
    device_name,
    retain,  ///< the primary context, and makes it current
    copy_in,
    copy_in_staged,
    copy_out,
    copy_out_staged,
    forget_block,
    load,
    function,
    clusters,
    launch,
    tensor_map,
    register_host,
    unregister_host,
    cublas_make,
    cublas_run,
    cublas_drop,
};

/// The arguments of a plain call that are results.
template <class Argument>
inline constexpr bool comes_back = std::is_pointer_v<Argument> && !std::is_same_v<Argument, abi::Handle>;

/// A place in a block of shared memory (engine/memory).
struct BlockPlace {
    std::uint64_t block = 0;
    std::uint64_t block_bytes = 0;
    std::uint64_t within = 0;
};

/// The place of a blob that belongs to a message.
struct BlobPlace {
    std::uint64_t bytes = 0;
    std::uint64_t staged = 0;  ///< 1: at the beginning of the staging area, else in the block
    BlockPlace place;
};

struct LoadRequest {
    BlobPlace image;
    std::uint32_t info_bytes = 0;  ///< what the caller has room for
    std::uint32_t error_bytes = 0;
    std::uint32_t logs =
        0;  ///< 1: logs are wanted; they come back in the staging area, the error log behind the other
    std::uint32_t verbose = 0;
};

struct TensorMapRequest {
    int type;
    std::uint32_t rank;
    std::uint64_t address;
    std::uint64_t extents[5] = {}, strides[5] = {};
    std::uint32_t box[5] = {}, element_strides[5] = {};
    int interleave = 0, swizzle = 0, l2_promotion = 0, fill = 0;
    int pixels = 0;  ///< 1: the box is channels and pixels, and these are corners
    int lower[3] = {}, upper[3] = {};
};

/// A launch without its variable parts: the attributes, then for each parameter its size (u32) and its bytes.
struct LaunchRequest {
    abi::LaunchConfig config;
    abi::Handle function;
    std::uint32_t parameters;
};

}  // namespace wgrun::gpu
