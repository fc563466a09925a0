// Memory that runs out below the C API. For each of its functions the n-th allocation fails, once or with all
// that follow, of operator new or of the hook that gives Lua its memory: the call must return the status that
// it has with memory, or WGRUN_NO_MEMORY; then the same call must work, and nothing may be left over.
//
//   test_c_allocations [SAMPLES]   about SAMPLES (default 40) places of each function, evenly spread; 0: all
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/allocations/failing.hpp"
#include "wgrun.h"
#include "wgrun/dlpack.hpp"

using namespace wgrun::test;

namespace {

constexpr const char* script_text = R"(
    local wg = require "wgrun"
    local scale = wg.kernel("scale", { threads = 32 }, function(k)
        local A, f = k:param("A", "f32*"), k:param("f", "f32")
        local at = k:element(A, k:special "tid.x")
        k:st_global_f32(at, k:ld_global_f32(at) * f)
    end)
    scale:sizes { n = { 1, 4 }, run = function()
        scale:run { args = { wg.zeros("f32", { 32 }), 1.0 } }
    end }
    local tile = wg.tile { dtype = "bf16", mn = 64, k = 64 }
    local unfenced = wg.kernel("unfenced", { threads = 128 }, function(k)
        local A = k:param("A", "const bf16*")
        local a, b = k:shared(tile, "a"), k:shared(tile, "b")
        for _, t in ipairs { a, b } do
            k:copy_tile { to = t, from = A, ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true }
        end
        k:bar_sync(0)
        local acc = k:regs("f32", 32)
        k:wgmma_fence()
        k:mma(acc, { a = a, b = b, scale_d = 0 })
        k:wgmma_wait_group(0)
    end)
    local plan = { kernel = scale, launch = function(self, A, options)
        return { grid = 1, args = { wg.zeros("f32", { 32 }), options.by } }
    end }
    return { scale, unfenced, plan, t = wg.zeros("f32", { 4, 8 }) }
)";

constexpr const char* tuning_text = R"(
    local wg = require "wgrun"
    return wg.tuning { name = "k", space = { threads = { 32, 64 } }, build = function(options)
        local kernel = wg.kernel("k", { threads = options.threads }, function(k)
            k:st_global_f32(k:element(k:param("A", "f32*"), k:special "tid.x"), 1.0)
        end)
        return kernel, { args = { wg.zeros("f32", { 64 }) } }
    end }
)";

float data[32];
const std::int64_t shape[1] = {32};
std::int64_t dl_shape[1] = {32};
int deleted = 0;

/// What a call works on: opened for each attempt anew, with memory.
struct Things {
    wgrun_engine* engine = nullptr;
    wgrun_script* script = nullptr;
    wgrun_kernel *kernel = nullptr, *unfenced = nullptr;
    wgrun_plan* plan = nullptr;
    wgrun_tensor* tensor = nullptr;
    wgrun_findings* findings = nullptr;
    wgrun_verdicts* verdicts = nullptr;
    wgrun_timeline* timeline = nullptr;
    wgrun_files* files = nullptr;
    wgrun::dlpack::ManagedTensorVersioned versioned{};
    wgrun::dlpack::ManagedTensor managed{};

    // What calls give.
    wgrun_engine* new_engine = nullptr;
    wgrun_script* new_script = nullptr;
    wgrun_kernel* new_kernel = nullptr;
    wgrun_plan* new_plan = nullptr;
    wgrun_tensor* new_tensor = nullptr;
    wgrun_findings* new_findings = nullptr;
    wgrun_verdicts* new_verdicts = nullptr;
    wgrun_timeline* new_timeline = nullptr;
    wgrun_files* new_files = nullptr;
    wgrun_tuning* new_tuning = nullptr;
    wgrun::dlpack::ManagedTensorVersioned* given_versioned = nullptr;
    wgrun::dlpack::ManagedTensor* given = nullptr;
};

