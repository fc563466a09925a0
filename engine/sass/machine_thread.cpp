// A thread of machine code, executed instruction by instruction.
#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "isa/generic.hpp"
#include "sass/arithmetic.hpp"
#include "sass/registers.hpp"
#include "sass/thread.hpp"

namespace wgrun::sass {
namespace {

using Kind = Source::Kind;

/// What is known of special registers, by SASS's names.
std::optional<std::uint32_t> special(std::string_view name, const Drawn& drawn) {
    const Dim3 place = drawn.place();
    if (name == "SR_TID.X") return place.x;
    if (name == "SR_TID.Y") return place.y;
    if (name == "SR_TID.Z") return place.z;
    if (name == "SR_CTAID.X") return drawn.cta.x;
    if (name == "SR_CTAID.Y") return drawn.cta.y;
    if (name == "SR_CTAID.Z") return drawn.cta.z;
    if (name == "SR_LANEID") return drawn.lane();
    if (name == "SR_CgaCtaId") return 0;
    if (name == "SRZ") return 0;
    if (name == "SR_SWINHI") return static_cast<std::uint32_t>(isa::shared_generic >> 32);
    return std::nullopt;
}

class MachineThread {
  public:
    MachineThread(const Function& function, const Graph& graph, const Drawn& drawn)
        : code_(function.instructions),
          graph_(graph),
          drawn_(drawn),
          file_(drawn),
          local_(drawn.seed, Memory::local),
          out_(drawn.seed) {
        for (const Label& label : function.labels) labels_.emplace(label.name, static_cast<Place>(label.at));
        draw_registers();
    }

    Behaviour run() {
        for (std::size_t i = 0; i < longest_run && at_ < code_.size(); ++i)
            if (!step()) break;
        return std::move(out_);
    }

  private:
    const Decoded& decoded(Place at) {
        const auto found = decoded_.find(at);
        return found != decoded_.end() ? found->second : decoded_.emplace(at, code_[at]).first->second;
    }
    std::optional<bool> guard() const {
        const Instruction& one = code_[at_];
        if (one.guard == no_predicate) return true;
        const std::optional<bool> value = file_.predicate(one.guard);
        return value ? std::optional(*value != one.guard_negated) : value;
    }

    /// False where the thread ends, or nobody knows where it goes on.
    bool step() {
        const Instruction& one = code_[at_];
        const Decoded& is = decoded(at_);
        const std::optional<bool> executed = guard();
        const Does does = one.record->does;
        if (does == Does::branch || does == Does::exit || does == Does::call || does == Does::ret ||
            does == Does::indirect)
            return go(one, is, executed);
        if (executed.value_or(true)) {
            if (!executed) forget(one);
            // What may be executed, or not, is not followed.
            if (!executed && does != Does::other) return false;
            if (executed && !execute(one, is)) return false;
        }
        ++at_;
        return true;
    }

    bool go(const Instruction& one, const Decoded& is, std::optional<bool> executed) {
        if (!executed) return false;
        if (!*executed) return ++at_, true;
        switch (one.record->does) {
            case Does::exit: out_.complete = true; return false;
            case Does::ret:
                if (calls_.empty()) return false;
                at_ = calls_.back();
                calls_.pop_back();
                return true;
            case Does::call: {
                const auto to = labels_.find(target_of(one));
                if (to == labels_.end()) return false;
                calls_.push_back(at_ + 1);
                at_ = to->second;
                return true;
            }
            case Does::branch: break;
            default: return false;
        }
        // Lanes that are alike do not diverge, and take turns once.
        bool taken = !one.has("DIV") && !graph_.repeats_for_lanes(at_);
        if (taken)
            for (const Source& operand : is.operands) {
                if (operand.kind != Kind::predicate) continue;
                const std::optional<bool> holds = truth_of(operand, file_);
                if (!holds) return false;
                taken = *holds;
            }
        if (!taken) return ++at_, true;
        const auto to = labels_.find(target_of(one));
        if (to == labels_.end()) return false;
        at_ = to->second;
        return true;
    }

    /// Until the first of the instructions that write a register is executed, it may have any value. What
    /// nothing writes is not known: an instruction that wgrun does not know may.
    void draw_registers() {
        const Contents any(drawn_.seed, Memory::none);
        for (Place at = 0; at < code_.size(); ++at)
            for_each_result(at, [&](bool uniform, int index) {
                const int address = 4 * (uniform ? register_count + index : index);
                file_.set(
                    uniform, index,
                    Word{static_cast<std::uint32_t>(any.load(static_cast<std::uint64_t>(address), 4).bits),
                         true});
            });
    }

