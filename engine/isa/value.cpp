// What is known of a value: joins over operands.
#include <algorithm>

#include "isa/families.hpp"

namespace wgrun::isa {

Value joined(const Step& step, const ValueOf& of, std::size_t first) {
    Value out;
    out.uniform = Uniform::grid;
    for (std::size_t i = first; i < step.operands.size(); ++i)
        out.uniform = std::min(out.uniform, of(step.operands[i]).uniform);
    return out;
}

}  // namespace wgrun::isa
