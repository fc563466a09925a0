// A kernel as data: registers, parameters, shared buffers, and basic blocks of steps.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wgrun/dtype.hpp"
#include "wgrun/isa.hpp"
#include "wgrun/target.hpp"
#include "wgrun/tile.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

using isa::Operand;
using isa::Reg;
using isa::Step;

struct RegisterInfo {
    isa::Type type;  ///< as declared: pred, b16, b32, f32, u64, ...
    Where where;     ///< where it was made
};

/// How the bulk-copy engine divides a tensor into boxes: the contents of a tensor map besides the tensor
/// itself (PTX ISA 5.5.8). Dimension 0 is the contiguous one, the last of the tensor's shape.
struct TensorBox {
    Dtype dtype = Dtype::bf16;
    std::vector<std::int64_t> extents;  ///< of the box, in elements: 1 to 5 of them, each 1 to 256. What is
                                        ///< copied: steps do not count
    SwizzleMode swizzle = SwizzleMode::none;
    bool nan_fill = false;  ///< elements outside the tensor are read as NaN instead of 0
    /// From one element that is copied to the next, elements of dimensions 1 and up of the tensor; the first
    /// is ignored. Empty: 1 each.
    std::vector<std::int64_t> steps{};
    /// Of an im2col map (PTX ISA 5.5.4): the pixels of a convolution's input, dimensions 1 (W) to rank - 2,
    /// along which copies go line by line, from image to image (dimension rank - 1).
    struct Pixels {
        /// The first and the last of them, counted from the first and the last of the tensor; W first.
        std::vector<std::int64_t> lower, upper;
        bool operator==(const Pixels&) const = default;
    };
    /// With it the extents are channels, pixels, and 1 for each other dimension.
    std::optional<Pixels> pixels{};
    bool operator==(const TensorBox&) const = default;

    /// Returns the bytes that a copy of the box transfers and an mbarrier counts.
    std::int64_t bytes() const;
    /// Returns the bytes from one line, along dimension 0, to the next in shared memory: with a swizzle its
    /// width, however short the lines are (tests/gpu/async.lua).
    std::int64_t pitch() const;
    /// Returns the bytes of shared memory from the first line to the end of the last one's pitch.
    std::int64_t span() const;
    /// Calls f(address, bytes) for each piece of shared memory that a box at `address` (bytes) fills.
    void for_each_run(std::uint32_t address,
                      const std::function<void(std::uint32_t, std::uint32_t)>& f) const;
};

/// Throws ArgumentError for a box that no tensor map can have (limits of cuTensorMapEncodeTiled).
void check_box(const TensorBox& box);

/// A kernel parameter. Pointers and tensor maps have the element type that their tensors must have.
struct Param {
    std::string name;
    isa::Type type;                ///< u64 for pointers, tensormap for tensor maps
    std::optional<Dtype> pointee;  ///< of a pointer
    std::optional<TensorBox> box;  ///< of a tensor map; nothing: the launch gives it
    bool constant = false;         ///< the kernel only reads through this pointer
    Where where;
    std::int64_t structure = 0;        ///< bytes of a structure that is passed by value; 0: it is none
    std::int64_t structure_align = 1;  ///< bytes; of a tensor map, if it is more than 64
    /// It is no parameter of the text but a pointer to a variable of its module (PTX ISA 5.1.3, 5.1.4), which
    /// whoever runs the program makes. Such parameters come last.
    bool variable = false;
    bool any = false;          ///< of 64 bits: a launch passes a number, or a pointer to elements of any type
    bool either_sign = false;  ///< an integer of a compiler's text, where an int is .u32, too
    /// Launches pass at least that; 0: whatever they like.
    std::int64_t least = 0;

    /// Of an integer, in proofs (docs/verdicts.md): it is at least that.
    std::int64_t taken_least() const { return least > 1 ? least : 1; }
    /// Whether launches may pass that for an integer, for which `least` decides. Of 64 unsigned bits half are
    /// negative here.
    bool is_enough(std::int64_t value) const;
    std::int64_t bytes() const;  ///< of its value in the parameter space
    std::int64_t align() const;  ///< of its place there, bytes
};

