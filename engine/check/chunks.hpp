// A fixed-size array whose chunks are copied on write: the states of a program's registers differ little from
// branch to branch.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace wgrun::check {

template <class T>
class Chunks {
  public:
    explicit Chunks(std::size_t size = 0) : size_(size), chunks_((size + length - 1) / length) {
        const auto empty = std::make_shared<Chunk>();
        for (auto& chunk : chunks_) chunk = empty;
    }

    std::size_t size() const { return size_; }
    const T& operator[](std::size_t i) const { return (*chunks_[i / length])[i % length]; }
    /// Returns the element for writing; its chunk becomes this array's own.
    T& at(std::size_t i) {
        auto& chunk = chunks_[i / length];
        if (chunk.use_count() > 1) chunk = std::make_shared<Chunk>(*chunk);
        return (*chunk)[i % length];
    }

    /// Calls visit(i) for every index at which this array and `other`, of the same size, may differ.
    template <class Visit>
    void differences(const Chunks& other, Visit visit) const {
        for (std::size_t c = 0; c < chunks_.size(); ++c) {
            if (chunks_[c] == other.chunks_[c]) continue;
            for (std::size_t i = c * length; i < size_ && i < (c + 1) * length; ++i) visit(i);
        }
    }

    bool operator==(const Chunks& other) const {
        for (std::size_t c = 0; c < chunks_.size(); ++c)
            if (chunks_[c] != other.chunks_[c] && *chunks_[c] != *other.chunks_[c]) return false;
        return true;
    }

  private:
    static constexpr std::size_t length = 32;
    using Chunk = std::array<T, length>;
    std::size_t size_;
    std::vector<std::shared_ptr<Chunk>> chunks_;
};

}  // namespace wgrun::check
