// The instruction set: one record holds everything that the engine knows of an instruction.
//
// A record has its legal forms (rows), its operands, its text, its effects and its meaning. The builder, the
// checker, the emitters and the simulator are frameworks over these records: none of them names an
// instruction. Records are constant: any number of threads may read them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/form.hpp"

namespace wgrun::isa {

// The last fields of a record use these types, which are internal to the engine.
class Effects;
class Machine;
struct Value;
struct KnownBits;
struct InlineRecord;

}  // namespace wgrun::isa

#pragma GCC visibility push(default)

namespace wgrun::isa {

// --- operands and steps --------------------------------------------------------------------------------

/// A virtual register: an index into Program::registers().
struct Reg {
    std::uint32_t id = UINT32_MAX;
    explicit operator bool() const { return id != UINT32_MAX; }
    bool operator==(const Reg&) const = default;
};

/// One operand as written.
struct Operand {
    enum class Kind : std::uint8_t { none, reg, list, imm, address, param, shared, number };
    Kind kind = Kind::none;
    bool negated = false;   ///< a predicate written !p
    Reg reg;                ///< reg; base of address (absent: `offset` alone)
    std::vector<Reg> list;  ///< list: a braced vector
    std::int64_t imm = 0;   ///< imm: the value's bits, sign-extended; floats as IEEE bits of the type wanted.
                            ///< number: the literal, if it is an integer that a double may not hold
    std::int64_t offset = 0;  ///< address, shared, param: bytes to add
    int index = -1;           ///< param: which; shared: which buffer
    double real = 0;  ///< number: a literal as written; it becomes an imm when the step knows its type

    static Operand of(Reg reg) {
        Operand o;
        o.kind = Kind::reg;
        o.reg = reg;
        return o;
    }
    static Operand of(std::vector<Reg> list) {
        Operand o;
        o.kind = Kind::list;
        o.list = std::move(list);
        return o;
    }
    static Operand immediate(std::int64_t bits) {
        Operand o;
        o.kind = Kind::imm;
        o.imm = bits;
        return o;
    }
    static Operand address(Reg base, std::int64_t offset) {
        Operand o;
        o.kind = Kind::address;
        o.reg = base;
        o.offset = offset;
        return o;
    }
    static Operand number(double real) {
        Operand o;
        o.kind = Kind::number;
        o.real = real;
        return o;
    }
    static Operand integer(std::int64_t value) {
        Operand o = number(static_cast<double>(value));
        o.imm = value;
        return o;
    }
    static Operand param(int index) {
        Operand o;
        o.kind = Kind::param;
        o.index = index;
        return o;
    }
    static Operand shared(int buffer, std::int64_t offset) {
        Operand o;
        o.kind = Kind::shared;
        o.index = buffer;
        o.offset = offset;
        return o;
    }
};

struct Instruction;

/// Refers to the record of an instruction. Those of the table last as long as the process; one of inline PTX
/// (k:asm) is freed with the last of these. Thread-safe as std::shared_ptr is.
class InstructionRef {
  public:
    InstructionRef() noexcept = default;
    /// The record must exist.
    InstructionRef(const Instruction* op) noexcept : op_(op) { retain(); }
    InstructionRef(const InstructionRef& other) noexcept : op_(other.op_) { retain(); }
    InstructionRef(InstructionRef&& other) noexcept : op_(std::exchange(other.op_, nullptr)) {}
    InstructionRef& operator=(InstructionRef other) noexcept {
        std::swap(op_, other.op_);
        return *this;
    }
    ~InstructionRef();

    operator const Instruction*() const noexcept { return op_; }
    const Instruction* operator->() const noexcept { return op_; }
    const Instruction& operator*() const noexcept { return *op_; }

  private:
    void retain() const noexcept;

    const Instruction* op_ = nullptr;
};

/// One instruction of a program, and the line of the script that asked for it.
struct Step {
    InstructionRef op;
    Form form;
    std::vector<Operand> operands;  ///< in the order of Instruction::operands
    Reg guard;                      ///< @p or, negated, @!p; absent: always
    bool guard_negated = false;
    Where where;

