// The objects of scripts while a kernel is traced: the builder, registers, arrays of registers, shared
// buffers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/lua/literal.hpp"
#include "bindings/lua/types.hpp"
#include "bindings/lua/userdata.hpp"
#include "wgrun/call.hpp"
#include "wgrun/program.hpp"

namespace wgrun::lua {

/// One trace. It ends with the kernel function; objects that scripts keep of it raise errors afterwards.
struct Trace {
    std::string name;
    int threads = 0;
    int cluster = 1;     ///< CTAs
    bool names = false;  ///< remembers the script's names of registers
    std::optional<Builder> builder;
    bool simulated_only =
        false;  ///< steps are for the simulator alone: the `meaning` of k:asm is being traced
    Pointees pointees;
    std::uint64_t steps = 0;               ///< instructions so far
    std::vector<std::uint64_t> last_read;  ///< by register: `steps` of the last instruction that read it
    std::map<double, std::uint64_t> last_number;    ///< the same of numbers among the operands
    std::map<std::string, std::vector<Reg>> named;  ///< the script's latest names of registers
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

/// An array of registers, indexed from 0 as in the ISA's figures.
struct RegsBox {
    std::shared_ptr<Trace> trace;
    std::vector<Reg> regs;
};

/// A buffer in shared memory.
struct SharedBox {
    std::shared_ptr<Trace> trace;
    int index = 0;
};

/// A parameter, as an operand.
struct ParameterBox {
    std::shared_ptr<Trace> trace;
    int index = 0;
};

/// A place that jumps lead to.
struct LabelBox {
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
template <>
inline constexpr const char* class_name<ParameterBox> = "wgrun.parameter";
template <>
inline constexpr const char* class_name<LabelBox> = "wgrun.label";

/// The builder of an open trace, its place set to the calling line. Raises when the trace is over.
Builder& builder_of(lua_State* L, const std::shared_ptr<Trace>& trace);

/// The trace of the builder at argument 1.
const std::shared_ptr<Trace>& trace_argument(lua_State* L);

/// Raises unless the trace `used` of a register or buffer is `trace`, in which it is used.
void require_same_trace(lua_State* L, const std::shared_ptr<Trace>& trace,
                        const std::shared_ptr<Trace>& used);

void push_reg(lua_State* L, const std::shared_ptr<Trace>& trace, Reg reg, bool negated = false);
void push_regs(lua_State* L, const std::shared_ptr<Trace>& trace, const std::vector<Reg>& regs);

/// The value at `index` as a qualifier: its spelling, a number where it is one, true and false for 1 and 0.
/// Nothing when it is not a value of `field`.
std::optional<int> qualifier(lua_State* L, int index, isa::Field field);

/// The spelling of a method of k, looked up once. Guarded: the first look-up makes the table of instructions.
template <Literal method>
const isa::Spelling& spelling_of(lua_State* L) {
    return *guarded(L, [] {
        static const isa::Spelling spelling = isa::parse_method(method.text);
        return &spelling;
    });
}

/// The instruction that the function at `index`, a method of k, stands for; null for other functions.
const isa::Instruction* instruction_of(lua_State* L, int index);

/// Emits one instruction from Lua arguments: operands from `first` to the top of the stack, of which the last
/// may be an option table. Pushes the destination, if there is one, and returns the number of results.
int emit_from_lua(lua_State* L, const std::shared_ptr<Trace>& trace, const isa::Spelling& spelling,
                  int first);

/// Tells the builder the script's current names of registers (register_names.cpp).
void note_register_names(lua_State* L, Trace& trace);

// Each makes its classes; see open_kernel in types.hpp.
void open_trace(lua_State* L);
void open_reg(lua_State* L);
void open_wgmma(lua_State* L);

// What open_trace() adds to k: each the methods of one file.
void open_parameters(lua_State* L);
void open_shared(lua_State* L);
void open_blocks(lua_State* L);
void open_say(lua_State* L);
void open_method_names(lua_State* L);

}  // namespace wgrun::lua
