// Whether machine code keeps what its PTX asks for: the findings, and what could not be decided.
#pragma once

#include <string>
#include <vector>

#include "sass/instruction.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::sass {

/// What is known besides the program and its machine code.
struct Context {
    /// The rule of wgmma's registers or groups that the program itself breaks: then what happens to them in
    /// machine code is its own fault. Empty: none.
    std::string broken;
    /// ptxas leaves out every setmaxnreg, since nothing says how many registers a thread begins with (C7508).
    bool ignores_setmaxnreg = false;
    /// The text has one variable in shared memory: all of it is where that begins. In which order an
    /// assembler places several, no text says.
    bool one_shared_variable = false;
    bool performance = false;  ///< also say what is slower than necessary
};

struct Kept {
    std::vector<Diagnostic> findings;  ///< at lines of the PTX
    std::vector<Gap> gaps;             ///< of Property::kept
    std::vector<int>
        product_lines;  ///< of the PTX, by product of the machine code in the order of its text; 0: unknown
    std::size_t products = 0;  ///< of the machine code, those that can be reached
    std::size_t events = 0;    ///< that were compared, of the machine code
    std::size_t values = 0;    ///< addresses and numbers of single threads that were compared
};

/// Holds machine code against the program that it was made of, which was read from PTX: the lines of its
/// steps are those that the machine code names.
Kept compare_with_program(const Function& function, const Program& program, const Context& known);

/// Checks what machine code shows by itself. `where` stands for the places of what it does not name lines of.
Kept check_alone(const Function& function, Where where);

}  // namespace wgrun::sass
