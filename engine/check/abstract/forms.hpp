// How the values of an abstract execution depend on what the launch chooses: beside each value a sum of
// variables, by which it would be greater. What comes out alike for all values of a variable is proved for
// all of them.
//
// A value is computed as it is, and once more for each variable: by the shape of the instruction
// (isa::Shape) the difference holds for every multiple. Sums and products of sizes are taken not to wrap
// around.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "check/abstract/loops.hpp"
#include "check/abstract/symbols.hpp"
#include "check/abstract/values.hpp"
#include "isa/machine.hpp"

namespace wgrun::check::abstract {

class Forms {
  public:
    Forms(ExecutionState& execution, Values& values, isa::Machine& machine, Symbols& symbols);

    /// A register of a warp: the lanes that have the form; the others depend on nothing.
    struct Slot {
        Form form{};
        isa::Mask lanes = 0;
        std::optional<Cyclic> cyclic{};  ///< the lanes have it besides, and the form is empty
        bool operator==(const Slot&) const = default;
    };
    Slot& slot(int warp, std::size_t index) { return slots_[static_cast<std::size_t>(warp)][index]; }

    /// Executes a step that does nothing but compute.
    void compute(const Op& op);
    /// The step is executed by what its sources are: what they depend on is not proved further.
    void use(const Op& op);
    /// The same of the predicate that guards it, or that a branch is taken by.
    void use_condition(const Op& op);
    /// The same of the addresses of a load or store.
    void use_addresses(const Op& op);
    /// Whether the abstract executions are to begin anew: a root may be less than was taken.
    bool restart() const { return restart_; }
    void begin_anew() { restart_ = true; }
    /// The results of the step are not known.
    void forget(const Op& op);

    /// Executes a load of what no thread changes: it is a number of the launch, by its address. Returns
    /// whether that is known.
    bool load(const Op& op);
    // --- numbers that a kernel draws as it runs (forms_drawn.cpp), in an exploration
    /// Executes an atomic: what it returns to its one lane may be anything. Returns whether that is known.
    bool draw(const Op& op);
    /// A run begins, in which these may be drawn: roots that nothing depends on.
    void begin_draws(std::set<int> idle) {
        idle_ = std::move(idle);
        draws_ = false;
    }
    /// Whether it has drawn one.
    bool draws() const { return draws_; }
    /// A number in shared memory, and where: of which CTA, at which address.
    struct Shown {
        std::int64_t value = 0;
        Form form{};
        bool operator==(const Shown&) const = default;
    };
    using Place = std::pair<int, std::uint32_t>;
    const std::map<Place, Shown>& shown() const { return shown_; }
    /// What the active lanes store of an operand; nothing unless it is known, and the same in all of them.
    std::optional<Shown> stored(const Operand& operand);
    /// The number is there, in place of what was there before. Nothing: it is not known.
    void show(Place at, const std::optional<Shown>& number);
    void hide(Place at) { shown_.erase(at); }
    void receive(const Op& op, const Shown& number);

    /// The value of a parameter while a step is executed.
    std::uint64_t param(int index);

    /// A comparison that depends on roots: which one is greater, as a form, and of the first lane whether it
    /// is.
    struct Event {
        Form form;
        bool greater;
    };
    const std::vector<Event>& events() const { return events_; }

    // --- of an exploration (exploration.hpp)
    void explore(const Loops& loops) { loops_ = &loops; }
    /// Whether pointers among the parameters are numbers as others are, since what they point to is loaded.
    bool follows_pointers() const { return loops_ != nullptr && execution_.skeleton.loads_numbers; }
    /// The number of the launch that a step compares, and how much of it is left; nothing if it compares
    /// none.
    std::optional<Warp::Parked> compared(const Op& op);
    /// What a register of a warp has been compared with.
    CountedTo counted_to(std::uint32_t warp, std::uint32_t slot) const {
        const auto at = counted_to_.find({warp, slot});
        return at == counted_to_.end() ? CountedTo() : at->second;
    }
    /// The registers by which steps were executed whose values depended on turns of loops: no counters.
    const std::set<std::uint32_t>& no_counters() const { return no_counters_; }
    /// Where that number is compared.
    const std::set<std::uint32_t>& compared_at(int root) { return compared_at_[root]; }
    /// Where any numbers of the launch are compared.
    const std::set<std::uint32_t>& comparisons() const { return comparisons_; }
    /// What follows is shown for these values of the roots: registers get their values.
    void choose(const std::vector<Window>& windows);
    void choose(int root, const Window& window);
    Window window(int root) const;
    /// Registers that functions of a root leave in one of few values get that as a place in a cycle: states
    /// that differ by how far a loop has turned alone are then alike.
    void pack();
    /// A register of a warp is less by `back`, and depends on some turns more; or a number that is shown,
    /// whose warp is beyond the others by its CTA, and whose slot is its address.
    void widen(std::uint32_t warp, std::size_t slot, isa::Mask known, std::int64_t back, const Form& turns);
    auto state() {
        values_of_roots_.clear();
        for (const Root& root : symbols_.roots) values_of_roots_.push_back(root.value);
        return std::tie(growth_, values_of_roots_, shown_);
    }
    /// The registers that depend on something: by warp, their places in it.
    using Dependent = std::vector<std::vector<std::pair<std::uint32_t, Slot>>>;
    Dependent save() const;
    void restore(const Dependent& saved);

