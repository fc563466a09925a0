// mma.sp against nested loops over the expanded A: every form of both records, every selector.
#include <random>

#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "tests/unit/isa/bench.hpp"
#include "tests/unit/isa/warp_product.hpp"

using namespace bench;

namespace {

/// A sparse matrix: what is stored, the whole, and the code of each chunk.
struct Sparse {
    Matrix stored, all;
    std::vector<std::vector<unsigned>> codes;  ///< [row][chunk]
};

Sparse sparse(Type type, int k, bool increasing, std::mt19937& random) {
    Sparse out{small_integers(type, 16, k / 2, random), Matrix(16, k), {}};
    const int chunk = type == Type::tf32 ? 2 : 4, kept = chunk / 2;
    for (int row = 0; row < 16; ++row) {
        auto& codes = out.codes.emplace_back();
        for (int c = 0; c < k / chunk; ++c) {
            int first = static_cast<int>(random() % static_cast<unsigned>(chunk)), second = first;
            while (second == first) second = static_cast<int>(random() % static_cast<unsigned>(chunk));
            if (increasing && kept == 2 && first > second) std::swap(first, second);
            codes.push_back(kept == 1 ? (first == 0 ? 0b0100U : 0b1110U)
                                      : static_cast<unsigned>(first | second << 2));
            out.all.at(row, chunk * c + first) = out.stored.at(row, kept * c);
            if (kept == 2) out.all.at(row, chunk * c + second) = out.stored.at(row, kept * c + 1);
        }
    }
    return out;
}

/// The lane and the nibble that hold a code, by the figures of 9.7.14.6: the words of 16-bit types and tf32
/// begin with rows 0 to 7 in their lower halves, and have rows 8 to 15 in the upper ones.
std::pair<int, int> place_of_code(Type type, int k, int selector, int row, int chunk) {
    const int g = row % 8;
    const bool lower = row < 8;
    if (isa::bits(type) == 8)  // whole words: rows g and g + 8 in neighbouring lanes
        return k == 32 ? std::pair{4 * g + 2 * selector + (lower ? 0 : 1), chunk}
                       : std::pair{4 * g + 2 * (chunk / 8) + (lower ? 0 : 1), chunk % 8};
    const bool one_lane = k == (type == Type::tf32 ? 8 : 16);
    return {4 * g + (one_lane ? selector : 2 * selector + chunk / 4), chunk % 4 + (lower ? 0 : 4)};
}

Reg put_codes(Machine& m, const Sparse& a, Type type, int k, int selector) {
    Lanes words{};
    const auto chunks = static_cast<int>(a.codes.front().size());
    for (int row = 0; row < 16; ++row)
        for (int chunk = 0; chunk < chunks; ++chunk) {
            const auto [lane, nibble] = place_of_code(type, k, selector, row, chunk);
            words[static_cast<std::size_t>(lane)] |=
                Raw{a.codes[static_cast<std::size_t>(row)][static_cast<std::size_t>(chunk)]} << 4 * nibble;
        }
    return m.put(Type::b32, words);
}

/// Element i of a lane in a matrix of `run` neighbours in a register, along K: 9.7.14.5.
Place place_of_stored(int lane, int i, int run) {
    return {lane / 4 + 8 * (i / run % 2), i / run / 2 * 4 * run + lane % 4 * run + i % run};
}
Place place_of_b(int lane, int i, int run) {
    return {i / run * 4 * run + lane % 4 * run + i % run, lane / 4};
}

}  // namespace

TEST_CASE("mma.sp multiplies with the elements that the metadata names: every form") {
    std::mt19937 random{20};
    int forms = 0;
    for (const char* name : {"mma.sp.sync", "mma.sp.ordered_metadata.sync"})
        for (const Form& form : wgrun::test::forms_of(*isa::find(name))) {
            INFO(name << " " << wgrun::test::spelled(form));
            ++forms;
            const Type a = form.type(Field::a), b = form.type(Field::b), d = form.type(Field::d);
            const int k = form.get(Field::k), selector = form.get(Field::sp_sel), run = 32 / isa::bits(a);
            Machine m;
            const Sparse sa = sparse(a, k, std::string_view(name) != "mma.sp.sync", random);
            const Matrix mb = small_integers(b, k, 8, random), mc = small_integers(d, 16, 8, random);
            const std::vector<Reg> ra = put(m, a, 8 * k, sa.stored,
                                            [&](int lane, int i) { return place_of_stored(lane, i, run); }),
                                   rb = put(m, b, 8 * k, mb,
                                            [&](int lane, int i) { return place_of_b(lane, i, run); }),
                                   rc = put(m, d, 128, mc, place_of_c);
            std::vector<Reg> rd;
            for (std::size_t i = 0; i < rc.size(); ++i) rd.push_back(m.put(Type::b32, {}));
            const isa::Step s = step(name, form,
                                     {Operand::of(rd), Operand::of(ra), Operand::of(rb), Operand::of(rc),
                                      Operand::of(put_codes(m, sa, a, k, selector))});
            for (std::size_t i = 0; i < 4; ++i)
                CHECK(s.op->operands[i].count(form) == static_cast<int>(s.operands[i].list.size()));
            s.op->run(s, m);
            const Matrix got = get(m, rd, d, 16, 8, place_of_c);
            for (int row = 0; row < 16; ++row)
                for (int column = 0; column < 8; ++column) {
                    double want = mc.at(row, column);
                    for (int i = 0; i < k; ++i) want += sa.all.at(row, i) * mb.at(i, column);
                    REQUIRE(got.at(row, column) == want);
                }
        }
    CHECK(forms == 2 * (2 * (2 + 4) + (2 + 4) + (2 + 4) + 4 + 4 * 2 * (1 + 2)));
}

TEST_CASE("metadata that mean nothing are refused") {
    const auto run = [](const char* name, Type type, int k, unsigned code) {
        Machine m;
        Lanes words{};
        words.fill(code * 0x11111111U);
        const Reg zero = m.put(Type::b32, {});
        const Form form = isa::resolve(
            *isa::find(name),
            Form().set(Field::d, Type::f32).set(Field::a, type).set(Field::b, type).set(Field::k, k));
        std::vector<Operand> operands;
        for (std::size_t i = 0; i < 4; ++i)
            operands.push_back(Operand::of(
                std::vector<Reg>(static_cast<std::size_t>(isa::find(name)->operands[i].count(form)), zero)));
        operands.push_back(Operand::of(m.put(Type::b32, words)));
        const isa::Step s = step(name, form, operands);
        s.op->run(s, m);
    };
    CHECK_THROWS_WITH(run("mma.sp.sync", Type::f16, 16, 0b0101),
                      "sparse metadata of row 0, chunk 0: 0b0101 has no meaning");
    CHECK_THROWS_WITH(run("mma.sp.sync", Type::tf32, 8, 0b1001),
                      "sparse metadata of row 0, chunk 0: 0b1001 has no meaning");
    // Indices in either order, unless they are said to increase.
    CHECK_NOTHROW(run("mma.sp.sync", Type::f16, 16, 0b0001));
    CHECK_THROWS_WITH(run("mma.sp.ordered_metadata.sync", Type::f16, 16, 0b0001),
                      "sparse metadata of row 0, chunk 0: 0b0001 has no meaning");
    CHECK_NOTHROW(run("mma.sp.ordered_metadata.sync", Type::tf32, 8, 0b0100));
}
