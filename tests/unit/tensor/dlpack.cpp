// DLPack both ways: who owns what, and what is refused.
#include "wgrun/dlpack.hpp"

#include <array>
#include <cstring>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

namespace {

/// A producer: counts how often its tensor is given back.
template <class Managed>
struct Producer {
    alignas(64) std::array<float, 12> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    std::array<std::int64_t, 9> shape{3, 4}, strides{4, 1};
    Managed managed{};
    int returned = 0;

    Producer() {
        if constexpr (requires { managed.flags; }) managed.version = {1, 0};
        managed.manager_ctx = this;
        managed.deleter = [](Managed* self) { ++static_cast<Producer*>(self->manager_ctx)->returned; };
        managed.view = {values.data(), {dlpack::cpu, 0}, 2, {dlpack::floating, 32, 1},
                        shape.data(),  strides.data(),   0};
    }
    void refused(const std::string& why, const dlpack::ImportOptions& options = {}) {
        INFO(why);
        CHECK_THROWS_WITH(dlpack::from_dlpack(&managed, options), ContainsSubstring(why));
        CHECK(returned == 0);
    }
};
using Old = Producer<dlpack::ManagedTensor>;
using New = Producer<dlpack::ManagedTensorVersioned>;

}  // namespace

TEMPLATE_TEST_CASE("a tensor of another library is taken in place, and given back once", "", Old, New) {
    TestType producer;
    {
        Tensor t = dlpack::from_dlpack(&producer.managed);
        CHECK(to_string(t) == "f32 {3, 4}");
        CHECK(t.data() == static_cast<void*>(producer.values.data()));
        t.set(5, 50);
        CHECK(producer.values[5] == 50);
        const Tensor moved = std::move(t);
        CHECK(producer.returned == 0);
    }
    CHECK(producer.returned == 1);
    producer.managed.view.strides = nullptr;
    producer.managed.view.byte_offset = 16;
    producer.shape = {2, 4};
    producer.managed.view.device = {dlpack::cuda_host, 0};
    { CHECK(dlpack::from_dlpack(&producer.managed).get(0) == 4); }
    CHECK(producer.returned == 2);
    producer.managed.deleter = nullptr;
    { CHECK(dlpack::from_dlpack(&producer.managed).get(0) == 4); }
    CHECK(producer.returned == 2);
}

TEST_CASE("the read-only flag makes a read-only tensor") {
    New producer;
    producer.managed.flags = dlpack::read_only_flag | dlpack::copied_flag;
    Tensor t = dlpack::from_dlpack(&producer.managed);
    CHECK(t.read_only());
    CHECK_THROWS_AS(t.set(0, 1), ArgumentError);
}

TEST_CASE("element types, as producers name them") {
    struct Case {
        dlpack::DataType type;
        std::optional<Dtype> wanted, got;
    };
    using std::nullopt;
    for (const Case& c : std::initializer_list<Case>{
             {{2, 64, 1}, nullopt, Dtype::f64},      {{2, 32, 1}, nullopt, Dtype::f32},
             {{2, 32, 1}, Dtype::tf32, Dtype::tf32}, {{2, 16, 1}, nullopt, Dtype::f16},
             {{4, 16, 1}, nullopt, Dtype::bf16},     {{10, 8, 1}, nullopt, Dtype::e4m3},
             {{12, 8, 1}, nullopt, Dtype::e5m2},     {{0, 8, 1}, nullopt, Dtype::s8},
             {{1, 8, 1}, nullopt, Dtype::u8},        {{6, 8, 1}, nullopt, Dtype::u8},
             {{0, 32, 1}, nullopt, Dtype::s32},      {{1, 32, 1}, nullopt, Dtype::u32},
             {{0, 64, 1}, nullopt, Dtype::s64},      {{1, 64, 1}, nullopt, Dtype::u64},
             {{1, 8, 1}, Dtype::e4m3, Dtype::e4m3},  {{1, 16, 1}, Dtype::bf16, Dtype::bf16},
             {{1, 16, 1}, nullopt, nullopt},         {{0, 16, 1}, nullopt, nullopt},
             {{0, 16, 1}, Dtype::bf16, nullopt},     {{1, 16, 1}, Dtype::f32, nullopt},
             {{2, 32, 1}, Dtype::u32, nullopt},      {{1, 1, 1}, Dtype::b1, nullopt},
             {{8, 8, 1}, nullopt, nullopt},          {{11, 8, 1}, nullopt, nullopt},
             {{5, 64, 1}, nullopt, nullopt},         {{6, 1, 1}, nullopt, nullopt},
             {{17, 4, 1}, nullopt, nullopt},         {{200, 32, 1}, nullopt, nullopt},
             {{2, 32, 4}, nullopt, nullopt},         {{2, 32, 0}, nullopt, nullopt}}) {
        INFO(int{c.type.code} << ", " << int{c.type.bits} << " bits, " << c.type.lanes << " lanes");
        New producer;
        producer.managed.view.dtype = c.type;
        producer.shape = {1, 1};
        if (c.got) {
            CHECK(dlpack::from_dlpack(&producer.managed, {.dtype = c.wanted}).dtype() == *c.got);
        } else {
            CHECK_THROWS_AS(dlpack::from_dlpack(&producer.managed, {.dtype = c.wanted}), ArgumentError);
        }
        CHECK(producer.returned == (c.got ? 1 : 0));
    }
}

