#include "gpu/cache.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <random>
#include <thread>

#include "file/replacement.hpp"
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

fs::path entry_path(const TemporaryFolder& folder, int number) {
    return folder.path() / cache_format / (key(number) + ".entry");
}

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
    CHECK(file_count(folder.path() / "a" / "b" / cache_format) == 3);  // with the tag, and no temporary
    CHECK(file_count(folder.path() / "a" / "b") == 1);
}

TEST_CASE("a damaged entry is a miss and goes away") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    const std::string good = [&] {
        cache.store(key(1), entry("log", 300));
        std::ifstream file(entry_path(folder, 1), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    const auto with = [&](const std::string& content) {
        std::ofstream(entry_path(folder, 1), std::ios::binary) << content;
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
    CHECK_FALSE(with("wgrun-cache-v1 abc 99999999999999999999\n"));
    CHECK_FALSE(fs::exists(entry_path(folder, 1)));
}

TEST_CASE("the entries used longest ago are evicted") {
    const TemporaryFolder folder;
    const Cache cache(folder.path(), 10000);
    const auto now = fs::file_time_type::clock::now();
    for (int i = 0; i < 9; ++i) {
        cache.store(key(i), entry("", 1000));
        fs::last_write_time(entry_path(folder, i), now - std::chrono::minutes(100 - i));
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

TEST_CASE("an entry copied to another key is not believed") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    cache.store(key(1), entry("log", 300));
    fs::copy_file(entry_path(folder, 1), entry_path(folder, 2));
    CHECK_FALSE(cache.find(key(2)));
    CHECK_FALSE(fs::exists(entry_path(folder, 2)));
    CHECK(cache.find(key(1)));
}

TEST_CASE("what is not the cache's own is never touched") {
    const TemporaryFolder folder;
    const auto make = [&](const fs::path& path) { std::ofstream(path) << std::string(50000, 'x'); };
    fs::create_directories(folder.path() / cache_format);
    make(folder.path() / "thesis.tex");
    make(folder.path() / "old.tmp");
    make(folder.path() / key(7));
    make(folder.path() / (key(8) + ".entry"));
    make(folder.path() / cache_format / "notes");
    make(folder.path() / cache_format / "old.tmp");
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1000);
    for (const auto& file : fs::recursive_directory_iterator(folder.path()))
        if (file.is_regular_file()) fs::last_write_time(file.path(), long_ago);
    const Cache cache(folder.path(), 10000);
    for (int i = 0; i < 30; ++i) cache.store(key(i), entry("", 1000));
    CHECK(cache.info().bytes <= 10000);
    CHECK(cache.verify().faults.empty());
    CHECK(cache.clear().entries > 0);
    CHECK(file_count(folder.path()) == 5);
    CHECK(file_count(folder.path() / cache_format) == 3);  // and the tag
}

TEST_CASE("entries and their folder are the user's alone, whatever the umask") {
    const TemporaryFolder folder;
    const Cache cache(folder.path() / "made" / "here");
    const auto mode = [](const fs::path& path) {
        struct stat status {};
        return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
    };
    for (const mode_t mask : {0U, 077U, 0377U}) {
        const mode_t old = ::umask(mask);
        cache.store(key(1), entry("log", 10));
        ::umask(old);
        const fs::path base = folder.path() / "made" / "here";
        CHECK(mode(base / cache_format) == 0700);
        CHECK(mode(base / cache_format / (key(1) + ".entry")) == 0600);
        if (mask != 0377) CHECK((mode(base) & 022U) == 0);
        REQUIRE(cache.find(key(1)));
        fs::remove_all(folder.path() / "made");
        if (mask == 077) break;  // with 0377 nobody but root gets further
    }
}

TEST_CASE("nothing is loaded that another user could have planted") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    const fs::path own = folder.path() / cache_format;
    const fs::path path = entry_path(folder, 1);
    const auto again = [&] {
        ::chmod(own.c_str(), 0700);
        fs::remove(path);
        cache.store(key(1), entry("log", 10));
        REQUIRE(fs::exists(path));
    };
    again();
    ::chmod(path.c_str(), 0666);
    CHECK_FALSE(cache.find(key(1)));
    CHECK_FALSE(fs::exists(path));

    again();
    fs::rename(path, folder.path() / "elsewhere");
    fs::create_symlink(folder.path() / "elsewhere", path);
    CHECK_FALSE(cache.find(key(1)));
    CHECK(fs::exists(folder.path() / "elsewhere"));

    again();
    fs::remove(path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    CHECK_FALSE(cache.find(key(1)));  // and does not wait for a writer

    again();
    ::chmod(own.c_str(), 0770);
    CHECK_FALSE(cache.find(key(1)));
    CHECK_THAT(cache.info().missing, ContainsSubstring("others may write to it (mode 0770)"));
    ::chmod(own.c_str(), 0755);
    CHECK(cache.find(key(1)));

    if (::geteuid() == 0) {
        again();
        REQUIRE(::chown(path.c_str(), 12345, 12345) == 0);
        CHECK_FALSE(cache.find(key(1)));
        again();
        REQUIRE(::chown(own.c_str(), 12345, 12345) == 0);
        CHECK_FALSE(cache.find(key(1)));
        REQUIRE(::chown(own.c_str(), 0, 0) == 0);
    }
    fs::rename(own, folder.path() / "moved");
    fs::create_directory_symlink(folder.path() / "moved", own);
    CHECK_FALSE(cache.find(key(1)));
    CHECK_THAT(cache.info().missing, ContainsSubstring("it is not a folder"));
    cache.store(key(5), entry("log", 10));
    CHECK_FALSE(fs::exists(folder.path() / "moved" / (key(5) + ".entry")));
}

TEST_CASE("an entry of the future does not stay for ever") {
    const TemporaryFolder folder;
    const Cache cache(folder.path(), 10000);
    cache.store(key(0), entry("", 1000));
    fs::last_write_time(entry_path(folder, 0), fs::file_time_type::clock::now() + std::chrono::hours(100000));
    for (int i = 1; i < 20; ++i) cache.store(key(i), entry("", 1000));
    CHECK_FALSE(fs::exists(entry_path(folder, 0)));
    CHECK(cache.find(key(19)));
}

TEST_CASE("verify and clear") {
    const TemporaryFolder folder;
    const Cache cache(folder.path());
    CHECK(cache.verify().good == 0);
    CHECK(cache.clear().problem.empty());
    for (int i = 0; i < 5; ++i) cache.store(key(i), entry("", 1000));
    std::ofstream(entry_path(folder, 1), std::ios::app) << "x";
    ::chmod(entry_path(folder, 2).c_str(), 0622);
    const CacheVerified verified = cache.verify();
    CHECK(verified.good == 3);
    REQUIRE(verified.faults.size() == 2);
    CHECK(cache.info().entries == 3);
    CHECK(cache.verify().faults.empty());
    const CacheCleared cleared = cache.clear();
    CHECK(cleared.entries == 3);
    CHECK(cleared.bytes > 3000);
    CHECK(cache.info().entries == 0);
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

TEST_CASE("ten processes at once, killed at any moment") {
    const TemporaryFolder folder;
    // Every entry says what it holds: of what key, and bytes that follow from it.
    const auto image_of = [](int which, unsigned version) {
        std::vector<std::byte> image(2000 + static_cast<std::size_t>(which) * 3000);
        for (std::size_t i = 0; i < image.size(); ++i)
            image[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(which) * 7 + version);
        return image;
    };
    const auto believed = [&](int which, const Cache::Entry& found) {
        int of = -1;
        unsigned version = 0;
        return std::sscanf(found.log.c_str(), "%d %u", &of, &version) == 2 && of == which &&
               found.image == image_of(which, version);
    };
    constexpr int keys = 12;
    const auto worker = [&](unsigned seed) {
        std::mt19937 random(seed);
        const Cache cache(folder.path(), 200000);
        for (;;) {
            const int which = static_cast<int>(random() % keys);
            if (random() % 2 == 0) {
                const unsigned version = random() % 1000;
                cache.store(key(which), {std::to_string(which) + " " + std::to_string(version),
                                         image_of(which, version)});
            } else if (const auto found = cache.find(key(which)); found && !believed(which, *found)) {
                ::_exit(9);
            }
        }
    };
    std::mt19937 random(20261122);
    std::vector<pid_t> running(10, 0);
    unsigned seed = 0, killed = 0, wrong = 0;
    const auto start = [&](pid_t& slot) {
        ++seed;
        slot = ::fork();
        if (slot == 0) worker(seed);
    };
    for (pid_t& slot : running) start(slot);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
    const auto reap = [&](pid_t child) {
        int status = 0;
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
        killed += WIFSIGNALED(status) ? 1 : 0;
        wrong += WIFEXITED(status) ? 1 : 0;
    };
    while (std::chrono::steady_clock::now() < end) {
        ::usleep(random() % 20000);
        pid_t& slot = running[random() % running.size()];
        reap(slot);
        start(slot);
    }
    for (const pid_t child : running) reap(child);
    CHECK(wrong == 0);
    CHECK(killed > 20);
    const Cache cache(folder.path(), 200000);
    cache.store(key(1000), entry("", 10));  // clears what the killed have left
    for (const auto& file : fs::directory_iterator(folder.path() / cache_format)) {
        INFO(file.path());
        CHECK_FALSE(wgrun::file::is_temporary(file.path().filename().string()));
    }
    const CacheVerified verified = cache.verify();
    CHECK(verified.faults.empty());
    CHECK(verified.good > 0);
    for (int which = 0; which < keys; ++which)
        if (const auto found = cache.find(key(which))) CHECK(believed(which, *found));
    CHECK(cache.info().bytes <= 200000 + 10 * 200000 / 16 + 40000);
    std::cout << "killed " << killed << " of " << seed << " processes\n";
}

TEST_CASE("a folder that cannot be written is no error") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "file";
    std::ofstream(file) << "in the way";
    const Cache blocked(file / "below");
    blocked.store(key(1), entry("log", 10));
    CHECK_FALSE(blocked.find(key(1)));
    CHECK_THAT(take_cache_problem(), ContainsSubstring("cannot be used: Not a directory"));
    blocked.store(key(1), entry("log", 10));
    CHECK(take_cache_problem().empty());  // once
    CHECK_THAT(blocked.info().missing, ContainsSubstring("cannot be used: Not a directory"));
    const Cache in_proc("/proc/wgrun");
    in_proc.store(key(1), entry("log", 10));
    CHECK_FALSE(in_proc.find(key(1)));
}

TEST_CASE("the environment says where the cache is") {
    const Environment none("WGRUN_CACHE", nullptr);
    const Environment home("HOME", "/home/someone");
    {
        const Environment xdg("XDG_CACHE_HOME", "/var/cache/me");
        CHECK(Cache::standard().info().folder == "/var/cache/me/wgrun/wgrun-cache-v1");
        const Environment own("WGRUN_CACHE", "/elsewhere");
        CHECK(Cache::standard().info().folder == "/elsewhere/wgrun-cache-v1");
    }
    {
        const Environment relative("XDG_CACHE_HOME", "not/absolute");
        CHECK(Cache::standard().info().folder == "/home/someone/.cache/wgrun/wgrun-cache-v1");
    }
    const Environment xdg("XDG_CACHE_HOME", nullptr);
    CHECK(Cache::standard().info().folder == "/home/someone/.cache/wgrun/wgrun-cache-v1");
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
