// PTX that wgrun did not make: which of it can be checked, and what is wrong with it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wgrun/assumptions.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/kernel.hpp"
#include "wgrun/verdict.hpp"

#pragma GCC visibility push(default)

namespace wgrun::ptx {
class Module;
}

namespace wgrun {

class ModuleMemory;

/// An entry of a PTX text.
struct ForeignKernel {
    std::string name;  ///< as in the text
    Where where;
    int threads = 0;  ///< of a CTA; 0: the launch decides
    std::size_t instructions = 0;
    std::size_t unread = 0;  ///< of them, those that wgrun does not know: what they do is not checked
    /// Their opcodes, and the lines of each.
    std::vector<std::pair<std::string, std::vector<int>>> opcodes;
    /// What was taken for granted, or could not be decided, and why: a sentence each.
    std::vector<std::string> undecided;
    std::vector<Verdict> verdicts;  ///< of each property
    std::vector<Diagnostic> findings;
};

struct ForeignText {
    /// What is no PTX, or for a chip that has no rules, by line; the kernels are not checked then.
    std::vector<Diagnostic> errors;
    std::vector<ForeignKernel> kernels;
    isa::PtxVersion version{0, 0};  ///< the latest .version of its modules
    Where version_at;
    /// For the proofs of each kernel, as in Assumptions, where there are so many kernels that they share the
    /// time; 0: there are not.
    double seconds = 0;
};

/// Returns the PTX of a file that is none: of CUDA C++ (.cu), which nvcc compiles for sm_90a with the lines
/// of the source, or of an object file, a library or an executable, from which cuobjdump takes all modules
/// that it carries, one after the other. Nothing: the file is something else, or cannot be read.
/// EnvironmentError ENOENT where the tool is missing or the file carries no PTX, EIO where nvcc refuses it,
/// ETIMEDOUT, EINTR when `stop` was raised. Thread-safe.
std::optional<std::string> ptx_from(const std::string& path, const std::atomic<bool>* stop = nullptr);

/// Returns whether a text looks like PTX: it begins, after comments, with .version.
bool is_ptx(std::string_view text);

/// Checks every entry of a PTX text by the rules that need no launch. `file` is how findings name the text.
/// Their places are lines of it; a note names the line of the source that .loc tells, if there is one. Throws
/// ArgumentError for a text of 1 GiB or more, and for what is given and no launch of its kernels can have, or
/// none of them has as a parameter. only: the name of the entry to check; empty: all. Thread-safe.
ForeignText check_ptx(const std::string& file, std::string text, const Assumptions& given = {},
                      std::string_view only = {});

/// Returns [{name, file, line, instructions, unread, undecided, verdicts}].
std::string to_json(std::span<const ForeignKernel> kernels);
/// Returns {"findings": as to_json has them, "kernels": the same}.
std::string to_json(const ForeignText& text);

/// A script, and what it does not say as the text does.
struct TranslatedText {
    std::string text;
    std::vector<std::string> remarks;
};

/// A PTX text whose entries can be run. Immutable, so any number of threads may read it.
class ForeignModule {
  public:
    /// Reads a text; `file` is how findings name it. Throws CheckError with all errors of a text that is no
    /// PTX; ArgumentError for one of 1 GiB or more.
    ForeignModule(std::string file, std::string text);

    /// The names of its entries, in the order of the text.
    const std::vector<std::string>& names() const { return names_; }

    /// Returns an entry as a kernel. On a GPU the text itself is what runs, on the simulator the instructions
    /// that wgrun knows: where a thread reaches another one, the run ends with an ArgumentError that names
    /// it. What the text does not say (threads, clusters, dynamic shared memory, the boxes of tensor maps) is
    /// taken from each launch. Throws ArgumentError for a name that it does not have, CheckError for names
    /// that nothing in the text declares.
    Kernel kernel(std::string_view name) const;

    /// Returns the entries of those names as a script of wgrun that builds them: each instruction is a call
    /// of the builder. `launch` tells what a launch adds to the text, where it is known, of the only name.
    /// Throws as kernel() does.
    TranslatedText script(const std::vector<std::string>& names, const RunOptions* launch = nullptr) const;

  private:
    std::shared_ptr<const ptx::Module> module_;
    std::shared_ptr<ModuleMemory> memory_;
    std::vector<std::string> names_;
};

}  // namespace wgrun

#pragma GCC visibility pop