/// A piece of the CTA's dynamic shared memory.
struct SharedBuffer {
    std::string name;
    std::int64_t offset = 0;  ///< bytes from the start of the dynamic shared memory
    std::int64_t bytes = 0;
    std::int64_t align = 16;   ///< bytes
    std::optional<Tile> tile;  ///< the layout that it was declared with
    Where where;
};

using BlockId = std::uint32_t;
inline constexpr BlockId no_block = UINT32_MAX;

/// What texts show at the beginning of a block.
struct Label {
    enum class Kind : std::uint8_t {
        none,       ///< nothing: only the previous block's end leads here
        loop,       ///< beginning of every iteration of a loop
        next,       ///< end of every iteration, also for threads that have left the body for it
        after,      ///< after the loop
        otherwise,  ///< else
        joined,     ///< after the if
        place,      ///< target of jumps, of no construct
    };
    Kind kind = Kind::none;
    std::uint32_t number = 0;  ///< of the loop, if or place; the labels of a construct share it
    std::string name;          ///< of a place, as PTX spells it
    Where where;               ///< of the construct or the place
};

/// Steps that are executed in order, and what follows them.
struct BasicBlock {
    enum class End : std::uint8_t {
        jump,    ///< to `taken`
        branch,  ///< to `taken` where the condition holds, else to `otherwise`
        exit,    ///< the thread ends (PTX ISA 9.7.13)
    };
    std::vector<Step> steps;
    End end = End::exit;
    bool negated = false;  ///< the condition holds where the register is false
    Reg condition;         ///< of a branch
    BlockId taken = no_block, otherwise = no_block;
    Where where;  ///< of the end
    Label label;

    /// Calls visit(block, arm) for each successor: arm 0 for `taken`, 1 for `otherwise`.
    template <class Visit>
    void for_each_successor(Visit visit) const {
        if (end != End::exit) visit(taken, 0);
        if (end == End::branch) visit(otherwise, 1);
    }
};

struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;
    bool operator==(const Dim3&) const = default;
    std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
};

/// A message of threads: k:print, a failed assertion, k:trap. The last two end the kernel.
struct Message {
    enum class Kind : std::uint8_t { print, assertion, trap };
    /// Text, followed by the values of a printf conversion, if there is one.
    struct Piece {
        std::string text;
        std::string conversion;  ///< "%5.2f", or empty
        int values = 0;          ///< number of values that it prints
        bool list = false;       ///< prints them in braces
    };
    Kind kind = Kind::print;
    std::vector<Piece> pieces;
    std::vector<isa::Type> types;  ///< of the values, as their registers are declared
    Where where;
};

/// The script's name for some registers, from a line on: `local acc = k:regs("f32", 64)`.
struct RegisterName {
    std::string name;
    std::vector<isa::Reg> regs;
    bool array = false;  ///< an array, possibly of a single register
    Where where;
};

/// The most dynamic shared memory that a CTA can have, in bytes.
inline constexpr std::int64_t max_shared_bytes = sm_90a.cta_shared();
/// A buffer in shared memory has an alignment up to this: there the memory begins.
inline constexpr std::int64_t max_shared_align = sm_90a.shared_base;

/// What a kernel that was translated from PTX takes for granted, since only its launch decides it.
struct Assumed {
    bool threads = false;  ///< of a CTA
    bool cluster = false;  ///< the CTAs of one
};

