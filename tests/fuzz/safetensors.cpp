#include "wgrun/safetensors.hpp"

#include "tests/fuzz/tensor_file.hpp"

namespace wgrun::fuzz {

void safetensors(Bytes bytes) {
    const File file(bytes);
    Safetensors mapped, read;
    const bool a = taken(file.path(), [&] { read = load_safetensors(file.path(), Loading::read); });
    const bool b = taken(file.path(), [&] { mapped = load_safetensors(file.path(), Loading::map); });
    expect(a == b && mapped.tensors.size() == read.tensors.size(),
           "taken when mapped alone, or when read alone");
    std::size_t size = 0;
    for (std::size_t i = 0; i < read.tensors.size(); ++i) {
        expect(mapped.tensors[i].first == read.tensors[i].first, "names differ");
        size += read.tensors[i].second.size_bytes();
        look(mapped.tensors[i].second, read.tensors[i].second);
    }
    expect(size <= bytes.size(), "more bytes than the file has");
}

}  // namespace wgrun::fuzz
