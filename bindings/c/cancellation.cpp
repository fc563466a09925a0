#include "bindings/c/cancellation.hpp"

#include "bindings/c/failure.hpp"
#include "bindings/c/structs.hpp"

namespace wgrun::c {
namespace {

thread_local std::shared_ptr<Token> in_use;

}  // namespace

TokenInUse::TokenInUse() : token_(in_use) {
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

int wgrun_cancellation_close(wgrun_cancellation* cancellation) {
    return answer([&] { close_handle(Kind::cancellation, cancellation); });
}

}  // extern "C"
