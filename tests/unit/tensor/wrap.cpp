// Tensors over memory of the caller: what is refused, who is kept alive, and how long.
#include <array>
#include <memory>
#include <utility>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor.hpp"

using namespace wgrun;

namespace {

/// Memory that counts how often it is let go of.
struct Memory {
    alignas(64) std::array<float, 6> values{1, 2, 3, 4, 5, 6};
    int released = 0;
    std::shared_ptr<void> owner() {
        return {values.data(), [this](void*) { ++released; }};
    }
};

}  // namespace

TEST_CASE("a wrapped tensor is the caller's memory") {
    Memory memory;
    {
        Tensor t = Tensor::wrap(Dtype::f32, {2, 3}, memory.values.data(), memory.owner());
        CHECK(t.data() == static_cast<void*>(memory.values.data()));
        CHECK(t.get(std::vector<std::int64_t>{1, 0}) == 4);
        CHECK_FALSE(t.read_only());
        t.set(5, 7);
        CHECK(memory.values[5] == 7);
        memory.values[0] = 8;
        CHECK(t.get(0) == 8);

        Tensor moved = std::move(t);
        CHECK(moved.get(5) == 7);
        CHECK(t.items() == 0);
        const Tensor own = moved.copy();
        moved.set(0, 9);
        CHECK(own.get(0) == 8);
        CHECK(memory.released == 0);
    }
    CHECK(memory.released == 1);
}

TEST_CASE("the owner goes with the tensor, not with who only watches it") {
    Memory memory;
    std::weak_ptr<const void> watched;
    {
        const Tensor t = Tensor::wrap(Dtype::f32, {6}, memory.values.data(), memory.owner());
        watched = t.owner();
    }
    CHECK(watched.expired());
    CHECK(memory.released == 1);
}

TEST_CASE("tensors of one owner are told apart, and share it") {
    Memory memory;
    {
        std::shared_ptr<void> owner = memory.owner();
        const Tensor a = Tensor::wrap(Dtype::f32, {3}, memory.values.data(), owner);
        {
            const Tensor b = Tensor::wrap(Dtype::f32, {3}, memory.values.data() + 3, owner);
            owner.reset();
            const std::owner_less<> before;
            CHECK((before(a.owner(), b.owner()) || before(b.owner(), a.owner())));
        }
        CHECK(memory.released == 0);
        // Without an owner as well.
        const Tensor c = Tensor::wrap(Dtype::f32, {3}, memory.values.data(), nullptr);
        const Tensor d = Tensor::wrap(Dtype::f32, {3}, memory.values.data(), nullptr);
        const std::owner_less<> before;
        CHECK((before(c.owner(), d.owner()) || before(d.owner(), c.owner())));
        CHECK_FALSE(c.owner().expired());
    }
    CHECK(memory.released == 1);
}

TEST_CASE("what cannot be wrapped is refused, and its owner let go of") {
    Memory memory;
    auto* const bytes = reinterpret_cast<std::byte*>(memory.values.data());
    CHECK_THROWS_WITH(Tensor::wrap(Dtype::f32, {2}, nullptr, memory.owner()),
                      "f32 {2}: the memory to wrap is null");
    CHECK_THROWS_WITH(Tensor::wrap(Dtype::f32, {2}, bytes + 2, memory.owner()),
                      ContainsSubstring("is not aligned to the 4 bytes of an element"));
    CHECK_THROWS_AS(Tensor::wrap(Dtype::f64, {1}, bytes + 4, memory.owner()), ArgumentError);
    CHECK_THROWS_AS(Tensor::wrap(Dtype::f32, {-1}, bytes, memory.owner()), ArgumentError);
    CHECK_THROWS_AS(Tensor::wrap(Dtype::f32, TensorShape(9, 1), bytes, memory.owner()), ArgumentError);
    CHECK(memory.released == 5);
    CHECK(Tensor::wrap(Dtype::bf16, {4}, bytes + 2, nullptr).items() == 4);
    CHECK(Tensor::wrap(Dtype::b1, {3}, bytes + 1, nullptr).size_bytes() == 1);
    CHECK(Tensor::wrap(Dtype::f32, {0, 4}, nullptr, nullptr).size_bytes() == 0);
}

TEST_CASE("a read-only tensor is read, and never written") {
    for (const Dtype dtype : all_dtypes()) {
        static constexpr std::array<std::uint64_t, 2> memory{};
        Tensor t = Tensor::wrap_read_only(dtype, {2}, memory.data(), nullptr);
        INFO(to_string(t));
        CHECK(t.read_only());
        CHECK(t.get(1) == 0);
        CHECK(std::as_const(t).data() == static_cast<const void*>(memory.data()));
        CHECK(compare(t, t).ok);
        CHECK_THROWS_WITH(t.set(0, 1), to_string(t) + ": the tensor is read-only");
        CHECK_THROWS_AS(t.data(), ArgumentError);
        CHECK_THROWS_AS(t.bytes(), ArgumentError);
        Tensor own = t.copy();
        CHECK_FALSE(own.read_only());
        own.set(0, 1);
        Tensor moved = std::move(t);
        CHECK(moved.read_only());
        CHECK_FALSE(t.read_only());
        moved = std::move(own);
        CHECK(moved.get(0) == 1);
    }
}