TEST_CASE("what is not in row-major order is refused, or copied and given back") {
    New producer;
    producer.shape = {4, 3};
    producer.strides = {1, 4};
    producer.refused("f32 {4, 3} with strides {1, 4} is not in row-major order");
    const Tensor transposed = dlpack::from_dlpack(&producer.managed, {.copy = true});
    CHECK(producer.returned == 1);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 3; ++j) CHECK(transposed.get(std::vector<std::int64_t>{i, j}) == 4 * j + i);

    New reversed;
    reversed.managed.view.ndim = 1;
    reversed.shape = {12};
    reversed.strides = {-1};
    reversed.managed.view.byte_offset = 44;
    CHECK(dlpack::from_dlpack(&reversed.managed, {.copy = true}).get(1) == 10);

    New repeated;
    repeated.strides = {0, 1};
    CHECK(dlpack::from_dlpack(&repeated.managed, {.copy = true}).get(7) == 3);

    // Strides of extents of one do not count, nor those of a tensor without elements.
    New plain;
    plain.shape = {1, 4};
    plain.strides = {77, 1};
    CHECK(dlpack::from_dlpack(&plain.managed).get(3) == 3);
    New empty;
    empty.shape = {0, 4};
    empty.strides = {5, 5};
    empty.managed.view.data = nullptr;
    CHECK(dlpack::from_dlpack(&empty.managed).items() == 0);

    New odd;
    odd.shape = {2, 4};
    odd.managed.view.byte_offset = 2;
    odd.refused("is not aligned to the 4 bytes of an element");
    CHECK(dlpack::from_dlpack(&odd.managed, {.copy = true}).items() == 8);
    CHECK(odd.returned == 1);
}

TEST_CASE("structures that make no sense are refused, and stay the caller's") {
    CHECK_THROWS_AS(dlpack::from_dlpack(static_cast<dlpack::ManagedTensor*>(nullptr)), ArgumentError);
    CHECK_THROWS_AS(dlpack::from_dlpack(static_cast<dlpack::ManagedTensorVersioned*>(nullptr)),
                    ArgumentError);
    const auto refused = [](auto change, const std::string& why, const dlpack::ImportOptions& options = {}) {
        New producer;
        change(producer.managed, producer);
        producer.refused(why, options);
    };
    refused([](auto& m, auto&) { m.version.major = 2; }, "version 2.0, where only 1.x is supported");
    refused([](auto& m, auto&) { m.view.device = {dlpack::cuda, 3}; }, "a CUDA device 3, not of the host");
    refused(
        [](auto& m, auto&) {
            m.view.device = {dlpack::cuda_managed, 0};
        },
        "managed memory of CUDA device 0");
    refused([](auto& m, auto&) { m.view.device = {10, 0}; }, "not of the host");
    refused([](auto& m, auto&) { m.view.ndim = -1; }, "-1 dimensions");
    refused([](auto& m, auto&) { m.view.ndim = 9; }, "9 dimensions");
    refused([](auto& m, auto&) { m.view.shape = nullptr; }, "the shape is null");
    refused([](auto& m, auto&) { m.view.data = nullptr; }, "the data is null");
    refused([](auto& m, auto&) { m.view.byte_offset = UINT64_MAX - 64; },
            "the byte offset exceeds the address range");
    refused([](auto&, auto& p) { p.shape[0] = -3; }, "negative");
    refused([](auto&, auto& p) { p.shape[0] = INT64_MAX; }, "1 TiB");
    const dlpack::ImportOptions copy{.copy = true};
    refused([](auto&, auto& p) { p.strides[0] = INT64_MIN; }, "exceeds the address range", copy);
    refused([](auto&, auto& p) { p.strides[0] = INT64_MAX; }, "exceeds the address range", copy);
}

TEST_CASE("what goes out is what comes in, and outlives its tensor") {
    for (const Dtype dtype : all_dtypes()) {
        if (dtype == Dtype::b1) continue;
        Tensor t = Tensor::zeros(dtype, {2, 0, 3});
        dlpack::UniqueVersioned empty(dlpack::to_dlpack_versioned(t));
        CHECK(empty->view.data == nullptr);
        t = Tensor::from_values(dtype, {2, 3}, std::vector<double>{0, 1, 2, 3, 4, 5});
        dlpack::UniqueVersioned out(dlpack::to_dlpack_versioned(t));
        INFO(to_string(t));
        CHECK(out->view.data == t.data());
        CHECK(out->view.strides[0] == 3);
        CHECK(out->view.strides[1] == 1);
        CHECK(out->flags == 0);
        const std::byte* const memory = t.data();
        t = Tensor::zeros(dtype, {1});
        Tensor back = dlpack::from_dlpack(out.release(), {.dtype = dtype});
        CHECK(back.dtype() == dtype);
        CHECK(back.data() == memory);
        CHECK(back.get(5) == 5);

        dlpack::Unique old(dlpack::to_dlpack(back));
        CHECK(old->view.dtype.bits == bits(dtype));
        CHECK(old->view.ndim == 2);
    }
    CHECK_THROWS_WITH(dlpack::to_dlpack(Tensor::zeros(Dtype::b1, {8})), ContainsSubstring("b1"));
    const Tensor scalar = Tensor::zeros(Dtype::f32, {});
    CHECK(dlpack::UniqueVersioned(dlpack::to_dlpack_versioned(scalar))->view.ndim == 0);
}

TEST_CASE("a read-only tensor goes out as one, or not at all") {
    static constexpr std::array<float, 2> memory{1, 2};
    const Tensor t = Tensor::wrap_read_only(Dtype::f32, {2}, memory.data(), nullptr);
    CHECK(dlpack::UniqueVersioned(dlpack::to_dlpack_versioned(t))->flags == dlpack::read_only_flag);
    CHECK_THROWS_WITH(dlpack::to_dlpack(t), ContainsSubstring("only the versioned form"));
}
