// Values of which equal ones are one object, so that its address stands for it, and arrays of such values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>

#include "check/chunks.hpp"

namespace wgrun::check {

/// A hash of several numbers.
class Hash {
  public:
    Hash& with(std::uint64_t number) {
        value_ = (value_ ^ number) * 0x9E3779B97F4A7C15U;
        value_ ^= value_ >> 32;
        return *this;
    }
    Hash& with(const void* place) { return with(reinterpret_cast<std::uintptr_t>(place)); }
    std::size_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0;
};

/// The values of one analysis. T: has hash_of(value). One thread uses a pool at a time.
template <class T>
class Interned {
  public:
    Interned() = default;
    Interned(const Interned&) = delete;
    Interned& operator=(const Interned&) = delete;
    ~Interned() {
        for (std::uint32_t i = 0; i < count_; ++i) std::destroy_at(at(i));
    }

    const T* nothing() const { return &nothing_; }
    /// Returns the one object of this value. It lives as long as the pool.
    const T* the(const T& value) {
        if (value == nothing_) return &nothing_;
        const auto hash = static_cast<std::uint32_t>(hash_of(value));
        Place* place = first_place(hash);
        for (; place->number != none; place = next(place))
            if (place->hash == hash && *at(place->number) == value) return at(place->number);
        if (count_ % per_row == 0)
            rows_.push_back(static_cast<T*>(bytes_.allocate(per_row * sizeof(T), alignof(T))));
        T* const made = new (rows_.back() + count_ % per_row) T(value);
        *place = {hash, count_++};
        if (2 * std::size_t{count_} > places_.size()) grow();
        return made;
    }

  private:
    template <class>
    friend class InternedArray;
    static constexpr std::uint32_t none = UINT32_MAX, per_row = 128;
    struct Place {
        std::uint32_t hash = 0, number = none;
    };

    T* at(std::uint32_t number) const { return rows_[number / per_row] + number % per_row; }
    Place* first_place(std::uint32_t hash) { return &places_[hash & (places_.size() - 1)]; }
    Place* next(Place* place) { return place == &places_.back() ? places_.data() : place + 1; }
    void grow() {
        const std::vector<Place> before = std::exchange(places_, std::vector<Place>(2 * places_.size()));
        for (const Place& old : before) {
            if (old.number == none) continue;
            Place* place = first_place(old.hash);
            while (place->number != none) place = next(place);
            *place = old;
        }
    }

    static constexpr std::size_t first_bytes = 1U << 14;
    const T nothing_{};
    std::pmr::monotonic_buffer_resource bytes_{first_bytes};  // no value is ever taken out
    std::vector<T*> rows_;                                    ///< of per_row values each
    std::uint32_t count_ = 0;
    std::vector<Place> places_{64};  ///< by hash, or the next that is free; at least half of them are
    typename Chunks<const T*>::Memory chunks_{&nothing_};
};

/// Values of a pool, by index. Copies share what they have in common.
template <class T>
class InternedArray {
  public:
    InternedArray() = default;
    /// All are nothing, T().
    InternedArray(std::size_t size, Interned<T>& pool) : pool_(&pool), values_(size, pool.chunks_) {}

    std::size_t size() const { return values_.size(); }
    const T& operator[](std::size_t i) const { return *values_[i]; }
    void set(std::size_t i, const T& value) { values_.set(i, pool_->the(value)); }
    /// `value`: of the same pool.
    void set(std::size_t i, const T* value) { values_.set(i, value); }
    /// Sets what a copy of the value becomes by change(copy).
    template <class Change>
    void change(std::size_t i, Change change) {
        T value = (*this)[i];
        change(value);
        set(i, value);
    }
    /// Sets all these, each what a copy of it becomes by change(copy). Neighbours are often alike: a change
    /// that has just been made is not made again.
    template <class Indices, class Change>
    void change_all(const Indices& indices, Change change) {
        const T *before = nullptr, *after = nullptr;
        for (const auto i : indices) {
            const T* const now = values_[static_cast<std::size_t>(i)];
            if (now != before) {
                T value = *now;
                change(value);
                after = pool_->the(value);
                before = now;
            }
            values_.set(static_cast<std::size_t>(i), after);
        }
    }
    /// Makes all of them nothing.
    void clear() { values_.clear(); }

    /// Calls visit(i, mine, theirs) for every value in which the two differ. It may set value i of either.
    template <class Visit>
    void differences(const InternedArray& other, Visit visit) const {
        values_.differences(other.values_,
                            [&](std::size_t i, const T* mine, const T* theirs) { visit(i, *mine, *theirs); });
    }
    /// Where the two differ, and takes_part(i), sets join(mine, theirs). Neighbours are often alike: a join
    /// that has just been made is not made again.
    template <class TakesPart, class Join>
    void meet(const InternedArray& other, TakesPart takes_part, Join join) {
        const T *left = nullptr, *right = nullptr, *joined = nullptr;
        values_.differences(other.values_, [&](std::size_t i, const T* mine, const T* theirs) {
            if (!takes_part(i)) return;
            if (mine != left || theirs != right) joined = pool_->the(join(*mine, *theirs));
            left = mine;
            right = theirs;
            values_.set(i, joined);
        });
    }
    /// Sets value i to join(it, other) if it is another. `other`: of the same pool.
    template <class Join>
    void meet(std::size_t i, const T* other, Join join) {
        if (const T* const mine = values_[i]; mine != other) values_.set(i, pool_->the(join(*mine, *other)));
    }
    bool operator==(const InternedArray& other) const { return values_ == other.values_; }

  private:
    Interned<T>* pool_ = nullptr;
    Chunks<const T*> values_;
};

}  // namespace wgrun::check
