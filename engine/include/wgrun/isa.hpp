// The instruction set: one record says all that the engine knows of an instruction.
//
// A record has its legal forms (rows), its operands, its text, its effects and its meaning. The builder, the
// checker, the emitters and the simulator are frameworks over these records: none of them names one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun::isa {

// --- types and qualifiers ------------------------------------------------------------------------------

/// Types as PTX spells them, of registers and of instructions (".f32").
enum class Type : std::uint8_t {
    none,
    pred,
    b1,
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
    b64,
    u64,
    s64,
    f64,
    tensormap,  ///< the 128 bytes of a tensor map: of a kernel parameter alone
};

std::string_view to_string(Type type);
std::optional<Type> parse_type(std::string_view name);
int bits(Type type);        ///< width of a value; pred counts as 1
bool is_float(Type type);   ///< f16, bf16, tf32, f32, f64 and the packed ones
bool is_signed(Type type);  ///< s8, s16, s32, s64

/// The type a register is declared with to hold a value of `type` (bf16x2 -> b32, tf32 -> b32, bf16 -> b16).
Type register_type(Type type);

/// Can a register declared `reg` stand where an instruction wants `wanted`? PTX asks for equal width, and for
/// a matching kind unless one of them is a bit type (PTX ISA 9.4, operand size and type agreement). An f32
/// register cannot hold a tf32, an f16x2 or a bf16x2.
bool agrees(Type reg, Type wanted);

/// State spaces as they are spelled; shared_cta is "shared::cta", which `shared` alone also means in ld and
/// st.
enum class Space : std::uint8_t { global, shared, shared_cta, shared_cluster };
enum class Proxy : std::uint8_t { generic, async };

/// Threads of the CTA, the cluster, the GPU, the system (PTX ISA 8.5), each with those before.
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };

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
    count_
};
inline constexpr int field_count = static_cast<int>(Field::count_);

std::string_view to_string(Field field);
std::optional<Field> parse_field(std::string_view name);
/// How `value` of `field` is spelled in PTX and in scripts: (type, f32) "f32", (n, 64) "64", (cmp, 2) "lt".
std::string spelled(Field field, int value);
/// The value of `field` spelled `text`, or nothing.
std::optional<int> parse_value(Field field, std::string_view text);

/// The qualifiers of one step: a value for each field, or absent.
class Form {
  public:
    /// The value of a field that is not there.
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

/// The values lo, lo + step, ..., hi.
struct Range {
    int lo, hi, step = 1;
};

/// What a field may be in a row. With a fallback it may be left out, and with Form::absent for one it then
/// stays out; a single value is filled in by itself.
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

    const Choice* find(Field field) const;
};

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
    std::int64_t offset = 0;  ///< address, shared: bytes to add
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

/// What an access or a fence says of the order of memory (PTX ISA 8). Weak accesses say nothing.
struct MemoryOrder {
    bool strong = false;  ///< may meet with others that are strong, in the scopes of both
    bool acquire = false, release = false;
    Scope scope = Scope::cta;
};

/// One instruction of a program, and the line of the script that asked for it.
struct Step {
    const Instruction* op = nullptr;
    Form form;
    std::vector<Operand> operands;  ///< in the order of Instruction::operands
    Reg guard;                      ///< @p or, negated, @!p; absent: always
    bool guard_negated = false;
    Where where;

    const Operand& operand(std::string_view name) const;
};

enum class Access : std::uint8_t { in, out, inout };

/// What may stand at a place of an instruction.
struct OperandRule {
    enum Kinds : unsigned { reg = 1, list = 2, imm = 4, address = 8, param = 16, shared = 32 };
    std::string_view name;
    Access access = Access::in;
    unsigned kinds = reg;
    Type (*type)(const Form&) = nullptr;  ///< of each register
    int (*count)(const Form&) = nullptr;  ///< of registers in a list; null: one
    /// Given in the option table, not by position; a destination only if it is wanted.
    bool by_name = false;
    std::optional<std::int64_t> fallback;  ///< an immediate taken when it is not given
    std::optional<Range> imm_range;        ///< what an immediate may be
    /// The flag that says that this operand is given; a number that is the fallback does not count.
    std::optional<Field> flag = {};
};

// --- effects: what the checker reads -------------------------------------------------------------------

enum class Participants : std::uint8_t { thread, warp, warpgroup, cta, cluster };

/// A generic-proxy access of each executing thread to `bytes` consecutive bytes.
struct MemoryAccess {
    Space space;
    bool write;
    const Operand* address;
    int bytes;
};