    /// Takes every variable `from` for the variable `to`.
    void rename(int from, int to, std::int64_t times);
    /// The repetition of a loop that the root ends does not hold for any number of periods.
    void stop(int root, Where where, std::string reason);

    // --- what an abstract execution shows
    /// The roots that it depends on, in the order in which it met them.
    const std::vector<int>& met() const { return met_; }
    /// How much greater a root may be without a difference.
    std::int64_t room(int root) const;
    /// Why a root cannot be greater by many periods; null: nothing stopped that.
    const Stop* stopped(int root) const;
    Symbols& symbols() { return symbols_; }
    /// Whether what holds for the first CTA of a grid of one holds for each of every grid: places in the grid
    /// only say how many turns a loop takes.
    bool for_every_cta() const {
        return !grid_lost_ && std::ranges::none_of(of_places_, [&](const auto& one) {
            return plain_.contains(one.first) || !one.second.agree();
        });
    }

  private:
    struct Sourced {
        const Operand* operand;
        Form form;
    };
    using Wide = std::array<std::int64_t, isa::lanes>;

    void follow(const Step& step);
    std::vector<std::pair<Wide, isa::Mask>> states(const Step& step) const;
    /// but: an operand that is left out.
    std::vector<Sourced> sources(const Step& step, const Operand* but = nullptr);
    Form form_of(Reg reg, Where where);
    void execute_by(Reg reg, const Op& op, std::string_view what);
    Form form_of_root(int root) const;
    enum class OfPlace : std::uint8_t { lost, strided, shifted };
    /// The comparisons of places in the grid with a number.
    struct OfPlaces {
        void add(OfPlace place, bool of_stride, int sign) {
            strides |= of_stride;
            shifts |= place == OfPlace::shifted;
            signs.insert(sign);
        }
        /// Of strides, whether a turn begins where the tile is the number is the same for all of them: else
        /// the numbers of turns of two loops differ by more or less with some grids than with others.
        bool agree() const { return !strides || (!shifts && signs.size() == 1 && !signs.contains(0)); }
        bool strides = false, shifts = false;
        std::set<int> signs;  ///< of 0 in each: it counts as above, below, or as neither
    };
    struct OfGrid {
        int root = -1;  ///< none
        std::int64_t times = 0;
    };
    OfGrid of_grid(isa::Special which);
    int meet(int root);
    void become(const Step& step, int root);
    void exchange(const Step& step);
    bool is_number(const Param& param) const;
    int given(Root::Kind kind, int index);

