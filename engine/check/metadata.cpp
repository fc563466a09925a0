#include "check/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "check/gaps.hpp"
#include "check/pointees.hpp"
#include "flow/origins.hpp"
#include "isa/algebra.hpp"
#include "isa/effects.hpp"
#include "isa/registers.hpp"
#include "isa/sparse.hpp"

namespace wgrun::check {
namespace {

/// Listens to which operands a step passes on as they are: a result is one of a list of operands.
class PassedOn final : public isa::Algebra {
  public:
    /// Nothing: the step computes something.
    std::optional<std::vector<Operand>> by(const Step& step) {
        lists_.clear();
        const isa::Term term = isa::meaning_of(step, *this);
        if (term == isa::Term::unknown) return {};
        return lists_[static_cast<std::size_t>(term)];
    }

  private:
    using Term = isa::Term;

    Term add(std::vector<Operand> list) {
        lists_.push_back(std::move(list));
        return static_cast<Term>(lists_.size() - 1);
    }
    Term of(const Operand& operand) override { return add({operand}); }
    Term number(const Operand& operand, isa::Type type) override {
        return isa::bits(type) == 32 ? add({operand}) : Term::unknown;
    }
    Term number(Term a, isa::Type type) override { return isa::bits(type) == 32 ? a : Term::unknown; }
    Term constant(std::int64_t value) override { return add({Operand::immediate(value)}); }
    Term select(Term, Term a, Term b) override {
        if (a == Term::unknown || b == Term::unknown) return Term::unknown;
        std::vector<Operand> both = lists_[static_cast<std::size_t>(a)];
        const std::vector<Operand>& other = lists_[static_cast<std::size_t>(b)];
        both.insert(both.end(), other.begin(), other.end());
        return add(std::move(both));
    }
    Term in_lane(const Operand& operand, int) override { return add({operand}); }
    Term sum(Term, Term, std::int64_t) override { return Term::unknown; }
    Term product(Term, Term) override { return Term::unknown; }
    Term quotient(Term, Term) override { return Term::unknown; }
    Term power_of_2(Term) override { return Term::unknown; }
    Term bitwise(unsigned, Term, Term, isa::Type) override { return Term::unknown; }
    Term compare(isa::Compared, Term, Term) override { return Term::unknown; }
    Term elected() override { return Term::unknown; }

    std::vector<std::vector<Operand>> lists_;
};

/// The accesses to memory of each step that has some.
class MemoryOf final : public isa::Effects {
  public:
    struct Access {
        const Step* step;
        const Operand* address;           ///< or a tensor map
        const Operand* source = nullptr;  ///< in global memory, of what is copied from there, or its map
        bool shared = false, write = false;
        bool known = true;  ///< the space is, and that nothing but the source is written
        bool map = false;   ///< it is by one
        int bytes = 0;
    };

    explicit MemoryOf(const Program& program) {
        for_each_step(program, [&](const Step& step) {
            step_ = &step;
            isa::visit_effects(step, *this);
        });
    }
    std::vector<Access> list;

  private:
    void memory(const isa::MemoryAccess& access) override {
        using enum isa::Space;
        if (access.space == local || access.space == param) return;
        const bool is_shared = access.space == shared || access.space == shared_cluster;
        Access out{.step = step_, .address = access.address, .write = access.write, .bytes = access.bytes};
        out.known = access.space == global || access.space == shared;
        for (const bool in_shared : {false, true}) {
            if (in_shared ? access.space == global : is_shared) continue;
            out.shared = in_shared;
            list.push_back(out);
        }
    }
    void copy_async(const isa::AsyncCopy& copy) override {
        Access out{.step = step_, .address = copy.address, .source = copy.from};
        out.shared = out.write = true;
        out.known = !copy.fills;
        list.push_back(out);
    }
    void bulk_copy(const isa::BulkAccess& copy) override {
        Access out{.step = step_, .address = copy.to, .source = copy.global};
        out.shared = out.write = true;
        out.map = copy.coordinates != nullptr;
        if (copy.to == nullptr) {
            if (copy.direction != isa::BulkCopy::Direction::to_global) return;
            out.address = std::exchange(out.source, nullptr);
            out.shared = false;
        }
        list.push_back(out);
    }

    const Step* step_ = nullptr;
};

/// One product.
struct SparseMma final : isa::Effects {
    explicit SparseMma(const Step& step) { isa::visit_effects(step, *this); }
    const Operand* metadata = nullptr;
    bool increasing = false;

  private:
    void issue_mma(const isa::AsyncMma& mma) override { metadata = mma.metadata; }
    void multiply(const isa::WarpMma& mma) override {
        metadata = mma.metadata;
        increasing = mma.increasing;
    }
};

class Metadata {
  public:
    Metadata(const Program& program, Made made)
        : program_(program), memory_(program_), pointees_(pointees(program_, made)), buffers_(program_) {}

    /// Nothing: the register holds legal codes if the words of `sources` are legal.
    std::optional<Gap> follow(const Step& step, const SparseMma& mma) {
        const isa::Type a = step.form.type(isa::Field::a);
        codes_ = isa::Codes(a, mma.increasing);
        of_ = fmt::format("{}{}", isa::to_string(a), mma.increasing ? ", with increasing indices" : "");
        registers_.clear();
        followed_.clear();
        gap_.reset();
        follow(*mma.metadata, step);
        while (!registers_.empty() && !gap_) {
            const Reg reg = registers_.back();
            registers_.pop_back();
            for_each_step(program_, [&](const Step& by) {
                isa::for_each_written(by, [&](Reg written) {
                    if (written == reg && !gap_) written_by(by, reg);
                });
            });
        }
        return gap_;
    }

