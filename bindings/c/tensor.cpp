// Tensors of other libraries, and for them: DLPack.
#include "bindings/c/tensor.hpp"

#include <utility>

#include "bindings/c/convert.hpp"
#include "bindings/c/structs.hpp"
#include "wgrun/dlpack.hpp"

namespace wgrun::c {
namespace {

template <class Managed, class Given>
void take(Given* given, int dtype, wgrun_tensor** out) {
    wgrun_tensor*& place = result(out, "tensor");
    const dlpack::ImportOptions options{dtype_of(dtype), false};
    // The handle comes first, since nothing may fail once the tensor is ours.
    const auto made = std::make_shared<Tensor>(Tensor::zeros(Dtype::u8, {0}));
    wgrun_tensor* handle = nullptr;
    give_handle(&handle, made);
    try {
        *made = dlpack::from_dlpack(reinterpret_cast<Managed*>(given), options);
    } catch (...) {
        close_handle(Kind::tensor, handle);
        throw;
    }
    place = handle;
}

}  // namespace
}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

int wgrun_tensor_from_dlpack(DLManagedTensorVersioned* managed, int dtype, wgrun_tensor** tensor) {
    return answer([&] { take<wgrun::dlpack::ManagedTensorVersioned>(managed, dtype, tensor); });
}

int wgrun_tensor_from_dlpack_unversioned(DLManagedTensor* managed, int dtype, wgrun_tensor** tensor) {
    return answer([&] { take<wgrun::dlpack::ManagedTensor>(managed, dtype, tensor); });
}

int wgrun_tensor_to_dlpack(wgrun_tensor* tensor, DLManagedTensorVersioned** managed) {
    return answer([&] {
        const auto found = find<wgrun::Tensor>(tensor);
        result(managed, "managed") =
            reinterpret_cast<DLManagedTensorVersioned*>(wgrun::dlpack::to_dlpack_versioned(*found));
    });
}

int wgrun_tensor_to_dlpack_unversioned(wgrun_tensor* tensor, DLManagedTensor** managed) {
    return answer([&] {
        const auto found = find<wgrun::Tensor>(tensor);
        result(managed, "managed") = reinterpret_cast<DLManagedTensor*>(wgrun::dlpack::to_dlpack(*found));
    });
}

int wgrun_tensor_argument(wgrun_tensor* tensor, wgrun_argument* argument) {
    return answer([&] {
        const auto found = find<wgrun::Tensor>(tensor);
        wgrun_argument out{};
        out.kind = WGRUN_MEMORY;
        out.dtype = number_of(found->dtype());
        out.address = reinterpret_cast<std::uintptr_t>(std::as_const(*found).data());
        static const std::int64_t none = 0;  // NULL would mean an unknown shape
        out.shape = found->rank() == 0 ? &none : found->shape().data();
        out.rank = found->rank();
        out.read_only = found->read_only() ? 1 : 0;
        result(argument, "argument") = out;
    });
}

int wgrun_tensor_close(wgrun_tensor* tensor) {
    return answer([&] { close_handle(Kind::tensor, tensor); });
}

}  // extern "C"
