// What a kernel of a script declares before its steps: parameters, shared memory, and the names of what lies
// there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emit/lua.hpp"
#include "emit/lua_names.hpp"

namespace wgrun::emit {

class LuaDeclarations {
  public:
    LuaDeclarations(const Program& program, const LuaNotes& notes, LuaNames& variables);

    /// The variables of a parameter and of a buffer.
    const std::string& param(int i) const { return params_[static_cast<std::size_t>(i)]; }
    const std::string& shared(int i) const { return shared_[static_cast<std::size_t>(i)]; }
    /// What the script calls the parameters.
    const std::vector<std::string>& params() const { return legal_params_; }
    /// Returns the name of a number of the step, or nothing.
    std::string number(const Step& step, std::size_t operand) const;
    /// Returns the options of wg.kernel.
    std::string options() const;
    /// Returns the lines that declare all that. What the script does not say as the program does is added to
    /// `remarks`.
    std::vector<std::string> lines(std::vector<std::string>& remarks) const;

  private:
    std::vector<std::string> named(const std::vector<std::string>& wanted, std::string_view table,
                                   LuaNames& variables);
    void add_allocations(std::vector<std::string>& out) const;

    const Program& program_;
    const LuaNotes& notes_;
    std::vector<std::string> tables_;                         ///< of things that are too many for variables
    std::vector<std::string> legal_params_, legal_buffers_;   ///< names that scripts can give
    std::vector<std::string> params_, shared_, allocations_;  ///< variables
};

}  // namespace wgrun::emit
