// Kernels with mbarriers and bulk copies for the simulator's tests, and the tensors that they copy.
#pragma once

#include <cstring>
#include <numeric>

#include "script.hpp"

namespace wgrun::sim {

/// A tensor in global memory, and the box that a tensor map cuts it into. Dimension 0 is contiguous.
struct Mapped {
    std::vector<std::byte> data;
    std::vector<std::int64_t> extents, strides;
    TensorBox box;
    std::uint64_t address = 0;

    template <class T>
    T at(std::int64_t offset) const {
        T out;
        std::memcpy(&out, data.data() + offset, sizeof(T));
        return out;
    }
};

inline Mapped mapped(std::vector<std::int64_t> extents, TensorBox box) {
    Mapped out;
    std::int64_t bytes = bits(box.dtype) / 8;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        bytes *= extents[d];
        if (d + 1 < extents.size()) out.strides.push_back(bytes);
    }
    out.data.resize(static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < out.data.size(); ++i) out.data[i] = std::byte(i * 7 + i / 251);
    out.extents = std::move(extents);
    out.box = std::move(box);
    return out;
}

/// A kernel with tensor maps and output. One thread, `first`, executes what is done once.
class AsyncScript : public Script {
  public:
    explicit AsyncScript(int threads = 128, Dim3 cluster = {}) : Script(threads) {
        builder = Builder("k", threads, cluster, line(1));
        thread = tid();
        first = (*this)(1, "setp_eq_u32", {thread, 0});
    }
    /// Returns the address of a new tensor map parameter.
    Reg map(const Mapped& tensor) {
        const int param = builder.tensor_map("map" + std::to_string(maps.size()), tensor.box, false);
        maps.push_back(&tensor);
        return (*this)(1, "cvta_param_u64", {Operand::param(param)});
    }
    int mbarriers(const char* name, int count) { return builder.shared(name, 8 * count, 8, std::nullopt); }
    Reg in(int buffer, std::int64_t offset = 0) {
        return (*this)(1, "mov_u32", {Operand::shared(buffer, offset)});
    }
    /// Initialises at line `number`, with the fence on the next line and bar.sync on the one after it.
    void init(int number, int buffer, std::initializer_list<int> counts) {
        std::int64_t offset = 0;
        for (int count : counts) {
            step(number, "mbarrier_init", {in_buffer(buffer, offset), count}, {first});
            offset += 8;
        }
        step(number + 1, "fence_mbarrier_init", {}, {first});
        step(number + 2, "bar_sync", {0});
    }
    /// Waits in a loop of one line.
    void wait(int number, Arg mbarrier, Arg parity) {
        builder.at(line(number));
        builder.begin_loop();
        const Reg done =
            (*this)(number, "mbarrier_try_wait_parity", {std::move(mbarrier), std::move(parity)});
        builder.loop_condition((*this)(number, "not_pred", {done}));
        builder.end_loop();
    }
    /// Loads the box at the coordinates, for the mbarrier.
    void load(int number, Arg to, Reg map, std::vector<int> place, Arg mbarrier, Guard guard) {
        step(number, "cp_async_bulk_tensor_" + std::to_string(place.size()) + "d",
             {std::move(to), map, coordinates(place), std::move(mbarrier)}, guard);
    }
    void store(int number, Reg map, std::vector<int> place, Arg from, Guard guard) {
        step(number, "cp_async_bulk_tensor_store_" + std::to_string(place.size()) + "d",
             {map, coordinates(place), std::move(from)}, guard);
    }
    Arg coordinates(const std::vector<int>& place) {
        std::vector<Reg> regs;
        for (int x : place) {
            regs.push_back(builder.reg(isa::Type::s32));
            (*this)(1, "mov_s32", {regs.back(), x});
        }
        return regs;
    }

    Reg thread, first;
    std::vector<const Mapped*> maps;
};

/// Runs a kernel whose parameters are the tensor maps of `tensors`.
inline Outcome run_mapped(const Program& program, std::vector<Mapped*> tensors, std::uint64_t seed,
                          Dim3 grid = {}, bool detect_races = true) {
    std::vector<std::uint64_t> params;
    std::vector<GlobalBuffer> buffers;
    std::vector<TensorMap> maps;
    std::uint64_t next = 1 << 20;
    for (Mapped* tensor : tensors) {
        buffers.push_back({tensor->data.data(), static_cast<std::int64_t>(tensor->data.size()), next});
        maps.push_back({next + 8, next, tensor->extents, tensor->strides, &tensor->box});
        params.push_back(next + 8);
        next += (tensor->data.size() / 4096 + 2) * 4096;
    }
    SimulatedLaunch launch;
    launch.grid = grid;
    launch.params = params;
    launch.buffers = buffers;
    launch.tensor_maps = maps;
    launch.seed = seed;
    launch.detect_races = detect_races;
    return run_both(program, launch);
}

inline std::string text_of(const Outcome& outcome) {
    std::string text;
    for (const Diagnostic& finding : outcome.findings) text += to_text(finding) + '\n';
    return text;
}

/// Expects that every schedule finds `want` and nothing else. Returns the findings of the last.
inline Outcome expect_mapped(const Program& program, std::vector<Mapped*> tensors, const Found& want,
                             Dim3 grid = {}) {
    Outcome outcome;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        outcome = run_mapped(program, tensors, seed, grid);
        INFO("seed " << seed << '\n' << text_of(outcome));
        CHECK(found(outcome) == want);
    }
    return outcome;
}

/// Expects that every schedule finds one of `some`, and nothing that is not in `some` or `also`.
inline void expect_some(const Program& program, std::vector<Mapped*> tensors, const Found& some,
                        const Found& also = {}, Dim3 grid = {}) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const Outcome outcome = run_mapped(program, tensors, seed, grid);
        INFO("seed " << seed << '\n' << text_of(outcome));
        bool any = false;
        for (const auto& finding : found(outcome)) {
            any |= some.count(finding) == 1;
            CHECK((some.count(finding) == 1 || also.count(finding) == 1));
        }
        CHECK(any);
    }
}

/// Returns the first finding of the rule, under the first seed that has it.
inline Diagnostic finding_of(const Program& program, std::vector<Mapped*> tensors, const std::string& rule,
                             Dim3 grid = {}) {
    for (std::uint64_t seed = 0; seed < 24; ++seed)
        for (const Diagnostic& finding : run_mapped(program, tensors, seed, grid).findings)
            if (finding.rule == rule) return finding;
    return {};
}

}  // namespace wgrun::sim
