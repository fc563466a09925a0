// A Lua state with one script, its results, and its errors.
#pragma once

#include <lua.hpp>

#include <memory>
#include <string>
#include <vector>

#include "bindings/c/engine.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun::c {

/// A copy of the wgrun_source of the script.
struct Source {
    std::string file;
    std::string text;
    bool has_text = false;
    std::vector<std::string> arguments;
};

/// A kernel or launcher that the script returned.
struct Item {
    std::string name;
    Kernel* kernel = nullptr;  ///< of the state
    bool launches = false;
};

/// A tensor that the script returned.
struct TensorItem {
    std::string name;
    std::shared_ptr<Tensor> tensor;
};

/// Used by one thread at a time, in its engine's turn; destroyed by any.
class State {
  public:
    explicit State(std::shared_ptr<Engine> engine);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    Engine& engine() { return *engine_; }

    /// Runs the script. Throws Failure.
    void load(const Source& source);

    const std::vector<Item>& returned() const { return returned_; }
    const std::vector<Item>& made() const { return made_; }
    const std::vector<TensorItem>& tensors() const { return tensors_; }
    const std::vector<Diagnostic>& warnings() const { return warnings_; }

    /// Runs `body` in a protected call, with `context` for the functions that it calls. Its frames hold no
    /// objects with destructors. Throws Failure for an error that it raises. Where the script's functions are
    /// called, the limits are set anew (lua::set_limits).
    void protect(void (*body)(lua_State* L, void* context), void* context);

    /// Pushes the value of returned()[index]. In a protected call.
    static void push_returned(lua_State* L, std::size_t index);

  private:
    struct Load;
    static int load_main(lua_State* L);
    static void warn(void* self, const char* message, int to_be_continued);

    std::shared_ptr<Engine> engine_;
    std::unique_ptr<lua_State, void (*)(lua_State*)> state_;
    std::vector<Item> returned_, made_;
    std::vector<TensorItem> tensors_;
    std::vector<Diagnostic> warnings_;
    std::string warning_;  ///< of Lua's, as far as it is there
    bool warns_ = false;
};

template <>
inline constexpr Kind kind_of<State> = Kind::script;

/// A kernel of a state, which it keeps.
struct KernelRef {
    KernelRef(std::shared_ptr<State> of, Kernel& made);

    std::shared_ptr<State> state;
    Kernel* kernel;
    // Strings for C, terminated by NUL.
    std::string file;
    std::vector<std::string> types;  ///< of the parameters
    std::vector<std::byte> cubin{};  ///< the latest one
};

template <>
inline constexpr Kind kind_of<KernelRef> = Kind::kernel;

}  // namespace wgrun::c
