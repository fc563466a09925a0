#include "gpu/error_codes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace wgrun::gpu {
namespace {

constexpr std::array codes{
    ErrorCode{
        1,
        "INVALID_VALUE",
        {},
        "a call has an argument that it does not take",
        "a launch with more dynamic shared memory than cuFuncSetAttribute has allowed the kernel (above 48 "
        "KiB "
        "none is allowed by itself); an extent of 0; a tensor map whose address or strides "
        "are "
        "no multiples of 16 bytes, whose box is wider than 256 elements or than its swizzle",
        "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES before the launch; grid, block and the arguments of "
        "cuTensorMapEncodeTiled as wgrun checks them: kernel:run, wgrun check --dynamic --launch"},
    ErrorCode{2, "OUT_OF_MEMORY", "MemoryAllocation", "there is not enough memory on the device",
              "tensors, or local memory: a kernel's stack is reserved for all threads that the GPU holds",
              "smaller tensors, fewer buffers; ptxas -v shows the stack"},
    ErrorCode{
        3, "NOT_INITIALIZED", "InitializationError", "the driver could not be initialised",
        "a call before cuInit, a process that was forked after it, or a driver without its kernel module",
        "cuInit(0) first; start processes instead of forking them (multiprocessing: spawn)"},
    ErrorCode{4, "DEINITIALIZED", "CudartUnloading", "the driver is shutting down",
              "a destructor of a global object that calls the driver when the process ends",
              "release what is on the GPU before main returns"},
    ErrorCode{9,
              {},
              "InvalidConfiguration",
              "the runtime refuses the grid or the block of a launch",
              "more than 1024 threads in a CTA, more than 64 layers (z), a grid that is no multiple of the "
              "cluster, "
              "too many rows in the grid, or an extent of 0",
              "the limits of docs/limits.md; grid a multiple of the cluster"},
    ErrorCode{34,
              "STUB_LIBRARY",
              {},
              "the library is the toolkit's stub, for linking alone",
              "LD_LIBRARY_PATH has the toolkit's lib64/stubs before the driver's libcuda.so.1",
              "take stubs off LD_LIBRARY_PATH"},
    ErrorCode{35,
              {},
              "InsufficientDriver",
              "the driver is older than the runtime",
              "a program or a wheel that was built with a later CUDA than the driver's",
              "a later driver, the package cuda-compat, or a build with an earlier CUDA"},
    ErrorCode{
        46, "DEVICE_UNAVAILABLE", "DevicesUnavailable", "the device is in use or in a mode that forbids it",
        "another process has it (exclusive mode), or MIG is being changed", "nvidia-smi shows who has it"},
    ErrorCode{
        98,
        {},
        "InvalidDeviceFunction",
        "the runtime does not find the kernel in the loaded code",
        "code for other chips: -arch=sm_90 where sm_90a runs nothing of wgmma, or a template that was not "
        "instantiated in a file of CUDA",
        "-gencode arch=compute_90a,code=sm_90a"},
    ErrorCode{100,
              "NO_DEVICE",
              {},
              "the driver sees no GPU",
              "CUDA_VISIBLE_DEVICES, a container without --gpus, or a driver that is not loaded",
              "nvidia-smi; wgrun doctor"},
    ErrorCode{101,
              "INVALID_DEVICE",
              {},
              "there is no device with this number",
              "an ordinal beyond CUDA_VISIBLE_DEVICES",
              "ordinals begin at 0 among the visible ones"},
    ErrorCode{200, "INVALID_IMAGE", "InvalidKernelImage",
              "what is to be loaded is no machine code for this GPU",
              "a cubin for another chip, PTX without its final NUL byte, or a text that is cut",
              "a cubin of ptxas -arch=sm_90a, or PTX as a C string"},
    ErrorCode{201, "INVALID_CONTEXT", "DeviceUninitialized", "no context is current in this thread",
              "a driver call in a thread that has not made a context current",
              "cuCtxSetCurrent, or any call of the runtime, first"},
    ErrorCode{209, "NO_BINARY_FOR_GPU", "NoKernelImageForDevice", "the code holds nothing that this GPU runs",
              "sm_90a code runs on no other chip, and code or PTX for other chips (sm_100a, compute_90a on "
              "Blackwell) not on sm_90; -arch=sm_90 and .target sm_90 have no wgmma",
              "-gencode arch=compute_90a,code=[sm_90a,compute_90a], or .target sm_90a"},
    ErrorCode{214,
              "ECC_UNCORRECTABLE",
              {},
              "the memory of the GPU has an error that cannot be corrected",
              "the hardware",
              "reset the GPU; nvidia-smi -q -d ECC"},
    ErrorCode{217,
              "PEER_ACCESS_UNSUPPORTED",
              {},
              "two GPUs cannot access each other's memory",
              "no NVLink or PCIe path between them",
              "copy through the host"},
    ErrorCode{
        218,
        "INVALID_PTX",
        {},
        "the driver's assembler refuses the text",
        "an illegal instruction, operand or register; .target sm_90 with wgmma or setmaxnreg; .version below "
        "what an instruction needs",
        "the log says the line (CU_JIT_ERROR_LOG_BUFFER); wgrun check FILE.ptx, --assemble"},
    ErrorCode{220, "NVLINK_UNCORRECTABLE", "NvlinkUncorrectable",
              "an error of an NVLink that cannot be corrected", "the hardware", "nvidia-smi nvlink -e"},
    ErrorCode{221,
              "JIT_COMPILER_NOT_FOUND",
              {},
              "the driver finds no assembler for PTX",
              "libnvidia-ptxjitcompiler is missing, as in small containers",
              "install it, or load a cubin of ptxas"},
    ErrorCode{
        222,
        "UNSUPPORTED_PTX_VERSION",
        {},
        "the text's .version is newer than the driver",
        "PTX of a later toolkit or of a later Triton or LLVM than the driver knows: CUDA 13.0 reads .version "
        "9.0, 12.8 reads 8.7",
        "a later driver, an earlier .version if nothing in the text needs it, or a cubin of ptxas in place "
        "of "
        "PTX"},
    ErrorCode{300,
              "INVALID_SOURCE",
              {},
              "the device code cannot be read",
              "a text that is cut, or a wrong file",
              "compile it anew"},
    ErrorCode{
        301, "FILE_NOT_FOUND", "FileNotFound", "there is no such file", "cuModuleLoad of a wrong path", {}},
    ErrorCode{302, "SHARED_OBJECT_SYMBOL_NOT_FOUND", "SharedObjectSymbolNotFound",
              "a function is missing in the driver", "a program for a later driver", "a later driver"},
    ErrorCode{400, "INVALID_HANDLE", "InvalidResourceHandle", "a handle is none, or is of another context",
              "a stream, an event or a module of another device, or one that was destroyed",
              "make the context of the handle current"},
    ErrorCode{500, "NOT_FOUND", "SymbolNotFound", "the module has no such kernel or variable",
              "the mangled name of a C++ kernel, or a kernel without .visible",
              "extern \"C\", or the mangled name"},
    ErrorCode{600,
              "NOT_READY",
              {},
              "work is not finished",
              "no error: an answer of cuStreamQuery or cuEventQuery",
              {}},
    ErrorCode{
        700,
        "ILLEGAL_ADDRESS",
        {},
        "a thread, or a copy, has accessed memory that is not there",
        "an index beyond a tensor; a mask that is missing at the edge; a descriptor or an address of shared "
        "memory beyond the allocation; a tensor map in local memory or one that was freed; a generic address "
        "given to an instruction of the shared space",
        "wgrun check --dynamic runs the launch on the simulator and names line and thread; "
        "compute-sanitizer"},
    ErrorCode{701,
              "LAUNCH_OUT_OF_RESOURCES",
              {},
              "the CTA does not fit an SM",
              "registers times threads above what an SM has (wgrun report); more shared memory "
              "than is left; a cluster of more than 8 CTAs without permission",
              ".maxntid or __launch_bounds__, which limits the registers; setmaxnreg; smaller tiles"},
    ErrorCode{702,
              "LAUNCH_TIMEOUT",
              {},
              "the kernel has run for too long on a GPU that drives a display",
              "a hang: a wait for an mbarrier whose phase never ends",
              "wgrun check; docs/hangs.md"},
    ErrorCode{709,
              "CONTEXT_IS_DESTROYED",
              {},
              "the context is destroyed",
              "a fault before has ended the context, or it was destroyed elsewhere",
              "find the first error"},
    ErrorCode{710,
              "ASSERT",
              {},
              "an assertion of the kernel has failed",
              "assert in device code",
              "its message is on standard output"},
    ErrorCode{714,
              "HARDWARE_STACK_ERROR",
              {},
              "the stack of a thread is damaged",
              "too deep a recursion, or a write beyond a local array",
              "compute-sanitizer; a larger stack limit"},
    ErrorCode{
        715,
        "ILLEGAL_INSTRUCTION",
        {},
        "a thread has executed what is no instruction here",
        "a wgmma whose descriptor or shape the hardware refuses; an mbarrier operation on a word that is "
        "no mbarrier, or whose count overflows; setmaxnreg that the warpgroup does not execute together; "
        "code "
        "for sm_90a on another chip",
        "wgrun check, and --dynamic: it names the instruction; no trap or unreachable code on the path"},
    ErrorCode{716,
              "MISALIGNED_ADDRESS",
              {},
              "an address is no multiple of what the access needs",
              "a vector load (v4.f32: 16 bytes) at an odd offset of a view; a bulk copy whose addresses or "
              "size are "
              "no multiples of 16 bytes; an mbarrier that is not at a multiple of 8; a swizzled box that is "
              "not at a "
              "multiple of 128 bytes; rows whose length is odd",
              "align the shared buffer, or pad the row; wgrun check --dynamic names the access (WG-MEM-02)"},
    ErrorCode{717,
              "INVALID_ADDRESS_SPACE",
              {},
              "an instruction has an address of another space",
              "a global pointer given to an instruction of shared memory, or a local one to an atomic",
              "cvta.to.shared, or the generic form of the instruction"},
    ErrorCode{718,
              "INVALID_PC",
              {},
              "a thread has left the program's code",
              "a call through a damaged pointer, or a stack that is overwritten",
              "compute-sanitizer"},
    ErrorCode{
        719, "LAUNCH_FAILED", "LaunchFailure", "the kernel has failed, for a reason without a number",
        "an access of a CTA of the cluster that has ended (no cluster barrier at the end), a remote address "
        "in "
        "a kernel that was launched without a cluster, a bulk copy beyond shared memory, an mbarrier whose "
        "transaction count overflows",
        "wgrun check --dynamic names it; a cluster barrier before CTAs end"},
    ErrorCode{720,
              "COOPERATIVE_LAUNCH_TOO_LARGE",
              {},
              "not all CTAs of the grid can be resident",
              "a cooperative grid larger than SMs times CTAs of an SM",
              "cuOccupancyMaxActiveBlocksPerMultiprocessor times the SMs; fewer CTAs with a loop over tiles"},
    ErrorCode{801,
              "NOT_SUPPORTED",
              {},
              "the device or the driver does not have this",
              "clusters, tensor maps or graphs on a GPU or a driver without them",
              "wgrun doctor"},
    ErrorCode{802,
              "SYSTEM_NOT_READY",
              {},
              "the system is not ready",
              "the fabric manager of NVSwitch machines does not run",
              "start nvidia-fabricmanager"},
    ErrorCode{803,
              "SYSTEM_DRIVER_MISMATCH",
              {},
              "the driver's library and its kernel module differ",
              "an update without a restart, or a container with another libcuda",
              "load the module anew, or restart"},
    ErrorCode{804,
              "COMPAT_NOT_SUPPORTED_ON_DEVICE",
              {},
              "this GPU takes no libraries of a later driver",
              "cuda-compat on a GPU that it is not for",
              "take cuda-compat off LD_LIBRARY_PATH"},
    ErrorCode{900,
              "STREAM_CAPTURE_UNSUPPORTED",
              {},
              "a call cannot be made while a stream is captured",
              "a synchronisation, an allocation or the first load of a kernel during the capture of a graph",
              "make it before: kernel:load, a launch as warm-up"},
    ErrorCode{912,
              "INVALID_CLUSTER_SIZE",
              {},
              "the GPU cannot run clusters of this size",
              "a cluster of more than 8 CTAs without CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, a "
              "grid that "
              "is no multiple of the cluster, or CTAs too large for a cluster to be resident together",
              "8 CTAs at most, or the attribute; a grid of whole clusters"},
    ErrorCode{999,
              "UNKNOWN",
              {},
              "an error inside the driver",
              "often a fault before, or the hardware",
              "dmesg (Xid lines)"},
};

/// Returns the letters of a name, in capitals, without underscores and the prefixes of driver and runtime.
std::string plain(std::string_view name) {
    std::string out;
    for (const char c : name)
        if (c != '_') out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    constexpr std::string_view prefix = "CUDAERROR";
    return out.starts_with(prefix) ? out.substr(prefix.size()) : out;
}

}  // namespace

std::span<const ErrorCode> error_codes() { return codes; }

const ErrorCode* find_error(int number) {
    const auto at = std::ranges::find(codes, number, &ErrorCode::number);
    return at == std::end(codes) ? nullptr : &*at;
}

const ErrorCode* find_error(std::string_view word) {
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size()) return find_error(number);
    const std::string name = plain(word);
    if (name.empty()) return nullptr;
    const auto at = std::ranges::find_if(codes, [&name](const ErrorCode& code) {
        return plain(code.name) == name || plain(code.runtime) == name;
    });
    return at == std::end(codes) ? nullptr : &*at;
}

}  // namespace wgrun::gpu
