// Kernels that a host writes in C++, as scripts write them: instructions by their names, registers that can
// be computed with, loops and branches with bodies. docs/embedding.md has an example.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wgrun/call.hpp"
#include "wgrun/program.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

class KernelBuilder;
struct Here;

/// A line of the host's source: where a default argument stands that current() makes. As
/// std::source_location, which clang 14 has not.
struct SourceLine {
    const char* file = "";
    int line = 0;
    static constexpr SourceLine current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

/// What an instruction takes and gives: a register, a list of registers, a shared buffer, a number; or
/// nothing. Values are copied freely, and are of use until their builder has finished.
class Value {
  public:
    Value() = default;
    template <std::integral T>
    Value(T number) : operand_(Operand::integer(static_cast<std::int64_t>(number))) {}
    template <std::floating_point T>
    Value(T number) : operand_(Operand::number(static_cast<double>(number))) {}
    /// A list of registers and numbers, as vectors and matrices are. Throws ArgumentError for lists and
    /// buffers in it.
    Value(const std::vector<Value>& list);

    bool empty() const { return operand_.kind == Operand::Kind::none; }
    /// The registers of a list; 0 of what is none.
    std::size_t size() const { return operand_.list.size(); }
    /// Register `index` of a list. Throws ArgumentError beyond its end.
    Value operator[](std::size_t index) const;
    /// The type of a register, as it is declared. Throws ArgumentError for other values.
    isa::Type type() const;
    Reg reg() const { return operand_.reg; }

    /// A predicate that holds where this one does not. No instruction.
    Value operator!() const;

  private:
    friend class KernelBuilder;
    friend Value binary(std::string_view method, const Here& a, const Here& b);
    friend Value unary(std::string_view method, const Here& a);
    Operand operand_;
    std::vector<Operand> numbers_;  ///< of a list: where a register is absent
    KernelBuilder* of_ = nullptr;   ///< null: it is of no kernel
};

/// A value, and the line of the host's source where it is used.
struct Here {
    template <class T>
    requires(std::convertible_to<const T&, Value> && !std::same_as<T, Here>)
        Here(const T& of, SourceLine where = SourceLine::current())
        : value(of), at(where) {}
    Value value;
    SourceLine at;
};

/// A name of an instruction, with its line.
struct Method {
    template <class T>
    requires std::convertible_to<const T&, std::string_view> Method(const T& of,
                                                                    SourceLine where = SourceLine::current())
        : name(of), at(where) {}
    std::string_view name;
    SourceLine at;
};

/// Options of a call, as scripts give them in a table after the operands: qualifiers and operands by their
/// names, offset and guard.
struct With {
    std::vector<std::int64_t> offset{};  ///< bytes, for each address
    Value guard{};                       ///< a predicate: only threads where it holds execute the instruction
    std::vector<std::pair<std::string, std::string>> qualifiers{};  ///< {"type", "f32"}
    std::vector<std::pair<std::string, Value>> operands{};          ///< {"scale_d", 0}
};

/// A place that jumps lead to.
struct Place {
    int index = -1;
};

/// Writes a kernel. All errors are ArgumentErrors, whose findings name the line of the host's source: an
/// unknown instruction with the nearest one, an illegal form or operand (WG-FORM-01, -02), a value of another
/// builder. For one thread at a time; its values refer to it, so it stays where it is.
///
/// Instructions come in the order in which C++ evaluates the calls, which it leaves open for the arguments of
/// a call and the operands of an operator: where their order matters, they stand in statements of their own.
class KernelBuilder {
  public:
    using At = SourceLine;
    using Body = std::function<void()>;

    struct Shape {
        Dim3 block{128, 1, 1};  ///< threads of a CTA
        Dim3 cluster{};         ///< CTAs
    };

    explicit KernelBuilder(const std::string& name, const Shape& shape, At at = At::current());
    ~KernelBuilder();
    KernelBuilder(const KernelBuilder&) = delete;
    KernelBuilder& operator=(const KernelBuilder&) = delete;

    /// One instruction, called as in scripts: k("ld_global_v4_b32", address). Operands come in the order of
    /// `wgrun isa`; the destination comes first or is left out, and is the result. A With may come last.
    template <class... Operands>
    Value operator()(const Method& method, const Operands&... operands) {
        Call call = begin(method);
        std::vector<Value> given;
        given.reserve(sizeof...(operands));
        try {
            (give(call, given, operands), ...);
        } catch (ArgumentError& error) {
            locate(error);
            throw;
        }
        return end(call, given, method.at);
    }

