// The table as a whole, method names, and the templates of the texts.
#include <set>

#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "wgrun/operand_meaning.hpp"

using namespace wgrun;
using namespace wgrun::isa;

namespace {

std::string parsed(std::string_view method) {
    const Spelling s = parse_method(method);
    if (!s.op) return "nothing";
    const std::string form = test::spelled(s.form);
    return fmt::format("{}{}{}", s.op->name, form.empty() ? "" : " ", form);
}

/// The holes of a template: "%d", ".type", ",scale_a", "m".
std::vector<std::string> holes(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; (at = text.find('{', at)) != std::string_view::npos; ++at)
        out.emplace_back(text.substr(at + 1, text.find('}', at) - at - 1));
    return out;
}

Step step(std::string_view name, const Form& form, std::vector<Operand> operands) {
    Step out;
    out.op = find(name);
    out.form = resolve(*out.op, form);
    out.operands = std::move(operands);
    return out;
}

std::string text(const Step& s) {
    return expand(s.op->ptx, s, [](const Operand& o, const OperandRule& rule) {
        return o.kind == Operand::Kind::imm ? std::to_string(o.imm) : fmt::format("<{}>", rule.name);
    });
}

}  // namespace

TEST_CASE("every record is complete, and its texts name its own fields and operands") {
    std::set<std::string_view> names;
    for (const Instruction* op : all()) {
        INFO(op->name);
        CHECK(names.insert(op->name).second);
        CHECK(find(op->name) == op);
        CHECK_FALSE(op->summary.empty());
        CHECK(op->section.find_first_not_of("0123456789.") == std::string_view::npos);
        CHECK_FALSE(op->section.empty());
        CHECK_FALSE(op->rows.empty());
        CHECK(op->run != nullptr);
        std::set<std::string> shown;
        for (const std::string& hole : holes(op->ptx)) {
            const std::string name = hole.substr(hole.find_first_not_of(".,|"));
            shown.insert(name);
            if (name[0] == '%') {
                CHECK(std::any_of(op->operands.begin(), op->operands.end(), [&](const OperandRule& rule) {
                    return fmt::format("%{}", rule.name) == name;
                }));
            } else {
                CHECK(parse_field(name));
            }
        }
        for (const OperandRule& rule : op->operands) CHECK(shown.contains(fmt::format("%{}", rule.name)));
        // A qualifier that does not show would make two steps of one text; A's place shows in its operand.
        for (const Row& row : op->rows)
            for (const Choice& choice : row.choices)
                if (choice.field != Field::a_in && choice.values().size() > 1)
                    CHECK(shown.contains(std::string(to_string(choice.field))));
    }
    CHECK(find("wgmma") == nullptr);
}

TEST_CASE("fallbacks are legal themselves") {
    for (const Instruction* op : all()) {
        for (const Row& row : op->rows)
            for (const Choice& choice : row.choices)
                if (choice.fallback && choice.fallback != Form::absent)
                    CHECK(choice.allows(*choice.fallback));
        for (const OperandRule& rule : op->operands)
            if (rule.fallback && rule.imm_range)
                CHECK((*rule.fallback >= rule.imm_range->lo && *rule.fallback <= rule.imm_range->hi));
    }
}

