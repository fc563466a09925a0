// DLPack: tensors of other libraries, in the same process, without a copy.
//
// The structures are those of the DLPack specification 1.1 (https://dmlc.github.io/dlpack), declared here so
// that no header of it is needed: a host that has <dlpack/dlpack.h> casts its pointers (reinterpret_cast) to
// these and back. `ManagedTensorVersioned` is what `__dlpack__(max_version=(1, 0))` gives in a capsule called
// "dltensor_versioned", `ManagedTensor` the older one, in a capsule called "dltensor".
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

/// Where data lies, of DLDeviceType: the kinds that wgrun can name.
enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct Device {
    std::int32_t type;  ///< a DeviceType, or another kind of device
    std::int32_t id;
};

/// DLDataTypeCode: the kinds that a Dtype has.
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
    std::uint8_t bits;    ///< of one lane
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
    /// What the elements are, where the producer could not say it: any type of the same size for unsigned
    /// integers (u8 as e4m3, 16-bit ones as bf16), tf32 for 32-bit floats. Never a conversion.
    std::optional<Dtype> dtype = std::nullopt;
    /// Copy what is not in row-major order or not aligned, instead of refusing it. The tensor is given back
    /// at once when that happens.
    bool copy = false;
};

/// The tensor behind `managed`, in place: the memory is shared with its producer. The deleter is called
/// exactly once, when the tensor and all that uses its memory are gone, by whichever thread lets go last. If
/// an exception is thrown nothing has changed hands: the caller still owns `managed`.
///
/// Memory of the CPU and pinned memory of CUDA (cuda_host) is taken; bools come as u8. Throws ArgumentError
/// for other devices, types that no Dtype has, elements that are vectors, memory that is not in row-major
/// order or not aligned to the elements (unless options.copy), shapes that no tensor has, and structures that
/// contradict themselves.
Tensor from_dlpack(ManagedTensor* managed, const ImportOptions& options = {});

/// The same. Where the read-only flag is set the tensor is read-only. ArgumentError too for another major
/// version, of which the specification allows only to call the deleter.
Tensor from_dlpack(ManagedTensorVersioned* managed, const ImportOptions& options = {});

/// The tensor's memory for another library, which calls `deleter` exactly once; until then the memory lives,
/// whatever becomes of the tensor. The device is the CPU; tf32 is a 32-bit float there. Throws ArgumentError
/// for b1, and for a read-only tensor, which only the versioned form can say; std::bad_alloc.
ManagedTensor* to_dlpack(const Tensor& tensor);
ManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor);

/// Calls the deleter, if there is one.
struct Release {
    template <class Managed>
    void operator()(Managed* managed) const {
        if (managed->deleter != nullptr) managed->deleter(managed);
    }
};
/// Owns a managed tensor that nobody has taken yet.
using Unique = std::unique_ptr<ManagedTensor, Release>;
using UniqueVersioned = std::unique_ptr<ManagedTensorVersioned, Release>;

static_assert(sizeof(void*) == 8 && sizeof(View) == 48 && sizeof(ManagedTensor) == 64 &&
              sizeof(ManagedTensorVersioned) == 80);

}  // namespace wgrun::dlpack

#pragma GCC visibility pop