    /// Calls visit(whether it is uniform, its number) for the registers that an instruction writes.
    template <class Visit>
    void for_each_result(Place at, Visit visit) {
        const Instruction& one = code_[at];
        const auto visit_all = [&](Registers some) {
            for (int i = 0; i < some.count; ++i) visit(false, some.first + i);
        };
        visit_all(written(one));
        if (one.record->does == Does::product) visit_all(product_of(one).accumulators);
        const Decoded& is = decoded(at);
        if (!is.uniform) return;
        const int first = is.operands[is.results].index;
        for (int i = 0; i < 2 && first + i < uniform_count; ++i) visit(true, first + i);
    }

    /// What it writes is not known any more.
    void forget(const Instruction& one) {
        for_each_result(at_, [&](bool uniform, int index) { file_.set(uniform, index, Word{}); });
        const Decoded& is = decoded(at_);
        for (const Source& operand : is.operands) {
            if (operand.kind == Kind::predicate) {
                file_.set(static_cast<Predicate>(operand.index), std::nullopt);
                continue;
            }
            // Predicates may be results behind a register, too.
            const std::size_t next = static_cast<std::size_t>(&operand - is.operands.data()) + 1;
            if (next < is.operands.size() && is.operands[next].kind == Kind::predicate &&
                one.mnemonic.find("VOTE") != std::string_view::npos)
                file_.set(static_cast<Predicate>(is.operands[next].index), std::nullopt);
            break;
        }
        if (one.mnemonic.starts_with("R2P"))
            for (Predicate p = 0; p < always; ++p) file_.set(p, std::nullopt);
    }

    std::optional<std::uint64_t> address(const Source& source, bool shared) const {
        Known64 out{static_cast<std::uint64_t>(source.number), true};
        for (const Source::Term& term : source.terms) {
            const Known64 value = term.wide ? file_.wide(term.uniform, term.index)
                                            : Known64{file_.reg(term.uniform, term.index).bits,
                                                      file_.reg(term.uniform, term.index).known};
            out.bits += value.bits * static_cast<std::uint64_t>(term.scale);
            out.known = out.known && value.known;
        }
        if (!out.known) return std::nullopt;
        return shared ? out.bits & shared_window : out.bits;
    }
    static const Source* bracket(const Decoded& is, std::size_t which = 0) {
        for (const Source& operand : is.operands)
            if (operand.kind == Kind::memory && which-- == 0) return &operand;
        return nullptr;
    }
    Known64 shared_address(const Decoded& is, std::size_t which = 0) const {
        const Source* at = bracket(is, which);
        if (at == nullptr) return {};
        const auto value = address(*at, true);
        return {value.value_or(0), value.has_value()};
    }

    Deed& note(Does does, std::vector<Known64> values) {
        Deed& out = out_.deeds.emplace_back();
        out.does = does;
        out.line = code_[at_].line;
        out.number = at_;
        out.values = std::move(values);
        return out;
    }

    bool execute(const Instruction& one, const Decoded& is) {
        switch (one.record->does) {
            case Does::load:
            case Does::store:
            case Does::atomic: access(one, is); return true;
            case Does::product: product(one); return true;
            case Does::barrier:
            case Does::barrier_arrive: barrier(one, is); return true;
            case Does::mbarrier_init:
            case Does::mbarrier_inval:
            case Does::mbarrier_arrive:
            case Does::mbarrier_expect:
            case Does::mbarrier_copies:
                note(one.record->does, {shared_address(is)});
                forget(one);
                return true;
            case Does::mbarrier_test:
                note(one.record->does, {shared_address(is)});
                file_.set(static_cast<Predicate>(is.operands.empty() ? always : is.operands[0].index), true);
                return true;
            case Does::copy: {
                const Source* from = bracket(is, 1);
                const auto global = from == nullptr ? std::nullopt : address(*from, false);
                note(Does::copy, {shared_address(is), {global.value_or(0), global.has_value()}});
                return true;
            }
            case Does::bulk_load:
            case Does::bulk_store: bulk_copy(one, is); return true;
            case Does::set_registers:  // it is tried until it succeeds
                for (const Source& operand : is.operands)
                    if (operand.kind == Kind::predicate)
                        file_.set(static_cast<Predicate>(operand.index), true);
                return true;
            case Does::other: break;
            default: return true;
        }
        if (one.mnemonic.starts_with("BPT")) return false;
        if (!other(one, is) && !compute(one, is, file_)) forget(one);
        return true;
    }

