// What is fuzzed: each body takes any bytes and throws Broken where a law does not hold. libFuzzer runs them
// for a minute each (make fuzz), properties.cpp runs them on a few thousand seeded inputs (make test).
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace wgrun::fuzz {

using Bytes = std::span<const std::uint8_t>;

struct Broken : std::logic_error {
    using std::logic_error::logic_error;
};

/// Text is refused with a message, or read into a layout that is printed and read again without a change.
void layout_parser(Bytes bytes);

/// Two layouts and what the algebra makes of them: composition is what its definition says, a divide takes
/// apart what a product put together, the inverse of an inverse is the layout. Extents and strides reach up
/// to 2^62.
void layout_algebra(Bytes bytes);

/// A .npy file is refused by name, or gives the same tensor whether it is read or mapped.
void npy(Bytes bytes);

/// The same of a .safetensors file, and its tensors have no more bytes than it.
void safetensors(Bytes bytes);

/// A DLPack structure with fields from the input: taken and given back once, or refused and left alone. Its
/// elements are read where its memory is real.
void dlpack_structures(Bytes bytes);

/// Two tensors of any bytes and types, and what is computed with them: elementwise, permuted, sliced,
/// reshaped, compared in words. What is refused is refused with a message; what is put back is as before.
void tensor_ops(Bytes bytes);

/// Text is read as Lua where Lua itself reads it, and what is found lies within it.
void syntax(Bytes bytes);

/// A Lua program of calls of the library with arguments of all kinds, tensors, kernels, traces and launches
/// on the simulator: every error is an error object with the script's line, or the script's own.
void script(Bytes bytes);
/// The same as `wgrun --restricted` runs them, with attempts to get out: to io, debug, files, bytecode.
void restricted_script(Bytes bytes);
/// That program.
std::string script_of(Bytes bytes, bool restricted = false);

/// 64 bits are a matrix descriptor that is written again as it was read, or refused with a message.
void descriptor(Bytes bytes);

/// Any text is escaped for each language that wgrun writes: it stays within its comment or string, and where
/// the language has escapes, what its own reader makes of it are the same bytes.
void escapes(Bytes bytes);

/// Any log of an assembler is parsed: lines, figures and names that are not negative and not made up.
void assembler_log(Bytes bytes);

/// A file is no entry of the cache, or one that is written again to the same bytes, and of no other key.
void cache_entry(Bytes bytes);

/// Text is read as one of nvdisasm: places, ways and registers lie within it, and it is held against a
/// program.
void sass(Bytes bytes);

/// A PTX text is refused with messages at its lines, or read, printed, read again without a change, and
/// checked.
void ptx(Bytes bytes);

}  // namespace wgrun::fuzz
