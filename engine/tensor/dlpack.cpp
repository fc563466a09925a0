#include "wgrun/dlpack.hpp"

#include <fmt/format.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "number/element.hpp"
#include "number/number.hpp"
#include "tensor/shape.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::dlpack {
namespace {

bool is(const Element& element, DataType type) {
    return element.dlpack == type.code && element.bits == type.bits;
}

ArgumentError refusal(const std::string& why, std::string fix = {}) {
    return ArgumentError("DLPack: " + why, std::move(fix));
}

std::string name_of(DataType type) {
    constexpr std::array<const char*, 18> names{"int",
                                                "uint",
                                                "float",
                                                "opaque",
                                                "bfloat",
                                                "complex",
                                                "bool",
                                                "float8_e3m4",
                                                "float8_e4m3",
                                                "float8_e4m3b11fnuz",
                                                "float8_e4m3fn",
                                                "float8_e4m3fnuz",
                                                "float8_e5m2",
                                                "float8_e5m2fnuz",
                                                "float8_e8m0fnu",
                                                "float6_e2m3fn",
                                                "float6_e3m2fn",
                                                "float4_e2m1fn"};
    return fmt::format("{} of {} bits",
                       type.code < names.size() ? names[type.code] : "type code " + std::to_string(type.code),
                       type.bits);
}

Dtype dtype_of(DataType type, std::optional<Dtype> wanted) {
    if (type.lanes != 1) throw refusal(fmt::format("elements are vectors of {}, not numbers", type.lanes));
    if (wanted) {
        const bool bare = type.code == unsigned_integer && bits(*wanted) == type.bits && type.bits >= 8;
        const bool truth = type.code == boolean && type.bits == 8 && *wanted == Dtype::u8;
        if (bare || truth || is(element(*wanted), type)) return *wanted;
        throw refusal(fmt::format("elements are {}, not {}", name_of(type), to_string(*wanted)),
                      "import it without a dtype, then convert");
    }
    if (type.code == boolean && type.bits == 8) return Dtype::u8;
    // tf32 comes after f32, as which it is stored.
    for (const Element& element : elements())
        if (is(element, type)) return element.dtype;
    const bool bare = type.code == unsigned_integer && type.bits == 16;
    throw refusal(fmt::format("elements are {}, for which there is no dtype", name_of(type)),
                  bare ? "name the type: dtype = \"bf16\" or \"f16\"" : "");
}

void check_device(Device device) {
    if (device.type == cpu || device.type == cuda_host) return;
    const char* const name = device.type == cuda           ? "CUDA device"
                             : device.type == cuda_managed ? "managed memory of CUDA device"
                                                           : "device of another kind, number";
    throw refusal(fmt::format("the memory is that of a {} {}, not of the host", name, device.id),
                  "copy it to the host first, in PyTorch t.cpu()");
}

/// Distances of neighbours along each dimension, in elements.
std::vector<std::int64_t> strides_of(const View& view) {
    const auto rank = static_cast<std::size_t>(view.ndim);
    if (view.strides != nullptr) return {view.strides, view.strides + rank};
    std::vector<std::int64_t> strides(rank, 1);
    for (std::size_t d = rank; d-- > 1;)
        if (__builtin_mul_overflow(strides[d], view.shape[d], &strides[d - 1]))
            strides[d - 1] = 0;  // an empty one
    return strides;
}

bool row_major(const TensorShape& shape, const std::vector<std::int64_t>& strides) {
    std::int64_t step = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        if (shape[d] != 1 && strides[d] != step) return false;
        step *= shape[d];
    }
    return true;
}

/// Copies element by element, along the strides, whose ends are known to fit 63 bits.
void gather(const std::byte* from, const TensorShape& shape, const std::vector<std::int64_t>& strides,
            Tensor& to) {
    const auto size = static_cast<std::size_t>(bits(to.dtype()) / 8);
    std::vector<std::int64_t> index(shape.size(), 0);
    std::byte* out = to.data();
    std::int64_t at = 0;  // elements from the first one
    for (std::int64_t i = 0; i < to.items(); ++i, out += size) {
        std::memcpy(out, from + at * static_cast<std::int64_t>(size), size);
        for (std::size_t d = shape.size(); d-- > 0;) {
            at += strides[d];
            if (++index[d] < shape[d]) break;
            at -= strides[d] * shape[d];
            index[d] = 0;
        }
    }
}

/// Throws unless every element lies within 2^62 bytes of the first.
void check_reach(const TensorShape& shape, const std::vector<std::int64_t>& strides, int element) {
    constexpr std::int64_t furthest = std::int64_t{1} << 62;
    std::int64_t reach = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        std::int64_t span = 0;
        const bool beyond = strides[d] == INT64_MIN ||
                            __builtin_mul_overflow(std::abs(strides[d]), shape[d], &span) ||
                            __builtin_mul_overflow(span, std::int64_t{element}, &span) ||
                            __builtin_add_overflow(reach, span, &reach) || reach > furthest;
        if (beyond)
            throw refusal(
                fmt::format("the stride {} of dimension {} exceeds the address range", strides[d], d));
    }
}

