// Texts of nvdisasm.
#include <algorithm>

#include "kernel/machine_code.hpp"
#include "sass/graph.hpp"
#include "sass/listing.hpp"
#include "sass/liveness.hpp"
#include "sass/record.hpp"
#include "sass/scoreboards.hpp"
#include "tests/fuzz/bodies.hpp"

namespace wgrun::fuzz {
namespace {

void expect(bool holds, const char* law) {
    if (!holds) throw Broken(law);
}

constexpr const char* program = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
.reqntid 128, 1, 1
{
.shared .align 128 .b8 tile[2048];
.reg .b64 %p; .reg .b32 %t, %s; .reg .pred %q;
ld.param.u64 %p, [p];
mov.u32 %t, %tid.x;
mov.u32 %s, tile;
setp.eq.u32 %q, %t, 0;
@%q st.shared.u32 [%s], %t;
bar.sync 0;
st.global.u32 [%p], %t;
ret;
}
)";

bool lies_in(std::string_view part, std::string_view all) {
    return part.empty() ||
           (part.data() >= all.data() && part.data() + part.size() <= all.data() + all.size());
}

}  // namespace

void sass(Bytes bytes) {
    const sass::Listing listing = sass::read_listing(std::string(bytes.begin(), bytes.end()));
    for (const sass::Function& function : listing.functions) {
        for (const sass::Instruction& one : function.instructions) {
            expect(one.record != nullptr, "an instruction without a record");
            expect(lies_in(one.text, *listing.text) && lies_in(one.mnemonic, one.text),
                   "a text that is not in the listing");
        }
        for (const sass::Label& label : function.labels)
            expect(label.at <= function.instructions.size(), "a label behind the end");
        const sass::Graph graph(function);
        for (sass::Place at = 0; at < graph.size(); ++at)
            for (const sass::Place to : graph.next(at)) expect(to < graph.size(), "a way to nowhere");
        for (const sass::Awaited& one : sass::scoreboard_waits(function, graph))
            expect(one.by < graph.size() && one.of < graph.size() && one.cycles >= 0, "a wait for nothing");
        const std::vector<int> live = sass::live_registers(function, graph);
        expect(live.size() == graph.size(), "registers of no instruction");
        expect(sass::stack_bytes(function) >= 0, "a stack below 0");
        sass::is_cut(function);
    }
    kept_alone("k.sass", listing);
    for (const KeptKernel& kernel : kept_of_text("k.ptx", program, listing, {}, true))
        expect(kernel.verdict.kind != Verdict::Kind::refuted || !kernel.findings.empty(),
               "refuted without a finding");
}

}  // namespace wgrun::fuzz
