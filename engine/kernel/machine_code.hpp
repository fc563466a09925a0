// Machine code held against the PTX that it was made of (docs/sass.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sass/listing.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun {

/// What became of one kernel.
struct KeptKernel {
    std::string kernel;
    Where where;  ///< the entry in the PTX; of machine code alone: its file
    std::size_t instructions = 0, products = 0, compared = 0;  ///< of the machine code
    std::size_t values = 0;     ///< of single threads that were compared: addresses, numbers, bytes in memory
    std::vector<Where> places;  ///< by product of the machine code, in the order of its text: in the PTX
    Verdict verdict;            ///< Property::kept
    std::vector<Diagnostic> findings;
};

/// Assembles PTX by ptxas, with line information, and reads the machine code. Throws as gpu::ptxas_assemble
/// and gpu::disassemble do.
sass::Listing machine_code_of(std::string_view ptx, std::span<const std::string> options = {},
                              const std::atomic<bool>* stop = nullptr);
/// Reads the machine code of a file: a cubin, what carries some, or a text of nvdisasm. Throws
/// EnvironmentError where that text was cut.
sass::Listing machine_code_in(const std::string& path, const std::atomic<bool>* stop = nullptr);
/// Whether the file has machine code and nothing else: a cubin, or a text of nvdisasm.
bool has_machine_code_alone(const std::string& path);

/// Whether the file may carry machine code besides other things: an object, a library, an executable.
bool carries_machine_code(const std::string& path);

/// Holds the machine code of each entry of a PTX text against it. `file` is how findings name the text.
/// An entry without machine code, or machine code without line information, leaves its verdict undecided.
/// Throws CheckError for a text that is no PTX. Thread-safe.
/// `starts`, of PTX that a binary carries: the lines before its modules, which machine code does not count.
/// `performance`: also finds what is slower than necessary.
std::vector<KeptKernel> kept_of_text(const std::string& file, std::string text, const sass::Listing& listing,
                                     const std::vector<int>& starts = {}, bool performance = false);

/// The number of the line before each module in the PTX of a binary, as ptx_from() returns it: there the text
/// begins from which the binary was made. Throws as that does.
std::vector<int> ptx_starts(const std::string& path, const std::atomic<bool>* stop = nullptr);

/// Checks what machine code shows by itself: the registers of products.
std::vector<KeptKernel> kept_alone(const std::string& file, const sass::Listing& listing);

}  // namespace wgrun
