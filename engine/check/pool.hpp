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

/// The values of one walk. T: has hash_of(value). One thread uses a pool at a time.
template <class T>
class Pool {
  public:
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool() {
        for (T* const value : values_) std::destroy_at(value);
    }

    const T* nothing() const { return &nothing_; }
    /// Returns the one object of this value. It lives as long as the pool.
    const T* the(const T& value) {
        if (value == nothing_) return &nothing_;
        const std::size_t hash = hash_of(value);
        std::size_t at = hash & (places_.size() - 1);
        for (; places_[at].value != nullptr; at = (at + 1) & (places_.size() - 1))
            if (places_[at].hash == hash && *places_[at].value == value) return places_[at].value;
        T* const made = new (bytes_.allocate(sizeof(T), alignof(T))) T(value);
        values_.push_back(made);
        places_[at] = {hash, made};
        if (2 * values_.size() > places_.size()) grow();
        return made;
    }

  private:
    template <class>
    friend class PooledArray;
    struct Place {
        std::size_t hash = 0;
        const T* value = nullptr;
    };

    void grow() {
        const std::vector<Place> before = std::exchange(places_, std::vector<Place>(4 * places_.size()));
        for (const Place& place : before) {
            if (place.value == nullptr) continue;
            std::size_t at = place.hash & (places_.size() - 1);
            while (places_[at].value != nullptr) at = (at + 1) & (places_.size() - 1);
            places_[at] = place;
        }
    }

    static constexpr std::size_t first_bytes = 1U << 16;
    const T nothing_{};
    std::pmr::monotonic_buffer_resource bytes_{first_bytes};  // no value is ever taken out
    std::vector<T*> values_;
    std::vector<Place> places_{64};  ///< by hash, or the next that is free; at least half of them are
    typename Chunks<const T*>::Memory chunks_{&nothing_};
};

/// Values of a pool, by index. Copies share what they have in common.
template <class T>
class PooledArray {
  public:
    PooledArray() = default;
    /// All are nothing, T().
    PooledArray(std::size_t size, Pool<T>& pool) : pool_(&pool), values_(size, pool.chunks_) {}

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
    void differences(const PooledArray& other, Visit visit) const {
        values_.differences(other.values_,
                            [&](std::size_t i, const T* mine, const T* theirs) { visit(i, *mine, *theirs); });
    }
    /// Where the two differ, and takes_part(i), sets join(mine, theirs). Neighbours are often alike: a join
    /// that has just been made is not made again.
    template <class TakesPart, class Join>
    void meet(const PooledArray& other, TakesPart takes_part, Join join) {
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
    bool operator==(const PooledArray& other) const { return values_ == other.values_; }

  private:
    Pool<T>* pool_ = nullptr;
    Chunks<const T*> values_;
};

}  // namespace wgrun::check
