// The memory order of a form.
#include "isa/order.hpp"
#include "tests/catch.hpp"
#include "tests/unit/isa/bench.hpp"

using namespace bench;
using isa::Scope;

namespace {

isa::MemoryOrder order(std::string_view method) {
    const isa::Spelling spelling = isa::parse_method(method);
    REQUIRE(spelling.op != nullptr);
    isa::Step step;
    step.op = spelling.op;
    step.form = isa::resolve(*spelling.op, spelling.form);
    return isa::order_of(step);
}

struct Want {
    std::string_view method;
    bool strong, acquire, release;
    Scope scope;
};

}  // namespace

TEST_CASE("orders and scopes as the qualifiers say, and as they are without") {
    for (const Want& want : {Want{"ld_global_u32", false, false, false, Scope::cta},
                             {"st_shared_f32", false, false, false, Scope::cta},
                             {"ld_relaxed_cta_global_u32", true, false, false, Scope::cta},
                             {"ld_acquire_cluster_shared_u32", true, true, false, Scope::cluster},
                             {"st_release_gpu_global_v4_f32", true, false, true, Scope::gpu},
                             {"st_release_sys_global_u32", true, false, true, Scope::sys},
                             {"ld_volatile_shared_u32", true, false, false, Scope::sys},
                             {"st_mmio_relaxed_sys_global_b32", true, false, false, Scope::sys},
                             {"fence_sc_cluster", true, true, true, Scope::cluster},
                             {"fence_acq_rel_sys", true, true, true, Scope::sys},
                             {"fence_acquire_gpu", true, true, false, Scope::gpu},
                             {"fence_release_cta", true, false, true, Scope::cta},
                             {"red_shared_add_u32", true, false, false, Scope::gpu},
                             {"red_global_add_u32", true, false, false, Scope::gpu},
                             {"atom_acq_rel_cta_global_add_u32", true, true, true, Scope::cta},
                             {"red_async_add_u32", true, false, false, Scope::gpu}}) {
        INFO(want.method);
        const isa::MemoryOrder got = order(want.method);
        CHECK(got.strong == want.strong);
        CHECK(got.acquire == want.acquire);
        CHECK(got.release == want.release);
        CHECK(got.scope == want.scope);
    }
}
