// The catalogue: every law that a kernel can break, as data. The static checker, the builder and the
// simulator report by these ids; `wgrun explain` and docs/rules.md print these rows.
#include "wgrun/rules.hpp"

#include <algorithm>
#include <vector>

#include "check/rules.hpp"

namespace wgrun {

std::span<const Rule> rules() {
    static const std::vector<Rule> catalogue = [] {
        std::vector<Rule> all;
        for (const std::span<const Rule> family :
             {check::wgmma_rules(), check::async_rules(), check::memory_rules(), check::threads_rules(),
              check::performance_rules()})
            all.insert(all.end(), family.begin(), family.end());
        std::ranges::sort(all, {}, &Rule::id);
        return all;
    }();
    return catalogue;
}

const Rule* find_rule(std::string_view id) {
    const std::span<const Rule> catalogue = rules();
    const auto found = std::ranges::lower_bound(catalogue, id, {}, &Rule::id);
    return found != catalogue.end() && found->id == id ? &*found : nullptr;
}

}  // namespace wgrun