/// An asynchronous matrix multiply: accumulators, A's fragment registers (or none), shared-memory operands.
struct AsyncMma {
    const std::vector<Reg>* accumulators;
    const std::vector<Reg>* a_fragment;  ///< null when A comes from shared memory
    const Operand* a_descriptor;         ///< null when A comes from registers
    const Operand* b_descriptor;
    const Operand* metadata;   ///< the register of a sparse A; null when A is dense
    bool reads_accumulators;   ///< false when scale-d is the constant 0
    int rows_a, rows_b;        ///< M and N
    int k_bytes_a, k_bytes_b;  ///< bytes of K that are stored: a sparse A has half of its K
    int element_bits_a, element_bits_b;
    bool a_mn_major, b_mn_major;
    int same_shape_key;  ///< equal for instructions of the same shape
};

/// Receives what a step does besides reading and writing its operand registers.
class Effects {
  public:
    virtual ~Effects() = default;
    virtual void memory(const MemoryAccess& access) = 0;
    virtual void order_registers() = 0;  ///< wgmma.fence
    virtual void issue_mma(const AsyncMma& mma) = 0;
    virtual void commit_mma() = 0;                             ///< wgmma.commit_group
    virtual void wait_mma(int pending) = 0;                    ///< wgmma.wait_group N
    virtual void proxy_fence(std::optional<Space> space) = 0;  ///< fence.proxy.async; no space: all
    /// cp.async: the executing threads' copies write there later, through the generic proxy.
    virtual void copy_async(const MemoryAccess& access) = 0;
    virtual void commit_copies() = 0;  ///< cp.async.commit_group
    /// cp.async.wait_group N; nothing: wait_all, also for what is in no group.
    virtual void wait_copies(std::optional<int> pending) = 0;
    virtual void arrive_copies() = 0;  ///< cp.async.mbarrier.arrive: an mbarrier waits for them
    virtual void barrier(const Operand& id, const Operand& threads) = 0;  ///< bar.sync
    /// A wait for a phase of an mbarrier or for the cluster: those who pass know what came before the
    /// arrivals.
    virtual void await_arrivals() = 0;
};

// --- what a value is known to be: uniformity and provenance --------------------------------------------

/// Over which threads a value is the same. The wider, the greater.
enum class Uniform : std::uint8_t { thread, warp, warpgroup, cta, grid };
std::string_view to_string(Uniform uniform);

/// Abstract value of a register, as far as the checker follows it.
struct Value {
    Uniform uniform = Uniform::thread;
    std::optional<std::int64_t> constant;  ///< 32-bit values are sign-extended
    /// s >= 0: it depends on the thread through tid.x >> s alone; with a constant c it is (tid.x >> s) + c.
    int thread_shift = -1;
    int buffer = -1;                     ///< an address inside (or descriptor of) this shared buffer...
    bool is_descriptor = false;          ///< ...a matrix descriptor, when set
    std::optional<std::int64_t> offset;  ///< bytes from the buffer's start, when known
};

/// Gives the abstract value of an operand of the step at hand.
using ValueOf = std::function<Value(const Operand&)>;

// --- meaning: what the simulator runs ------------------------------------------------------------------

/// How a tensor core adds up the floating-point products of one element of D.
struct Accumulation {
    int block = 0;  ///< products that are added at once; 0: all, in binary64, and rounded to nearest once
    /// An addend keeps this many bits below the largest exponent of its block; what lies lower is cut off.
    int fraction_bits = 25;
    int result_bits = 23;            ///< fraction bits that a binary32 sum keeps, cut off likewise
    bool nearest = false;            ///< addends are rounded to nearest even instead of being cut off
    bool accumulator_inside = true;  ///< D is an addend of the first block; else it is added to each sum
    bool operator==(const Accumulation&) const = default;
};

/// Whose sums the simulator makes: exact ones, an H200's (which has an Accumulation for each type), or
/// those of a model that is given.
struct Numerics {
    enum class Model : std::uint8_t { exact, h200, given } model = Model::exact;
    Accumulation given;
};

inline constexpr int lanes = 32;
using Mask = std::uint32_t;

using Addresses = std::array<std::uint64_t, lanes>;
using Counts = std::array<std::int64_t, lanes>;

/// One copy by the bulk-copy engine (PTX ISA 9.7.9.25).
struct BulkCopy {
    enum class Direction : std::uint8_t { to_shared, to_global, to_cluster, prefetch };
    enum class Reduction : std::uint8_t { none, add, min, max, inc, dec, bit_and, bit_or, bit_xor };
    Direction direction = Direction::to_shared;
    Reduction reduction = Reduction::none;      ///< of to_global
    Type type = Type::none;                     ///< of a linear reduction; a tensor map has its own
    int lane = 0;                               ///< that issues it
    int dims = 0;                               ///< of the tensor; 0: a linear copy
    std::uint64_t tensor_map = 0;               ///< its address
    std::array<std::int32_t, 5> coordinates{};  ///< elements, the contiguous dimension first
    std::uint64_t global = 0;                   ///< address, of a linear copy
    std::uint32_t shared = 0;                   ///< address; of the other CTA for to_cluster's destination
    std::uint32_t source = 0;                   ///< address in the CTA's own shared memory, of to_cluster
    std::uint32_t bytes = 0;                    ///< of a linear copy
    std::uint32_t mbarrier = 0;                 ///< address, of to_shared and to_cluster
    std::uint16_t multicast = 0;                ///< bit i: to the CTA of rank i as well; 0: the executing one
};

