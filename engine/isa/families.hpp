// The families of records, one file each, and the shorthand in which they are written.
#pragma once

#include "isa/value.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

std::span<const Instruction> move_family();  // move.cpp: mov, special registers, pack, matrix descriptor
std::span<const Instruction> arithmetic_family();  // arithmetic.cpp: add, sub, mul, mad, div, rem, ...
std::span<const Instruction> extrema_family();     // extrema.cpp: min, max
std::span<const Instruction> narrow_family();      // narrow.cpp: mul24, mad24
std::span<const Instruction> float_family();       // float.cpp: fma, rcp, sqrt, ex2, lg2, testp
std::span<const Instruction> logic_family();       // logic.cpp: and, or, xor, not, shl, shr, setp, selp
std::span<const Instruction> bits_family();      // bits.cpp: popc, clz, bfe, bfi, lop3, shf, prmt, dp4a, ...
std::span<const Instruction> convert_family();   // convert.cpp: cvt
std::span<const Instruction> memory_family();    // memory.cpp: ld, st
std::span<const Instruction> generic_family();   // generic.cpp: cvta, isspacep, local memory
std::span<const Instruction> cache_family();     // cache.cpp: prefetch, createpolicy
std::span<const Instruction> sync_family();      // sync.cpp: bar, fence.proxy
std::span<const Instruction> wgmma_family();     // wgmma.cpp
std::span<const Instruction> mbarrier_family();  // mbarrier.cpp: mbarrier, fence.mbarrier_init
std::span<const Instruction> copy_family();      // copy.cpp: cp.async and its groups
std::span<const Instruction> async_store_family();  // async_store.cpp: st.async, red.async
std::span<const Instruction> bulk_family();         // bulk.cpp: cp.async.bulk, tensor maps
std::span<const Instruction> im2col_family();       // im2col.cpp: bulk copies of pixels
std::span<const Instruction> tensormap_family();    // tensormap.cpp: tensormap.replace and its like
std::span<const Instruction> cluster_family();      // cluster.cpp: barrier.cluster, mapa, elect, setmaxnreg
std::span<const Instruction> matrix_family();       // matrix.cpp: ldmatrix, stmatrix, movmatrix
std::span<const Instruction> mma_family();          // mma.cpp: mma.sync
std::span<const Instruction> sparse_mma_family();   // mma_sparse.cpp: mma.sp
std::span<const Instruction> warp_family();         // warp.cpp: shfl.sync, vote.sync, bar.warp.sync
std::span<const Instruction> atomic_family();       // atomic.cpp: red, atom

/// What no other chip has (PTX ISA 11.1.2).
inline constexpr Arch only_hopper{90, true};

/// Returns a choice among types.
inline Choice types(Field field, const std::vector<Type>& list) {
    Choice choice{field, {}, {}};
    for (Type type : list) choice.allowed.push_back({static_cast<int>(type), static_cast<int>(type)});
    return choice;
}
inline Choice types(const std::vector<Type>& list) { return types(Field::type, list); }
/// Returns a choice of one type, which must be named because other rows have other types.
inline Choice only(Type type) {
    Choice choice = types({type});
    choice.asked = true;
    return choice;
}

/// Returns a choice among numbers or enumerators; with a fallback it may be omitted.
inline Choice among(Field field, std::initializer_list<int> list, std::optional<int> fallback = {}) {
    Choice choice{field, {}, fallback};
    for (int value : list) choice.allowed.push_back({value, value});
    return choice;
}

/// Returns a choice among spelled values.
inline Choice spelled_as(Field field, std::initializer_list<std::string_view> list,
                         std::string_view fallback = {}) {
    Choice choice{field, {}, {}};
    for (std::string_view text : list) {
        const int value = *parse_value(field, text);
        choice.allowed.push_back({value, value});
        if (text == fallback) choice.fallback = value;
    }
    return choice;
}

/// Returns a choice among operations that combine with memory; spelled so, their values are those of
/// BulkCopy::Reduction.
inline Choice reductions(std::initializer_list<std::string_view> list) { return spelled_as(Field::op, list); }

/// Returns a choice of memory orders in all scopes: "acquire" stands for acquire.cta, .cluster, .gpu and
/// .sys.
inline Choice in_all_scopes(std::initializer_list<std::string_view> orders, std::string_view fallback = {}) {
    Choice out{Field::sem, {}, {}};
    for (std::string_view order : orders)
        for (std::string_view scope : {".cta", ".cluster", ".gpu", ".sys"}) {
            const std::string text = std::string(order).append(scope);
            const int value = *parse_value(Field::sem, text);
            out.allowed.push_back({value, value});
            if (text == fallback) out.fallback = value;
        }
    return out;
}

/// Returns a flag that is off by default.
inline Choice flag(Field field) { return {field, {{0, 1}}, 0}; }

/// Returns the choice, made optional.
inline Choice optional(Choice choice) {
    choice.fallback = Form::absent;
    return choice;
}

// Rules of operands. The type of a register is that of a field, or it is fixed.
template <Field field>
Type typed(const Form& form) {
    return form.type(field);
}
template <Type type>
Type fixed(const Form&) {
    return type;
}

/// Returns how many values each thread loads or stores.
inline int vec(const Form& form) { return form.get(Field::vec, 1); }
inline constexpr int widest = 16;  ///< bytes that they are together at most
/// Returns the space; an address without one is generic.
inline Space space(const Form& form) {
    return static_cast<Space>(form.get(Field::space, static_cast<int>(Space::generic)));
}

inline OperandRule out(std::string_view name, Type (*type)(const Form&) = typed<Field::type>) {
    return {name, Access::out, OperandRule::reg, type, nullptr, false, {}, {}};
}
inline OperandRule in(std::string_view name, Type (*type)(const Form&) = typed<Field::type>,
                      unsigned kinds = OperandRule::reg | OperandRule::imm) {
    return {name, Access::in, kinds, type, nullptr, false, {}, {}};
}

/// Returns the rule of an address in shared memory: a register or a buffer, with a byte offset.
inline OperandRule shared_address(std::string_view name) {
    return {name, Access::in, OperandRule::address, fixed<Type::u32>, nullptr, false, {}, {}};
}

/// The same with 64 bits: in global memory, or generic.
inline OperandRule wide_address(std::string_view name) {
    return {name, Access::in, OperandRule::address, fixed<Type::u64>, nullptr, false, {}, {}};
}

/// Returns the rule of a cache policy, as createpolicy makes it, with the flag .L2::cache_hint that announces
/// it.
inline OperandRule cache_policy() {
    return {"policy", Access::in, OperandRule::reg, fixed<Type::u64>, nullptr, true, 0, {}, Field::cache};
}
inline Choice cache_hint() { return flag(Field::cache); }

// Abstract values (value.cpp).

/// Returns what holds for any function of the sources (operands 1 and up): it is as uniform as they are.
Value joined(const Step& step, const ValueOf& of);
/// Returns the constant, if it is the same in all threads.
std::optional<std::int64_t> plain(const Value& value);
/// Returns `value` as a constant of `type`: cut to its width and sign-extended.
std::int64_t wrapped(Type type, std::int64_t value);
/// Returns the number that `value`, a constant of `type`, stands for: u32 -1 is 4294967295.
std::int64_t number_of(Type type, std::int64_t value);
/// Returns the threads over which a function of tid.x >> shift is the same.
Uniform of_groups(int shift);

}  // namespace wgrun::isa
