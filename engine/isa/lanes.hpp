// Lane vectors, with which the `run` functions of records are written. They hold 32 lanes, so that the host's
// compiler can use its vector registers.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "isa/machine.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

template <class T>
using Lanes = std::array<T, lanes>;

/// A value of 128 bits. From an immediate, whose upper half is zero.
struct Bits128 {
    std::uint64_t low = 0, high = 0;
    Bits128() = default;
    constexpr explicit Bits128(std::uint64_t bits) : low(bits) {}
    bool operator==(const Bits128&) const = default;
};

/// How a register file stores a T: in 4 bytes for types up to 32 bits, in 8 for those up to 64, else in 16.
template <class T>
using Storage = std::conditional_t<(sizeof(T) <= 4), std::uint32_t,
                                   std::conditional_t<(sizeof(T) <= 8), std::uint64_t, Bits128>>;

/// Returns the bytes that a lane of a register of the type takes.
inline int storage_bytes(Type type) { return bits(type) <= 32 ? 4 : bits(type) / 8; }

template <class T>
T from_storage(Storage<T> bits) {
    if constexpr (sizeof(T) == sizeof bits)
        return std::bit_cast<T>(bits);
    else if constexpr (sizeof(T) == 2)
        return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
    else
        return std::bit_cast<T>(static_cast<std::uint8_t>(bits));
}

template <class T>
Storage<T> to_storage(T value) {
    if constexpr (sizeof(T) == sizeof(Storage<T>))
        return std::bit_cast<Storage<T>>(value);
    else if constexpr (sizeof(T) == 2)
        return std::bit_cast<std::uint16_t>(value);
    else
        return std::bit_cast<std::uint8_t>(value);
}

template <class T>
Lanes<T> read_reg(Machine& m, Reg reg) {
    Lanes<T> out;
    const auto* bits = static_cast<const Storage<T>*>(m.read(reg));
    for (int l = 0; l < lanes; ++l) out[static_cast<std::size_t>(l)] = from_storage<T>(bits[l]);
    return out;
}

/// Returns a register, an immediate or the address of a shared buffer, in every lane.
template <class T>
Lanes<T> read(Machine& m, const Operand& operand) {
    Lanes<T> out;
    switch (operand.kind) {
        case Operand::Kind::reg: {
            out = read_reg<T>(m, operand.reg);
            if constexpr (std::is_same_v<T, std::uint32_t>)
                if (operand.negated)
                    for (T& lane : out) lane ^= 1U;
            return out;
        }
        case Operand::Kind::shared:
            out.fill(
                from_storage<T>(static_cast<Storage<T>>(m.shared_address(operand.index) + operand.offset)));
            return out;
        case Operand::Kind::param:
            out.fill(from_storage<T>(static_cast<Storage<T>>(m.param(operand.index))));
            return out;
        default: out.fill(from_storage<T>(static_cast<Storage<T>>(operand.imm))); return out;
    }
}

/// Returns the same where not all lanes need to be known.
template <class T>
PerLane<T> read_some(Machine& m, const Operand& operand) {
    PerLane<T> out;
    if (operand.kind == Operand::Kind::reg && !operand.negated) {
        const auto* bits = static_cast<const Storage<T>*>(m.read_some(operand.reg, out.known));
        for (std::size_t l = 0; l < lanes; ++l) out[l] = from_storage<T>(bits[l]);
    } else {
        static_cast<Lanes<T>&>(out) = read<T>(m, operand);
    }
    return out;
}

/// Returns the addresses that an address operand stands for; A is the type of its register.
template <class A>
Addresses addresses_of(Machine& m, const Operand& address) {
    Addresses out;
    if (address.kind == Operand::Kind::param) {
        out.fill(m.param_address(address.index) + static_cast<std::uint64_t>(address.offset));
        return out;
    }
    if (!address.reg) {
        out.fill(static_cast<std::uint64_t>(address.offset) +
                 (address.index >= 0 ? m.shared_address(address.index) : 0));
        return out;
    }
    const auto* base = static_cast<const Storage<A>*>(m.read_some(address.reg, out.known));
    for (std::size_t l = 0; l < lanes; ++l)
        out[l] = static_cast<A>(from_storage<A>(base[l]) + static_cast<A>(address.offset));
    return out;
}

