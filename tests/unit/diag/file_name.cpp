// Names of files are shared, and freed with the last place that has them.
#include "wgrun/file_name.hpp"

#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

TEST_CASE("file names: equal ones are one object") {
    const Where a = Where::at("folder/a.lua", 1), again = Where::at("folder/a.lua", 1),
                b = Where::at("b.lua", 1);
    CHECK(a == again);
    CHECK(a.file.view().data() == again.file.view().data());
    CHECK_FALSE(a == b);
    CHECK(b.file < a.file);
    CHECK(a.file.base() == "a.lua");
    CHECK(a.file == std::string("folder/a.lua"));
    CHECK(Where().file.empty());
    CHECK(FileName(std::string(100000, 'x')).view() == std::string(4096, 'x'));
}

TEST_CASE("file names: those of chunks do not outlive what has them") {
    const std::size_t before = FileName::in_use();
    {
        std::vector<Diagnostic> findings(3);
        findings[0].where = Where::at("one chunk", 1);
        findings[1].where = findings[0].where;
        findings[2].where = std::move(findings[1].where);
        CHECK(FileName::in_use() == before + 1);
        findings.erase(findings.begin());
        CHECK(findings[1].where.file == "one chunk");
        std::vector<Where> many;
        for (int i = 0; i < 200000; ++i) many.push_back(Where::at("chunk number " + std::to_string(i), i));
        CHECK(many.back().file == "chunk number 199999");
    }
    CHECK(FileName::in_use() == before);
}

TEST_CASE("file names: threads that make and free the same ones") {
    const std::size_t before = FileName::in_use();
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([] {
            for (int i = 0; i < 20000; ++i) {
                const std::string name = "chunk " + std::to_string(i % 3);
                const Where where = Where::at(name, i), copy = where;
                if (copy.file != name) std::abort();
            }
        });
    threads.clear();
    CHECK(FileName::in_use() == before);
}