    /// What is no arithmetic.
    bool other(const Instruction& one, const Decoded& is) {
        const std::string_view name = is.name;
        if ((name == "S2R" || name == "S2UR") && is.operands.size() > 1) {
            const auto value = special(one.operands[1], drawn_);
            file_.set(is.uniform, is.operands[0].index, Word{value.value_or(0), value.has_value()});
            return true;
        }
        if (name == "LDC" && is.operands.size() > 1 && is.operands[1].kind == Kind::constant) {
            const bool wide = one.has("64");
            const int bytes = wide ? 8 : access_bytes(one);
            const Known64 value = file_.constant(is.operands[1], bytes);
            if (one.has("S8") || one.has("S16") || one.has("128")) return false;
            if (wide)
                file_.set_wide(is.uniform, is.operands[0].index, value);
            else
                file_.set(is.uniform, is.operands[0].index,
                          Word{static_cast<std::uint32_t>(value.bits), value.known});
            return true;
        }
        if (name == "R2UR" && is.operands.size() > is.results + 1) {
            file_.set(true, is.operands[is.results].index, word_of(is.operands[is.results + 1], file_));
            if (is.results > 0) file_.set(static_cast<Predicate>(is.operands[0].index), false);
            return true;
        }
        if ((name == "VOTE" || name == "VOTEU") && is.operands.size() == 2 && is.results == 2) {
            file_.set(static_cast<Predicate>(is.operands[0].index), truth_of(is.operands[1], file_));
            return true;
        }
        if ((name == "VOTE" || name == "VOTEU") && is.results == 0 && is.operands.size() == 3) {
            const std::optional<bool> value = truth_of(is.operands[2], file_);
            file_.set(is.uniform, is.operands[0].index,
                      Word{value.value_or(false) ? UINT32_MAX : 0, value.has_value()});
            file_.set(static_cast<Predicate>(is.operands[1].index), value);
            return true;
        }
        if (name == "ELECT" && is.operands.size() > 1) {
            file_.set(static_cast<Predicate>(is.operands[0].index), drawn_.lane() == 0);
            if (is.operands[1].kind == Kind::uniform) file_.set(true, is.operands[1].index, Word{});
            return true;
        }
        if (name == "SHFL" && is.operands.size() > 2) {
            file_.set(false, is.operands[1].index, word_of(is.operands[2], file_));
            file_.set(static_cast<Predicate>(is.operands[0].index),
                      one.has("IDX") || one.has("BFLY") ? std::optional(true) : std::nullopt);
            return true;
        }
        if (name == "R2P" || name == "P2R") return predicates_as_bits(one, is);
        return false;
    }

    /// "P2R R54, PR, RZ, 0x40", "R2P PR, R54, 0x40"
    bool predicates_as_bits(const Instruction& one, const Decoded& is) {
        const bool reads = is.name == "P2R";
        if (is.operands.size() < 3 || is.operands.back().kind != Kind::number) return false;
        const auto mask = static_cast<std::uint32_t>(is.operands.back().number);
        const std::size_t from = reads ? 2 : 1;
        if (reads && (is.operands.size() != 4 || one.has("B1") || one.has("B2") || one.has("B3")))
            return false;
        Source source = is.operands[from];
        const int byte = source.byte;
        source.byte = 0;
        Word word = word_of(source, file_);
        for (Predicate p = 0; p < always; ++p) {
            if (((mask >> p) & 1) == 0) continue;
            if (reads) {
                const std::optional<bool> value = file_.predicate(p);
                word.known = word.known && value;
                word.bits = (word.bits & ~(1U << p)) | (value.value_or(false) ? 1U << p : 0);
            } else {
                const bool bit = ((word.bits >> (8 * byte + p)) & 1) != 0;
                file_.set(p, word.known ? std::optional(bit) : std::nullopt);
            }
        }
        if (reads) file_.set(false, is.operands[0].index, word);
        return true;
    }

