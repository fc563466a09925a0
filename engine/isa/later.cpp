#include "isa/later.hpp"

#include <algorithm>
#include <array>

namespace wgrun::isa {
namespace {

/// Opcodes that begin so and, if it is not empty, have that qualifier.
struct Later {
    std::string_view begins, qualifier;
    Arch arch;
};

constexpr Arch ampere{80}, hopper{90}, blackwell{100}, blackwell_alone{100, true}, consumer_alone{120, true};

/// PTX ISA 9.0, "Target ISA Notes"; compared with ptxas 13.0. The first row that fits counts.
constexpr std::array opcodes{
    Later{"tcgen05.", {}, blackwell_alone},
    Later{"clusterlaunchcontrol.", {}, blackwell},
    Later{"st.bulk", {}, blackwell},
    Later{"cp.async.bulk.", "cta_group::1", blackwell_alone},
    Later{"cp.async.bulk.", "cta_group::2", blackwell_alone},
    Later{"cp.async.bulk.", "tile::gather4", blackwell},
    Later{"cp.async.bulk.", "tile::scatter4", blackwell},
    Later{"cp.async.bulk.", "im2col::w", blackwell},
    Later{"cp.async.bulk.", "im2col::w::128", blackwell},
    Later{"add.", "f32x2", blackwell},
    Later{"sub.", "f32x2", blackwell},
    Later{"mul.", "f32x2", blackwell},
    Later{"fma.", "f32x2", blackwell},
    Later{"redux.sync.", "f32", blackwell_alone},
    Later{"ld.", "v8.b32", blackwell},
    Later{"ld.", "v8.u32", blackwell},
    Later{"ld.", "v8.s32", blackwell},
    Later{"ld.", "v8.f32", blackwell},
    Later{"st.", "v8.b32", blackwell},
    Later{"st.", "v8.u32", blackwell},
    Later{"st.", "v8.s32", blackwell},
    Later{"st.", "v8.f32", blackwell},
    Later{"ld.", "v4.b64", blackwell},
    Later{"ld.", "v4.u64", blackwell},
    Later{"ld.", "v4.s64", blackwell},
    Later{"ld.", "v4.f64", blackwell},
    Later{"st.", "v4.b64", blackwell},
    Later{"st.", "v4.u64", blackwell},
    Later{"st.", "v4.s64", blackwell},
    Later{"st.", "v4.f64", blackwell},
    Later{"cvt.", "e2m1x2", blackwell_alone},
    Later{"cvt.", "e2m3x2", blackwell_alone},
    Later{"cvt.", "e3m2x2", blackwell_alone},
    Later{"cvt.", "ue8m0x2", blackwell_alone},
    Later{"ldmatrix.", "m16n16", blackwell_alone},
    Later{"ldmatrix.", "m8n16", blackwell_alone},
    Later{"stmatrix.", "m16n8", blackwell_alone},
    Later{"mma.sync.", "kind::f8f6f4", consumer_alone},
    Later{"mma.sync.", "kind::mxf8f6f4", consumer_alone},
    Later{"mma.sync.", "kind::mxf4", consumer_alone},
    Later{"mma.sync.", "kind::mxf4nvf4", consumer_alone},
    Later{"cp.async.bulk.", {}, hopper},
    Later{"cp.reduce.async.", {}, hopper},
    Later{"barrier.cluster.", {}, hopper},
    Later{"mbarrier.try_wait", {}, hopper},
    Later{"mbarrier.expect_tx", {}, hopper},
    Later{"mbarrier.arrive.expect_tx", {}, hopper},
    Later{"mbarrier.arrive_drop.expect_tx", {}, hopper},
    Later{"mbarrier.complete_tx", {}, hopper},
    Later{"fence.proxy.async", {}, hopper},
    Later{"fence.proxy.tensormap", {}, hopper},
    Later{"fence.mbarrier_init", {}, hopper},
    Later{"elect.sync", {}, hopper},
    Later{"griddepcontrol.", {}, hopper},
    Later{"mapa.", {}, hopper},
    Later{"getctarank.", {}, hopper},
    Later{"stmatrix.", {}, hopper},
    Later{"st.async.", {}, hopper},
    Later{"red.async.", {}, hopper},
    Later{"multimem.", {}, hopper},
    Later{"prefetch.tensormap", {}, hopper},
    Later{"cp.async.", {}, ampere},
    Later{"mbarrier.", {}, ampere},
    Later{"redux.sync.", {}, ampere},
    Later{"createpolicy.", {}, ampere},
};

/// Opcodes that begin so and have that qualifier, if one is named.
struct Known {
    std::string_view begins, qualifier;
};
/// Numbers that a record of these does not take, ptxas 13.0 does not take.
constexpr std::array limited{
    Known{"wgmma.", {}},         Known{"setmaxnreg.", {}}, Known{"bar.", {}},
    Known{"barrier.", {}},       Known{"cp.async.", {}},   Known{"cp.reduce.async.", {}},
    Known{"elect.", {}},         Known{"fence.", {}},      Known{"ldmatrix.", {}},
    Known{"stmatrix.", {}},      Known{"match.", {}},      Known{"movmatrix.", {}},
    Known{"redux.sync.", {}},    Known{"red.async.", {}},  Known{"st.async.", {}},
    Known{"shfl.sync.", {}},     Known{"vote.sync.", {}},  Known{"createpolicy.", {}},
    Known{"griddepcontrol.", {}}};

/// Of these ptxas 13.0 takes forms that no row has (tests/assemble): accesses with hints for caches that
/// their space does not have, comparisons of halves, products with hints, special registers, conversions to
/// the same type.
constexpr std::array open{Known{"ld.", {}},          Known{"ldu.", {}},          Known{"st.", {}},
                          Known{"atom.", {}},        Known{"red.", {}},          Known{"set.", {}},
                          Known{"setp.", {}},        Known{"mma.", {}},          Known{"mov.", {}},
                          Known{"cvta.", {}},        Known{"wmma.", {}},         Known{"multimem.", {}},
                          Known{"fma.", "bf16"},     Known{"fma.", "bf16x2"},    Known{"isspacep.", {}},
                          Known{"cvt.", "f16.f16"},  Known{"cvt.", "bf16.bf16"}, Known{"cvt.", "f16.bf16"},
                          Known{"cvt.", "bf16.f16"}, Known{"cvt.", "f32.f32"},   Known{"cvt.", "f64.f64"},
                          Known{"testp.", {}},       Known{"min.", {}},          Known{"max.", {}}};
/// Of which there are no others, though their families are open.
constexpr std::array closed{Known{"mma.sync.", "bf16.bf16"}, Known{"mma.sync.", "f32.f16.f16.f32"},
                            Known{"mma.sync.", "f16.f16.f16.f16"}, Known{"red.async.", {}}};

/// Words of opcodes that no row has, and ptxas 13.0 takes (tests/assemble).
constexpr std::array unread{Known{"mapa.", "s32"},         Known{"mapa.", "s64"},
                            Known{"getctarank.", "s32"},   Known{"getctarank.", "s64"},
                            Known{"ld.", "unified"},       Known{"ld.", "weak"},
                            Known{"ld.", "param::entry"},  Known{"ld.", "param::func"},
                            Known{"st.", "weak"},          Known{"st.", "param"},
                            Known{"st.", "param::func"},   Known{"cvt.", "pack"},
                            Known{"fma.", "oob"},          Known{"isspacep.", "param"},
                            Known{"isspacep.", "const"},   Known{"isspacep.", "param::entry"},
                            Known{"cvta.", "param::entry"}};

/// Returns whether the words stand between dots, or at the end.
bool has_words(std::string_view opcode, std::string_view words) {
    for (std::size_t at = opcode.find(words); at != std::string_view::npos; at = opcode.find(words, at + 1)) {
        const std::size_t end = at + words.size();
        if (at > 0 && opcode[at - 1] == '.' && (end == opcode.size() || opcode[end] == '.')) return true;
    }
    return false;
}

}  // namespace

std::optional<Arch> first_chip_of(std::string_view opcode) {
    for (const Later& row : opcodes)
        if (opcode.starts_with(row.begins) && (row.qualifier.empty() || has_words(opcode, row.qualifier)))
            return row.arch;
    return {};
}

bool has_all_forms(std::string_view opcode) {
    const auto fits = [&](const Known& row) {
        return opcode.starts_with(row.begins) && (row.qualifier.empty() || has_words(opcode, row.qualifier));
    };
    return std::ranges::any_of(closed, fits) || std::ranges::none_of(open, fits);
}

bool has_all_numbers(std::string_view opcode) {
    return std::ranges::any_of(limited, [&](const Known& row) { return opcode.starts_with(row.begins); });
}

bool is_unread(std::string_view opcode, std::string_view word) {
    return std::ranges::any_of(
        unread, [&](const Known& row) { return opcode.starts_with(row.begins) && word == row.qualifier; });
}

}  // namespace wgrun::isa
