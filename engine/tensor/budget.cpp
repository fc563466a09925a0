// The memory limit of a group of tensors.
#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor_budget.hpp"

namespace wgrun {

struct TensorBudget::State {
    std::atomic<std::uint64_t> limit;
    std::atomic<std::uint64_t> used{0};
};

namespace {

thread_local std::shared_ptr<void> current;  // a TensorBudget::State

}  // namespace

TensorBudget::TensorBudget(std::uint64_t bytes) : state_(new State{bytes}) {}

std::uint64_t TensorBudget::used() const { return state_->used.load(); }

void TensorBudget::set_limit(std::uint64_t bytes) { state_->limit = bytes; }

TensorBudget::Scope::Scope(TensorBudget budget) : before_(std::exchange(current, std::move(budget.state_))) {}
TensorBudget::Scope::~Scope() { current = std::move(before_); }

std::shared_ptr<void> TensorBudget::charge(const Tensor& tensor) {
    if (current == nullptr) return nullptr;
    const auto state = std::static_pointer_cast<State>(current);
    const std::uint64_t bytes = tensor.size_bytes();
    const std::uint64_t before = state->used.fetch_add(bytes);
    std::shared_ptr<void> charged(nullptr, [state, bytes](void*) { state->used -= bytes; });
    const std::uint64_t limit = state->limit;
    if (before > limit || bytes > limit - before) {
        EnvironmentError error(
            "ELIMIT",
            fmt::format("{}: tensors may use {:.0f} MiB, of which {:.0f} MiB are in use", to_string(tensor),
                        static_cast<double>(limit) / 0x1p20, static_cast<double>(before) / 0x1p20),
            "close tensors that are no longer needed (t:close()), or raise the limit (--max-tensors)");
        error.finding().facts = {{"limit", "tensors"}};
        throw error;
    }
    return charged;
}

}  // namespace wgrun
