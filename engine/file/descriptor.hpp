// A file descriptor that is closed at the end of its scope.
#pragma once

#include <unistd.h>

#include <utility>

namespace wgrun::file {

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int value) : value_(value) {}
    Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            close();
            value_ = std::exchange(other.value_, -1);
        }
        return *this;
    }
    ~Descriptor() { close(); }

    int get() const { return value_; }
    explicit operator bool() const { return value_ >= 0; }

    /// Releases ownership: the caller closes it.
    int release() { return std::exchange(value_, -1); }

    /// Closes it now. False, with errno set, if written data could not be stored.
    bool close() {
        const int value = std::exchange(value_, -1);
        return value < 0 || ::close(value) == 0;
    }

  private:
    int value_ = -1;
};

}  // namespace wgrun::file