TEST_CASE("method names are record names and qualifiers in the order of the text") {
    CHECK(parsed("wgmma_fence") == "wgmma.fence");
    CHECK(parsed("wgmma_mma_async") == "wgmma.mma_async");
    CHECK(parsed("ld_global_v4_b32") == "ld type=b32 space=global vec=v4");
    CHECK(parsed("ld_param_u64") == "ld.param type=u64");
    CHECK(parsed("ld_global_nc_L1_no_allocate_L2_128B_v4_f32") ==
          "ld type=f32 space=global vec=v4 nc=nc evict=L1::no_allocate prefetch=L2::128B");
    CHECK(parsed("prefetch_global_L2_evict_last") == "prefetch space=global level=L2::evict_last");
    CHECK(parsed("createpolicy_fractional_L2_evict_first_L2_evict_unchanged") ==
          "createpolicy.fractional level=L2::evict_first secondary=L2::evict_unchanged");
    CHECK(parsed("cvt_rn_relu_satfinite_e4m3x2_f32") ==
          "cvt.pair type=e4m3x2 from=f32 round=rn satfinite=satfinite relu=relu");
    CHECK(parsed("cvt_rn_f16x2_e5m2x2") == "cvt type=f16x2 from=e5m2x2 round=rn");
    CHECK(parsed("st_shared_f32") == "st type=f32 space=shared");
    CHECK(parsed("cvt_rn_bf16x2_f32") == "cvt.pair type=bf16x2 from=f32 round=rn");
    CHECK(parsed("cvt_u64_u32") == "cvt type=u64 from=u32");
    CHECK(parsed("mov_b32") == "mov type=b32");
    CHECK(parsed("cvt_pair_rn_bf16x2_f32") == "cvt.pair type=bf16x2 from=f32 round=rn");
    CHECK(parsed("cvt_rn_bf16_f32") == "cvt type=bf16 from=f32 round=rn");
    CHECK(parsed("cvt_f32_bf16") == "cvt type=f32 from=bf16");
    CHECK(parsed("setp_lt_u32") == "setp type=u32 cmp=lt");
    CHECK(parsed("setp_lt") == "setp cmp=lt");
    CHECK(parsed("mul_wide_u32") == "mul type=u32 half=wide");
    CHECK(parsed("mad_lo_s32") == "mad type=s32 half=lo");
    CHECK(parsed("rcp_approx_ftz_f32") == "rcp type=f32 approx=approx ftz=ftz");
    CHECK(parsed("bar_sync") == "bar.sync");
    CHECK(parsed("cvta_to_global_u64") == "cvta.to.global type=u64");
    CHECK(parsed("and_pred") == "and type=pred");
    CHECK(parsed("fence_proxy_async") == "fence.proxy.async");
    CHECK(parsed("fence_acq_rel_gpu") == "fence sem=acq_rel.gpu");
    CHECK(parsed("createpolicy_cvt_L2") == "createpolicy.cvt.L2");
    CHECK(parsed("ld_acquire_sys_shared_cluster_v2_u32") ==
          "ld type=u32 space=shared::cluster vec=v2 sem=acquire.sys");
    CHECK(parsed("st_volatile_global_f32") == "st type=f32 space=global sem=volatile");
    CHECK(parsed("red_release_gpu_global_add_noftz_L2_cache_hint_v4_f16x2") ==
          "red type=f16x2 space=global vec=v4 op=add sem=release.gpu cache=L2::cache_hint noftz=noftz");
    CHECK(parsed("shfl_sync_bfly_b32") == "shfl.sync type=b32 op=bfly");
    CHECK(parsed("vote_sync_ballot") == "vote.sync op=ballot");
    CHECK(parsed("bar_warp_sync") == "bar.warp.sync");
    CHECK(parsed("ldmatrix_x4") == "ldmatrix num=x4");
    CHECK(parsed("stmatrix_x2_trans_shared_b16") == "stmatrix type=b16 space=shared num=x2 trans=trans");
    for (const char* unknown :
         {"", "_", "wgmma", "wgmma_fense", "ld_global_v4_b32_", "ld_b32_global", "add_b16", "add__f32",
          "setp_lt_u32_u32", "cvt_rn_bf16x2_u32", "ld_global_v65540_b32", "frobnicate", "add_f32_rn"})
        CHECK(parsed(unknown) == "nothing");
}

