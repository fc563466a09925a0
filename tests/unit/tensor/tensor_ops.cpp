// Parts of tensors where the numbers are the caller's.
#include "wgrun/tensor_ops.hpp"

#include <cstdint>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

TEST_CASE("tensor_ops: a tensor without elements is permuted, sliced and broadcast") {
    const Tensor none = Tensor::zeros(Dtype::f32, {2, 0, 3});
    const int order[] = {2, 1, 0};
    CHECK(permute(none, order).shape() == TensorShape{3, 0, 2});
    const IndexRange all[] = {{0, 2, 1, false}};
    CHECK(slice(none, all).items() == 0);
    CHECK(elementwise("add", none, full(Dtype::f32, {}, 1)).shape() == none.shape());
}

TEST_CASE("tensor_ops: a range whose end cannot be represented is refused") {
    const Tensor t = Tensor::zeros(Dtype::u8, {4, 4});
    for (const IndexRange range :
         {IndexRange{0, 3, INT64_MIN, false},  // the third index would be 0 again
          IndexRange{0, 5, std::int64_t{1} << 62, false}, IndexRange{1, INT64_MAX, 2, false},
          IndexRange{3, 2, INT64_MIN, false}, IndexRange{INT64_MAX, 0, 1, true},  // of which nothing is left
          IndexRange{0, 2, 1, true}}) {
        INFO(range.first << ", " << range.count << " of them, step " << range.step);
        CHECK_THROWS_AS(slice(t, std::span(&range, 1)), ArgumentError);
    }
    const IndexRange nothing{INT64_MAX, 0, INT64_MAX, false};
    CHECK(slice(t, std::span(&nothing, 1)).items() == 0);
    const IndexRange one{3, 1, INT64_MIN, false};
    CHECK(slice(t, std::span(&one, 1)).items() == 4);
}
