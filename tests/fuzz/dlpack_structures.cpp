#include "wgrun/dlpack.hpp"

#include <array>
#include <cstring>

#include "tests/fuzz/fields.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::fuzz {
namespace {

void expect(bool holds, const std::string& what) {
    if (!holds) throw Broken(what);
}

constexpr std::size_t memory_bytes = 4096;
constexpr std::size_t middle = memory_bytes / 2;

/// Do all elements lie in the memory?
bool inside(const dlpack::View& view) {
    constexpr auto most = static_cast<std::int64_t>(memory_bytes);
    const std::int64_t element = (view.dtype.bits + 7) / 8;
    std::int64_t low = 0, high = element, compact = 1;
    for (int d = view.ndim; d-- > 0;) {
        const std::int64_t stride = view.strides != nullptr ? view.strides[d] : compact,
                           extent = view.shape[d];
        if (extent < 1 || extent > most || stride > most || stride < -most) return false;
        const std::int64_t reach = stride * (extent - 1) * element;
        (reach < 0 ? low : high) += reach;
        compact *= extent;
        if (compact > most) return false;
    }
    if (view.byte_offset > memory_bytes) return false;
    const std::int64_t first = static_cast<std::int64_t>(middle + view.byte_offset);
    return first + low >= 0 && first + high <= most;
}

template <class Managed>
void import(Fields& fields, bool versioned_major) {
    alignas(64) static std::array<std::byte, memory_bytes> memory;
    static int returned;
    returned = 0;
    std::array<std::int64_t, 12> shape{}, strides{};
    Managed managed{};
    if constexpr (requires { managed.flags; }) {
        managed.version = {versioned_major ? 1U : fields.next<std::uint8_t>(), fields.next<std::uint8_t>()};
        managed.flags = fields.next<std::uint8_t>();
    }
    managed.deleter = [](Managed*) { ++returned; };
    dlpack::View& view = managed.view;
    view.ndim = static_cast<std::int32_t>(fields.next<std::uint8_t>() % 12) - 1;
    view.dtype = {
        static_cast<std::uint8_t>(fields.next<std::uint8_t>() % 20), fields.next<std::uint8_t>(),
        static_cast<std::uint16_t>(fields.next<std::uint8_t>() % 8 == 0 ? fields.next<std::uint8_t>() : 1)};
    if (const auto width = fields.next<std::uint8_t>(); width < 250)
        view.dtype.bits = static_cast<std::uint8_t>(8U << width % 4);
    view.device = {fields.next<std::uint8_t>() % 16 == 0 ? fields.next<std::int32_t>() : 1, 0};
    for (std::int64_t& extent : shape) extent = fields.number();
    for (std::int64_t& stride : strides) stride = fields.number();
    view.shape = shape.data();
    view.strides = fields.next<std::uint8_t>() % 4 == 0 ? nullptr : strides.data();
    if (view.strides != nullptr && fields.next<std::uint8_t>() % 2 == 0) {  // row-major, that some be taken
        std::uint64_t step = 1;
        for (int d = view.ndim; d-- > 0;
             step *= static_cast<std::uint64_t>(shape[static_cast<std::size_t>(d)]))
            strides[static_cast<std::size_t>(d)] = static_cast<std::int64_t>(step);
    }
    view.byte_offset =
        fields.next<std::uint8_t>() % 8 == 0 ? fields.next<std::uint64_t>() : fields.next<std::uint8_t>();
    view.data = fields.next<std::uint8_t>() % 32 == 0 ? nullptr : memory.data() + middle;
    dlpack::ImportOptions options;
    options.copy = fields.next<std::uint8_t>() % 2 == 0;
    if (const auto dtype = fields.next<std::uint8_t>(); dtype < all_dtypes().size())
        options.dtype = all_dtypes()[dtype];
    // A producer that lies about its memory cannot be found out: those that lead out of it are for the checks
    // alone, which come before memory is looked at, unless the elements are gathered.
    const bool honest = view.ndim >= 0 && view.ndim <= 12 && inside(view);
    if (!honest) options.copy = false;
    bool taken = false;
    try {
        Tensor t = dlpack::from_dlpack(&managed, options);
        taken = true;
        expect(returned <= 1, "given back twice");
        if (honest && t.items() > 0) {
            t.get(0);
            t.get(t.items() - 1);
            if (!t.read_only()) t.set(t.items() - 1, 1);
        }
        if (honest) {
            dlpack::UniqueVersioned out;
            if (t.dtype() != Dtype::b1) out.reset(dlpack::to_dlpack_versioned(t));
            if (out) expect(out->view.ndim == t.rank(), "dimensions differ on the way out");
        }
    } catch (const ArgumentError& error) {
        expect(*error.what() != '\0', "a refusal without a word");
    }
    expect(returned == (taken ? 1 : 0), taken ? "not given back once" : "refused, and given back");
}

}  // namespace

void dlpack_structures(Bytes bytes) {
    Fields fields(bytes);
    const auto form = fields.next<std::uint8_t>();
    if (form % 3 == 0)
        import <dlpack::ManagedTensor>(fields, false);
    else
        import <dlpack::ManagedTensorVersioned>(fields, form % 8 != 1);
}

}  // namespace wgrun::fuzz
