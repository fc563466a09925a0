// A step as a call of the builder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::emit {

/// How a script names things.
struct LuaSpelling {
    std::function<std::string(Reg)> reg;
    std::function<std::string(const std::vector<Reg>&)> list;
    std::function<std::string(int)> param, shared;
    /// The number of an operand of a step, or the offset of its address, where it has a name; else nothing.
    std::function<std::string(const Step&, std::size_t)> number;
};

/// Prints steps of a program, and makes sure that the builder makes the same steps of what it prints.
class LuaCalls {
  public:
    LuaCalls(const Program& program, LuaSpelling spelling);

    /// Returns "add_u32(r[1], r[2], 5)". Nothing: no call of the builder makes this step.
    std::optional<std::string> call(const Step& step);

  private:
    struct Arguments {
        std::vector<Operand> operands;  ///< as a script gives them
        std::vector<std::string> positional, options;
        std::vector<std::int64_t> offsets;  ///< of each address
        std::vector<std::string> offset_names;
    };
    std::optional<Arguments> arguments(const Step& step) const;
    std::optional<std::string> written(const Operand& operand, isa::Type type, Operand& given) const;
    bool makes(const Step& step, const isa::Form& asked, const std::vector<Operand>& operands);

    LuaSpelling spelling_;
    Builder builder_;  ///< has the registers, parameters and buffers of the program
};

}  // namespace wgrun::emit
