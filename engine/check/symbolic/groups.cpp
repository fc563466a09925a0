#include "check/symbolic/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace wgrun::check::symbolic {
namespace {

using Constants = std::vector<std::int64_t>;

/// An access without the constants in it, and these.
struct Shape {
    Access of;
    Constants constants;
    auto key() const {
        return std::tie(of.writes, of.strong, of.later, of.param, of.known, of.at, of.extent, of.conditions,
                        of.facts, of.turns);
    }
};

class Groups {
  public:
    Groups(Atoms& atoms, int level) : atoms_(atoms), level_(level) {}

    std::vector<Access> join(std::vector<Access> list) {
        std::vector<Shape> shapes;
        for (const Access& access : list) shapes.push_back(shape(access));
        std::vector<Access> out;
        std::vector<bool> done(list.size(), false);
        for (std::size_t first = 0; first < list.size(); ++first) {
            if (done[first]) continue;
            std::vector<std::size_t> alike;
            for (std::size_t other = first + 1; other < list.size(); ++other)
                if (!done[other] && shapes[other].key() == shapes[first].key()) alike.push_back(other);
            const auto [step, members] = series(shapes, first, alike);
            for (const std::size_t member : members) done[member] = true;
            if (members.empty() || !list[first].known)
                out.push_back(list[first]);
            else
                out.push_back(indexed(list[first], step, static_cast<std::int64_t>(members.size()) + 1));
        }
        return out;
    }

  private:
    /// Calls visit(number) for each number of the access, in the same order for all that are alike.
    Access changed(Access access, const std::function<void(Polynomial&)>& visit) {
        for (Polynomial& at : access.at) visit(at);
        for (Formula& condition : access.conditions) condition = changed(condition, visit);
        return access;
    }
    Formula changed(Formula formula, const std::function<void(Polynomial&)>& visit) {
        Condition condition = atoms_[formula];
        visit(condition.number);
        for (Formula& part : condition.parts) part = changed(part, visit);
        return atoms_.formula(std::move(condition));
    }

    Shape shape(const Access& access) {
        Shape out;
        out.of = changed(access, [&](Polynomial& number) {
            out.constants.push_back(number.constant());
            number = number - Polynomial(number.constant());
        });
        return out;
    }

    /// The members that follow the first one in equal steps.
    static std::pair<Constants, std::vector<std::size_t>> series(const std::vector<Shape>& shapes,
                                                                 std::size_t first,
                                                                 const std::vector<std::size_t>& alike) {
        std::pair<Constants, std::vector<std::size_t>> out;
        const Constants& from = shapes[first].constants;
        for (const std::size_t second : alike) {
            const Constants& to = shapes[second].constants;
            Constants step(from.size());
            std::ranges::transform(to, from, step.begin(), std::minus());
            if (std::ranges::all_of(step, [](std::int64_t by) { return by == 0; })) continue;
            std::vector<std::size_t> members;
            Constants next = to;
            for (auto at = alike.begin(); at != alike.end();) {
                at = std::ranges::find_if(alike,
                                          [&](std::size_t one) { return shapes[one].constants == next; });
                if (at == alike.end()) break;
                members.push_back(*at);
                std::ranges::transform(next, step, next.begin(), std::plus());
            }
            if (members.size() > out.second.size()) out = {step, std::move(members)};
        }
        return out;
    }

    Access indexed(const Access& access, const Constants& step, std::int64_t count) {
        const Atom index = atoms_.atom({.kind = Definition::Kind::unknown,
                                        .name = fmt::format("index {}", level_),
                                        .key = static_cast<int>(count),
                                        .least = 0,
                                        .most = count - 1});
        std::size_t place = 0;
        Access out =
            changed(access, [&](Polynomial& number) { number.add(Polynomial::of(index), step[place++]); });
        out.turns.push_back(index);
        return out;
    }

    Atoms& atoms_;
    int level_;
};

}  // namespace

std::vector<Access> grouped(Atoms& atoms, std::vector<Access> list) {
    constexpr int levels = 3;
    for (int level = 0; level < levels; ++level) list = Groups(atoms, level).join(std::move(list));
    return list;
}

}  // namespace wgrun::check::symbolic