    /// Declares a parameter: "const bf16*", "f32*", "u32", ... (ParamType). Its value; of a pointer the u64
    /// address in global memory.
    Value param(const std::string& name, std::string_view type, At at = At::current());
    /// Declares a tensor map, for cp.async.bulk.tensor. The u64 address of the map.
    Value tensor_map(const std::string& name, const TensorBox& box, bool constant = false,
                     At at = At::current());
    /// A special register: "tid.x", "ctaid.x", "laneid", "clock64", ...
    Value special(std::string_view name, At at = At::current());
    /// A register of a type: "pred", "b32", "f32", "u64", ...
    Value reg(std::string_view type, At at = At::current());
    /// 1 to 1024 of them, such as accumulators.
    Value regs(std::string_view type, std::int64_t count, At at = At::current());
    /// Shared memory, bytes; of a tile, with its layout.
    Value shared(const std::string& name, std::int64_t bytes, std::int64_t align = 16, At at = At::current());
    Value shared(const std::string& name, const Tile& tile, At at = At::current());
    /// The address of element `index` behind a pointer parameter: the index counts elements, in a register of
    /// 32 bits without sign or of 64 bits, or a number.
    Value element(const Value& pointer, const Here& index);
    /// Copies a value to a register: mov.
    void set(const Value& destination, const Here& value);

    /// Threads where the predicate holds execute `when_true`, the others `otherwise`.
    void if_(const Here& predicate, const Body& when_true, const Body& otherwise = {});
    struct Range {
        Value from = 0, to = {}, step = 1;
    };
    /// body(i) runs for i = from, from + step, ... while i < to, in u32. It is called once.
    void loop(const Range& range, const std::function<void(const Value& i)>& body, At at = At::current());
    /// `count` times.
    void loop(const Here& count, const std::function<void(const Value& i)>& body);
    /// Runs while a condition holds, which `condition` computes before each iteration.
    void while_(const std::function<Value()>& condition, const Body& body, At at = At::current());
    /// The body runs before its test: the predicate that it returns decides whether it runs again.
    void repeat_(const std::function<Value()>& body, At at = At::current());
    void break_(At at = At::current());
    void continue_(At at = At::current());
    void exit(At at = At::current());  ///< the threads end
    Place label(const std::string& name = {}, At at = At::current());
    void place(Place label, At at = At::current());
    void jump(Place label, const Value& predicate = {}, At at = At::current());

    /// Each thread says `format`, as in printf, with registers or lists of them.
    void print(std::string_view format, const std::vector<Value>& values = {}, At at = At::current());
    /// Threads where the predicate does not hold say `format`, and end the kernel.
    void assert_(const Here& predicate, std::string_view format, const std::vector<Value>& values = {});

    /// For what this class has not. Steps that are added to it have the line of the last call.
    Builder& builder() { return builder_; }

    /// The program, for a Kernel (kernel.hpp). Throws ArgumentError if a loop or a branch is open, or a label
    /// without a place.
    Program finish();

  private:
    Call begin(const Method& method);
    static void give(Call&, std::vector<Value>& given, const Value& value) { given.push_back(value); }
    void give(Call& call, std::vector<Value>& given, const With& with) const;
    Value end(Call& call, const std::vector<Value>& given, const At& at);
    Operand operand_of(const Value& value) const;
    Operand operand_of(Call& call, const Value& value) const;
    Reg predicate_of(const Value& value, bool& negated) const;
    Value value_of(Operand operand);
    void say(Message::Kind kind, std::string_view format, const std::vector<Value>& values,
             const Operand& condition, const At& at);
    template <class Work>
    auto at(const At& where, Work&& work);
    void locate(ArgumentError& error) const;
    friend Value binary(std::string_view method, const Here& a, const Here& b);
    friend Value unary(std::string_view method, const Here& a);

    friend class Value;
    Builder builder_;
    Pointees pointees_;
};

// Of registers, and of registers and numbers: one instruction each (add, sub, mul, div, rem, and, or, xor,
// shl, shr, neg, not). Division of integers truncates.
Value operator+(const Here& a, const Here& b);
Value operator-(const Here& a, const Here& b);
Value operator*(const Here& a, const Here& b);
Value operator/(const Here& a, const Here& b);
Value operator%(const Here& a, const Here& b);
Value operator&(const Here& a, const Here& b);
Value operator|(const Here& a, const Here& b);
Value operator^(const Here& a, const Here& b);
Value operator<<(const Here& a, const Here& b);
Value operator>>(const Here& a, const Here& b);
Value operator-(const Here& a);
Value operator~(const Here& a);

// A predicate for each thread.
Value operator<(const Here& a, const Here& b);
Value operator<=(const Here& a, const Here& b);
Value operator>(const Here& a, const Here& b);
Value operator>=(const Here& a, const Here& b);
Value operator==(const Here& a, const Here& b);
Value operator!=(const Here& a, const Here& b);

}  // namespace wgrun

#pragma GCC visibility pop
