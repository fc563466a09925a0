#include <algorithm>
#include <array>

#include "isa/value.hpp"
#include "wgrun/isa.hpp"
#include "wgrun/target.hpp"

namespace wgrun::isa {
namespace {

enum class Kind : std::uint8_t { none, pred, bits, integer, floating };

struct TypeRow {
    Type type;
    std::string_view name;
    int bits;
    Kind kind;
    bool is_signed;
    Type in_register;
};

// The types in the order of the enumeration. The last column is the declared type of a register that holds
// the type: PTX has no registers of 8 bits or fewer, nor of bf16, tf32 or a packed type.
constexpr std::array rows{
    TypeRow{Type::none, "", 0, Kind::none, false, Type::none},
    TypeRow{Type::pred, "pred", 1, Kind::pred, false, Type::pred},
    TypeRow{Type::b1, "b1", 1, Kind::bits, false, Type::b32},
    TypeRow{Type::u4, "u4", 4, Kind::integer, false, Type::b32},
    TypeRow{Type::s4, "s4", 4, Kind::integer, true, Type::b32},
    TypeRow{Type::b8, "b8", 8, Kind::bits, false, Type::b16},
    TypeRow{Type::u8, "u8", 8, Kind::integer, false, Type::u16},
    TypeRow{Type::s8, "s8", 8, Kind::integer, true, Type::s16},
    TypeRow{Type::e4m3, "e4m3", 8, Kind::floating, true, Type::b16},
    TypeRow{Type::e5m2, "e5m2", 8, Kind::floating, true, Type::b16},
    TypeRow{Type::b16, "b16", 16, Kind::bits, false, Type::b16},
    TypeRow{Type::u16, "u16", 16, Kind::integer, false, Type::u16},
    TypeRow{Type::s16, "s16", 16, Kind::integer, true, Type::s16},
    TypeRow{Type::f16, "f16", 16, Kind::floating, true, Type::b16},
    TypeRow{Type::bf16, "bf16", 16, Kind::floating, true, Type::b16},
    TypeRow{Type::b32, "b32", 32, Kind::bits, false, Type::b32},
    TypeRow{Type::u32, "u32", 32, Kind::integer, false, Type::u32},
    TypeRow{Type::s32, "s32", 32, Kind::integer, true, Type::s32},
    TypeRow{Type::f32, "f32", 32, Kind::floating, true, Type::f32},
    TypeRow{Type::tf32, "tf32", 32, Kind::floating, true, Type::b32},
    TypeRow{Type::f16x2, "f16x2", 32, Kind::floating, true, Type::b32},
    TypeRow{Type::bf16x2, "bf16x2", 32, Kind::floating, true, Type::b32},
    TypeRow{Type::e4m3x2, "e4m3x2", 16, Kind::floating, true, Type::b16},
    TypeRow{Type::e5m2x2, "e5m2x2", 16, Kind::floating, true, Type::b16},
    TypeRow{Type::u16x2, "u16x2", 32, Kind::integer, false, Type::b32},
    TypeRow{Type::s16x2, "s16x2", 32, Kind::integer, true, Type::b32},
    TypeRow{Type::b64, "b64", 64, Kind::bits, false, Type::b64},
    TypeRow{Type::u64, "u64", 64, Kind::integer, false, Type::u64},
    TypeRow{Type::s64, "s64", 64, Kind::integer, true, Type::s64},
    TypeRow{Type::f64, "f64", 64, Kind::floating, true, Type::f64},
    TypeRow{Type::b128, "b128", 128, Kind::bits, false, Type::b128},
    TypeRow{Type::tensormap, "tensormap", 8 * static_cast<int>(sm_90a.tensor_maps.bytes), Kind::none, false,
            Type::none},
};

const TypeRow& row(Type type) { return rows[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view to_string(Type type) { return row(type).name; }
int bits(Type type) { return row(type).bits; }
bool is_float(Type type) { return row(type).kind == Kind::floating; }
bool is_signed(Type type) { return row(type).is_signed; }
Type register_type(Type type) { return row(type).in_register; }

std::optional<Type> parse_type(std::string_view name) {
    const auto found =
        std::find_if(rows.begin() + 1, rows.end(), [&](const TypeRow& r) { return r.name == name; });
    if (found == rows.end()) return std::nullopt;
    return found->type;
}

bool agrees(Type reg, Type wanted) {
    const TypeRow& have = row(reg);
    const TypeRow& want = row(register_type(wanted));
    if (have.bits != want.bits) return false;
    if (have.kind == Kind::pred || want.kind == Kind::pred) return have.kind == want.kind;
    // tf32, f16x2, u16x2 and the like are held in registers of bits; ptxas accepts no .f32 for them.
    const bool pair = wanted == Type::u16x2 || wanted == Type::s16x2;
    if ((is_float(wanted) || pair) && want.kind == Kind::bits && have.kind == Kind::floating) return false;
    return have.kind == want.kind || have.kind == Kind::bits || want.kind == Kind::bits;
}

std::string_view to_string(Uniform uniform) {
    constexpr std::array<std::string_view, 5> names{"thread", "warp", "warpgroup", "cta", "grid"};
    return names[static_cast<std::size_t>(uniform)];
}

}  // namespace wgrun::isa
