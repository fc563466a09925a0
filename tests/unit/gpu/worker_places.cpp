// Where a library looks for the program that its workers are.
#include <algorithm>

#include "gpu/worker_process.hpp"
#include "tests/catch.hpp"

using wgrun::gpu::worker_places;

TEST_CASE("the tool is looked for beside the library and in the bin of its prefix") {
    for (const char* library :
         {"/opt/wgrun/lib/libwgrun.so.0", "/opt/wgrun/lib/x86_64-linux-gnu/libwgrun.so.0",
          "/opt/wgrun/lib/lua/5.4/wgrun.so", "/opt/wgrun/lib/lua/../lua/5.4/wgrun.so"}) {
        const auto places = worker_places(library);
        CHECK(std::ranges::find(places, "/opt/wgrun/bin/wgrun") != places.end());
    }
    CHECK(worker_places("/opt/build/wgrun.so").front() == "/opt/build/wgrun");
    const auto top = worker_places("/wgrun.so");
    CHECK(top.front() == "/wgrun");
    CHECK(top.size() == 1);
}