    Wide get(Reg reg) const;
    void set(Reg reg, const Wide& lanes);
    Wide outcome(const Step& step, const std::vector<Sourced>& sources, const Form& by);
    std::optional<Form> difference(const Step& step, const std::vector<Sourced>& sources, const Form& all);
    bool is_linear(const Step& step, const std::vector<Sourced>& sources, const Form& all,
                   const Form& slopes);
    std::optional<Form> of_low_bits(const Step& step, const std::vector<Sourced>& sources, const Form& form);
    std::optional<Form> of_division(const Step& step, const std::vector<Sourced>& sources, const Form& form);
    std::optional<Form> of_known_bits(const Step& step, const std::vector<Sourced>& sources,
                                      const Form& form);
    std::optional<Form> of_share(const Step& step, const std::vector<Sourced>& sources, const Form& form);
    std::optional<Form> of_extremum(const Step& step, const std::vector<Sourced>& sources, isa::Shape shape);
    bool becomes_distance(const Step& step, const std::vector<Sourced>& sources, isa::Shape shape);
    bool falls(const Step& step, const std::vector<Sourced>& sources, const Form& from);
    bool becomes_root(const Step& step, const std::vector<Sourced>& sources);
    bool becomes_any(const Step& step, const std::vector<Sourced>& sources);
    std::optional<int> next_draw(int from);
    std::set<int> turns_of(int root) const;
    bool is_tile(const Root& root) const;
    bool depends_on_any(const Form& form) const;
    bool may_be_great(const Form& form) const;
    bool may_be_great(const std::vector<Sourced>& sources) const;
    Wide of_first(const Step& step, const std::vector<Sourced>& sources, std::int64_t number);
    std::optional<Recurring> recurring(const Step& step, const std::vector<Sourced>& sources,
                                       const std::vector<Source>& of);
    std::int64_t greatest_of(int root) const;
    void settle(int root);
    void settle(int root, int warp, std::size_t index);
    std::int64_t value_at(int root, std::int64_t base) const;
    std::optional<Cyclic> cyclic(const Slot& slot, std::int64_t besides);
    std::optional<std::int64_t> decided(const Cyclic& cyclic) const;
    void unpack(int warp, std::size_t index, Where where);
    std::optional<Ratio> rise_of(const Step& step, const std::vector<Sourced>& sources,
                                 const std::vector<Source>& of, std::int64_t most);
    Ratio rate(int root) const;
    std::optional<Source> source(const Operand& operand, const Form& form);
    Wide value_of(const Operand& operand, isa::Type type);
    void compare(const Step& step, const std::vector<Sourced>& sources);
    /// Of a comparison.
    struct Side {
        Form form{};
        Wide number{};
        bool joined = false;  ///< it is not what the register holds
    };
    Side side(const Step& step, const Sourced& source);
    int compared_root(Origin origin, std::int64_t least);
    /// Of a comparison for the greater one of two numbers: by how much the one is above the least that the
    /// other may be.
    struct Above {
        Reg counter{};
        Form form{};
        Wide difference{};
        bool holds_where_equal = false;
    };
    std::optional<Above> above_least(const Step& step, const std::vector<Sourced>& sources);
    bool cannot_hold(const Step& step, const std::vector<Sourced>& sources);
    enum class Draws : std::uint8_t { none, alone, and_others };
    Draws draws_of(const Form& form) const;
    bool comes_out_alike(const Step& step, const Form& form, const Wide& difference) const;
    bool joins(Form& form, Wide& difference);
    bool is_either(const Step& step, const Form& form, const Wide& difference, bool anywhere);
    OfPlace of_place(const Form& form, const Wide& difference) const;
    void order(const Form& form, const Wide& difference, Where where);
    void limit(const Form& form, const Wide& difference, Where where);
    bool stays_positive(const Form& form, Reg reg, Where where);
    bool widens(const Step& step, const std::vector<Sourced>& sources);
    void give(const Step& step, Form form);
    void add_turns(Form& form, const Form& turns, std::int64_t back) const;
    void lose(const Form& form, Where where, std::string_view what);
    bool active(int lane) const { return (execution_.active >> lane & 1U) != 0; }

    ExecutionState& execution_;
    Values& values_;
    isa::Machine& machine_;
    Symbols& symbols_;
    std::vector<std::vector<Slot>> slots_;
    std::vector<Event> events_;
    std::vector<int> met_;
    std::map<int, std::int64_t> room_;
    std::map<int, Stop> stopped_;
    std::map<int, OfPlaces> of_places_;                   ///< by root
    std::set<std::uint32_t> no_counters_{};               ///< slots
    std::set<int> plain_;                                 ///< roots that other numbers are compared with
    std::set<std::uint32_t> comparisons_;                 ///< operations
    std::map<int, std::set<std::uint32_t>> compared_at_;  ///< by root: operations
    std::map<std::pair<std::uint32_t, std::uint32_t>, CountedTo> counted_to_;  ///< by warp and slot
    std::map<int, Form> growth_;                 ///< of roots, by turns of loops
    std::vector<std::int64_t> values_of_roots_;  ///< that the registers go with
    std::map<Place, Shown> shown_;
    std::set<int> idle_;  ///< roots that may be drawn
    bool draws_ = false;
    const Loops* loops_ = nullptr;  ///< null: it is no exploration
    bool restart_ = false;
    bool grid_lost_ = false;   ///< a place in the grid decides otherwise
    std::int64_t beyond_ = 0;  ///< of a parameter, while a step is executed
};

}  // namespace wgrun::check::abstract
