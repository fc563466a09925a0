// C++ objects that a Lua state owns, whether or not Lua calls their finalizers.
//
// Lua drops a finalizer that it cannot call: there is no memory for the call, too many C calls are active,
// the stack is full. What is made while the state is being closed gets no finalizer at all. So a userdata
// holds a pointer only. The object is on a list of its state, and is destroyed with that if not by its
// finalizer.
#pragma once

#include <lua.hpp>

#include <utility>

namespace wgrun::lua {

struct Owner;

/// A link of a state's list, which it leaves when it is destroyed.
class Owned {
  public:
    Owned() = default;
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    virtual ~Owned();

    /// `key`: the registry key of the metatable of its userdata.
    void join(Owner& owner, const void* key) noexcept;

  private:
    friend struct Owner;
    Owner* owner_ = nullptr;
    const void* key_ = nullptr;
    Owned* previous_ = nullptr;
    Owned* next_ = nullptr;
};

template <class T>
class Holder final : public Owned {
  public:
    template <class Make>
    explicit Holder(Make make) : object(make()) {}

    T object;
};

/// The list of the state. Raises if the state is being closed and the list is gone.
Owner& owner(lua_State* L);

}  // namespace wgrun::lua