/// Returns an operand as a count in every lane; T is the type of its register.
template <class T>
Counts counts_of(Machine& m, const Operand& operand) {
    const PerLane<T> values = read_some<T>(m, operand);
    Counts out;
    out.known = values.known;
    for (std::size_t l = 0; l < lanes; ++l) out[l] = static_cast<std::int64_t>(values[l]);
    return out;
}

/// Calls f(lane) for the active lanes, in order.
template <class F>
void for_each_lane(Mask active, F f) {
    for (; active != 0; active &= active - 1) f(static_cast<std::size_t>(std::countr_zero(active)));
}

template <class T>
void write_reg(Machine& m, Reg reg, const Lanes<T>& value) {
    auto* bits = static_cast<Storage<T>*>(m.write(reg));
    const Mask active = m.active();
    for (int l = 0; l < lanes; ++l)
        if (active >> l & 1U) bits[l] = to_storage<T>(value[static_cast<std::size_t>(l)]);
}

/// Returns the bytes of one element of the access.
inline int element_bytes(const Form& form) { return bits(form.type()) / 8; }

/// The only NaN that arithmetic in f16 or bf16 produces (docs/silicon.md).
inline constexpr std::uint16_t half_nan = 0x7FFF;

/// Returns the value, with any NaN replaced by the one that an f32 unit produces (docs/silicon.md).
inline float settled(float value) { return std::isnan(value) ? std::bit_cast<float>(0x7FFFFFFFU) : value; }
template <class T>
T settled(T value) {
    return value;
}

/// Computes d = f(operand 1, operand 2, ...) in every lane; operand 0 is the destination.
template <class R, class T, class F>
void map1(const Step& s, Machine& m, F f) {
    const Lanes<T> a = read<T>(m, s.operands[1]);
    Lanes<R> d;
    for (std::size_t l = 0; l < lanes; ++l) d[l] = settled(f(a[l]));
    write_reg<R>(m, s.operands[0].reg, d);
}

template <class R, class T, class F>
void map2(const Step& s, Machine& m, F f) {
    const Lanes<T> a = read<T>(m, s.operands[1]), b = read<T>(m, s.operands[2]);
    Lanes<R> d;
    for (std::size_t l = 0; l < lanes; ++l) d[l] = settled(f(a[l], b[l]));
    write_reg<R>(m, s.operands[0].reg, d);
}

template <class R, class T, class U, class F>
void map3(const Step& s, Machine& m, F f) {
    const Lanes<T> a = read<T>(m, s.operands[1]), b = read<T>(m, s.operands[2]);
    const Lanes<U> c = read<U>(m, s.operands[3]);
    Lanes<R> d;
    for (std::size_t l = 0; l < lanes; ++l) d[l] = settled(f(a[l], b[l], c[l]));
    write_reg<R>(m, s.operands[0].reg, d);
}

/// Calls f(T{}) with the C++ type of a PTX type. Returns whether there is one.
template <class F>
bool with_integer(Type type, F f) {
    switch (type) {
        case Type::b16:
        case Type::u16: f(std::uint16_t{}); return true;
        case Type::s16: f(std::int16_t{}); return true;
        case Type::b32:
        case Type::u32: f(std::uint32_t{}); return true;
        case Type::s32: f(std::int32_t{}); return true;
        case Type::b64:
        case Type::u64: f(std::uint64_t{}); return true;
        case Type::s64: f(std::int64_t{}); return true;
        default: return false;
    }
}

template <class F>
bool with_number(Type type, F f) {
    if (type == Type::f32) return f(float{}), true;
    if (type == Type::f64) return f(double{}), true;
    return with_integer(type, f);
}

}  // namespace wgrun::isa
