#include "isa/relations.hpp"

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace wgrun::isa {

unsigned relations_of(const Form& form) {
    struct Comparison {
        std::string_view name;
        unsigned relations;
    };
    static constexpr Comparison named[] = {
        {"eq", equal},
        {"ne", less | greater},
        {"lt", less},
        {"lo", less},
        {"le", less | equal},
        {"ls", less | equal},
        {"gt", greater},
        {"hi", greater},
        {"ge", greater | equal},
        {"hs", greater | equal},
        {"equ", equal | unordered},
        {"neu", less | greater | unordered},
        {"ltu", less | unordered},
        {"leu", less | equal | unordered},
        {"gtu", greater | unordered},
        {"geu", greater | equal | unordered},
        {"num", less | equal | greater},
        {"nan", unordered},
    };
    static const auto by_value = [] {
        std::array<unsigned, std::size(named)> out{};
        for (const auto& [name, relations] : named)
            out.at(static_cast<std::size_t>(parse_value(Field::cmp, name).value())) = relations;
        return out;
    }();
    return by_value.at(static_cast<std::size_t>(form.get(Field::cmp)));
}

}  // namespace wgrun::isa