    void access(const Instruction& one, const Decoded& is) {
        const Memory memory = one.record->memory;
        const Source* at = bracket(is);
        const bool in_shared = memory == Memory::shared;
        std::optional<std::uint64_t> place = at == nullptr ? std::nullopt : address(*at, in_shared);
        Contents* contents = in_shared ? &out_.shared : memory == Memory::local ? &local_ : &out_.global;
        if (memory == Memory::generic && place && isa::space_of(*place) == isa::Space::shared_cluster)
            contents = &out_.shared, place = isa::within_space(*place) & shared_window;
        const int bytes = access_bytes(one);
        // Of matrices each lane has an address of its own, and values of others.
        const bool matrix = is.name == "LDSM" || is.name == "STSM";
        if (is.name == "STAS" || is.name == "REDAS")
            return void(note(Does::store, {{place.value_or(0) & shared_window, place.has_value()}}));
        if (one.record->does == Does::store) return store(is, contents, place, bytes, matrix);
        if (one.record->does == Does::atomic) {
            note(Does::atomic, {{place.value_or(0), place.has_value()}});
        } else if (one.record->does == Does::load && !matrix) {
            if (!place)
                out_.loads_anywhere = true;
            else if (contents != &local_)
                (contents == &out_.shared ? out_.loads_of_shared : out_.loads_of_global)
                    .push_back({*place, bytes, one.line, at_});
        }
        const std::size_t to = is.results;
        if (!place || matrix || to >= is.operands.size() || is.operands[to].kind != Kind::reg ||
            one.has("S8") || one.has("S16"))
            return forget(one);
        for (int i = 0; 4 * i < bytes; ++i) {
            const Known64 value =
                contents->load(*place + static_cast<std::uint64_t>(4 * i), std::min(4, bytes - 4 * i));
            file_.set(false, is.operands[to].index + i,
                      Word{static_cast<std::uint32_t>(value.bits), value.known});
        }
    }

    void store(const Decoded& is, Contents* contents, std::optional<std::uint64_t> place, int bytes,
               bool matrix) {
        if (!place) return contents->forget();
        const Source& from = is.operands.back();
        const int line = code_[at_].line;
        for (int i = 0; 4 * i < bytes; ++i) {
            Known64 value;
            if (!matrix && from.kind == Kind::reg) {
                const int reg = from.index == register_count ? from.index : from.index + i;
                const Word word = reg <= register_count ? file_.reg(false, reg) : Word{};
                value = {word.bits, word.known};
            }
            const int some = matrix ? 16 : std::min(4, bytes - 4 * i);
            contents->store(*place + static_cast<std::uint64_t>(4 * i), some, value, line, at_);
            if (matrix) break;
        }
    }

    void product(const Instruction& one) {
        const Product shape = product_of(one);
        const Source* described = bracket(decoded(at_));
        // Four uniform registers have A's descriptor and B's; A's are not used where A is in registers.
        Known64 a, b;
        if (described != nullptr && described->terms.size() == 1) {
            const int first = described->terms[0].index;
            if (shape.fragment.count == 0) a = file_.wide(true, first);
            if (first + 3 < uniform_count) b = file_.wide(true, first + 2);
        }
        // Of accumulators that are 0 an assembler may leave out the sum.
        Known64 scale{1, shape.reads_accumulators};
        if (shape.reads_accumulators)
            for (const Source& operand : decoded(at_).operands)
                if (operand.kind == Kind::predicate) {
                    const std::optional<bool> value = truth_of(operand, file_);
                    scale = {value.value_or(false) ? 1U : 0U, value.has_value()};
                }
        note(Does::product, {a, b, scale});
        forget(one);
    }

    void barrier(const Instruction& one, const Decoded& is) {
        std::vector<Known64> values;
        for (const Source& operand : is.operands) {
            if (operand.kind == Kind::predicate) continue;
            const Word word = word_of(operand, file_);
            // A register has the number in its lower bits, and the count in its upper ones, or none there.
            constexpr std::uint32_t number = 15;
            const bool packed = operand.kind != Kind::number;
            const bool count = !values.empty();
            values.push_back({packed ? word.bits & number : word.bits, word.known && !(packed && count)});
        }
        note(one.record->does, std::move(values));
        if (one.has("RED")) forget(one);
    }

    /// Of a copy of a tensor's box a uniform register has the place in shared memory.
    void bulk_copy(const Instruction& one, const Decoded& is) {
        std::vector<Known64> values;
        const Source* block = bracket(is);
        if (one.mnemonic.starts_with("UTMA") && block != nullptr && block->terms.size() == 1) {
            const Word word = file_.reg(block->terms[0].uniform, block->terms[0].index);
            values.push_back({word.bits & shared_window, word.known});
        }
        note(one.record->does, std::move(values));
    }

    const std::vector<Instruction>& code_;
    const Graph& graph_;
    const Drawn& drawn_;
    File file_;
    Contents local_;
    Behaviour out_;
    Place at_ = 0;
    std::vector<Place> calls_;
    std::unordered_map<std::string_view, Place> labels_;
    std::unordered_map<Place, Decoded> decoded_;
};

}  // namespace

Behaviour behaviour_of(const Function& function, const Graph& graph, const Drawn& drawn) {
    return MachineThread(function, graph, drawn).run();
}

}  // namespace wgrun::sass
