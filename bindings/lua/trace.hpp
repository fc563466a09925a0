// What scripts hold while a kernel is traced: the builder, registers, arrays of registers, shared buffers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/lua/types.hpp"
#include "bindings/lua/userdata.hpp"
#include "wgrun/program.hpp"

namespace wgrun::lua {

/// One trace. It ends with the kernel function; what scripts keep of it afterwards raises errors.
struct Trace {
    std::string name;
    int threads = 0;
    bool names = false;  ///< remembers what the script calls registers
    std::optional<Builder> builder;
    bool simulated_only = false;  ///< steps are for the simulator alone: k:asm says what its text means
    std::map<std::uint32_t, Dtype> pointees;        ///< registers that hold a parameter's pointer
    std::map<std::string, std::vector<Reg>> named;  ///< what the script called registers last
};

/// k
struct BuilderBox {
    std::shared_ptr<Trace> trace;
};

/// A register; a predicate may be negated.
struct RegBox {
    std::shared_ptr<Trace> trace;
    Reg reg;
    bool negated = false;
};

/// Registers in a row, indexed from 0 as in the ISA's figures.
struct RegsBox {
    std::shared_ptr<Trace> trace;
    std::vector<Reg> regs;
};

/// A buffer in shared memory.
struct SharedBox {
    std::shared_ptr<Trace> trace;
    int index = 0;
};

template <>
inline constexpr const char* class_name<BuilderBox> = "wgrun.builder";
template <>
inline constexpr const char* class_name<RegBox> = "wgrun.reg";
template <>
inline constexpr const char* class_name<RegsBox> = "wgrun.regs";
template <>
inline constexpr const char* class_name<SharedBox> = "wgrun.shared";

/// The builder of an open trace, its place set to the calling line. Raises when the trace is over.
Builder& builder_of(lua_State* L, const std::shared_ptr<Trace>& trace);

/// The trace of the builder at argument 1.
const std::shared_ptr<Trace>& trace_argument(lua_State* L);

/// Raises unless `used`, the trace of a register or buffer, is `trace`, the one it is used in.
void require_same_trace(lua_State* L, const std::shared_ptr<Trace>& trace,
                        const std::shared_ptr<Trace>& used);

void push_reg(lua_State* L, const std::shared_ptr<Trace>& trace, Reg reg, bool negated = false);
void push_regs(lua_State* L, const std::shared_ptr<Trace>& trace, const std::vector<Reg>& regs);

/// The value at `index` as a qualifier: its spelling, a number where it is one, true and false for 1 and 0.
/// Nothing when it is no value of `field`.
std::optional<int> qualifier(lua_State* L, int index, isa::Field field);

/// The spelling of a method of k, looked up once. Guarded: the first look-up makes the table of instructions.
template <const char* method>
const isa::Spelling& spelling_of(lua_State* L) {
    return *guarded(L, [] {
        static const isa::Spelling spelling = isa::parse_method(method);
        return &spelling;
    });
}

/// Whether a call takes the qualifier, or `offset`: there is one address that it can belong to.
bool takes_field(const isa::Instruction& op, isa::Field field);
bool takes_offset(const isa::Instruction& op);

/// The keys of the option table of a call, by the record: guards, offset, qualifiers, operands that go by name.
std::vector<std::string_view> instruction_options(const isa::Instruction& op);

/// The instruction that the function at `index`, a method of k, stands for; null for other functions.
const isa::Instruction* instruction_of(lua_State* L, int index);

/// Emits one instruction from Lua arguments: operands from `first` to the top of the stack, of which the last
/// may be an option table. Pushes the destination, if there is one, and returns the number of results.
int emit_from_lua(lua_State* L, const std::shared_ptr<Trace>& trace, const isa::Spelling& spelling,
                  int first);

/// Tells the builder what the script calls its registers by now (register_names.cpp).
void note_register_names(lua_State* L, Trace& trace);

// Methods of k in files of their own (say.cpp).
int builder_print(lua_State* L);
int builder_assert(lua_State* L);
int builder_trap(lua_State* L);
int builder_breakpoint(lua_State* L);

// Each makes its classes; see open_kernel in types.hpp.
void open_trace(lua_State* L);
void open_reg(lua_State* L);
void open_wgmma(lua_State* L);

}  // namespace wgrun::lua