/// A kernel as data. It is made by a Builder and immutable, so any number of threads may read it.
class Program {
  public:
    /// Of a kernel that a compiler has made, and a script says again (docs/foreign.md): rules that compilers
    /// keep only in part warn there, and what follows from an assumption is not reported.
    const std::optional<Assumed>& translated() const { return translated_; }
    const std::string& name() const { return name_; }
    int threads() const { return threads_; }  ///< of a CTA
    Dim3 block() const { return block_; }     ///< the threads of a CTA by dimension
    Dim3 cluster() const { return cluster_; }
    /// The CTAs that its grids have along each dimension; 0: a launch may have any number.
    Dim3 grid_sizes() const { return grid_; }
    /// The CTAs of its only grid; nothing: launches may have several.
    std::optional<Dim3> grid() const { return grid_.volume() == 0 ? std::nullopt : std::optional(grid_); }
    /// A grid that a launch may have: `wanted`, but for the sizes that are given.
    Dim3 grid_like(Dim3 wanted) const;
    const std::vector<RegisterInfo>& registers() const { return registers_; }
    const std::vector<Param>& params() const { return params_; }
    /// Returns where parameter `index` begins in the parameter space, in bytes; params().size(): the end.
    std::int64_t param_offset(int index) const;
    const std::vector<SharedBuffer>& shared() const { return shared_; }
    std::int64_t shared_bytes() const;  ///< dynamic shared memory in total, bytes
    std::int64_t shared_align() const;  ///< alignment of its start, bytes
    /// How many of the parameters a launch passes: all but those that point to variables of the module.
    std::size_t passed_params() const;
    std::int64_t local_bytes() const { return local_bytes_; }           ///< local memory of a thread, bytes
    std::int64_t local_align() const { return local_align_; }           ///< alignment of its start, bytes
    const std::vector<Message>& messages() const { return messages_; }  ///< steps refer to them by index
    /// Returns the names in order; of several equal names, each holds from its line on.
    const std::vector<RegisterName>& names() const { return names_; }
    /// Returns the blocks in text order; the kernel begins with the first. They may form any graph: the
    /// script's constructs remain in the labels alone, for printing.
    const std::vector<BasicBlock>& blocks() const { return blocks_; }
    Where where() const { return where_; }
    isa::Arch arch() const { return arch_; }  ///< the chip that its text is for
    /// Returns the lowest PTX ISA version that has every form used.
    isa::PtxVersion min_ptx() const;

  private:
    friend class Builder;
    friend class Rewriting;  // program/rewriting.hpp
    std::string name_;
    int threads_ = sm_90a.warpgroup;
    Dim3 block_{static_cast<std::uint32_t>(sm_90a.warpgroup), 1, 1};
    std::int64_t local_bytes_ = 0, local_align_ = 1;
    Dim3 cluster_;
    Dim3 grid_{0, 0, 0};  ///< 0: any
    std::vector<RegisterInfo> registers_;
    std::vector<Param> params_;
    std::vector<SharedBuffer> shared_;
    std::vector<Message> messages_;
    std::vector<RegisterName> names_;
    std::vector<BasicBlock> blocks_;
    std::optional<Assumed> translated_;
    isa::Arch arch_{90, true};
    Where where_;
};

/// Calls `visit` for every step, in text order.
void for_each_step(const Program& program, const std::function<void(const Step&)>& visit);

/// What a thread leaves.
enum class Leave : std::uint8_t {
    loop,       ///< the innermost enclosing loop: break
    iteration,  ///< that of the innermost enclosing loop: continue
    kernel,     ///< the thread ends
};

class Constructs;  // program/constructs.hpp

/// Builds a program step by step. All errors are ArgumentErrors, to which the caller adds the place. A
/// Builder is for one thread at a time.
class Builder {
  public:
    /// threads: per CTA, 1 to 1024. Throws ArgumentError when the CTA or the cluster cannot be launched.
    Builder(std::string name, int threads, Dim3 cluster, Where where);
    /// The same for CTAs of several dimensions: `block` threads, 1024, 1024 and 64 at most, 1024 in all.
    Builder(const std::string& name, Dim3 block, Dim3 cluster, Where where);

    /// Sets the line of the script that the following steps come from.
    void at(Where where) { where_ = std::move(where); }
    Where where() const { return where_; }

