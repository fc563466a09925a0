// What is known of each register at a point of a path.
#pragma once

#include <functional>
#include <memory_resource>
#include <unordered_set>
#include <vector>

#include "check/chunks.hpp"
#include "check/value.hpp"

namespace wgrun::check {

/// The values of one walk. Equal ones are one object, so that its address stands for it.
class KnownPool {
  public:
    /// values: how many there will be, about.
    explicit KnownPool(std::size_t values) { values_.reserve(values); }
    /// Of a register that nothing has written.
    const Known* nothing() { return the(Known()); }
    /// Returns the one object of this value. It lives as long as the pool.
    const Known* the(const Known& value) { return &*values_.insert(value).first; }

  private:
    struct Hash {
        std::size_t operator()(const Known& value) const;
    };
    static constexpr std::size_t first_bytes = 1U << 18;
    std::pmr::monotonic_buffer_resource memory_{first_bytes};  // no value is ever taken out
    std::pmr::unordered_set<Known, Hash> values_{&memory_};
};

/// By Reg::id. Copies share what they have in common.
class RegisterValues {
  public:
    RegisterValues() = default;
    RegisterValues(std::size_t size, KnownPool& pool) : pool_(&pool), values_(size, pool.nothing()) {}

    const Known& operator[](std::size_t i) const { return *values_[i]; }
    void set(std::size_t i, const Known& value) { values_.set(i, pool_->the(value)); }
    /// `value`: of the same pool.
    void set(std::size_t i, const Known* value) { values_.set(i, value); }
    /// Sets what a copy of the value becomes by change(copy).
    template <class Change>
    void change(std::size_t i, Change change) {
        Known value = (*this)[i];
        change(value);
        set(i, value);
    }
    /// Calls visit(i, mine, theirs) for every register in which the two differ. It may set that register of
    /// either.
    template <class Visit>
    void differences(const RegisterValues& other, Visit visit) const {
        values_.differences(other.values_, [&](std::size_t i, const Known* mine, const Known* theirs) {
            visit(i, *mine, *theirs);
        });
    }
    bool operator==(const RegisterValues& other) const { return values_ == other.values_; }

  private:
    KnownPool* pool_ = nullptr;
    Chunks<const Known*> values_;
};

/// A set of registers.
class RegisterSet {
  public:
    explicit RegisterSet(std::size_t registers = 0) : words_((registers + 63) / 64) {}
    bool has(std::size_t reg) const { return (words_[reg / 64] >> reg % 64 & 1) != 0; }
    void add(std::size_t reg) { words_[reg / 64] |= std::uint64_t{1} << reg % 64; }
    /// Adds those of `other` that are not in `without`. Returns whether that changes the set.
    bool add(const RegisterSet& other, const RegisterSet& without) {
        std::uint64_t grown = 0;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            const std::uint64_t more = other.words_[i] & ~without.words_[i] & ~words_[i];
            words_[i] |= more;
            grown |= more;
        }
        return grown != 0;
    }

  private:
    std::vector<std::uint64_t> words_;
};

/// Returns the values where two paths meet that `condition` chose between. `place` is the branch or loop.
/// Registers that are not in `live` are never read there: they keep what `a` has.
RegisterValues join(RegisterValues a, const RegisterValues& b, const Known& condition, const void* place,
                    const RegisterSet& live);

}  // namespace wgrun::check
