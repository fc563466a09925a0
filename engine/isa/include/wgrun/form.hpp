// The forms of instructions: types, qualifiers, and which of them may be combined. Plain values; all
// functions are thread-safe.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace wgrun::isa {

// --- types and qualifiers ------------------------------------------------------------------------------

/// The types of registers and instructions, as PTX spells them (".f32").
enum class Type : std::uint8_t {
    none,
    pred,
    b1,
    u4,
    s4,
    b8,
    u8,
    s8,
    e4m3,
    e5m2,
    b16,
    u16,
    s16,
    f16,
    bf16,
    b32,
    u32,
    s32,
    f32,
    tf32,
    f16x2,
    bf16x2,
    e4m3x2,
    e5m2x2,
    u16x2,
    s16x2,
    b64,
    u64,
    s64,
    f64,
    b128,       ///< two of 64 bits: what one access can move, and nothing computes with
    tensormap,  ///< the 128 bytes of a tensor map, for kernel parameters only
};

std::string_view to_string(Type type);
std::optional<Type> parse_type(std::string_view name);
int bits(Type type);        ///< width of a value; pred counts as 1
bool is_float(Type type);   ///< f16, bf16, tf32, f32, f64 and the packed ones
bool is_signed(Type type);  ///< s4, s8, s16, s16x2, s32, s64

/// The type a register is declared with to hold a value of `type` (bf16x2 -> b32, tf32 -> b32, bf16 -> b16).
Type register_type(Type type);

/// Can a register declared `reg` stand where an instruction wants `wanted`? PTX asks for equal width, and for
/// a matching kind unless one of them is a bit type (PTX ISA 9.4, operand size and type agreement). An f32
/// register cannot hold a tf32, an f16x2 or a bf16x2.
bool agrees(Type reg, Type wanted);

/// State spaces as PTX spells them; shared_cta is "shared::cta", which plain `shared` also means. An address
/// of the generic space, which PTX does not spell, lies in one of the others.
enum class Space : std::uint8_t {
    global,
    shared,
    shared_cta,
    shared_cluster,
    local,
    constant,
    param,
    generic
};

/// Is it the shared memory of the CTA, or of its cluster?
constexpr bool is_shared(Space space) {
    return space == Space::shared || space == Space::shared_cta || space == Space::shared_cluster;
}

/// A qualifier of an instruction: one key of the option table of a builder call.
enum class Field : std::uint8_t {
    type,
    from,
    d,
    a,
    b,
    m,
    n,
    k,
    space,
    vec,
    round,
    cmp,
    approx,
    ftz,
    satfinite,
    half,
    op,
    a_in,
    trans_a,
    trans_b,
    scale_a,
    scale_b,
    sp_sel,
    sreg,
    dim,
    sem,
    aligned,
    multicast,
    cache,
    read,
    num,
    trans,
    noftz,
    relu,
    cop,
    nc,
    evict,
    prefetch,
    level,
    secondary,
    noinc,
    bytes,
    sat,
    xorsign,
    combine,
    part,
    property,
    count_
};
inline constexpr int field_count = static_cast<int>(Field::count_);

std::string_view to_string(Field field);
/// What the qualifier selects, in a few words, for documentation.
std::string_view summary(Field field);
std::optional<Field> parse_field(std::string_view name);
/// How `value` of `field` is spelled in PTX and in scripts: (type, f32) "f32", (n, 64) "64", (cmp, 2) "lt".
std::string spelled(Field field, int value);
/// Returns whether PTX prints nothing for a value that scripts name: (round, contract).
bool unwritten(Field field, int value);
/// The value of `field` spelled `text`, or nothing.
std::optional<int> parse_value(Field field, std::string_view text);

/// The qualifiers of one step: a value for each field, or absent.
class Form {
  public:
    /// The value of an absent field.
    static constexpr int absent = INT32_MIN;

    Form() { values_.fill(absent); }
    bool has(Field field) const { return values_[index(field)] != absent; }
    int get(Field field) const { return values_[index(field)]; }
    int get(Field field, int fallback) const { return has(field) ? get(field) : fallback; }
    Type type(Field field = Field::type) const { return has(field) ? Type(get(field)) : Type::none; }
    Form& set(Field field, int value) {
        values_[index(field)] = value;
        return *this;
    }
    Form& set(Field field, Type value) { return set(field, static_cast<int>(value)); }
    bool operator==(const Form&) const = default;

  private:
    static std::size_t index(Field field) { return static_cast<std::size_t>(field); }
    std::array<int, field_count> values_;
};

// --- legal forms ---------------------------------------------------------------------------------------

struct PtxVersion {
    int major = 7, minor = 8;
    // NOLINTNEXTLINE(modernize-use-nullptr): there is no pointer
    auto operator<=>(const PtxVersion&) const = default;
};

/// A chip as `.target` names it: sm_90 or, with what that chip alone has, sm_90a (PTX ISA 11.1.2).
struct Arch {
    int sm = 0;
    bool specific = false;
    bool operator==(const Arch&) const = default;
    /// Returns whether a text for this chip may have what `needed` has.
    bool covers(const Arch& needed) const { return needed.specific ? *this == needed : sm >= needed.sm; }
};
std::string to_string(Arch arch);  ///< "sm_90a"

/// The values lo, lo + step, ..., hi.
struct Range {
    int lo, hi, step = 1;
};

/// The values of a field in a row. A field with a fallback may be omitted, and with the fallback Form::absent
/// it stays omitted; a single value is filled in automatically.
struct Choice {
    Field field;
    std::vector<Range> allowed;
    std::optional<int> fallback;
    bool asked = false;  ///< a single value is not filled in

    bool allows(int value) const;
    std::vector<int> values() const;
};

/// One legal tuple set: the choices of a row may be combined freely, those of different rows may not.
/// A field that a row does not name is illegal in it.
struct Row {
    std::vector<Choice> choices;
    PtxVersion min_ptx;
    Arch arch{};  ///< the first chip that has them, or the only one

    const Choice* find(Field field) const;
};

}  // namespace wgrun::isa

#pragma GCC visibility pop