/// What st.async and red.async do to the bytes of another CTA of the cluster (PTX ISA 9.7.9.12, 9.7.13.7).
struct AsyncStore {
    BulkCopy::Reduction reduction = BulkCopy::Reduction::none;
    Type type = Type::none;  ///< of the reduction
    int bytes = 0;           ///< of each lane: 4, 8 or 16
};

/// What a step can do to the machine. The simulator implements it; a record's `run` calls it. All of it
/// speaks of the executing warp; in a step that a whole warpgroup executes at once, of the warp chosen by
/// select().
class Machine {
  public:
    virtual ~Machine() = default;

    virtual Mask active() const = 0;    ///< lanes that execute the step (guard applied)
    virtual Mask existing() const = 0;  ///< lanes of the warp: all but in the last warp of an odd CTA
    /// The 32 lanes of a register: elements of 4 bytes for types up to 32 bits and predicates, else of 8.
    virtual const void* read(Reg reg) = 0;
    virtual void* write(Reg reg) = 0;  ///< only the active lanes may be changed
    virtual std::uint32_t special(int sreg, int lane) = 0;
    virtual std::uint64_t param(int index) = 0;
    virtual std::uint32_t shared_address(int buffer) = 0;  ///< in the shared window, bytes

    /// Generic-proxy access: lane l moves `bytes` bytes at address[l] from or to data + l * stride.
    virtual void load(Space space, const Addresses& address, int bytes, void* data, int stride) = 0;
    virtual void store(Space space, const Addresses& address, int bytes, const void* data, int stride) = 0;

    /// Atomic access: change(l, place) for each active lane l in order, where `place` holds the `bytes` bytes
    /// at address[l], which no other update of the grid accesses meanwhile.
    virtual void update(Space space, const Addresses& address, int bytes,
                        const std::function<void(int, std::byte*)>& change) = 0;

    virtual void barrier(std::uint32_t id, std::uint32_t threads) = 0;
    virtual void barrier_arrive(std::uint32_t id, std::uint32_t threads) = 0;  ///< does not wait
    virtual void converge() {}  ///< the active lanes wait for each other
    virtual void proxy_fence(std::optional<Space> space) = 0;
    /// Between the accesses before and after it; those of the step itself are ordered by its form.
    virtual void fence(const MemoryOrder&) {}

    // mbarriers (PTX ISA 9.7.13.15), for every active lane. Addresses are of the shared window; those that
    // map_shared gave lie in another CTA of the cluster.
    virtual void mbarrier_init(const Addresses& address, const Counts& arrivals) = 0;
    virtual void mbarrier_inval(const Addresses& address) = 0;
    /// Adds `bytes` to the tx-count, then arrives `arrivals` times; 0 is nothing.
    virtual void mbarrier_arrive(const Addresses& address, const Counts& bytes, const Counts& arrivals) = 0;
    /// The active lanes for which the phase of that parity is complete. Nothing: the warp sleeps until a
    /// barrier moves on, and executes the step again.
    virtual std::optional<Mask> mbarrier_wait(const Addresses& address, const Counts& parity) = 0;
    virtual void mbarrier_fence_init() = 0;  ///< fence.mbarrier_init

    // The bulk-copy engine. Groups belong to the lane that issues.
    virtual void bulk_copy(const BulkCopy& copy) = 0;
    virtual void bulk_commit() = 0;
    /// Waits until at most `pending` groups run. The warp may sleep and execute the step again.
    virtual void bulk_wait(int pending, bool read) = 0;

    // Copies by threads, through the generic proxy (cp.async, PTX ISA 9.7.9.25.3). Groups belong to the lane
    // that issues.
    /// For each active lane: `from_bytes` bytes of global memory, and zeros up to `bytes` (4, 8 or 16), come
    /// to shared memory some time later.
    virtual void copy_async(const Addresses& to, const Addresses& from, int bytes,
                            const Counts& from_bytes) = 0;
    virtual void commit_copies() = 0;
    /// Waits until at most `pending` groups run; nothing: until all copies have come, also those in no group.
    /// The warp may sleep and execute the step again.
    virtual void wait_copies(std::optional<int> pending) = 0;
    /// Arrives once when all copies of the lane so far have come; with `increase` one arrival more is
    /// expected in this phase.
    virtual void arrive_copies(const Addresses& mbarrier, bool increase) = 0;