void require(int status, const char* what) {
    if (status == WGRUN_OK) return;
    wgrun_error error{};
    error.size = sizeof error;
    wgrun_last_error(&error);
    std::fprintf(stderr, "%s: %s", what, error.text);
    std::exit(2);
}

wgrun_engine_options options() {
    wgrun_engine_options out{};
    out.size = sizeof out;
    out.allocate = allocate_for_lua;
    return out;
}

int load(wgrun_engine* engine, const char* text, wgrun_script** script) {
    wgrun_source source{};
    source.size = sizeof source;
    source.file = "test.lua";
    source.text = text;
    source.length = std::strlen(text);
    return wgrun_script_load(engine, &source, script);
}

wgrun_argument* arguments() {
    static wgrun_argument out[2];
    out[0] = {};
    out[0].kind = WGRUN_MEMORY;
    out[0].dtype = WGRUN_F32;
    out[0].address = reinterpret_cast<std::uintptr_t>(data);
    out[0].shape = shape;
    out[0].rank = 1;
    out[1] = {};
    out[1].kind = WGRUN_REAL;
    out[1].real = 1;
    return out;
}

wgrun_launch launch() {
    wgrun_launch out = WGRUN_LAUNCH_INIT;
    out.arguments = arguments();
    out.argument_count = 2;
    return out;
}

int plan(Things& t, wgrun_plan** out) {
    wgrun_argument operands[2] = {arguments()[0], arguments()[1]};
    operands[1].name = "by";
    return wgrun_script_plan(t.script, 2, operands, 2, WGRUN_SIMULATOR_DEVICE, out);
}

void open(Things& t) {
    const wgrun_engine_options asked = options();
    require(wgrun_engine_open(&asked, &t.engine), "engine");
    require(load(t.engine, script_text, &t.script), "script");
    require(wgrun_script_kernel(t.script, WGRUN_RETURNED, 0, &t.kernel), "kernel");
    require(wgrun_script_kernel(t.script, WGRUN_RETURNED, 1, &t.unfenced), "kernel");
    require(plan(t, &t.plan), "plan");
    require(wgrun_script_tensor(t.script, 0, &t.tensor), "tensor");
    require(wgrun_kernel_check(t.unfenced, nullptr, &t.findings), "findings");
    require(wgrun_kernel_verdicts(t.unfenced, &t.verdicts), "verdicts");
    const wgrun_launch with = launch();
    require(wgrun_kernel_timeline(t.kernel, &with, &t.timeline), "timeline");
    require(wgrun_export(&t.kernel, 1, nullptr, &t.files), "files");
    t.managed.view = {data, {wgrun::dlpack::cpu, 0}, 1, {wgrun::dlpack::floating, 32, 1}, dl_shape, nullptr,
                      0};
    t.managed.deleter = [](wgrun::dlpack::ManagedTensor*) { ++deleted; };
    t.versioned.version = wgrun::dlpack::version;
    t.versioned.view = t.managed.view;
    t.versioned.deleter = [](wgrun::dlpack::ManagedTensorVersioned*) { ++deleted; };
    deleted = 0;
}

/// Lets go of everything, without memory too.
int close(Things& t) {
    int bad = 0;
    const auto shut = [&](auto* handle, auto function) { bad += function(handle) != WGRUN_OK; };
    shut(t.new_kernel, wgrun_kernel_close);
    shut(t.new_plan, wgrun_plan_close);
    shut(t.new_tensor, wgrun_tensor_close);
    shut(t.new_findings, wgrun_findings_close);
    shut(t.new_verdicts, wgrun_verdicts_close);
    shut(t.new_timeline, wgrun_timeline_close);
    shut(t.new_files, wgrun_files_close);
    shut(t.new_tuning, wgrun_tuning_close);
    shut(t.timeline, wgrun_timeline_close);
    shut(t.files, wgrun_files_close);
    shut(t.new_script, wgrun_script_close);
    shut(t.new_engine, wgrun_engine_close);
    shut(t.findings, wgrun_findings_close);
    shut(t.verdicts, wgrun_verdicts_close);
    shut(t.tensor, wgrun_tensor_close);
    shut(t.plan, wgrun_plan_close);
    shut(t.unfenced, wgrun_kernel_close);
    shut(t.kernel, wgrun_kernel_close);
    shut(t.script, wgrun_script_close);
    shut(t.engine, wgrun_engine_close);
    if (t.given_versioned != nullptr) t.given_versioned->deleter(t.given_versioned);
    if (t.given != nullptr) t.given->deleter(t.given);
    return bad;
}

