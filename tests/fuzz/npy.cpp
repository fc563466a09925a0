#include <optional>

#include "tests/fuzz/tensor_file.hpp"

namespace wgrun::fuzz {

void npy(Bytes bytes) {
    const File file(bytes);
    for (const std::optional<Dtype> dtype :
         {std::optional<Dtype>(), std::optional(Dtype::e4m3), std::optional(Dtype::bf16)}) {
        std::optional<Tensor> mapped, read;
        const bool a = taken(file.path(), [&] { read = Tensor::load(file.path(), dtype); });
        const bool b = taken(file.path(), [&] { mapped = Tensor::load(file.path(), dtype, Loading::map); });
        expect(a == b, "taken when mapped alone, or when read alone");
        if (a) look(*mapped, *read);
    }
}

}  // namespace wgrun::fuzz
