// A sparse wgmma: its metadata register is in flight, like its fragment, and A and B differ in K.
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

namespace {

/// A is 64 x 32 as stored (K = 64), B 64 x 64: two instructions along K.
struct SparseKernel : Kernel {
    SparseKernel() {
        da = descriptor(buffer(Tile({Dtype::bf16, 64, 32, Major::k, SwizzleMode::b64, AtomOrder::mn})));
        b = buffer(Tile({Dtype::bf16, 64, 64, Major::k, SwizzleMode::b128, AtomOrder::mn}));
        metadata = constant(0x44444444);
        acc = accumulators();
    }
    int mma(Operand a, Reg of_b) {
        Form form;
        form.set(Field::n, 64).set(Field::d, Type::f32).set(Field::a, Type::bf16).set(Field::b, Type::bf16);
        return step("wgmma.mma_async.sp", form,
                    {Operand::of(acc), std::move(a), Operand::of(of_b), Operand::of(metadata), imm(0)});
    }

    int b;
    Reg da, metadata;
    std::vector<Reg> acc;
};

}  // namespace

TEST_CASE("sparse: a right sequence finds nothing, also at the second K step") {
    SparseKernel k;
    const Reg db = k.descriptor(k.b, 2);
    k.fence();
    k.mma(Operand::of(k.da), db);
    k.commit();
    k.wait(0);
    CHECK(k.check() == Findings{});
}

TEST_CASE("sparse: metadata are not written before the wait, and need no fence") {
    SparseKernel k;
    const Reg db = k.descriptor(k.b);
    SECTION("while the wgmma may run") {
        k.fence();
        k.mma(Operand::of(k.da), db);
        k.commit();
        const int write = k.set(k.metadata, 0);
        k.wait(0);
        CHECK(k.check() == Findings{{"WG-GROUP-01", write}});
        CHECK(k.diagnostics()[0].message ==
              "the metadata register of a wgmma is written while the wgmma may still run");
    }
    SECTION("after the fence") {
        k.fence();
        k.set(k.metadata, 0x44444444);
        k.mma(Operand::of(k.da), db);
        k.commit();
        k.wait(0);
        CHECK(k.check() == Findings{});
    }
}

TEST_CASE("sparse: the 64 bytes of B's K that an instruction reads lie in the tile") {
    SparseKernel k;
    const Reg odd = k.descriptor(k.b, 3);
    k.fence();
    const int mma = k.mma(Operand::of(k.da), odd);
    k.commit();
    k.wait(0);
    CHECK(k.check() == Findings{{"WG-DESC-02", mma}});
}

TEST_CASE("sparse: metadata that nothing has written") {
    SparseKernel k;
    const Reg db = k.descriptor(k.b);
    k.metadata = k.builder().reg(Type::b32);
    k.fence();
    const int mma = k.mma(Operand::of(k.da), db);
    k.commit();
    k.wait(0);
    CHECK(k.check() == Findings{{"WG-REG-01", mma}});
}
