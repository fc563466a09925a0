// An entry of a module as a program, which can be checked as those that scripts make.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ptx/module.hpp"
#include "wgrun/program.hpp"

namespace wgrun::ptx {

/// What a launch adds to the text.
struct LaunchFacts {
    /// What a parameter is passed: a pointer to elements of a dtype, a tensor map with a box, or a structure.
    struct Passed {
        std::optional<Dtype> pointee{};
        std::optional<TensorBox> box{};
        bool structure = false;
        bool operator==(const Passed&) const = default;
    };
    std::optional<Dim3> block, cluster;
    std::optional<std::int64_t> dynamic_shared;  ///< bytes
    std::vector<Passed> params;                  ///< of the first parameters
    /// Dynamic shared memory begins on as many bytes as any pattern does, where drivers place it; else on as
    /// many as the text asks for.
    bool aligned = false;
    /// Also what the checks cannot follow becomes steps (setmaxnreg with .maxnreg), and what they need not
    /// know (pragmas).
    bool whole = false;
    bool operator==(const LaunchFacts&) const = default;
};

/// What is not known of a kernel that is nothing but text.
struct Unknowns {
    bool threads = false;    ///< neither .reqntid nor .maxntid
    bool cluster = false;    ///< the size of clusters is left to the launch, and the kernel uses clusters
    bool calls = false;      ///< it calls functions, which are not followed
    bool indirect = false;   ///< it branches through a register
    bool registers = false;  ///< setmaxnreg in a kernel whose registers .maxnreg gives
    Where setmaxnreg;        ///< the first one, where nothing says how many registers a thread begins with
};

/// A variable of the module in global or constant memory, which the program takes as a parameter.
struct ModuleVariable {
    int parameter = -1;
    std::string name;
    std::vector<std::byte> bytes;  ///< its initial value
    bool constant = false;
};

/// An instruction that no record reads, as text in which the names of registers have a % before them.
struct UnreadText {
    std::string text;
    std::vector<std::pair<std::string, isa::Reg>> registers;  ///< the first `written` of them are written
    std::size_t written = 0;
    /// It is the step before it again, with results that the record of that one does not have.
    bool replaces = false;
};

/// A kernel read from text. The lines of its steps are those of the text.
struct Lowered {
    Program program;
    std::string name;
    Where where;
    std::size_t instructions = 0;                    ///< of the text, with branches
    std::size_t opaque = 0;                          ///< of them, those that no record reads
    std::map<std::string, std::vector<int>> unread;  ///< their opcodes, and the lines of each
    Unknowns unknown;
    std::vector<ModuleVariable> variables;    ///< that it uses
    std::vector<std::string> register_names;  ///< by register; empty, or missing at the end: it has none
    std::vector<UnreadText> texts;            ///< of the opaque steps, in the order of the steps
    std::vector<Diagnostic> refused;          ///< what is illegal by itself (WG-FORM)
    std::vector<Diagnostic> errors;           ///< names that nothing declares, and labels without a place
};

/// Makes a program of `function`, an entry with a body. Instructions that no record reads become steps of
/// isa::opaque. Throws ArgumentError for facts that no launch can have.
Lowered lower(const Module& module, const Function& function, const LaunchFacts& facts = {});

/// Where an instruction comes from, by .loc: its place in a source, then the places of the calls that it was
/// inlined at. Empty: nowhere.
std::vector<Where> sources_of(const Module& module, int line);

}  // namespace wgrun::ptx
