// The ring between a process and its worker, with both ends in this process.
#include "gpu/channel.hpp"

#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "gpu/message.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::gpu;
using namespace std::chrono_literals;

namespace {

std::vector<std::byte> bytes(std::size_t size, int first) {
    std::vector<std::byte> out(size);
    for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::byte>(first + static_cast<int>(i));
    return out;
}

}  // namespace

TEST_CASE("channel: messages of any size arrive whole and in order") {
    Channel sender;
    Channel worker(::dup(sender.descriptor()));
    constexpr std::uint32_t count = 20000;
    const auto size_of = [](std::uint32_t i) {
        return i % 97 == 0 ? Channel::largest_message - i % 16 : std::size_t{i * 7919 % 700};
    };
    std::atomic<std::uint32_t> wrong = 0;
    std::thread serving([&] {
        for (std::uint32_t i = 0; i < count; ++i) {
            const Channel::Message message = worker.receive();
            const std::vector<std::byte> expected = bytes(size_of(i), static_cast<int>(i));
            if (message.kind != i || !std::ranges::equal(message.body, expected)) ++wrong;
            worker.done();
        }
    });
    for (std::uint32_t i = 0; i < count; ++i)
        while (!sender.send(i, bytes(size_of(i), static_cast<int>(i)))) std::this_thread::yield();
    serving.join();
    CHECK(wrong == 0);
}

TEST_CASE("channel: answers wake who waits, and a sleeping worker is woken") {
    Channel sender;
    Channel worker(::dup(sender.descriptor()));
    std::thread serving([&] {
        for (int i = 0; i < 100; ++i) {
            const Channel::Message message = worker.receive();
            const std::vector<std::byte> body(message.body.begin(), message.body.end());
            worker.done();
            if (i % 3 == 0) std::this_thread::sleep_for(1ms);
            worker.reply(body);
        }
    });
    for (int i = 0; i < 100; ++i) {
        if (i % 5 == 0) std::this_thread::sleep_for(1ms);  // longer than the worker looks
        const std::uint32_t known = sender.answers();
        const std::vector<std::byte> question = bytes(static_cast<std::size_t>(i), i);
        REQUIRE(sender.send(1, question));
        while (sender.answers() == known) sender.wait_for_answer(known, 1000ms);
        CHECK(std::ranges::equal(sender.answer(), question));
    }
    serving.join();
}

TEST_CASE("channel: a full ring takes no more, and nobody waits for ever") {
    Channel sender;
    const std::vector<std::byte> body = bytes(1000, 0);
    int sent = 0;
    while (sender.send(7, body)) ++sent;
    CHECK(sent > 1000);
    CHECK(sent <= static_cast<int>(Channel::ring_bytes / 1000));
    const auto start = std::chrono::steady_clock::now();
    sender.wait_for_answer(sender.answers(), 20ms);
    CHECK(std::chrono::steady_clock::now() - start < 5s);
    Channel worker(::dup(sender.descriptor()));
    worker.receive();
    worker.done();
    worker.receive();
    worker.done();
    CHECK(sender.send(7, body));
}

TEST_CASE("channel: another file is none") {
    CHECK_THROWS_WITH(Channel(::dup(0)), "this is not a channel of wgrun");
    CHECK_THROWS_AS(Channel(-1), EnvironmentError);
}

TEST_CASE("messages: what is too short or too long is refused") {
    Packer packer;
    packer.put(std::uint16_t{7}).put_text("text");
    Unpacker all(packer.bytes());
    CHECK(all.get<std::uint16_t>() == 7);
    CHECK(all.get_text() == "text");
    CHECK_THROWS_AS(all.get<char>(), EnvironmentError);
    Unpacker text(packer.bytes().first(6));
    CHECK_THROWS_AS(text.take(7), EnvironmentError);
    const std::vector<std::byte> large(Channel::largest_message);
    CHECK_THROWS_AS(packer.append(large.data(), large.size()), ArgumentError);
}
