// WG-SASS-07: accesses to shared and global memory.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sass/report.hpp"

namespace wgrun::sass {
namespace {

bool same_memory(Memory machine, Memory program) {
    return machine == program || program == Memory::generic || machine == Memory::generic;
}

bool is_image(const Access& machine, const Access& program) {
    return machine.does == program.does && same_memory(machine.memory, program.memory);
}

std::string_view kind_of(const Access& access) {
    if (access.does == Does::atomic) return "atomic";
    return access.does == Does::store ? "store" : "load";
}

class Accesses {
  public:
    Accesses(const Function& function, const Asked& asked, const Done& done, const Inclusion& found,
             Report& report)
        : asked_(asked), done_(done), found_(found), report_(report) {
        for (const Access& access : asked.accesses) by_line_[access.line].push_back(&access);
        for (const Access& access : done.accesses) images_[access.line].push_back(&access);
        for (const Instruction& one : function.instructions)
            if (one.line > 0 && static_cast<std::size_t>(one.line) < asked.line_block.size())
                living_.insert(asked.line_block[static_cast<std::size_t>(one.line)]);
    }

    void check() {
        for (const auto& [line, accesses] : by_line_) {
            std::set<Does> kinds;
            for (const Access* access : accesses)
                if (access->memory != Memory::local && kinds.insert(access->does).second) check(*access);
        }
        for (const Access& access : done_.accesses) check_order(access);
    }

  private:
    std::vector<const Access*> images_of(const Access& asked) const {
        std::vector<const Access*> out;
        const auto at = images_.find(asked.line);
        if (at == images_.end()) return out;
        for (const Access* access : at->second)
            if (is_image(*access, asked)) out.push_back(access);
        return out;
    }

    /// Is it there, and as wide?
    void check(const Access& asked) {
        const std::vector<const Access*> images = images_of(asked);
        if (images.empty()) {
            if (asked.does != Does::load) missing(asked);
            return;
        }
        if (asked.does == Does::atomic) return;
        int narrow = 0, bytes = 0;
        const Access* first = nullptr;
        for (const Access* image : images) {
            bytes += image->bytes;
            if (image->bytes >= asked.bytes) continue;
            ++narrow;
            if (first == nullptr) first = image;
        }
        // In parts it has all of its bytes, in each of its copies.
        if (narrow == 0 || bytes % asked.bytes == 0) return;
        if (asked.does == Does::load && !asked.used) return;
        if (asked.does == Does::load && asked.scalar)
            return report_.open(
                asked.line, fmt::format("{} moves {} bytes, the load of line {} {}: whether all "
                                        "of them are needed is not known",
                                        report_.name(first->number), first->bytes, asked.line, asked.bytes));
        report_.add(rules::WG_SASS_07, asked.line, first->number,
                    fmt::format("{} moves {} bytes, the {} of the program {}", report_.name(first->number),
                                first->bytes, kind_of(asked), asked.bytes));
    }

    /// Without an event between them, a store of the same block may overwrite this one where the address
    /// shows it, and a wider one than the program's may be both. One of another block may be both where both
    /// write to one address: the branches before them then decide what is stored.
    bool may_be_covered(const Access& asked) const {
        return std::ranges::any_of(asked_.accesses, [&](const Access& other) {
            if (&other == &asked || other.does == Does::load || !same_memory(other.memory, asked.memory) ||
                other.before != asked.before || other.after != asked.after)
                return false;
            const std::vector<const Access*> images = images_of(other);
            if (other.block != asked.block)
                return !images.empty() && asked.base.known && other.base.known && may_overlap(asked, other);
            const bool wider =
                std::ranges::any_of(images, [&](const Access* image) { return image->bytes > other.bytes; });
            return wider || (!images.empty() && may_overlap(asked, other));
        });
    }

    static bool may_overlap(const Access& one, const Access& other) {
        const Base &at = one.base, &there = other.base;
        if (at.of != there.of) return !at.known || !there.known;
        return !at.known || (at.offset < there.offset + other.bytes && there.offset < at.offset + one.bytes);
    }

    void missing(const Access& asked) {
        if (asked.guard_decides_branches ||
            (asked.guard_may_fail && !holds_somewhere(asked_, done_, found_, asked.guard)))
            report_.open(asked.line, fmt::format("the machine code has no {} of line {}: whether its guard "
                                                 "ever holds is not known",
                                                 kind_of(asked), asked.line));
        else if (may_be_covered(asked))
            report_.open(asked.line, fmt::format("the machine code has no {} of line {}: another one may "
                                                 "write what it does",
                                                 kind_of(asked), asked.line));
        else if (living_.contains(static_cast<int>(asked.block)))
            report_.add(rules::WG_SASS_07, asked.line, 0,
                        fmt::format("the {} of line {} is missing", kind_of(asked), asked.line));
        else
            report_.open(asked.line, fmt::format("the machine code has no {} of line {}: whether its threads "
                                                 "come there at all is not known",
                                                 kind_of(asked), asked.line));
    }

    /// Between which events it may come; those of the program are the images.
    bool stands(const std::vector<EventId>& machine, const std::vector<const Access*>& asked,
                std::vector<EventId> Access::*side, EventId& wrong) const {
        for (const EventId event : machine) {
            const bool allowed = std::ranges::any_of(found_.matched[event], [&](EventId image) {
                return std::ranges::any_of(asked, [&](const Access* access) {
                    return std::ranges::binary_search(access->*side, image);
                });
            });
            if (allowed || found_.matched[event].empty()) continue;
            wrong = event;
            return false;
        }
        return true;
    }

    void check_order(const Access& access) {
        const auto at = by_line_.find(access.line);
        if (at == by_line_.end()) return;
        std::vector<const Access*> asked;
        for (const Access* one : at->second)
            if (is_image(access, *one)) asked.push_back(one);
        if (asked.empty()) return;
        EventId wrong = 0;
        const bool before = stands(access.before, asked, &Access::before, wrong);
        if (before && stands(access.after, asked, &Access::after, wrong)) return;
        if (!told_.insert(access.line).second) return;
        const std::string other = wrong == EventGraph::entry ? "the beginning"
                                  : wrong == EventGraph::exit
                                      ? "the end"
                                      : report_.name(done_.graph.events[wrong].number);
        report_.add(
            rules::WG_SASS_07, access.line, access.number,
            fmt::format("{} comes {} {}, which is on the other side of the {} of line {} in the program",
                        report_.name(access.number), before ? "before" : "behind", other, kind_of(access),
                        access.line));
    }

    const Asked& asked_;
    const Done& done_;
    const Inclusion& found_;
    Report& report_;
    std::map<int, std::vector<const Access*>> by_line_, images_;
    std::set<int> living_, told_;
};

}  // namespace

bool holds_somewhere(const Asked& asked, const Done& done, const Inclusion& found, std::uint64_t guard) {
    for (EventId id = 2; id < asked.graph.events.size(); ++id)
        if (asked.graph.events[id].guard == guard && found.covered[id]) return true;
    return std::ranges::any_of(asked.accesses, [&](const Access& access) {
        return access.guard == guard && std::ranges::any_of(done.accesses, [&](const Access& image) {
                   return image.line == access.line && is_image(image, access);
               });
    });
}

void check_accesses(const Function& function, const Asked& asked, const Done& done, const Inclusion& found,
                    Report& report) {
    Accesses(function, asked, done, found, report).check();
}

}  // namespace wgrun::sass
