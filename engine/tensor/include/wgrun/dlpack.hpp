// DLPack: tensors of other libraries, in the same process, without a copy.
//
// The structures are those of the DLPack specification 1.1 (https://dmlc.github.io/dlpack), declared here so
// that its header is not needed: a host that has <dlpack/dlpack.h> casts its pointers to these and back
// (reinterpret_cast). `ManagedTensorVersioned` is what `__dlpack__(max_version=(1, 0))` gives in a capsule
// called "dltensor_versioned", `ManagedTensor` the older one, in a capsule called "dltensor".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "wgrun/tensor.hpp"

#pragma GCC visibility push(default)

namespace wgrun::dlpack {

struct Version {
    std::uint32_t major, minor;
};
inline constexpr Version version{1, 1};

/// DLDeviceType: the kinds of memory that wgrun can name.
enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct Device {
    std::int32_t type;  ///< a DeviceType, or another kind of device
    std::int32_t id;
};

/// DLDataTypeCode: the kinds that some Dtype has.
enum TypeCode : std::uint8_t {
    integer = 0,
    unsigned_integer = 1,
    floating = 2,
    bfloat = 4,
    boolean = 6,
    float8_e4m3fn = 10,
    float8_e5m2 = 12
};

struct DataType {
    std::uint8_t code;    ///< a TypeCode, or another one
    std::uint8_t bits;    ///< bits of one lane
    std::uint16_t lanes;  ///< 1, unless elements are vectors
};

/// DLTensor. Strides count elements; null stands for row-major order.
struct View {
    void* data;
    Device device;
    std::int32_t ndim;
    DataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;  ///< from `data` to the first element
};

/// DLManagedTensor.
struct ManagedTensor {
    View view;
    void* manager_ctx;
    void (*deleter)(ManagedTensor* self);  ///< deletes `self` too; may be null
};

inline constexpr std::uint64_t read_only_flag = 1;  ///< the memory must not be written
inline constexpr std::uint64_t copied_flag = 2;     ///< the producer has made a copy for the consumer

/// DLManagedTensorVersioned.
struct ManagedTensorVersioned {
    Version version;
    void* manager_ctx;
    void (*deleter)(ManagedTensorVersioned* self);  ///< deletes `self` too; may be null
    std::uint64_t flags;
    View view;
};

struct ImportOptions {
    /// The element type, where the producer could not state it: any type of the same size for unsigned
    /// integers (u8 as e4m3, 16-bit ones as bf16), tf32 for 32-bit floats. Nothing is converted.
    std::optional<Dtype> dtype = std::nullopt;
    /// Copies a tensor that is not row-major or not aligned instead of refusing it. The producer's tensor is
    /// then released at once.
    bool copy = false;
};

/// The tensor behind `managed`, in place: the memory is shared with its producer. The deleter is called
/// exactly once, by the thread that releases the last of the tensor and all that uses its memory. If an
/// exception is thrown, the caller still owns `managed`.
///
/// Accepts CPU memory and CUDA's pinned host memory (cuda_host); bools become u8. Throws ArgumentError for
/// other devices, element types that are no Dtype, elements that are vectors, memory that is not row-major or
/// not aligned to the elements (unless options.copy), shapes that a Tensor cannot have, and inconsistent
/// structures. Thread-safe for different tensors.
Tensor from_dlpack(ManagedTensor* managed, const ImportOptions& options = {});

/// The same; the tensor is read-only if the read-only flag is set. Also throws ArgumentError for another
/// major version, where the specification allows nothing but to call the deleter.
Tensor from_dlpack(ManagedTensorVersioned* managed, const ImportOptions& options = {});

/// The tensor's memory for another library, which calls `deleter` exactly once; the memory lives until then,
/// even if the tensor does not. The device is the CPU; tf32 becomes a 32-bit float. Throws ArgumentError for
/// b1, and for a read-only tensor, which only the versioned form can express; std::bad_alloc.
ManagedTensor* to_dlpack(const Tensor& tensor);
ManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor);

/// Calls the deleter, if there is one.
struct Release {
    template <class Managed>
    void operator()(Managed* managed) const {
        if (managed->deleter != nullptr) managed->deleter(managed);
    }
};
/// Owns a managed tensor that no consumer has taken yet.
using Unique = std::unique_ptr<ManagedTensor, Release>;
using UniqueVersioned = std::unique_ptr<ManagedTensorVersioned, Release>;

static_assert(sizeof(void*) != 8 ||
              (sizeof(View) == 48 && sizeof(ManagedTensor) == 64 && sizeof(ManagedTensorVersioned) == 80));

}  // namespace wgrun::dlpack

#pragma GCC visibility pop