template <class T>
T sized() {
    T out{};
    out.size = sizeof out;
    return out;
}

struct Call {
    const char* name;
    int (*call)(Things& t);
    int deletes = 0;  ///< deleters of DLPack that must have run once all is closed, if it succeeds
};

const Call calls[] = {
    {"engine_open",
     [](Things& t) {
         auto limits = sized<wgrun_limits>();
         wgrun_engine_options asked = options();
         asked.restricted = 1;
         asked.limits = &limits;
         return wgrun_engine_open(&asked, &t.new_engine);
     }},
    {"script_load", [](Things& t) { return load(t.engine, script_text, &t.new_script); }},
    {"script_load, a syntax error", [](Things& t) { return load(t.engine, "return return", &t.new_script); }},
    {"script_load, an error", [](Things& t) { return load(t.engine, "error 'no'", &t.new_script); }},
    {"script_load, no file",
     [](Things& t) {
         auto source = sized<wgrun_source>();
         source.file = "/no/such/file";
         return wgrun_script_load(t.engine, &source, &t.new_script);
     }},
    {"script_load, restricted, with a loop to its limit",
     [](Things& t) {
         auto limits = sized<wgrun_limits>();
         limits.instructions = 3000;
         wgrun_engine_options asked = options();
         asked.restricted = 1;
         asked.limits = &limits;
         wgrun_engine_close(t.new_engine);
         t.new_engine = nullptr;
         const int status = wgrun_engine_open(&asked, &t.new_engine);
         return status != WGRUN_OK ? status : load(t.new_engine, "while true do end", &t.new_script);
     }},
    {"script_again",
     [](Things& t) {
         const char* const words[] = {"1"};
         return wgrun_script_again(t.script, words, 1, &t.new_script);
     }},
    {"script_tune",
     [](Things& t) {
         auto how = sized<wgrun_tune_options>();
         how.results = "";
         const int status = t.new_script == nullptr ? load(t.engine, tuning_text, &t.new_script) : WGRUN_OK;
         return status != WGRUN_OK ? status : wgrun_script_tune(t.new_script, &how, &t.new_tuning);
     }},
    {"script_warnings", [](Things& t) { return wgrun_script_warnings(t.script, &t.new_findings); }},
    {"script_count",
     [](Things& t) {
         std::size_t count = 0;
         return wgrun_script_count(t.script, WGRUN_TENSORS, &count);
     }},
    {"script_item",
     [](Things& t) {
         auto item = sized<wgrun_item>();
         return wgrun_script_item(t.script, WGRUN_RETURNED, 0, &item);
     }},
    {"script_item, none",
     [](Things& t) {
         auto item = sized<wgrun_item>();
         return wgrun_script_item(t.script, WGRUN_MADE, 99, &item);
     }},
    {"script_kernel", [](Things& t) { return wgrun_script_kernel(t.script, WGRUN_MADE, 0, &t.new_kernel); }},
    {"script_tensor", [](Things& t) { return wgrun_script_tensor(t.script, 0, &t.new_tensor); }},
    {"script_plan", [](Things& t) { return plan(t, &t.new_plan); }},
    {"plan_info_get",
     [](Things& t) {
         auto info = sized<wgrun_plan_info>();
         return wgrun_plan_info_get(t.plan, &info);
     }},
    {"plan_argument",
     [](Things& t) {
         auto planned = sized<wgrun_planned>();
         return wgrun_plan_argument(t.plan, 0, &planned);
     }},
    {"plan_kernel", [](Things& t) { return wgrun_plan_kernel(t.plan, &t.new_kernel); }},
    {"kernel_info_get",
     [](Things& t) {
         auto info = sized<wgrun_kernel_info>();
         return wgrun_kernel_info_get(t.kernel, &info);
     }},
    {"kernel_parameter",
     [](Things& t) {
         auto parameter = sized<wgrun_parameter>();
         return wgrun_kernel_parameter(t.kernel, 0, &parameter);
     }},
    {"kernel_check", [](Things& t) { return wgrun_kernel_check(t.kernel, nullptr, &t.new_findings); }},
    {"kernel_check, findings",
     [](Things& t) { return wgrun_kernel_check(t.unfenced, nullptr, &t.new_findings); }},
    {"kernel_check, of a launch",
     [](Things& t) {
         const wgrun_launch with = launch();
         return wgrun_kernel_check(t.kernel, &with, &t.new_findings);
     }},
    {"kernel_verdicts", [](Things& t) { return wgrun_kernel_verdicts(t.kernel, &t.new_verdicts); }},
    {"kernel_verdicts_given",
     [](Things& t) {
         wgrun_assumptions given{};
         given.size = sizeof given;
         given.budget = 1;
         given.grid[0] = given.grid[1] = given.grid[2] = 2;
         return wgrun_kernel_verdicts_given(t.kernel, &given, &t.new_verdicts);
     }},
    {"kernel_ptx",
     [](Things& t) {
         const char* text = nullptr;
         return wgrun_kernel_ptx(t.kernel, &text, nullptr);
     }},
    {"kernel_ptx, refused",
     [](Things& t) {
         const char* text = nullptr;
         return wgrun_kernel_ptx(t.unfenced, &text, nullptr);
     }},
    {"kernel_cuda",
     [](Things& t) {
         const char* text = nullptr;
         return wgrun_kernel_cuda(t.kernel, &text, nullptr);
     }},
    {"kernel_cubin",
     [](Things& t) {
         const void* image = nullptr;
         std::size_t bytes = 0;
         return wgrun_kernel_cubin(t.kernel, WGRUN_DRIVER, &image, &bytes);
     }},
    {"kernel_load", [](Things& t) { return wgrun_kernel_load(t.kernel, WGRUN_GPU, 0); }},
    {"kernel_launch",
     [](Things& t) {
         const wgrun_launch with = launch();
         return wgrun_kernel_launch(t.kernel, &with);
     }},
    {"kernel_simulate",
     [](Things& t) {
         const wgrun_launch with = launch();
         return wgrun_kernel_simulate(t.kernel, &with);
     }},
    {"kernel_report",
     [](Things& t) {
         auto report = sized<wgrun_report>();
         return wgrun_kernel_report(t.kernel, &report, &t.new_findings);
     }},
    {"kernel_source_map",
     [](Things& t) {
         const wgrun_place* lines = nullptr;
         std::size_t count = 0;
         return wgrun_kernel_source_map(t.kernel, WGRUN_CUDA_TEXT, &lines, &count);
     }},
    {"kernel_timeline",
     [](Things& t) {
         const wgrun_launch with = launch();
         return wgrun_kernel_timeline(t.kernel, &with, &t.new_timeline);
     }},
    {"kernel_profile",
     [](Things& t) {
         wgrun_launch with = launch();
         with.backend = WGRUN_SIM;
         return wgrun_kernel_profile(t.kernel, &with, 0, 0, &t.new_timeline);
     }},
    {"timeline_info_get",
     [](Things& t) {
         auto info = sized<wgrun_timeline_info>();
         return wgrun_timeline_info_get(t.timeline, &info);
     }},
    {"timeline_span_get",
     [](Things& t) {
         auto span = sized<wgrun_timeline_span>();
         return wgrun_timeline_span_get(t.timeline, 0, &span);
     }},
    {"timeline_text",
     [](Things& t) {
         const char* text = nullptr;
         return wgrun_timeline_text(t.timeline, WGRUN_TIMELINE_HTML, 0, 0, 0, &text, nullptr);
     }},
    {"export", [](Things& t) { return wgrun_export(&t.kernel, 1, nullptr, &t.new_files); }},
    {"files_get",
     [](Things& t) {
         auto file = sized<wgrun_file>();
         return wgrun_files_get(t.files, 0, &file);
     }},
    {"kernel_size",
     [](Things& t) {
         auto size = sized<wgrun_size>();
         return wgrun_kernel_size(t.kernel, 0, &size);
     }},
    {"kernel_edge_sizes",
     [](Things& t) {
         const std::int64_t* values = nullptr;
         std::size_t launches = 0;
         return wgrun_kernel_edge_sizes(t.kernel, 0, &values, &launches);
     }},
    {"kernel_check_size",
     [](Things& t) {
         const std::int64_t values[] = {2};
         return wgrun_kernel_check_size(t.kernel, values, 1, 0, &t.new_findings);
     }},
    {"progress_use", [](Things&) { return wgrun_progress_use(nullptr, nullptr); }},
    {"tensor_from_dlpack",
     [](Things& t) {
         return wgrun_tensor_from_dlpack(reinterpret_cast<DLManagedTensorVersioned*>(&t.versioned),
                                         WGRUN_ANY_DTYPE, &t.new_tensor);
     },
     1},
    {"tensor_from_dlpack_unversioned",
     [](Things& t) {
         return wgrun_tensor_from_dlpack_unversioned(reinterpret_cast<DLManagedTensor*>(&t.managed),
                                                     WGRUN_ANY_DTYPE, &t.new_tensor);
     },
     1},
    {"tensor_to_dlpack",
     [](Things& t) {
         return wgrun_tensor_to_dlpack(t.tensor,
                                       reinterpret_cast<DLManagedTensorVersioned**>(&t.given_versioned));
     }},
    {"tensor_to_dlpack_unversioned",
     [](Things& t) {
         return wgrun_tensor_to_dlpack_unversioned(t.tensor, reinterpret_cast<DLManagedTensor**>(&t.given));
     }},
    {"tensor_argument",
     [](Things& t) {
         wgrun_argument argument{};
         return wgrun_tensor_argument(t.tensor, &argument);
     }},
    {"last_findings", [](Things& t) { return wgrun_last_findings(&t.new_findings); }},
    {"verdicts_count",
     [](Things& t) {
         std::size_t count = 0;
         return wgrun_verdicts_count(t.verdicts, &count);
     }},
    {"verdicts_get",
     [](Things& t) {
         auto verdict = sized<wgrun_verdict>();
         return wgrun_verdicts_get(t.verdicts, 0, &verdict);
     }},
    {"verdicts_json",
     [](Things& t) {
         const char* json = nullptr;
         return wgrun_verdicts_json(t.verdicts, &json);
     }},
    {"findings_count",
     [](Things& t) {
         std::size_t count = 0;
         return wgrun_findings_count(t.findings, &count);
     }},
    {"findings_get",
     [](Things& t) {
         auto finding = sized<wgrun_finding>();
         return wgrun_findings_get(t.findings, 0, &finding);
     }},
    {"findings_note",
     [](Things& t) {
         const char* message = nullptr;
         return wgrun_findings_note(t.findings, 0, 0, &message, nullptr, nullptr);
     }},
    {"findings_text",
     [](Things& t) {
         const char* text = nullptr;
         return wgrun_findings_text(t.findings, &text);
     }},
    {"findings_json",
     [](Things& t) {
         const char* text = nullptr;
         return wgrun_findings_json(t.findings, &text);
     }},
    {"engine_interrupt", [](Things& t) { return wgrun_engine_interrupt(t.engine); }},
    {"engine_close, of none",
     [](Things& t) { return wgrun_engine_close(reinterpret_cast<wgrun_engine*>(&t)); }},
    {"every close",
     [](Things& t) {
         const int bad = close(t);
         t = {};
         return bad == 0 ? int{WGRUN_OK} : int{WGRUN_INTERNAL};
     }},
};