    std::vector<LegalWords> words() && { return std::move(sources_); }

  private:
    void stop(const Step& step, std::string reason) {
        gap_ = Gap{Property::descriptors, step.where, std::move(reason), std::string(run_it)};
    }

    void follow(const Operand& operand, const Step& step) {
        if (operand.kind == Operand::Kind::imm) {
            if (!codes_.all_of(static_cast<std::uint32_t>(operand.imm)))
                stop(step, fmt::format("metadata 0x{:08x} of a sparse A have a code without a meaning",
                                       static_cast<std::uint32_t>(operand.imm)));
        } else if (operand.kind == Operand::Kind::reg && operand.reg &&
                   isa::bits(program_.registers()[operand.reg.id].type) == 32) {
            if (followed_.insert(operand.reg.id).second) registers_.push_back(operand.reg);
        } else {
            stop(step, "what is passed on here as metadata of a sparse A is not followed");
        }
    }

    void written_by(const Step& step, Reg reg) {
        const auto loads = std::ranges::find_if(memory_.list, [&](const MemoryOf::Access& access) {
            return access.step == &step && !access.write;
        });
        if (loads != memory_.list.end()) return loaded(*loads);
        const auto passed = PassedOn().by(step);
        if (!passed || step.operands.front().reg != reg)
            return stop(step, "how the metadata of a sparse A are computed here is not followed");
        for (const Operand& operand : *passed) follow(operand, step);
    }

    /// A word is loaded as it is: as many words as registers.
    void loaded(const MemoryOf::Access& load) {
        int registers = 0;
        isa::for_each_written(*load.step, [&](Reg) { ++registers; });
        const auto writes = std::ranges::count_if(memory_.list, [&](const MemoryOf::Access& access) {
            return access.step == load.step && access.write;
        });
        if (!load.known || writes != 0 || load.bytes != 4 * registers)
            return stop(*load.step, "what is loaded here as metadata of a sparse A is not followed");
        if (load.shared)
            from_shared(load);
        else
            from_global(*load.step, *load.address, load.map);
    }

    /// All that may write to the buffer are copies from global memory.
    void from_shared(const MemoryOf::Access& load) {
        const int buffer = buffer_of(*load.address);
        for (const MemoryOf::Access& write : memory_.list) {
            if (!write.shared || !write.write || gap_) continue;
            const int there = buffer_of(*write.address);
            if (buffer >= 0 && there >= 0 && there != buffer) continue;
            if (buffer < 0 || there < 0 || !write.known || write.source == nullptr)
                return stop(*write.step, "this may write to where metadata of a sparse A are loaded from");
            from_global(*write.step, *write.source, write.map);
        }
    }

    /// A tensor map brings zeros from outside of its tensor, which are no codes.
    void from_global(const Step& step, const Operand& address, bool map) {
        const int param = parameter_of(address, map);
        if (param < 0) return stop(step, "from where metadata of a sparse A come here is not known");
        for (const MemoryOf::Access& write : memory_.list) {
            if (write.shared || !write.write) continue;
            const int there = parameter_of(*write.address, write.map);
            if (there < 0 || there == param)
                return stop(*write.step, "this may write to the metadata of a sparse A in global memory");
        }
        std::string text = fmt::format("every word of {} is legal sparse metadata of {}{}",
                                       program_.params()[static_cast<std::size_t>(param)].name, of_,
                                       map ? ", and no box reaches out of it" : "");
        if (std::ranges::find(sources_, text, &LegalWords::text) == sources_.end())
            sources_.push_back({param, codes_, std::move(text)});
    }

    int buffer_of(const Operand& address) const {
        if (address.kind != Operand::Kind::address) return buffers_.of(address);
        return address.reg ? buffers_.of(Operand::of(address.reg)) : address.index;
    }

    /// A map that is a parameter is of a tensor of its own; one in memory may be of any.
    int parameter_of(const Operand& address, bool map) const {
        if (address.kind == Operand::Kind::param) return address.index;
        const int param = address.reg ? pointees_[address.reg.id] : from_several;
        if (!map || param < 0) return param;
        const Param& its = program_.params()[static_cast<std::size_t>(param)];
        return its.type == isa::Type::tensormap && !its.pointee ? param : from_several;
    }

    const Program& program_;
    const MemoryOf memory_;
    const std::vector<int> pointees_;
    const flow::Origins buffers_;
    isa::Codes codes_{isa::Type::none};
    std::string of_;  ///< which type's codes
    std::vector<Reg> registers_;
    std::set<std::uint32_t> followed_;
    std::optional<Gap> gap_;
    std::vector<LegalWords> sources_;
};

}  // namespace

std::string MetadataProof::assumption() const {
    std::string out;
    for (const LegalWords& one : words) out += fmt::format("{}{}", out.empty() ? "" : ", and ", one.text);
    return out;
}

MetadataProof prove_metadata(const Program& program, Made made) {
    MetadataProof out;
    std::optional<Metadata> metadata;
    for_each_step(program, [&](const Step& step) {
        const SparseMma mma(step);
        if (mma.metadata == nullptr || out.gap) return;
        if (!metadata) metadata.emplace(program, made);
        out.gap = metadata->follow(step, mma);
    });
    if (metadata && !out.gap) out.words = std::move(*metadata).words();
    return out;
}

}  // namespace wgrun::check