    const Operand& operand(std::string_view name) const;
};

/// Does the step access memory asynchronously, after the thread has gone on?
bool asynchronous(const Step& step);

enum class Access : std::uint8_t { in, out, inout };

/// What may stand at a place of an instruction.
struct OperandRule {
    enum Kinds : unsigned { reg = 1, list = 2, imm = 4, address = 8, param = 16, shared = 32 };
    std::string_view name;
    Access access = Access::in;
    unsigned kinds = reg;
    Type (*type)(const Form&) = nullptr;  ///< of each register
    int (*count)(const Form&) = nullptr;  ///< of registers in a list; null: one
    /// It is given in the option table, not by position; a destination only if it is wanted.
    bool by_name = false;
    std::optional<std::int64_t> fallback;  ///< the immediate that is used when none is given
    std::optional<Range> imm_range;        ///< the values that an immediate may have
    /// The flag field that is set when this operand is given; a number equal to the fallback does not count.
    std::optional<Field> flag = {};
};

/// The threads that must execute an instruction together.
enum class Participants : std::uint8_t { thread, warp, warpgroup, cta, cluster };

// --- the record ----------------------------------------------------------------------------------------

/// What a step waits for that other threads must do; the likeliest cause of a hang comes first.
enum class Awaits : std::uint8_t {
    registers,  ///< that other warps release
    mbarrier,   ///< a phase of one; such a step tests it, and a loop waits
    cluster,    ///< the barrier of the cluster
    memory,     ///< a value in memory; a loop waits, as for an mbarrier
    barrier,    ///< a barrier of the CTA
    lanes,      ///< other lanes of the warp
    grids,      ///< launches that were started before
    nothing
};

/// What computes an instruction's results, for a model of time (isa/throughput.hpp). By type, where integers
/// and floats have pipes of their own.
enum class Work : std::uint8_t {
    none,        ///< no arithmetic pipe, or one that nobody has measured
    arithmetic,  ///< of integers or floats
    fused,       ///< a product and a sum of floats
    logic,       ///< integers, bits, comparisons, conversions
    quotient,    ///< the assembler expands it
    remainder,   ///< the same
    function,    ///< exponentials, roots, reciprocals, counts of bits
    exchange,    ///< between lanes
    products     ///< of matrices, in a warp
};

/// How an instruction's integer result depends on its sources, for proofs about all values of them.
enum class Shape : std::uint8_t {
    other,
    polynomial,  ///< of degree 2 at most, modulo the width: sums, products, copies
    multiple,    ///< of the first source, by a factor that the second one gives
    quotient,    ///< by an operand, rounded
    remainder,   ///< of a division by an operand
    share,       ///< of the first source, by the second one, rounded down: no more than that source
    bits,        ///< each bit of the result comes from bits of the sources at one place of each
    order,       ///< which of the first two sources is the greater one decides
    smaller,     ///< of two sources: it is the smaller one...
    greater,     ///< ...or the greater one
    lanes        ///< the first source of another lane, which the others name
};

class Algebra;
enum class Term : int;

/// The abstract value of an operand of the current step.
using ValueOf = std::function<Value(const Operand&)>;
/// The bits of an operand of a step that are always the same.
using BitsOf = std::function<KnownBits(const Operand&)>;

struct Instruction {
    std::string_view name;     ///< "wgmma.fence", as in messages and in `wgrun isa`
    std::string_view summary;  ///< one line
    std::string_view section;  ///< of the PTX ISA
    std::vector<Row> rows;     ///< legal forms
    std::vector<OperandRule> operands = {};
    /// Text with holes: {.f} a dot and the field's spelling (nothing if absent or a flag at 0), {f} the
    /// spelling alone, {,f} a comma and the spelling, {%o} the operand o, {,%o} a comma and an optional
    /// operand, {|%o} a bar and an optional one, {{ and }} braces. The template of CUDA likewise; if it is
    /// empty, the PTX text in inline assembly.
    std::string_view ptx;
    std::string_view cuda = {};
    Participants taken_by = Participants::thread;  ///< the threads that execute it together (.aligned)
    /// Lanes that have ended need not take part, although it is .aligned: a barrier waits for those of the
    /// warp that have not (PTX ISA 9.7.13.1, docs/silicon.md).
    bool without_ended = false;
    bool collective = false;  ///< the simulator runs it once for the whole warpgroup
    bool of_cluster = false;  ///< it is of use to the CTAs of a cluster alone
    /// Lanes exchange values: the lanes that an operand names execute it together.
    bool convergent = false;
    /// With `grids`, a launch may begin before the launches before it have ended.
    Awaits awaits = Awaits::nothing;
    bool atomic = false;  ///< it does not race with other atomic accesses
    /// Its registers may be wider than the type that they have here (PTX ISA 9.4.1).
    bool widens = false;
    Work work = Work::none;
    /// Fills fields that follow from the operands (a_in); null: only `type` from the first register.
    void (*infer)(std::span<const Operand>, Form&) = nullptr;
    // How the checker and the simulator interpret a step (engine/isa).
    /// Every effect besides computing its destinations; null: none.
    void (*effects)(const Step&, Effects&) = nullptr;
    /// The abstract value of the destination; null: as uniform as its inputs, otherwise unknown.
    Value (*value)(const Step&, const ValueOf&) = nullptr;
    /// The bits of the destination that are always the same, beyond its width 0; null: nothing is known.
    KnownBits (*known_bits)(const Step&, const BitsOf&) = nullptr;
    /// How its result depends on its sources; null: Shape::other.
    Shape (*shape)(const Form&) = nullptr;
    /// What its first result is, modulo its width, in terms of its sources (isa/algebra.hpp); null: unknown.
    Term (*meaning)(const Step&, Algebra&) = nullptr;
    void (*run)(const Step&, Machine&) = nullptr;
    /// Of inline PTX: what the record was made from, and how many refer to it.
    const InlineRecord* of_text = nullptr;
};

/// Every instruction, by family.
std::span<const Instruction* const> all();

/// The instruction called `name` ("wgmma.fence"), or null.
const Instruction* find(std::string_view name);

/// A method name of the builder, such as "wgmma_fence" or "ld_global_v4_f32": the record and the qualifiers
/// that the name spells. The record is null if no instruction has that name.
struct Spelling {
    const Instruction* op = nullptr;
    Form form;
};
Spelling parse_method(std::string_view method);

/// The method name that spells the qualifiers of `form` in the order of the text, as far as parse_method
/// reads them back from it. Empty if no name leads to `op`.
std::string method_of(const Instruction& op, const Form& form);

/// Completes `asked` to a legal form of `op`. Throws ArgumentError [WG-FORM-01] that names the legal choices.
Form resolve(const Instruction& op, const Form& asked);

/// The row that `form` (complete) belongs to.
const Row& row_of(const Instruction& op, const Form& form);

/// Fills the holes of `text`, a template of step.op (see Instruction::ptx). `print` spells an operand; an
/// optional one that equals its fallback is left out together with its comma.
using PrintOperand = std::function<std::string(const Operand&, const OperandRule&)>;
std::string expand(std::string_view text, const Step& step, const PrintOperand& print);

// --- sums ----------------------------------------------------------------------------------------------

/// How a tensor core adds up the floating-point products of one element of D.
struct Accumulation {
    int block = 0;  ///< products that are added at once; 0: all, in binary64, rounded to nearest once
    /// Bits that an addend keeps below the largest exponent of its block; lower bits are truncated.
    int fraction_bits = 25;
    int result_bits = 23;            ///< fraction bits that a binary32 sum keeps, also by truncation
    bool nearest = false;            ///< addends are rounded to nearest even instead of truncated
    bool accumulator_inside = true;  ///< D is an addend of the first block; else it is added to each sum
    bool operator==(const Accumulation&) const = default;
};

/// How the simulator accumulates: exactly, as an H200 does (with an Accumulation for each type), or by a
/// given model.
struct Numerics {
    enum class Model : std::uint8_t { exact, h200, given } model = Model::exact;
    Accumulation given;
};

}  // namespace wgrun::isa

#pragma GCC visibility pop
