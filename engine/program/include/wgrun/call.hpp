// One call of an instruction, as scripts and hosts write it: operands by their places and by their names, a
// destination that may be left out, numbers in lists, offsets. Becomes what Builder::add takes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/program.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

struct Call {
    const isa::Instruction* op = nullptr;
    isa::Form form;
    std::vector<Operand> positional;    ///< an address is its register or buffer
    std::vector<Operand> operands;      ///< one for each of op->operands; at first those by name
    std::vector<std::int64_t> offsets;  ///< bytes, of each address
    /// In lists of registers: those of a list begin at its Operand::index, where a register is absent.
    std::vector<Operand> numbers;
    Reg guard;
    bool guard_negated = false;
};

/// Whether a call takes the qualifier; whether it takes `offset`: bytes for its address, or a list of them
/// for several addresses.
bool takes_field(const isa::Instruction& op, isa::Field field);
bool takes_offset(const isa::Instruction& op);
/// How many addresses it has.
std::size_t addresses_of(const isa::Instruction& op);

/// The operand that is given by this name, or null.
const isa::OperandRule* named_operand(const isa::Instruction& op, std::string_view name);

/// The options of a call according to the record: guards, offset, qualifiers, operands given by name.
std::vector<std::string_view> instruction_options(const isa::Instruction& op);

/// The instruction that reads a special register, a value of the field sreg.
const isa::Instruction& special_register(int sreg);

/// Words for errors: an option that the instruction has not, a value that its qualifier cannot have.
std::string unknown_option(const isa::Instruction& op, std::string_view key);
std::string illegal_qualifier(const isa::Instruction& op, isa::Field field, std::string_view got);

/// Assigns the positional operands to their places; destinations may be left out. Throws ArgumentError for
/// too many or too few.
void place_operands(Call& call);

/// Puts numbers in lists into registers, by `mov`: a list of PTX has registers alone. Throws ArgumentError
/// where they have no type.
void place_numbers(Call& call, Builder& builder, const isa::Instruction& mov);

/// The registers that hold addresses of elements of a parameter.
using Pointees = std::map<std::uint32_t, Dtype>;

/// Throws ArgumentError for a scalar access of f32 or f64 at the address of elements of another type.
void check_pointee(const Call& call, const Pointees& pointees);

/// The type of a parameter as scripts write it.
struct ParamType {
    isa::Type type = isa::Type::u64;
    std::optional<Dtype> pointee;  ///< of a pointer
    bool constant = false;         ///< the kernel only reads through it
};
/// Reads "const bf16*", "f32*", "u32". Throws ArgumentError with the legal types.
ParamType param_type(std::string_view text);

}  // namespace wgrun

#pragma GCC visibility pop
