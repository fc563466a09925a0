#include "gpu/cache.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "gpu/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/unit/gpu/support.hpp"

using namespace wgrun::gpu;
using test::Environment;
namespace fs = std::filesystem;

namespace {

Cache::Entry entry(const std::string& log, std::size_t bytes, int value = 7) {
    return {log, std::vector<std::byte>(bytes, static_cast<std::byte>(value))};
}

std::string key(int number) { return Cache::key({"test", std::to_string(number)}); }

std::size_t file_count(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("SHA-256 gives the standard's digests") {
    // FIPS 180-4's examples, and lengths around the padding's limits (checked with sha256sum).
    CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256(std::string(55, 'a')) == "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    CHECK(sha256(std::string(56, 'a')) == "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    CHECK(sha256(std::string(64, 'a')) == "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    CHECK(sha256(std::string(1000000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("cache keys tell their parts apart") {
    CHECK(Cache::key({"ab", "c"}) != Cache::key({"a", "bc"}));
    CHECK(Cache::key({"a", ""}) != Cache::key({"a"}));
    CHECK(Cache::key({"a", "b"}) == Cache::key({"a", "b"}));
    CHECK(Cache::key({"x"}).size() == 64);
}

TEST_CASE("what is stored is found, in a folder that did not exist") {
    const TemporaryFolder folder;
    const Cache cache(folder.path() / "a" / "b");
    CHECK_FALSE(cache.find(key(1)));
    cache.store(key(1), entry("a log\nof two lines", 1000));
    const auto found = cache.find(key(1));
    REQUIRE(found);
    CHECK(found->log == "a log\nof two lines");
    CHECK(found->image == std::vector<std::byte>(1000, std::byte{7}));
    CHECK_FALSE(cache.find(key(2)));
    cache.store(key(2), {});
    REQUIRE(cache.find(key(2)));
    CHECK(cache.find(key(2))->image.empty());
    const CacheInfo info = cache.info();
    CHECK(info.entries == 2);
    CHECK(info.bytes > 1000);
    CHECK(info.missing.empty());
    CHECK(file_count(folder.path() / "a" / "b") == 2);  // no temporary file is left
}

TEST_CASE("a damaged entry is a miss and goes away") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    const std::string good = [&] {
        cache.store(key(1), entry("log", 300));
        std::ifstream file(folder.path() / key(1), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    const auto with = [&](const std::string& content) {
        std::ofstream(folder.path() / key(1), std::ios::binary) << content;
        return cache.find(key(1)).has_value();
    };
    CHECK(with(good));
    for (std::size_t length = 0; length < good.size(); length += 13)
        CHECK_FALSE(with(good.substr(0, length)));
    for (std::size_t at = 0; at < good.size(); at += 11) {
        std::string flipped = good;
        flipped[at] = static_cast<char>(flipped[at] ^ 1);
        CHECK_FALSE(with(flipped));
    }
    CHECK_FALSE(with("wgrun-cache-1 abc 99999999999999999999\n"));
    CHECK_FALSE(fs::exists(folder.path() / key(1)));
}

TEST_CASE("the entries used longest ago are evicted") {
    const TemporaryFolder folder;
    const Cache cache(folder.path(), 10000);
    const auto now = fs::file_time_type::clock::now();
    for (int i = 0; i < 9; ++i) {
        cache.store(key(i), entry("", 1000));
        fs::last_write_time(folder.path() / key(i), now - std::chrono::minutes(100 - i));
    }
    REQUIRE(cache.find(key(0)));  // now the youngest
    cache.store(key(100), entry("", 1000));
    CHECK(cache.info().bytes <= 10000);
    CHECK(cache.find(key(0)));
    CHECK(cache.find(key(100)));
    CHECK_FALSE(cache.find(key(1)));
    CHECK(cache.find(key(8)));
    cache.store(key(200), entry("", 20000));  // larger than the whole cache
    CHECK_FALSE(cache.find(key(200)));
    CHECK(cache.find(key(0)));
}

TEST_CASE("temporary files of writers that died are removed, those of living ones are not") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    const fs::path dead = folder.path() / "dead.tmp";
    const fs::path alive = folder.path() / "alive.tmp";
    std::ofstream(dead) << "x";
    std::ofstream(alive) << "x";
    fs::last_write_time(dead, fs::file_time_type::clock::now() - std::chrono::hours(2));
    cache.store(key(1), entry("", 1));
    CHECK_FALSE(fs::exists(dead));
    CHECK(fs::exists(alive));
    CHECK(cache.info().entries == 1);
}

TEST_CASE("many writers and readers at once, in threads and processes") {
    const TemporaryFolder folder;
    const auto work = [&](int seed) {
        const Cache cache(folder.path(), 60000);  // small enough that they evict each other's entries
        bool good = true;
        for (int i = 0; i < 60; ++i) {
            const int which = (i + seed) % 20;
            const std::string log = std::to_string(which);
            cache.store(key(which), entry(log, 4000, which));
            if (const auto found = cache.find(key((i * 7 + seed) % 20)))
                good = good && found->image == entry("", 4000, std::stoi(found->log)).image;
        }
        return good;
    };
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work(100) ? 0 : 1);
    std::vector<std::thread> threads;
    std::atomic<int> failures = 0;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            if (!work(t)) ++failures;
        });
    for (std::thread& thread : threads) thread.join();
    int status = 1;
    ::waitpid(child, &status, 0);
    CHECK(failures == 0);
    CHECK(status == 0);
    for (const auto& file : fs::directory_iterator(folder.path())) CHECK(file.path().extension() != ".tmp");
    CHECK(Cache(folder.path()).info().bytes <= 60000);
}

TEST_CASE("a folder that cannot be written is no error") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "file";
    std::ofstream(file) << "in the way";
    const Cache blocked(file / "below");
    blocked.store(key(1), entry("log", 10));
    CHECK_FALSE(blocked.find(key(1)));
    CHECK_THAT(blocked.info().missing, ContainsSubstring("cannot be written"));
    const Cache in_proc("/proc/wgrun");
    in_proc.store(key(1), entry("log", 10));
    CHECK_FALSE(in_proc.find(key(1)));
}

TEST_CASE("the environment says where the cache is") {
    const Environment none("WGRUN_CACHE", nullptr);
    const Environment home("HOME", "/home/someone");
    {
        const Environment xdg("XDG_CACHE_HOME", "/var/cache/me");
        CHECK(Cache::standard().info().folder == "/var/cache/me/wgrun");
        const Environment own("WGRUN_CACHE", "/elsewhere");
        CHECK(Cache::standard().info().folder == "/elsewhere");
    }
    {
        const Environment relative("XDG_CACHE_HOME", "not/absolute");
        CHECK(Cache::standard().info().folder == "/home/someone/.cache/wgrun");
    }
    const Environment xdg("XDG_CACHE_HOME", nullptr);
    CHECK(Cache::standard().info().folder == "/home/someone/.cache/wgrun");
    for (const char* value : {"", "off"}) {
        const Environment off("WGRUN_CACHE", value);
        const Cache cache = Cache::standard();
        cache.store(key(1), entry("log", 10));
        CHECK_FALSE(cache.find(key(1)));
        CHECK(cache.info().missing == std::string("switched off by WGRUN_CACHE=") + value);
    }
    const Environment homeless("HOME", nullptr);
    CHECK(Cache::standard().info().missing == "neither XDG_CACHE_HOME nor HOME names a folder");
}
