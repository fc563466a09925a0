// A fixed-size array whose chunks are copied on write: the states of a program's registers differ little from
// branch to branch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>

namespace wgrun::check {

/// Chunks are in groups, which are copied on write likewise: of a program that is long, since its loops are
/// written out, a copy or a comparison touches one pointer for 256 elements. T: small, as pointers are.
template <class T>
class Chunks {
  private:
    static constexpr std::size_t length = 32, chunks = 8, per_group = length * chunks;
    template <class Part, std::size_t count>
    struct Counted {
        std::array<Part, count> parts;
        std::uint32_t owners;
    };
    using Chunk = Counted<T, length>;
    using Group = Counted<Chunk*, chunks>;

  public:
    /// Where the chunks of several arrays are. It outlives them; one thread uses it at a time.
    class Memory {
      public:
        /// blank: what the elements of a new array are.
        explicit Memory(const T& blank) {
            chunk_.parts.fill(blank);
            chunk_.owners = chunks + 1;
            group_.parts.fill(&chunk_);
            group_.owners = 1;  // the memory owns them too: they are never written
        }
        Memory(const Memory&) = delete;
        Memory& operator=(const Memory&) = delete;

      private:
        friend class Chunks;
        /// What stands in a part that nobody owns: parts are given back where nothing may fail.
        struct Free {
            Free* next;
        };

        Group* blank() {
            ++group_.owners;
            return &group_;
        }
        /// Makes the part the caller's own, which gives up its part in the old one.
        void own(Chunk*& chunk) {
            if (chunk->owners == 1) return;
            Chunk* const copy = made<Chunk>(free_chunks_, chunk->parts);
            --chunk->owners;
            chunk = copy;
        }
        void own(Group*& group) {
            if (group->owners == 1) return;
            Group* const copy = made<Group>(free_groups_, group->parts);
            --group->owners;
            group = copy;
            for (Chunk* chunk : group->parts) ++chunk->owners;
        }
        void release(Group* group) {
            if (--group->owners != 0) return;
            for (Chunk* chunk : group->parts)
                if (--chunk->owners == 0) free_chunks_ = new (chunk) Free{free_chunks_};
            free_groups_ = new (group) Free{free_groups_};
        }
        /// Returns a part with these contents, in memory that has been used before if there is such.
        template <class Part, class Contents>
        Part* made(Free*& free, const Contents& contents) {
            void* const place = free == nullptr ? bytes_.allocate(sizeof(Part), alignof(Part))
                                                : std::exchange(free, free->next);
            return new (place) Part{contents, 1};
        }

        std::pmr::monotonic_buffer_resource bytes_;
        Free *free_chunks_ = nullptr, *free_groups_ = nullptr;
        Chunk chunk_;
        Group group_;
    };

    Chunks() = default;
    /// All elements are the memory's blank.
    Chunks(std::size_t size, Memory& memory)
        : memory_(&memory), size_(size), groups_((size + per_group - 1) / per_group) {
        for (Group*& group : groups_) group = memory.blank();
    }
    Chunks(const Chunks& other) : memory_(other.memory_), size_(other.size_), groups_(other.groups_) {
        for (Group* group : groups_) ++group->owners;
    }
    Chunks(Chunks&& other) noexcept
        : memory_(other.memory_), size_(other.size_), groups_(std::exchange(other.groups_, {})) {}
    Chunks& operator=(Chunks other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(size_, other.size_);
        groups_.swap(other.groups_);
        return *this;
    }
    ~Chunks() {
        for (Group* group : groups_) memory_->release(group);
    }

    std::size_t size() const { return size_; }
    const T& operator[](std::size_t i) const {
        return groups_[i / per_group]->parts[i / length % chunks]->parts[i % length];
    }
    /// Writes the element, unless it has this value: then what is shared stays shared.
    void set(std::size_t i, const T& value) {
        if ((*this)[i] == value) return;
        Group*& group = groups_[i / per_group];
        memory_->own(group);
        Chunk*& chunk = group->parts[i / length % chunks];
        memory_->own(chunk);
        chunk->parts[i % length] = value;
    }
    /// Makes all elements blank.
    void clear() {
        for (Group*& group : groups_) memory_->release(std::exchange(group, memory_->blank()));
    }

    /// Calls visit(i, mine, theirs) for every index at which this array and `other`, of the same size,
    /// differ. It may write to element i of either.
    template <class Visit>
    void differences(const Chunks& other, Visit visit) const {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            for (std::size_t c = 0; c < chunks && groups_[g] != other.groups_[g]; ++c) {
                if (groups_[g]->parts[c] == other.groups_[g]->parts[c]) continue;
                for (std::size_t i = 0; i < length; ++i) {
                    const T mine = groups_[g]->parts[c]->parts[i];
                    const T theirs = other.groups_[g]->parts[c]->parts[i];
                    if (!(mine == theirs)) visit(g * per_group + c * length + i, mine, theirs);
                }
            }
        }
    }

    bool operator==(const Chunks& other) const {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (groups_[g] == other.groups_[g]) continue;
            for (std::size_t c = 0; c < chunks; ++c) {
                const Chunk &mine = *groups_[g]->parts[c], &theirs = *other.groups_[g]->parts[c];
                if (&mine != &theirs && mine.parts != theirs.parts) return false;
            }
        }
        return true;
    }

  private:
    Memory* memory_ = nullptr;
    std::size_t size_ = 0;
    std::vector<Group*> groups_;
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
