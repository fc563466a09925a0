// A fixed-size array whose chunks are copied on write: the states of a program's registers differ little from
// branch to branch.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace wgrun::check {

/// Chunks are in groups, which are copied on write likewise: of a program that is long, since its loops are
/// written out, a copy or a comparison touches one pointer for 256 elements.
template <class T>
class Chunks {
  public:
    /// All elements are `value`.
    explicit Chunks(std::size_t size = 0, const T& value = {})
        : size_(size), groups_((size + per_group - 1) / per_group) {
        const auto chunk = std::make_shared<Chunk>();
        chunk->fill(value);
        const auto empty = std::make_shared<Group>();
        empty->fill(chunk);
        for (auto& group : groups_) group = empty;
    }

    std::size_t size() const { return size_; }
    const T& operator[](std::size_t i) const {
        return (*(*groups_[i / per_group])[i / length % chunks])[i % length];
    }
    /// Returns the element for writing; its chunk becomes this array's own.
    T& at(std::size_t i) { return own(own(groups_[i / per_group])[i / length % chunks])[i % length]; }

    /// Writes the element, unless it has this value: then what is shared stays shared.
    void set(std::size_t i, const T& value) {
        if (!((*this)[i] == value)) at(i) = value;
    }

    /// Calls visit(i, mine, theirs) for every index at which this array and `other`, of the same size,
    /// differ. It may write to element i of either: a chunk that is copied for that stays alive in another
    /// array.
    template <class Visit>
    void differences(const Chunks& other, Visit visit) const {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (groups_[g] == other.groups_[g]) continue;
            for (std::size_t c = 0; c < chunks; ++c) {
                const Chunk &mine = *(*groups_[g])[c], &theirs = *(*other.groups_[g])[c];
                if (&mine == &theirs) continue;
                for (std::size_t i = 0; i < length; ++i)
                    if (!(mine[i] == theirs[i])) visit(g * per_group + c * length + i, mine[i], theirs[i]);
            }
        }
    }

    bool operator==(const Chunks& other) const {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (groups_[g] == other.groups_[g]) continue;
            for (std::size_t c = 0; c < chunks; ++c) {
                const auto &mine = (*groups_[g])[c], &theirs = (*other.groups_[g])[c];
                if (mine != theirs && *mine != *theirs) return false;
            }
        }
        return true;
    }

  private:
    static constexpr std::size_t length = 16, chunks = 16, per_group = length * chunks;
    using Chunk = std::array<T, length>;
    using Group = std::array<std::shared_ptr<Chunk>, chunks>;

    template <class Part>
    static Part& own(std::shared_ptr<Part>& part) {
        if (part.use_count() > 1) part = std::make_shared<Part>(*part);
        return *part;
    }

    std::size_t size_;
    std::vector<std::shared_ptr<Group>> groups_;
};

/// A value that is copied on write likewise.
template <class T>
class Shared {
  public:
    const T& operator*() const { return value_ != nullptr ? *value_ : nothing(); }
    const T* operator->() const { return &**this; }
    /// Returns the value for writing; it becomes this object's own.
    T& own() {
        if (value_ == nullptr)
            value_ = std::make_shared<T>();
        else if (value_.use_count() > 1)
            value_ = std::make_shared<T>(*value_);
        return *value_;
    }
    bool operator==(const Shared& other) const { return value_ == other.value_ || **this == *other; }

  private:
    static const T& nothing() {
        static const T none{};
        return none;
    }
    std::shared_ptr<T> value_;
};

}  // namespace wgrun::check