template <class Managed>
Tensor import(Managed* managed, bool read_only, const ImportOptions& options) {
    const View& view = managed->view;
    check_device(view.device);
    if (view.ndim < 0 || view.ndim > Tensor::max_rank)
        throw refusal(fmt::format("{} dimensions, but a tensor has at most {}", view.ndim, Tensor::max_rank));
    if (view.ndim > 0 && view.shape == nullptr) throw refusal("the shape is null");
    TensorShape shape(view.shape, view.shape + view.ndim);
    const Dtype dtype = dtype_of(view.dtype, options.dtype);
    const std::int64_t items = count_items(dtype, shape);
    const int element = bits(dtype) / 8;
    if (items > 0 && view.data == nullptr) throw refusal(describe(dtype, shape) + ": the data is null");
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(view.data) + view.byte_offset;
    if (items > 0 && start < view.byte_offset) throw refusal("the byte offset exceeds the address range");
    auto* const first = reinterpret_cast<std::byte*>(items > 0 ? start : 0);

    const std::vector<std::int64_t> strides = strides_of(view);
    const bool aligned = start % static_cast<std::uintptr_t>(element) == 0;
    if (items > 0 && !(row_major(shape, strides) && aligned)) {
        if (!options.copy)
            throw aligned
                ? refusal(fmt::format("{} with strides {{{}}} is not in row-major order",
                                      describe(dtype, shape), fmt::join(strides, ", ")),
                          "make it contiguous first, in PyTorch t.contiguous(); or copy = true")
                : refusal(fmt::format("memory at {:#x} is not aligned to the {} bytes of an element", start,
                                      element),
                          "copy = true");
        check_reach(shape, strides, element);
        Tensor copy = Tensor::zeros(dtype, shape);
        gather(first, shape, strides, copy);
        Release{}(managed);
        return copy;
    }
    // Everything that can fail comes before the owner that calls the deleter.
    struct Owner {
        Managed* managed = nullptr;
        Owner() = default;
        Owner(const Owner&) = delete;
        Owner& operator=(const Owner&) = delete;
        ~Owner() {
            if (managed != nullptr) Release{}(managed);
        }
    };
    const auto owner = std::make_shared<Owner>();
    Tensor tensor = read_only ? Tensor::wrap_read_only(dtype, std::move(shape), first, owner)
                              : Tensor::wrap(dtype, std::move(shape), first, owner);
    owner->managed = managed;
    return tensor;
}

/// The exported structure, and the data that it points to.
template <class Managed>
struct Exported {
    Managed managed{};
    std::shared_ptr<const void> memory;
    TensorShape shape, strides;

    explicit Exported(const Tensor& tensor)
        : memory(tensor.owner().lock()), shape(tensor.shape()), strides(tensor.shape().size(), 1) {
        const Element& kind = element(tensor.dtype());
        if (kind.dlpack < 0)
            throw refusal(fmt::format("{} elements cannot be exported", to_string(tensor.dtype())),
                          "convert to u8 first");
        for (std::size_t d = shape.size(); d-- > 1;)
            strides[d - 1] = strides[d] * std::max<std::int64_t>(shape[d], 1);
        View& view = managed.view;
        if (tensor.size_bytes() > 0)
            view.data = const_cast<std::byte*>(tensor.data());  // a flag says whether it is read-only
        view.device = {cpu, 0};
        view.ndim = tensor.rank();
        view.dtype = {static_cast<std::uint8_t>(kind.dlpack), static_cast<std::uint8_t>(kind.bits), 1};
        view.shape = shape.data();
        view.strides = strides.data();
        managed.manager_ctx = this;
        managed.deleter = [](Managed* self) { delete static_cast<Exported*>(self->manager_ctx); };
    }
};

}  // namespace

Tensor from_dlpack(ManagedTensor* managed, const ImportOptions& options) {
    if (managed == nullptr) throw refusal("the tensor is null");
    return import(managed, false, options);
}

Tensor from_dlpack(ManagedTensorVersioned* managed, const ImportOptions& options) {
    if (managed == nullptr) throw refusal("the tensor is null");
    if (managed->version.major != version.major)
        throw refusal(fmt::format("version {}.{}, where only {}.x is supported", managed->version.major,
                                  managed->version.minor, version.major));
    return import(managed, (managed->flags & read_only_flag) != 0, options);
}

ManagedTensor* to_dlpack(const Tensor& tensor) {
    if (tensor.read_only())
        throw refusal(to_string(tensor) + " is read-only, which only the versioned form can express",
                      "export a copy: t:copy()");
    return &std::make_unique<Exported<ManagedTensor>>(tensor).release()->managed;
}

ManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor) {
    auto exported = std::make_unique<Exported<ManagedTensorVersioned>>(tensor);
    exported->managed.version = version;
    exported->managed.flags = tensor.read_only() ? read_only_flag : 0;
    return &exported.release()->managed;
}

}  // namespace wgrun::dlpack