    /// For each active lane the bytes at data + lane * stride come to the address some time later, and count
    /// for the mbarrier, which lies in the same CTA.
    virtual void store_async(const AsyncStore& store, const Addresses& to, const Addresses& mbarrier,
                             const void* data, int stride) = 0;

    // Clusters.
    virtual std::uint32_t map_shared(std::uint32_t address, std::uint32_t rank) = 0;  ///< mapa
    virtual void cluster_arrive() = 0;
    virtual void cluster_wait() = 0;  ///< the warp may sleep and execute the step again
    /// setmaxnreg to `registers` a thread. While the pool is empty the warp sleeps, and executes the step
    /// again.
    virtual void set_registers(int registers, bool increase) = 0;
    virtual void order_registers() = 0;

    virtual void select(int warp_of_group) = 0;  ///< 0..3, in a step of a whole warpgroup
    /// Opens an asynchronous operation of the warpgroup: the accesses below belong to it until it is waited
    /// for.
    virtual void begin_mma(const AsyncMma& mma) = 0;
    /// Reads for the warps of the group whose bits are set in `warps` (bit w: warp w; 15 for operand B).
    virtual const std::byte* async_read_shared(std::uint32_t address, int bytes, unsigned warps) = 0;
    virtual const void* async_read(Reg reg, Mask read) = 0;  ///< the values of these lanes are used
    virtual void* async_write(Reg reg) = 0;
    virtual void end_mma() = 0;
    virtual void commit_mma() = 0;
    virtual void wait_mma(int pending) = 0;
    virtual Numerics numerics() const { return {}; }
};

// --- the record ----------------------------------------------------------------------------------------

struct Instruction {
    std::string_view name;     ///< "wgmma.fence": how messages and `wgrun isa` call it
    std::string_view summary;  ///< one line
    std::string_view section;  ///< of the PTX ISA
    std::vector<Row> rows;     ///< legal forms
    std::vector<OperandRule> operands = {};
    /// Text with holes: {.f} a dot and the field's spelling (nothing if absent or a flag at 0), {f} the
    /// spelling alone, {,f} a comma and the spelling, {%o} the operand o, {,%o} a comma and an optional
    /// operand, {|%o} a bar and an optional one. CUDA's form likewise; empty: the PTX text in inline
    /// assembly.
    std::string_view ptx;
    std::string_view cuda = {};
    Participants taken_by = Participants::thread;  ///< who must execute it together (.aligned)
    bool collective = false;                       ///< the simulator runs it once for the whole warpgroup
    bool writes_memory = false;                    ///< volatile in inline assembly, with a memory clobber
    bool awaits_grids = false;  ///< waits for the grids before: a launch may begin beside their end
    bool atomic = false;        ///< does not race with others that are atomic
    bool counted = false;       ///< brings bytes to shared memory later, which an mbarrier counts
    /// Fills fields that follow from the operands (a_in); null: only `type` from the first register.
    void (*infer)(std::span<const Operand>, Form&) = nullptr;
    void (*effects)(const Step&, Effects&) = nullptr;
    /// Abstract value of the destination; null: uniform as its inputs, otherwise unknown.
    Value (*value)(const Step&, const ValueOf&) = nullptr;
    void (*run)(const Step&, Machine&) = nullptr;
};

/// Every instruction, by family.
std::span<const Instruction* const> all();

/// The instruction called `name` ("wgmma.fence"), or null.
const Instruction* find(std::string_view name);

/// A method name of the builder, such as "wgmma_fence" or "ld_global_v4_f32": the record and the qualifiers
/// that the name spells. Null record when no instruction is called so.
struct Spelling {
    const Instruction* op = nullptr;
    Form form;
};
Spelling parse_method(std::string_view method);

/// Completes `asked` to a legal form of `op`. Throws ArgumentError [WG-FORM-01] that names the legal choices.
Form resolve(const Instruction& op, const Form& asked);

/// The row that `form` (complete) belongs to.
const Row& row_of(const Instruction& op, const Form& form);

/// What the qualifiers of a step say of the order of memory.
MemoryOrder order_of(const Step& step);

/// Fills the holes of `text`, a template of step.op (see Instruction::ptx). `print` spells an operand; what
/// it says of one that is optional and equals its fallback is left out, comma and all.
using PrintOperand = std::function<std::string(const Operand&, const OperandRule&)>;
std::string expand(std::string_view text, const Step& step, const PrintOperand& print);

}  // namespace wgrun::isa
