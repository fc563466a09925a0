// The table of file names, which has a limit. One of the test's own: that of the process would stay full.
#include "diag/file_names.hpp"

#include "tests/catch.hpp"

using namespace wgrun;

TEST_CASE("file names: the names of chunks do not grow for ever") {
    FileNames names;
    const std::string_view early = names.kept("early.lua");
    CHECK(names.kept(std::string(100000, 'x')) == std::string(4096, 'x'));
    std::string_view last;
    for (int i = 0; i < 200000; ++i) last = names.kept("chunk number " + std::to_string(i));
    CHECK(last == "(one of many chunks)");
    CHECK(names.kept("chunk number 7") == "chunk number 7");
    CHECK(names.kept("early.lua").data() == early.data());
}
