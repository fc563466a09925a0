#include "bindings/c/cancellation.hpp"

#include <chrono>
#include <vector>

#include "bindings/c/failure.hpp"
#include "bindings/c/structs.hpp"

namespace wgrun::c {
namespace {

thread_local std::shared_ptr<Token> in_use;

/// Of the calling thread.
struct Hearing {
    wgrun_progress_function tell = nullptr;
    void* user = nullptr;
};
thread_local Hearing hearing;

void tell(const Hearing& to, const std::vector<Progress::Part>& parts) {
    const auto now = std::chrono::steady_clock::now();
    std::vector<wgrun_progress> out;
    for (const Progress::Part& part : parts)
        out.push_back({part.what.c_str(), part.unit.c_str(), part.done, part.total,
                       std::chrono::duration<double>(now - part.begin).count()});
    to.tell(to.user, out.data(), out.size());
}

}  // namespace

TokenInUse::TokenInUse() : token_(in_use) {
    if (hearing.tell != nullptr)
        watch_.emplace(
            [to = hearing](const std::vector<Progress::Part>& parts) { return c::tell(to, parts); });
    if (token_ == nullptr) return;
    requested_.emplace(&token_->requested);
    if (token_->poll != nullptr)
        asked_.emplace([token = token_.get()] { return token->poll(token->user) != 0; });
}

bool TokenInUse::any() noexcept { return in_use != nullptr; }

}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

int wgrun_cancellation_open(wgrun_poll_function poll, void* user, wgrun_cancellation** cancellation) {
    return answer([&] {
        auto token = std::make_shared<Token>();
        token->poll = poll;
        token->user = user;
        give_handle(&result(cancellation, "cancellation"), std::move(token));
    });
}

int wgrun_cancellation_request(wgrun_cancellation* cancellation) {
    return answer([&] { find<Token>(cancellation)->requested = true; });
}

int wgrun_cancellation_use(wgrun_cancellation* cancellation) {
    return answer([&] { in_use = cancellation == nullptr ? nullptr : find<Token>(cancellation); });
}

int wgrun_progress_use(wgrun_progress_function tell, void* user) {
    return answer([&] { hearing = {tell, user}; });
}

int wgrun_cancellation_close(wgrun_cancellation* cancellation) {
    return answer([&] { close_handle(Kind::cancellation, cancellation); });
}

}  // extern "C"