// The thread's last failure has memory of its own: always that of this one when we count.
void forget_failures() { wgrun_engine_close(reinterpret_cast<wgrun_engine*>(8)); }

long tried = 0, failed = 0, faults = 0;

void fault(const Call& call, const char* allocator, long n, bool for_good, const char* what, int status) {
    ++faults;
    std::fprintf(stderr, "%s, allocation %ld of %s%s: %s (%s)\n", call.name, n, allocator,
                 for_good ? " and all after it" : "", what, wgrun_status_name(status));
    auto error = sized<wgrun_error>();
    if (wgrun_last_error(&error) == WGRUN_OK) std::fprintf(stderr, "  %s%s\n", error.text, error.traceback);
}

/// One attempt; the status. `made`: how many allocations the call made.
int attempt(const Call& call, Failing& which, const char* allocator, long n, bool for_good, int expected,
            long& made) {
    forget_failures();
    const long before = of_new.live;
    Things things;
    open(things);
    which.arm(n, for_good);
    const int status = call.call(things);
    made = which.made;
    which.disarm();
    if (n != never) {
        ++tried;
        if (status == WGRUN_NO_MEMORY && expected != WGRUN_NO_MEMORY) {
            ++failed;
            auto error = sized<wgrun_error>();
            wgrun_last_error(&error);
            if (error.status != status || std::strstr(error.text, "not enough memory") == nullptr ||
                std::strcmp(error.code, "ENOMEM") != 0)
                fault(call, allocator, n, for_good, error.text, status);
            if (deleted != 0) fault(call, allocator, n, for_good, "what failed has called a deleter", status);
            const int again = call.call(things);
            if (again != expected) fault(call, allocator, n, for_good, "the same call once more", again);
        } else if (status != expected) {
            fault(call, allocator, n, for_good, "another status", status);
        }
    }
    if (close(things) != 0) fault(call, allocator, n, for_good, "a handle does not close", status);
    if (deleted != call.deletes) fault(call, allocator, n, for_good, "deleters called", deleted);
    forget_failures();
    if (n != never && of_new.live != before)
        fault(call, allocator, n, for_good, "memory is left over", static_cast<int>(of_new.live - before));
    if (of_lua.live != 0) fault(call, allocator, n, for_good, "Lua's memory is left over", status);
    return status;
}

