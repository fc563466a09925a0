// The instructions that remedies insert, against the instructions that there are: the builder's method of
// that name is emitted as that PTX.
#include "rules/phrases.hpp"

#include <charconv>

#include "tests/unit/emit/kit.hpp"

using namespace kit;

TEST_CASE("what a remedy inserts in Lua is emitted as what it inserts in PTX") {
    for (const Phrase& phrase : {rules::wgmma_fence(),           rules::wgmma_commit_group(),
                                 rules::wgmma_wait_group(3),     rules::bar_sync(),
                                 rules::bar_warp_sync(),         rules::cluster_arrive(),
                                 rules::cluster_wait(),          rules::fence_proxy_async(),
                                 rules::fence_mbarrier_init(),   rules::griddepcontrol_wait(),
                                 rules::cp_async_commit_group(), rules::cp_async_wait_group(2),
                                 rules::cp_async_wait_all(),     rules::bulk_commit_group(),
                                 rules::bulk_wait_group(2),      rules::fence_acq_rel(true),
                                 rules::fence_acq_rel(false),    rules::bulk_wait_for_reads(),
                                 rules::setmaxnreg(true, 232),   rules::setmaxnreg(false, 40)}) {
        INFO(phrase.lua);
        const std::size_t open = phrase.lua.find('(');
        REQUIRE(open != std::string::npos);
        isa::Spelling named = isa::parse_method(std::string_view(phrase.lua).substr(0, open));
        REQUIRE(named.op != nullptr);
        std::vector<Operand> operands;
        int number = 0;
        const char* end = phrase.lua.data() + phrase.lua.size();
        if (std::from_chars(phrase.lua.data() + open + 1, end, number).ec == std::errc())
            operands.push_back(imm(number));
        if (phrase.lua.find("{read=true}") != std::string::npos) named.form.set(Field::read, 1);
        Script s(128, {2, 1, 1});
        s.add(named.op->name, named.form, operands);
        const std::string text = emit::ptx(s.finish()).text;
        CHECK_THAT(text, ContainsSubstring(" " + phrase.ptx + ";\n"));
    }
}