TEST_CASE("every form's own spelling is its method") {
    for (const Instruction* op : all()) {
        for (const Form& form : test::forms_of(*op)) {
            std::string method(op->name);
            std::replace(method.begin(), method.end(), '.', '_');
            bool as_options = op->name == "wgmma.mma_async";
            for (const std::string& hole : holes(op->ptx))
                if (hole[0] == '.')
                    if (const auto field = parse_field(hole.substr(1)); form.has(*field))
                        if (const std::string word = spelled(*field, form.get(*field)); !word.empty()) {
                            // What has a dot or a colon in its name is given as an option, or not at all.
                            if (word.find_first_of(".:") == std::string::npos)
                                method += "_" + word;
                            else
                                as_options |= row_of(*op, form).find(*field)->fallback != form.get(*field);
                        }
            if (as_options) continue;
            INFO(method);
            const Spelling s = parse_method(method);
            REQUIRE(s.op == op);
            for (int i = 0; i < field_count; ++i)
                if (const auto field = static_cast<Field>(i); s.form.has(field))
                    CHECK(s.form.get(field) == form.get(field));
        }
    }
}

TEST_CASE("texts: qualifiers, operands, and what stays out") {
    const Form bf16 =
        Form().set(Field::n, 64).set(Field::d, Type::f32).set(Field::a, Type::bf16).set(Field::b, Type::bf16);
    const std::vector<Operand> operands{Operand::of(Reg{0}), Operand::of(Reg{1}), Operand::of(Reg{2}),
                                        Operand::immediate(1)};
    CHECK(text(step("wgmma.mma_async", bf16, operands)) ==
          "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 <d>, <a>, <b>, 1, 1, 1, 0, 0");
    const Form s8 =
        Form().set(Field::n, 8).set(Field::d, Type::s32).set(Field::a, Type::s8).set(Field::b, Type::s8);
    CHECK(text(step("wgmma.mma_async", Form(s8).set(Field::satfinite, 1), operands)) ==
          "wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.s8 <d>, <a>, <b>, 1");
    CHECK(text(step("wgmma.mma_async", s8, operands)) ==
          "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 <d>, <a>, <b>, 1");
    const Form global = Form().set(Field::type, Type::f32).set(Field::space, 0);
    CHECK(text(step("ld", global, {Operand::of(Reg{0}), Operand::of(Reg{1}), Operand::immediate(0)})) ==
          "ld.global.f32 <d>, [<a>]");
    const Form cached = Form(global).set(Field::cache, 1).set(Field::nc, 1).set(Field::vec, 4);
    CHECK(text(step("ld",
                    Form(cached)
                        .set(Field::evict, *parse_value(Field::evict, "L1::no_allocate"))
                        .set(Field::prefetch, *parse_value(Field::prefetch, "L2::256B")),
                    operands)) ==
          "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v4.f32 <d>, [<a>], <policy>");
    // An optional operand at its fallback is left out with its comma.
    CHECK(text(step("bar.sync", {}, {Operand::immediate(1), Operand::immediate(0)})) == "bar.sync 1");
    CHECK(text(step("bar.sync", {}, {Operand::immediate(0), Operand::immediate(64)})) == "bar.sync 0, 64");
    CHECK(text(step("fence.proxy.async", {}, {})) == "fence.proxy.async");
    CHECK(text(step("fence", Form().set(Field::sem, *isa::parse_value(Field::sem, "sc.cluster")), {})) ==
          "fence.sc.cluster");
    CHECK(text(step("fence.proxy.async", Form().set(Field::space, 2), {})) ==
          "fence.proxy.async.shared::cta");
    CHECK(text(step("stmatrix", Form().set(Field::num, 4).set(Field::trans, 1), operands)) ==
          "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [<a>], <b>");
    CHECK(text(step("ldmatrix", Form().set(Field::num, 1), operands)) ==
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 <d>, [<a>]");
    const std::vector<Operand> shuffle{Operand::of(Reg{0}),    Operand::of(Reg{1}), Operand::of(Reg{2}),
                                       Operand::immediate(31), Operand::of(Reg{3}), Operand::immediate(-1)};
    const Form idx = Form().set(Field::op, *parse_value(Field::op, "idx"));
    CHECK(text(step("shfl.sync", idx, shuffle)) == "shfl.sync.idx.b32 <d>|<p>, <a>, <b>, 31, -1");
    std::vector<Operand> without_predicate = shuffle;
    without_predicate[4] = {};
    CHECK(text(step("shfl.sync", idx, without_predicate)) == "shfl.sync.idx.b32 <d>, <a>, <b>, 31, -1");
    CHECK(text(step("special", Form().set(Field::sreg, 0), {Operand::of(Reg{0})})) == "mov.u32 <d>, %tid.x");
}

TEST_CASE("operands of a step are found by name") {
    const Step s = step("bar.sync", {}, {Operand::immediate(3), Operand::immediate(64)});
    CHECK(s.operand("threads").imm == 64);
    CHECK_THROWS_WITH(s.operand("count"), "instruction bar.sync has no operand count");
}

TEST_CASE("instructions are called by their opcodes, with what all forms have or without it") {
    CHECK(parsed("wgmma_fence_sync_aligned") == "wgmma.fence");
    CHECK(parsed("mbarrier_try_wait_parity_relaxed_cluster_shared_cta_b64") ==
          "mbarrier.try_wait.parity space=shared::cta sem=relaxed.cluster");
    CHECK(parsed("mbarrier_arrive_relaxed_cta_shared_cta_b64") ==
          "mbarrier.arrive space=shared::cta sem=relaxed.cta");
    CHECK(parsed("wgmma_fence_sync_sync").find("nothing") == 0);
    CHECK(parsed("mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32") ==
          "mma.sync d=f32 a=f16 b=f16 m=16 n=8 k=16");
    CHECK(parsed("mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f16").find("nothing") == 0);
    CHECK(parsed("mma_sync_m16n8_f32_f16_f16").find("nothing") == 0);
    CHECK(parsed("wgmma_mma_async_sync_aligned_m64n8k16_f32_bf16_bf16") ==
          "wgmma.mma_async d=f32 a=bf16 b=bf16 m=64 n=8 k=16");
    int called = 0;
    for (const Instruction* op : all())
        for (const Row& row : op->rows) {
            Step step;
            step.op = op;
            for (const Choice& choice : row.choices) step.form.set(choice.field, choice.values().front());
            step.operands.assign(op->operands.size(), Operand::immediate(0));
            std::string opcode = text(step);
            opcode.resize(std::min(opcode.find(' '), opcode.size()));
            // Some records have names of their own.
            if (!opcode.starts_with(op->name)) continue;
            std::string method;
            for (const char c : opcode)
                if (c != ':' || !method.ends_with('_')) method += c == '.' || c == ':' ? '_' : c;
            INFO(opcode);
            CHECK(parse_method(method).op != nullptr);
            ++called;
        }
    CHECK(called > 200);
}

TEST_CASE("every operand has a meaning, and every meaning is of an operand") {
    std::set<std::string_view> used;
    for (const Instruction* op : all())
        for (const OperandRule& rule : op->operands) {
            INFO(op->name << ", " << rule.name);
            const std::string_view text = operand_meaning(*op, rule);
            CHECK_FALSE(text.empty());
            used.insert(text);
        }
    for (const OperandMeaning& row : operand_meanings()) {
        INFO(row.families << ", " << row.operand);
        CHECK(used.contains(row.text));
    }
    // The longer family counts.
    const auto of = [](std::string_view name, std::size_t operand) {
        return operand_meaning(*find(name), find(name)->operands[operand]);
    };
    CHECK(of("mapa", 0) == "the peer's address");
    CHECK(of("cp.async.bulk.cluster", 0) == "the peer's address, from mapa");
    CHECK(of("atom.cas", 1) == of("atom", 1));
    CHECK(of("atom.cas", 2) != of("atom", 2));
}