void try_all(const Call& call, Failing& which, const char* allocator, long samples) {
    long all = 0, made = 0;
    attempt(call, which, allocator, never, false, 0,
            all);  // tables that are made when they are first asked for
    const int expected = attempt(call, which, allocator, never, false, 0, all);
    const long step = samples == 0 ? 1 : std::max(1L, all / samples);
    for (const bool for_good : {false, true})
        for (long n = 0; n < all; n += step) attempt(call, which, allocator, n, for_good, expected, made);
    std::printf("%-50s %-13s %6ld allocations, %s\n", call.name, allocator, all, wgrun_status_name(expected));
}

}  // namespace

int main(int argc, char** argv) {
    const long before_main = of_new.made;
    const long samples = argc > 1 ? std::atol(argv[1]) : 40;
    const char* only = argc > 2 ? argv[2] : "";
    setenv("WGRUN_CUDA", "off", 1);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("allocations before main: %ld\n", before_main);
    if (before_main > most_before_main) {
        std::fprintf(stderr, "%ld allocations before main, %ld at most\n", before_main, most_before_main);
        ++faults;
    }
    for (const Call& call : calls) {
        if (std::strstr(call.name, only) == nullptr) continue;
        try_all(call, of_new, "operator new", samples);
        try_all(call, of_lua, "the hook", samples);
    }
    std::printf("%ld calls, %ld of them without memory, %ld faults\n", tried, failed, faults);
    return faults == 0 ? 0 : 1;
}
