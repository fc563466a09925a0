// A Lua state with one script, its results, and its errors.
#pragma once

#include <lua.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bindings/c/engine.hpp"
#include "wgrun.h"
#include "wgrun/diagnostic.hpp"
#include "wgrun/edge_sizes.hpp"
#include "wgrun/kernel.hpp"
#include "wgrun/session.hpp"

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

class Run;

/// A Lua state with one script, which may run in it several times. Used by one thread at a time, in its
/// engine's turn; destroyed by any.
class State : public std::enable_shared_from_this<State> {
  public:
    explicit State(std::shared_ptr<Engine> engine);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    Engine& engine() { return *engine_; }

    /// Runs the script. Throws Failure.
    std::shared_ptr<Run> load(const Source& source);
    /// Runs it once more, with other arguments and with globals as they were before it ran first. Modules
    /// that it has required stay as they are. Throws Failure.
    std::shared_ptr<Run> again(const std::vector<std::string>& arguments);

    /// Runs `body` in a protected call, with `context` for the functions that it calls. Its frames hold no
    /// objects with destructors. Throws Failure for an error that it raises. Where the script's functions are
    /// called, the limits are set anew (lua::set_limits).
    void protect(void (*body)(lua_State* L, void* context), void* context);

  private:
    friend class Run;
    friend class KernelsRun;
    struct Load;
    static int load_main(lua_State* L);
    static bool begin_load(lua_State* L, Load& load);
    static void warn(void* self, const char* message, int to_be_continued);
    void run(Load& load);
    void release(int reference) noexcept;
    void free_released(lua_State* L);

    std::shared_ptr<Engine> engine_;
    std::unique_ptr<lua_State, void (*)(lua_State*)> state_;
    Source source_;
    std::string code_;     ///< the script, compiled, once it has run again
    std::string warning_;  ///< of Lua's, as far as it is there
    bool warns_ = false;
    std::mutex mutex_;           ///< of what follows
    std::vector<int> released_;  ///< registry references of runs that nobody holds any more
    std::size_t since_collected_ = 0;
};

/// What one run of a script has given.
class Run {
  public:
    explicit Run(std::shared_ptr<State> of) : state(std::move(of)) {}
    ~Run() { state->release(reference_); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    Engine& engine() const { return state->engine(); }

    const std::shared_ptr<State> state;
    std::vector<Item> returned, made;
    std::vector<TensorItem> tensors;
    std::vector<Diagnostic> warnings;

    // In a protected call of the state.
    /// Pushes the value of returned[index].
    void push_returned(lua_State* L, std::size_t index) const;
    /// Pushes the first value that the script returned; nil if there was none.
    void push_first(lua_State* L) const;
    /// Pushes a kernel of this run, and makes its list the one of the kernels that the script makes. Raises
    /// if Lua does not keep the kernel.
    void push_kernel(lua_State* L, const Kernel& kernel) const;
    /// Makes its list of kernels that of the kernels that the script makes.
    void make_current(lua_State* L) const;

  private:
    friend class State;
    /// Reads the values from `first` to the top of the stack, and the list of kernels at `kernels`.
    void take_results(lua_State* L, int kernels, int first);

    int reference_ = LUA_NOREF;  ///< { items, kernels, the first value }
};

template <>
inline constexpr Kind kind_of<Run> = Kind::script;

/// While it lives, kernels that the script launches run, on `backend` where the script leaves that open;
/// automatic: as the engine says.
class KernelsRun {
  public:
    explicit KernelsRun(State& state, Backend backend = Backend::automatic);
    ~KernelsRun();
    KernelsRun(const KernelsRun&) = delete;
    KernelsRun& operator=(const KernelsRun&) = delete;

  private:
    State& state_;
    const lua::Mode mode_;
    const Backend backend_;
    const std::uint64_t seed_;
};

/// For each line of a text, the line of the script.
struct SourceMap {
    std::set<std::string> files;
    std::vector<wgrun_place> places;
};

/// A kernel of a run, which it keeps.
struct KernelRef {
    KernelRef(std::shared_ptr<Run> of, Kernel& made);

    Engine& engine() const { return run->engine(); }

    std::shared_ptr<Run> run;
    Kernel* kernel;
    // Strings for C, terminated by NUL.
    std::string file;
    std::vector<std::string> types;  ///< of the parameters
    // The latest ones.
    std::vector<std::byte> cubin{};
    std::string assembler, assembler_version, report_json;
    SourceMap ptx_map{}, cuda_map{};
    std::vector<SizeRange> sizes{};
    std::vector<std::int64_t> edges{};
};

template <>
inline constexpr Kind kind_of<KernelRef> = Kind::kernel;

}  // namespace wgrun::c