    Reg reg(isa::Type type);                                    ///< declared as isa::register_type(type)
    std::vector<Reg> regs(isa::Type type, std::int64_t count);  ///< consecutive, 1 to 1024
    isa::Type type_of(Reg reg) const;
    int param(std::string name, isa::Type type, std::optional<Dtype> pointee, bool constant = false);
    /// Adds a parameter of 64 bits for which a launch passes a number, or a pointer to elements of any type.
    int any_param(std::string name);
    /// Adds an integer of which the type does not tell the sign.
    int integer_param(std::string name, isa::Type type);
    /// Launches pass at least that for parameter `index`. Throws ArgumentError if it is no integer, and for a
    /// number that is below 1, or that its type does not have.
    void at_least(int index, std::int64_t least);
    /// Adds a tensor map whose box the launch gives.
    int tensor_map(std::string name, std::int64_t align);
    /// Adds a structure of `bytes` bytes that is passed by value and returns its index. Its parts are read by
    /// ld with an address in the parameter space. Throws ArgumentError for a size below 1, an alignment that
    /// is no power of two up to 128, or more parameters than a kernel may have.
    int structure(std::string name, std::int64_t bytes, std::int64_t align);
    /// Adds a tensor-map parameter and returns its index. Throws ArgumentError for an impossible box, and for
    /// an alignment that is neither 64 nor 128 bytes.
    int tensor_map(std::string name, TensorBox box, bool constant, std::int64_t align = 64);
    /// Reserves shared memory (bytes) after the existing buffers and returns the buffer's index. Throws
    /// ArgumentError when the total exceeds max_shared_bytes.
    int shared(std::string name, std::int64_t bytes, std::int64_t align, const std::optional<Tile>& tile);
    /// Reserves `bytes` of each thread's local memory after the existing ones and returns their offset from
    /// its start, which the step `local.address` takes. Throws ArgumentError when the total exceeds 512 KiB.
    std::int64_t local(std::int64_t bytes, std::int64_t align);
    const SharedBuffer& shared_buffer(int index) const {
        return program_.shared_[static_cast<std::size_t>(index)];
    }
    const Param& param_info(int index) const { return program_.params_[static_cast<std::size_t>(index)]; }

    /// Adds one instruction. `operands` are in the order of op.operands; a destination left as Kind::none
    /// gets fresh registers. Returns the finished step, which lives until the next call. Throws ArgumentError
    /// (WG-FORM-01, -02) for an illegal form or operand.
    const Step& add(const isa::Instruction& op, isa::Form asked, std::vector<Operand> operands,
                    Reg guard = {}, bool guard_negated = false);

    /// Each executing thread says `format`, as in printf, with the values: registers, or lists of registers
    /// for a conversion that prints them all in braces. %d and %u take integers; %f, %e and %g numbers; %x
    /// the bits of any register; %s prints by type. An assertion is said by those threads whose `condition`
    /// (a predicate) is false. Throws ArgumentError where format and values do not match.
    void say(Message::Kind kind, std::string_view format, const std::vector<Operand>& values,
             const Operand& condition = {}, Reg guard = {}, bool guard_negated = false);
    void breakpoint();  ///< a place for a debugger to stop at
    /// Records the script's name for registers, for a debugger alone.
    void name(RegisterName name) { program_.names_.push_back(std::move(name)); }
    /// The kernel is for grids of these sizes alone (CTAs; 0: any). Throws ArgumentError where they are no
    /// whole number of clusters.
    void only_grid(Dim3 grid);
    /// The kernel says again what a compiler has made.
    void translated(Assumed assumed) { program_.translated_ = assumed; }
    /// The kernel is for another chip than sm_90a.
    void arch(isa::Arch arch) { program_.arch_ = arch; }

    /// while (head; condition) { body; next }. The head runs before every test, and `next` at the end of
    /// every iteration, whether a thread comes from the end of the body or leaves the iteration.
    void begin_loop();                   ///< the head follows
    void loop_condition(Reg condition);  ///< ends the head; the body follows
    void loop_next();                    ///< ends the body; the end of every iteration follows
    void end_loop();
    void begin_if(Reg condition, bool negated = false);
    void begin_else();
    void end_if();
    /// Makes the executing threads leave. Throws ArgumentError for a loop or iteration outside all loops.
    void leave(Leave what);

    // Control flow of any shape, for programs from elsewhere; it may also be used inside constructs.
    /// Returns a new label, to be placed later. `name`: its spelling in PTX, or empty. Throws ArgumentError
    /// for a name that is taken or that PTX does not allow.
    int label(std::string name = {});
    /// Places the label here. Throws ArgumentError if it has a place already.
    void place(int label);
    /// Jumps to the label; with a condition (a predicate), only the threads for which it holds.
    void jump(int label, Reg condition = {}, bool negated = false);

    /// Returns the finished program and leaves the builder empty. Throws ArgumentError if a construct is
    /// open, a label that is jumped to has no place, or the instructions are too many.
    Program finish();

  private:
    BasicBlock& block();
    void check_parameter_name(const std::string& name) const;
    int add(Param param);
    Program program_;
    Where where_;
    std::unique_ptr<Constructs> constructs_;

  public:
    ~Builder();
    Builder(Builder&&) noexcept;
    Builder& operator=(Builder&&) noexcept;
};

}  // namespace wgrun

#pragma GCC visibility pop
