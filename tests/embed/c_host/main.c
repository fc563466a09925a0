/* A host that knows wgrun by wgrun.h alone: what it offers, and what becomes of misuse. Ends with 0 if all is right. */
#define _POSIX_C_SOURCE 200112L /* nanosleep */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wgrun.h>

static int failures = 0;

static void check_at(int good, const char *what, int line) {
    wgrun_error error = {0};
    if (good) return;
    error.size = sizeof error;
    wgrun_last_error(&error);
    fprintf(stderr, "main.c:%d: %s\n  last failure: %s %s", line, what, wgrun_status_name(error.status), error.text);
    ++failures;
}
#define CHECK(condition) check_at(condition, #condition, __LINE__)
#define REQUIRE(condition) do { CHECK(condition); if (failures > 0) exit(1); } while (0)

static wgrun_error last(void) {
    wgrun_error error = {0};
    error.size = sizeof error;
    CHECK(wgrun_last_error(&error) == WGRUN_OK);
    return error;
}

static const char scale_text[] =
    "#!/usr/bin/env wgrun\n"
    "local wg = require 'wgrun'\n"
    "local factor = tonumber(... or '1')\n"
    "local scale = wg.kernel('scale', { threads = 128 }, function(k)\n"
    "  local A, n, f = k:param('A', 'f32*'), k:param('n', 'u32'), k:param('f', 'f32')\n"
    "  local i = k:special 'ctaid.x' * 128 + k:special 'tid.x'\n"
    "  k:if_(i:lt(n), function()\n"
    "    local address = k:element(A, i)\n"
    "    k:st_global_f32(address, k:ld_global_f32(address) * f * factor)\n"
    "  end)\n"
    "end)\n"
    "print('made', scale.name)\n"
    "return scale\n";

static wgrun_source text_source(const char *text, const char *name) {
    wgrun_source source = {0};
    source.size = sizeof source;
    source.file = name;
    source.text = text;
    source.length = strlen(text);
    return source;
}

static int load(wgrun_engine *engine, const char *text, wgrun_script **script) {
    wgrun_source source = text_source(text, "test.lua");
    return wgrun_script_load(engine, &source, script);
}

static wgrun_kernel *only_kernel(wgrun_engine *engine, const char *text) {
    wgrun_script *script = NULL;
    wgrun_kernel *kernel = NULL;
    REQUIRE(load(engine, text, &script) == WGRUN_OK);
    REQUIRE(wgrun_script_kernel(script, WGRUN_RETURNED, 0, &kernel) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK); /* the kernel keeps what it needs */
    return kernel;
}

static wgrun_argument memory(void *data, int dtype, int rank, const int64_t *shape) {
    wgrun_argument argument = {0};
    argument.kind = WGRUN_MEMORY;
    argument.dtype = dtype;
    argument.address = (uint64_t)(uintptr_t)data;
    argument.rank = rank;
    argument.shape = shape;
    return argument;
}

static wgrun_argument integer(int64_t value) {
    wgrun_argument argument = {0};
    argument.kind = WGRUN_INTEGER;
    argument.integer = value;
    return argument;
}

static wgrun_argument real(double value) {
    wgrun_argument argument = {0};
    argument.kind = WGRUN_REAL;
    argument.real = value;
    return argument;
}

struct endless {
    wgrun_engine *engine;
    pthread_mutex_t mutex;
    int done;
};

/* What the callbacks got. */
struct heard {
    char text[256];
    wgrun_engine *engine;
    int status; /* of a call from within the callback */
};

static void hear(void *user, const char *text, size_t length) {
    struct heard *heard = user;
    size_t at = strlen(heard->text);
    wgrun_script *script = NULL;
    if (length > sizeof heard->text - at - 1) length = sizeof heard->text - at - 1;
    memcpy(heard->text + at, text, length);
    heard->text[at + length] = 0;
    if (heard->engine != NULL) heard->status = load(heard->engine, "return 1", &script);
}

static void kernels(void) {
    static const int64_t shape[1] = {3};
    float data[3] = {1, 2, 3};
    const char *words[1] = {"10"};
    struct heard heard = {{0}, NULL, 0};
    wgrun_engine_options options = {0};
    wgrun_engine *engine = NULL;
    wgrun_source source = text_source(scale_text, "scale.lua");
    wgrun_script *script = NULL;
    wgrun_kernel *kernel = NULL;
    wgrun_item item = {0};
    wgrun_kernel_info info = {0};
    wgrun_parameter parameter = {0};
    wgrun_launch launch = WGRUN_LAUNCH_INIT;
    wgrun_argument arguments[3];
    wgrun_findings *findings = NULL;
    const char *text = NULL;
    size_t count = 99, length = 0;

    options.size = sizeof options;
    options.print = hear;
    options.print_user = &heard;
    REQUIRE(wgrun_engine_open(&options, &engine) == WGRUN_OK);
    heard.engine = engine;
    source.arguments = words;
    source.argument_count = 1;
    REQUIRE(wgrun_script_load(engine, &source, &script) == WGRUN_OK);
    CHECK(strcmp(heard.text, "made\tscale\n") == 0);
    CHECK(heard.status == WGRUN_BUSY);
    heard.engine = NULL;
    CHECK(wgrun_script_count(script, WGRUN_RETURNED, &count) == WGRUN_OK && count == 1);
    CHECK(wgrun_script_count(script, WGRUN_MADE, &count) == WGRUN_OK && count == 1);
    item.size = sizeof item;
    CHECK(wgrun_script_item(script, WGRUN_RETURNED, 0, &item) == WGRUN_OK);
    CHECK(strcmp(item.name, "scale") == 0 && !item.launches);
    REQUIRE(wgrun_script_kernel(script, WGRUN_MADE, 0, &kernel) == WGRUN_OK);

    info.size = sizeof info;
    CHECK(wgrun_kernel_info_get(kernel, &info) == WGRUN_OK);
    CHECK(strcmp(info.name, "scale") == 0 && strcmp(info.file, "scale.lua") == 0 && info.line == 4);
    CHECK(info.threads == 128 && info.cluster[0] == 1 && info.shared_bytes == 0 && info.parameter_count == 3);
    parameter.size = sizeof parameter;
    CHECK(wgrun_kernel_parameter(kernel, 0, &parameter) == WGRUN_OK);
    CHECK(strcmp(parameter.name, "A") == 0 && strcmp(parameter.type, "f32*") == 0);
    CHECK(parameter.kind == WGRUN_POINTER && parameter.dtype == WGRUN_F32 && !parameter.is_const);
    CHECK(wgrun_kernel_parameter(kernel, 1, &parameter) == WGRUN_OK && parameter.kind == WGRUN_INTEGER_PARAMETER);
    CHECK(wgrun_kernel_parameter(kernel, 2, &parameter) == WGRUN_OK && parameter.kind == WGRUN_REAL_PARAMETER);
    CHECK(wgrun_kernel_parameter(kernel, 3, &parameter) == WGRUN_BAD_ARGUMENT);

    CHECK(wgrun_kernel_check(kernel, NULL, &findings) == WGRUN_OK);
    CHECK(wgrun_findings_count(findings, &count) == WGRUN_OK && count == 0);
    CHECK(wgrun_findings_text(findings, &text) == WGRUN_OK && strcmp(text, "") == 0);
    CHECK(wgrun_findings_close(findings) == WGRUN_OK);
    CHECK(wgrun_kernel_ptx(kernel, &text, &length) == WGRUN_OK && strlen(text) == length);
    CHECK(text != NULL && strstr(text, ".visible .entry scale") != NULL);
    CHECK(wgrun_kernel_cuda(kernel, &text, NULL) == WGRUN_OK && strstr(text, "scale(") != NULL);

    arguments[0] = memory(data, WGRUN_F32, 1, shape);
    arguments[1] = integer(2);
    arguments[2] = real(0.5);
    launch.arguments = arguments;
    launch.argument_count = 3;
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_OK);
    CHECK(data[0] == 5 && data[1] == 10 && data[2] == 3);
    CHECK(wgrun_kernel_check(kernel, &launch, &findings) == WGRUN_OK);
    CHECK(wgrun_findings_close(findings) == WGRUN_OK);

    /* Arguments that do not fit. */
    arguments[0].shape = NULL;
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    CHECK(strstr(last().message, "kernel scale, argument 1 (A): the simulator needs its shape") != NULL);
    arguments[0] = memory(data, WGRUN_F16, 1, shape);
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    CHECK(strcmp(last().message, "kernel scale, argument 1 (A): a tensor of f32 is expected, not of f16") == 0);
    arguments[0] = memory(data, WGRUN_F32, 1, shape);
    arguments[0].read_only = 1;
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    CHECK(strstr(last().message, "read-only") != NULL);
    arguments[0] = memory(NULL, WGRUN_F32, 1, shape);
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    arguments[0] = memory(data, 77, 1, shape);
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    arguments[0] = memory(data, WGRUN_F32, 99, shape);
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    arguments[0] = memory(data, WGRUN_F32, 1, shape);
    arguments[1] = integer(-1);
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    arguments[1] = real(1.5);
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    arguments[1].kind = 0;
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    arguments[1] = integer(2);
    launch.argument_count = 2;
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    launch.argument_count = 3;
    launch.numerics = "h300";
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    launch.numerics = NULL;
    launch.arguments = NULL;
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_BAD_ARGUMENT);
    launch.arguments = arguments;
    /* An address of the host's is none of a device, which is found before anything is started. */
    if (getenv("WGRUN_CUDA") != NULL && strcmp(getenv("WGRUN_CUDA"), "off") == 0)
        CHECK(wgrun_kernel_launch(kernel, &launch) == WGRUN_NO_DEVICE &&
              strcmp(wgrun_status_name(last().status), "WGRUN_NO_DEVICE") == 0);
    launch.backend = WGRUN_SIM;
    CHECK(wgrun_kernel_launch(kernel, &launch) == WGRUN_BAD_ARGUMENT);

    CHECK(wgrun_engine_close(engine) == WGRUN_OK); /* before what came from it */
    launch.backend = WGRUN_AUTO;
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
    CHECK(wgrun_kernel_close(kernel) == WGRUN_OK);
    CHECK(wgrun_kernel_close(kernel) == WGRUN_BAD_HANDLE);
}

static const char unfenced_text[] =
    "local wg = require 'wgrun'\n"
    "local tile = wg.tile { dtype = 'bf16', mn = 64, k = 64 }\n"
    "return wg.kernel('unfenced', { threads = 128 }, function(k)\n"
    "  local A = k:param('A', 'const bf16*')\n"
    "  local a, b = k:shared(tile, 'a'), k:shared(tile, 'b')\n"
    "  for _, t in ipairs { a, b } do\n"
    "    k:copy_tile { to = t, from = A, ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true }\n"
    "  end\n"
    "  k:bar_sync(0)\n"
    "  local acc = k:regs('f32', 32)\n"
    "  k:wgmma_fence()\n"
    "  k:mma(acc, { a = a, b = b, scale_d = 0 })\n"
    "  k:wgmma_wait_group(0)\n"
    "end)\n";

/* Verdicts of some launches, and proofs that may take no time. */
static void verdicts_given(wgrun_engine *engine) {
    static const char counted_text[] =
        "return require('wgrun').kernel('counted', { threads = 64 }, function(k)\n"
        "  local bar, tid, n = k:shared { bytes = 8, align = 8 }, k:special 'tid.x', k:param('n', 'u32')\n"
        "  k:if_(tid:eq(0), function() k:mbarrier_init(bar, 1) end)\n"
        "  k:loop({ from = 0, to = n, step = 1 }, function() k:bar_sync(0) end)\n"
        "  k:if_(tid:eq(0), function() k:if_(k:special 'ctaid.x':ne(50), function() k:mbarrier_arrive(bar) end) end)\n"
        "  k:if_(tid:eq(32), function() k:mbarrier_wait(k:address(bar), 0) end)\n"
        "end)\n";
    static const char ptx[] = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u32 n) { ret; }\n";
    static const struct {
        double budget;
        uint32_t grid_x;
        const char *name;
        int status;
    } wrong[] = {{-1, 0, NULL, WGRUN_BAD_ARGUMENT}, {0, 7, "n", WGRUN_BAD_ARGUMENT}, {0, 0, "m", WGRUN_BAD_ARGUMENT}};
    wgrun_kernel *kernel = only_kernel(engine, counted_text);
    wgrun_number number = {"n", 64};
    wgrun_assumptions given = {0};
    wgrun_verdicts *verdicts = NULL;
    const char *json = NULL;
    size_t i;
    CHECK(wgrun_kernel_verdicts_given(kernel, &given, &verdicts) == WGRUN_BAD_ARGUMENT);
    given.size = sizeof given;
    given.numbers = &number;
    given.number_count = 1;
    CHECK(wgrun_kernel_verdicts_given(kernel, &given, &verdicts) == WGRUN_OK);
    CHECK(wgrun_verdicts_json(verdicts, &json) == WGRUN_OK && strstr(json, "all launches with n = 64") != NULL);
    CHECK(wgrun_verdicts_close(verdicts) == WGRUN_OK);
    CHECK(wgrun_check_ptx_given(NULL, ptx, sizeof ptx - 1, &given, &json) == WGRUN_OK && strstr(json, "with n = 64") != NULL);
    given.grid[0] = 7, given.grid[1] = given.grid[2] = 1;
    CHECK(wgrun_kernel_verdicts_given(kernel, &given, &verdicts) == WGRUN_OK);
    CHECK(wgrun_verdicts_json(verdicts, &json) == WGRUN_OK && strstr(json, "all launches of grids of 7 with n = 64") != NULL);
    CHECK(wgrun_verdicts_close(verdicts) == WGRUN_OK);
    for (i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        wgrun_assumptions one = {0};
        wgrun_number other = {wrong[i].name, 1};
        one.size = sizeof one;
        one.budget = wrong[i].budget;
        one.grid[0] = wrong[i].grid_x;
        one.numbers = &other;
        one.number_count = wrong[i].name != NULL;
        CHECK(wgrun_kernel_verdicts_given(kernel, &one, &verdicts) == wrong[i].status);
    }
    given.numbers = NULL;
    CHECK(wgrun_kernel_verdicts_given(kernel, &given, &verdicts) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_verdicts_given(kernel, NULL, NULL) == WGRUN_BAD_ARGUMENT);
    given.number_count = 0;
    given.budget = 1e-9;
    CHECK(wgrun_kernel_verdicts_given(kernel, &given, &verdicts) == WGRUN_OK);
    CHECK(wgrun_verdicts_json(verdicts, &json) == WGRUN_OK && strstr(json, "undecided") != NULL);
    CHECK(wgrun_verdicts_close(verdicts) == WGRUN_OK && wgrun_kernel_close(kernel) == WGRUN_OK);
}

static void findings_of_kernels(wgrun_engine *engine) {
    wgrun_kernel *kernel = only_kernel(engine, unfenced_text);
    wgrun_findings *findings = NULL, *of_error = NULL;
    wgrun_verdicts *verdicts = NULL;
    wgrun_verdict verdict = {0};
    wgrun_finding finding = {0};
    const char *text = NULL, *json = NULL, *message = NULL, *file = NULL;
    size_t count = 0;
    int line = 0;
    CHECK(wgrun_kernel_check(kernel, NULL, &findings) == WGRUN_OK);
    CHECK(wgrun_findings_count(findings, &count) == WGRUN_OK && count > 0);
    finding.size = sizeof finding;
    REQUIRE(wgrun_findings_get(findings, 0, &finding) == WGRUN_OK);
    CHECK(finding.severity == WGRUN_ERROR && strcmp(finding.rule, "WG-PROXY-01") == 0);
    CHECK(strcmp(finding.file, "test.lua") == 0 && finding.line == 12 && finding.note_count > 0);
    CHECK(strstr(finding.fix, "fence.proxy.async") != NULL && finding.section[0] != 0);
    CHECK(wgrun_findings_note(findings, 0, 0, &message, &file, &line) == WGRUN_OK);
    CHECK(message != NULL && strcmp(file, "test.lua") == 0 && line == 7);
    CHECK(wgrun_findings_note(findings, 0, 99, &message, &file, &line) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_findings_get(findings, count, &finding) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_findings_text(findings, &text) == WGRUN_OK && strncmp(text, "test.lua:12: error: ", 20) == 0);
    CHECK(wgrun_findings_json(findings, &json) == WGRUN_OK && strstr(json, "\"WG-PROXY-01\"") != NULL);

    CHECK(wgrun_kernel_verdicts(kernel, &verdicts) == WGRUN_OK);
    CHECK(wgrun_verdicts_count(verdicts, &count) == WGRUN_OK && count == 14);
    verdict.size = sizeof verdict;
    REQUIRE(wgrun_verdicts_get(verdicts, 0, &verdict) == WGRUN_OK);
    CHECK(strcmp(verdict.property, "no-deadlock") == 0 && strcmp(verdict.title, "no deadlock") == 0);
    CHECK(wgrun_verdicts_get(verdicts, 5, &verdict) == WGRUN_OK && strcmp(verdict.property, "proxy-order") == 0);
    CHECK(verdict.kind == WGRUN_REFUTED && strcmp(verdict.reason, "WG-PROXY-01") == 0 && verdict.domain[0] == 0);
    CHECK(strcmp(verdict.file, "test.lua") == 0 && verdict.line == 12 && verdict.assumption[0] == 0);
    CHECK(wgrun_verdicts_get(verdicts, count, &verdict) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_verdicts_json(verdicts, &json) == WGRUN_OK && strstr(json, "\"reason\": \"WG-PROXY-01\"") != NULL);
    CHECK(wgrun_findings_close((wgrun_findings *)(void *)verdicts) == WGRUN_BAD_HANDLE);
    CHECK(wgrun_verdicts_close(verdicts) == WGRUN_OK && wgrun_verdicts_close(verdicts) == WGRUN_BAD_HANDLE);
    verdicts_given(engine);

    CHECK(wgrun_kernel_ptx(kernel, &text, NULL) == WGRUN_FOUND_ERRORS);
    CHECK(strcmp(last().rule, "WG-PROXY-01") == 0 && last().line == 12);
    CHECK(wgrun_last_findings(&of_error) == WGRUN_OK);
    CHECK(wgrun_findings_text(of_error, &json) == WGRUN_OK);
    CHECK(strcmp(json, last().text) == 0);
    CHECK(wgrun_findings_text(findings, &text) == WGRUN_OK && strcmp(json, text) == 0);
    CHECK(wgrun_findings_close(of_error) == WGRUN_OK);
    CHECK(wgrun_findings_close(findings) == WGRUN_OK);
    CHECK(wgrun_kernel_close(kernel) == WGRUN_OK);
}

/* What only a run shows: threads that write to the same place. */
static void findings_of_a_run(wgrun_engine *engine) {
    static const int64_t shape[1] = {1};
    float data[1] = {0};
    wgrun_launch launch = WGRUN_LAUNCH_INIT;
    wgrun_argument argument = memory(data, WGRUN_ANY_DTYPE, 1, shape);
    wgrun_kernel *kernel = only_kernel(
        engine,
        "local wg = require 'wgrun'\n"
        "return wg.kernel('beyond', { threads = 32 }, function(k)\n"
        "  local A = k:param('A', 'f32*')\n"
        "  k:st_global_f32(k:element(A, k:special 'tid.x'), k:mov(0, { type = 'f32' }))\n"
        "end)\n");
    launch.arguments = &argument;
    launch.argument_count = 1;
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_FOUND_ERRORS);
    CHECK(last().line == 4 && strncmp(last().rule, "WG-MEM-", 7) == 0);
    CHECK(wgrun_kernel_close(kernel) == WGRUN_OK);
}

static void scripts(wgrun_engine *engine) {
    wgrun_script *script = NULL;
    wgrun_findings *warnings = NULL;
    wgrun_source source = {0};
    wgrun_item item = {0};
    size_t count = 0;
    CHECK(load(engine, "return return", &script) == WGRUN_SCRIPT_FAILED);
    CHECK(strcmp(last().file, "test.lua") == 0 && last().line == 1 && last().text[0] != 0);
    CHECK(load(engine, "\nerror('no', 0)", &script) == WGRUN_SCRIPT_FAILED);
    CHECK(strcmp(last().message, "no") == 0 && strstr(last().traceback, "stack traceback") != NULL);
    CHECK(load(engine, "error {}", &script) == WGRUN_SCRIPT_FAILED);
    CHECK(load(engine, "error(setmetatable({}, { __tostring = function() error 'again' end }))", &script) != WGRUN_OK);
    CHECK(load(engine, "error()", &script) == WGRUN_SCRIPT_FAILED);
    CHECK(load(engine, "\nrequire 'wgrun'.tile { dtype = 'bf15' }", &script) == WGRUN_SCRIPT_FAILED);
    CHECK(last().line == 2 && strcmp(last().code, "EINVAL") == 0);
    CHECK(load(engine, "local function f() return f() + 1 end f()", &script) == WGRUN_SCRIPT_FAILED);
    CHECK(load(engine, "os.exit(3)", &script) == WGRUN_SCRIPT_FAILED);
    CHECK(load(engine, "\33Lua", &script) == WGRUN_SCRIPT_FAILED);
    source.size = sizeof source;
    source.file = "no such file.lua";
    CHECK(wgrun_script_load(engine, &source, &script) == WGRUN_NO_FILE);
    CHECK(strstr(last().message, "no such file.lua") != NULL);
    CHECK(script == NULL);

    CHECK(load(engine, "os.exit(true)", &script) == WGRUN_OK);
    CHECK(wgrun_script_count(script, WGRUN_RETURNED, &count) == WGRUN_OK && count == 0);
    CHECK(wgrun_script_close(script) == WGRUN_OK);

    /* A script that looks at results which are not there. */
    CHECK(load(engine,
               "local wg = require 'wgrun'\n"
               "local k = wg.kernel('nothing', {}, function() end)\n"
               "assert(k:run { args = {} } == 'none')\n"
               "error 'the result is wrong'", &script) == WGRUN_OK);
    CHECK(wgrun_script_warnings(script, &warnings) == WGRUN_OK);
    CHECK(wgrun_findings_count(warnings, &count) == WGRUN_OK && count == 1);
    CHECK(wgrun_findings_close(warnings) == WGRUN_OK);
    CHECK(wgrun_script_count(script, WGRUN_MADE, &count) == WGRUN_OK && count == 1);
    CHECK(wgrun_script_close(script) == WGRUN_OK);

    /* Nothing of a kernel's results is in an error like these. */
    CHECK(load(engine,
               "local wg = require 'wgrun'\n"
               "local k = wg.kernel('nothing', {}, function() end)\n"
               "k:run { args = {} }\n"
               "undefined()", &script) == WGRUN_SCRIPT_FAILED);
    CHECK(last().line == 4);
    CHECK(load(engine,
               "require 'wgrun'.kernel('nothing', {}, function() end)\n"
               "error 'before anything ran'", &script) == WGRUN_SCRIPT_FAILED);

    /* Tables: lists in their order, then names in theirs; what is no kernel does not count. */
    CHECK(load(engine,
               "local wg = require 'wgrun'\n"
               "local function make(name) return wg.kernel(name, {}, function() end) end\n"
               "return { make 'one', 'two', make 'three', zwei = make 'two', eins = make 'last', n = 5 }, make 'alone'",
               &script) == WGRUN_OK);
    CHECK(wgrun_script_count(script, WGRUN_RETURNED, &count) == WGRUN_OK && count == 5);
    item.size = sizeof item;
    CHECK(wgrun_script_item(script, WGRUN_RETURNED, 1, &item) == WGRUN_OK && strcmp(item.name, "three") == 0);
    CHECK(wgrun_script_item(script, WGRUN_RETURNED, 2, &item) == WGRUN_OK && strcmp(item.name, "eins") == 0);
    CHECK(wgrun_script_item(script, WGRUN_RETURNED, 4, &item) == WGRUN_OK && strcmp(item.name, "alone") == 0);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
}

/* D = A * B by wg.gemm, in numbers that bf16 has exactly: bf16 is the upper half of binary32. */
static uint16_t bf16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static void plans(wgrun_engine *engine) {
    enum { M = 64, N = 64, K = 64 };
    static uint16_t a[M * K], b[N * K];
    static float d[M * N];
    static const int64_t a_shape[2] = {M, K}, b_shape[2] = {N, K}, d_shape[2] = {M, N};
    static const int64_t vector[1] = {K};
    wgrun_script *script = NULL;
    wgrun_plan *plan = NULL;
    wgrun_kernel *kernel = NULL;
    wgrun_plan_info info = {0};
    wgrun_argument operands[4], arguments[16];
    wgrun_launch launch = WGRUN_LAUNCH_INIT;
    wgrun_item item = {0};
    size_t i, n, k;
    int good = 1;
    for (i = 0; i < M * K; ++i) a[i] = bf16((float)((int)(i * 7 % 5) - 2));
    for (i = 0; i < N * K; ++i) b[i] = bf16((float)((int)(i * 3 % 7) - 3));
    REQUIRE(load(engine,
                 "return { gemm = require 'wgrun'.gemm { dtype = 'bf16', d = 'f32', problem = { 64, 64, 64 }, "
                 "epilogue = { alpha = true } } }", &script) == WGRUN_OK);
    item.size = sizeof item;
    CHECK(wgrun_script_item(script, WGRUN_RETURNED, 0, &item) == WGRUN_OK);
    CHECK(item.launches && strcmp(item.name, "gemm") == 0);
    operands[0] = memory(a, WGRUN_BF16, 2, a_shape);
    operands[1] = memory(b, WGRUN_BF16, 2, b_shape);
    operands[2] = memory(d, WGRUN_F32, 2, d_shape);
    operands[3] = real(0.5);
    operands[3].name = "alpha";
    REQUIRE(wgrun_script_plan(script, 0, operands, 4, WGRUN_SIMULATOR_DEVICE, &plan) == WGRUN_OK);
    info.size = sizeof info;
    CHECK(wgrun_plan_info_get(plan, &info) == WGRUN_OK);
    REQUIRE(info.argument_count <= 16);
    for (i = 0; i < info.argument_count; ++i) {
        wgrun_planned planned = {0};
        planned.size = sizeof planned;
        CHECK(wgrun_plan_argument(plan, i, &planned) == WGRUN_OK);
        arguments[i] = planned.operand >= 0 ? operands[planned.operand] : planned.argument;
    }
    REQUIRE(wgrun_plan_kernel(plan, &kernel) == WGRUN_OK);
    memcpy(launch.grid, info.grid, sizeof info.grid);
    launch.arguments = arguments;
    launch.argument_count = info.argument_count;
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_OK);
    for (i = 0; i < M && good; ++i)
        for (n = 0; n < N && good; ++n) {
            float sum = 0;
            for (k = 0; k < K; ++k)
                sum += (float)((int)((i * K + k) * 7 % 5) - 2) * (float)((int)((n * K + k) * 3 % 7) - 3);
            good = d[i * N + n] == 0.5f * sum;
        }
    CHECK(good);

    operands[1].shape = vector;
    operands[1].rank = 1;
    CHECK(wgrun_script_plan(script, 0, operands, 4, WGRUN_SIMULATOR_DEVICE, &plan) == WGRUN_SCRIPT_FAILED);
    CHECK(strstr(last().message, "B must be a matrix") != NULL);
    operands[0].shape = NULL;
    CHECK(wgrun_script_plan(script, 0, operands, 3, WGRUN_SIMULATOR_DEVICE, &plan) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_script_plan(script, 1, operands, 3, WGRUN_SIMULATOR_DEVICE, &plan) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_script_plan(script, 0, NULL, 3, WGRUN_SIMULATOR_DEVICE, &plan) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_plan_close(plan) == WGRUN_OK);
    CHECK(wgrun_kernel_close(kernel) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
}

/* What the script made by wg.empty may hold anything. */
static void empty_workspaces(wgrun_engine *engine) {
    wgrun_script *script = NULL;
    wgrun_plan *plan = NULL;
    size_t i;
    REQUIRE(load(engine,
                 "local wg = require 'wgrun'\n"
                 "local kernel = wg.kernel('two', {}, function(k) k:param('A', 'f32*') k:param('B', 'f32*') end)\n"
                 "return { two = { kernel = kernel, launch = function()\n"
                 "  return { grid = 1, args = { wg.empty('f32', 4), wg.zeros('f32', 4) } }\n"
                 "end } }", &script) == WGRUN_OK);
    REQUIRE(wgrun_script_plan(script, 0, NULL, 0, WGRUN_SIMULATOR_DEVICE, &plan) == WGRUN_OK);
    for (i = 0; i < 2; ++i) {
        wgrun_planned planned = {0};
        planned.size = sizeof planned;
        CHECK(wgrun_plan_argument(plan, i, &planned) == WGRUN_OK);
        CHECK(planned.bytes == 16 && planned.zeros == 1 && planned.empty == (i == 0));
    }
    CHECK(wgrun_plan_close(plan) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
}

static void misuse(wgrun_engine *engine) {
    wgrun_engine *other = NULL;
    wgrun_script *script = NULL;
    wgrun_kernel *kernel = NULL;
    wgrun_findings *findings = NULL;
    wgrun_engine_options options = {0};
    wgrun_error error = {0};
    struct {
        wgrun_engine_options known;
        uint64_t later;
    } newer = {{0}, 0};
    wgrun_source source = {0};
    size_t count;
    const char *text;
    int local = 0;
    CHECK(wgrun_engine_open(NULL, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_engine_open(&options, &other) == WGRUN_BAD_ARGUMENT); /* size is 0 */
    newer.known.size = sizeof newer;
    CHECK(wgrun_engine_open(&newer.known, &other) == WGRUN_OK);
    CHECK(wgrun_engine_close(other) == WGRUN_OK);
    newer.later = 1;
    CHECK(wgrun_engine_open(&newer.known, &other) == WGRUN_BAD_ARGUMENT);
    options.size = sizeof options;
    options.backend = 9;
    CHECK(wgrun_engine_open(&options, &other) == WGRUN_BAD_ARGUMENT);

    CHECK(wgrun_script_load(NULL, &source, &script) == WGRUN_BAD_HANDLE);
    CHECK(wgrun_script_load(other, &source, &script) == WGRUN_BAD_HANDLE); /* closed */
    CHECK(strcmp(last().message, "not an open wgrun_engine: closed, or never opened") == 0);
    CHECK(wgrun_script_load((wgrun_engine *)(void *)&local, &source, &script) == WGRUN_BAD_HANDLE);
    CHECK(wgrun_script_load(engine, NULL, &script) == WGRUN_BAD_ARGUMENT);
    source.size = sizeof source;
    CHECK(wgrun_script_load(engine, &source, &script) == WGRUN_BAD_ARGUMENT); /* neither file nor text */
    CHECK(wgrun_script_close((wgrun_script *)(void *)engine) == WGRUN_BAD_HANDLE);
    CHECK(strcmp(last().message, "not an open wgrun_script: a wgrun_engine") == 0);
    CHECK(wgrun_kernel_ptx((wgrun_kernel *)(void *)engine, &text, NULL) == WGRUN_BAD_HANDLE);
    CHECK(wgrun_findings_count((wgrun_findings *)(void *)engine, &count) == WGRUN_BAD_HANDLE);
    CHECK(wgrun_plan_close((wgrun_plan *)(void *)engine) == WGRUN_BAD_HANDLE);
    CHECK(wgrun_engine_close(NULL) == WGRUN_OK && wgrun_kernel_close(NULL) == WGRUN_OK);

    kernel = only_kernel(engine, "return require 'wgrun'.kernel('k', {}, function() end)");
    CHECK(wgrun_kernel_ptx(kernel, NULL, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_check(kernel, NULL, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_verdicts(kernel, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_simulate(kernel, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_cubin(kernel, 9, NULL, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_info_get(kernel, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_close(kernel) == WGRUN_OK);
    CHECK(wgrun_kernel_info_get(kernel, NULL) == WGRUN_BAD_HANDLE);
    CHECK(wgrun_last_error(NULL) == WGRUN_BAD_ARGUMENT && wgrun_last_error(&error) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_last_findings(&findings) == WGRUN_OK && wgrun_findings_close(findings) == WGRUN_OK);
    CHECK(wgrun_engine_interrupt(engine) == WGRUN_OK);
    CHECK(strcmp(wgrun_status_name(WGRUN_BUSY), "WGRUN_BUSY") == 0);
    CHECK(strcmp(wgrun_status_name(WGRUN_LIMIT_REACHED), "WGRUN_LIMIT_REACHED") == 0);
    CHECK(strcmp(wgrun_status_name(WGRUN_INTERNAL), "WGRUN_INTERNAL") == 0);
    CHECK(strcmp(wgrun_status_name(-1), "unknown status") == 0);
    CHECK(strcmp(wgrun_dtype_name(WGRUN_BF16), "bf16") == 0 && wgrun_dtype_name(0) == NULL);
    CHECK(wgrun_dtype_bits(WGRUN_B1) == 1 && wgrun_dtype_bits(WGRUN_F64) == 64 && wgrun_dtype_bits(999) == 0);
}

/* Pictures and the debugger print as scripts do, and the host's standard input is not the debugger's. */
static void prints(void) {
    wgrun_engine_options options = {0};
    struct heard heard = {{0}, NULL, 0};
    wgrun_engine *engine = NULL;
    wgrun_script *script = NULL;
    options.size = sizeof options;
    options.run_kernels = 1;
    options.print = hear;
    options.print_user = &heard;
    REQUIRE(wgrun_engine_open(&options, &engine) == WGRUN_OK);
    REQUIRE(load(engine, "local wg = require 'wgrun' wg.layout('(2,2):(2,1)'):print()\n"
                         "wg.kernel('k', { threads = 32 }, function(k) k:bar_sync(0) end):debug { grid = 1 }", &script) == WGRUN_OK);
    CHECK(strstr(heard.text, "mode 0 down") != NULL);
    CHECK(strstr(heard.text, "before the first step") != NULL);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
    CHECK(wgrun_engine_close(engine) == WGRUN_OK);
}

/* An engine for each thread. */
static void *work(void *argument) {
    static const int64_t shape[1] = {256};
    const int mine = *(const int *)argument;
    wgrun_engine *engine = NULL;
    wgrun_launch launch = WGRUN_LAUNCH_INIT;
    wgrun_engine_options options = {0};
    struct heard heard = {{0}, NULL, 0};
    int round, i;
    options.size = sizeof options;
    options.print = hear;
    options.print_user = &heard;
    CHECK(wgrun_engine_open(&options, &engine) == WGRUN_OK);
    for (round = 0; round < 3; ++round) {
        float data[256];
        wgrun_script *script = NULL;
        wgrun_argument arguments[3];
        wgrun_kernel *kernel;
        for (i = 0; i < 256; ++i) data[i] = (float)i;
        arguments[0] = memory(data, WGRUN_F32, 1, shape);
        arguments[1] = integer(256);
        arguments[2] = real(mine);
        launch.grid[0] = 2;
        launch.arguments = arguments;
        launch.argument_count = 3;
        kernel = only_kernel(engine, scale_text);
        CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_OK);
        for (i = 0; i < 256; ++i)
            if (data[i] != (float)(i * mine)) break;
        CHECK(i == 256);
        CHECK(load(engine, "error 'mine'", &script) == WGRUN_SCRIPT_FAILED);
        CHECK(strstr(last().message, "mine") != NULL);
        CHECK(wgrun_kernel_close(kernel) == WGRUN_OK);
    }
    CHECK(wgrun_engine_close(engine) == WGRUN_OK);
    return NULL;
}

/* Another thread ends a simulation that never would. */
static void *interrupt(void *argument) {
    struct endless *endless = argument;
    struct timespec pause = {0, 20000000};
    int i, done = 0;
    for (i = 0; i < 500 && !done; ++i) {
        nanosleep(&pause, NULL);
        wgrun_engine_interrupt(endless->engine);
        pthread_mutex_lock(&endless->mutex);
        done = endless->done;
        pthread_mutex_unlock(&endless->mutex);
    }
    return NULL;
}

static int third_time(void *user) {
    int *asked = user;
    return ++*asked == 3;
}

/* A token ends each call that takes long, whether it is cancelled before or meanwhile. */
static void cancellations(wgrun_engine *engine, wgrun_kernel *kernel, const wgrun_launch *launch) {
    static const char ptx[] = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n";
    wgrun_source source = text_source("local function f() while true do end end while true do pcall(f) end", "loop.lua");
    wgrun_cancellation *cancelled = NULL, *asking = NULL;
    wgrun_script *script = NULL;
    wgrun_findings *findings = NULL;
    wgrun_verdicts *verdicts = NULL;
    const char *text;
    const void *image;
    size_t bytes;
    int asked = 0;
    CHECK(wgrun_cancellation_open(NULL, NULL, NULL) == WGRUN_BAD_ARGUMENT);
    REQUIRE(wgrun_cancellation_open(NULL, NULL, &cancelled) == WGRUN_OK);
    REQUIRE(wgrun_cancellation_open(third_time, &asked, &asking) == WGRUN_OK);
    CHECK(wgrun_cancellation_request(cancelled) == WGRUN_OK && wgrun_cancellation_use(cancelled) == WGRUN_OK);
    CHECK(wgrun_script_load(engine, &source, &script) == WGRUN_INTERRUPTED && script == NULL);
    CHECK(wgrun_kernel_check(kernel, NULL, &findings) == WGRUN_INTERRUPTED);
    CHECK(wgrun_kernel_verdicts(kernel, &verdicts) == WGRUN_INTERRUPTED);
    CHECK(wgrun_kernel_ptx(kernel, &text, NULL) == WGRUN_INTERRUPTED);
    CHECK(wgrun_kernel_cuda(kernel, &text, NULL) == WGRUN_INTERRUPTED);
    CHECK(wgrun_kernel_cubin(kernel, WGRUN_ANY_ASSEMBLER, &image, &bytes) == WGRUN_INTERRUPTED);
    CHECK(wgrun_kernel_simulate(kernel, launch) == WGRUN_INTERRUPTED);
    CHECK(wgrun_check_ptx(NULL, ptx, sizeof ptx - 1, &text) == WGRUN_INTERRUPTED);
    CHECK(wgrun_cancellation_use(asking) == WGRUN_OK);
    CHECK(wgrun_script_load(engine, &source, &script) == WGRUN_INTERRUPTED && asked == 3);
    asked = 0;
    CHECK(wgrun_kernel_simulate(kernel, launch) == WGRUN_INTERRUPTED && asked == 3);
    asked = 3;
    CHECK(wgrun_kernel_check(kernel, NULL, &findings) == WGRUN_OK && wgrun_findings_close(findings) == WGRUN_OK);
    CHECK(wgrun_cancellation_use(cancelled) == WGRUN_OK && wgrun_cancellation_use(NULL) == WGRUN_OK);
    CHECK(wgrun_check_ptx(NULL, ptx, sizeof ptx - 1, &text) == WGRUN_OK);
    CHECK(wgrun_cancellation_close(cancelled) == WGRUN_OK && wgrun_cancellation_close(asking) == WGRUN_OK);
    CHECK(wgrun_cancellation_use(cancelled) == WGRUN_BAD_HANDLE);
}

static void interrupts(void) {
    static const int64_t shape[1] = {1};
    static const char endless_text[] =
        "local wg = require 'wgrun'\n"
        "local endless = wg.kernel('endless', { threads = 32 }, function(k)\n"
        "  local A = k:param('A', 'u32*')\n"
        "  k:while_(function() return k:ld_global_b32(k:element(A, 0)):eq(0) end, function() end)\n"
        "end)\n"
        "if ... then endless:run { args = { wg.zeros('u32', { 1 }) }, unchecked = true } end\n"
        "return endless\n";
    uint32_t data[1] = {0};
    struct endless endless = {NULL, PTHREAD_MUTEX_INITIALIZER, 0};
    const char *words[1] = {"run"};
    wgrun_engine_options options = {0};
    wgrun_argument argument = memory(data, WGRUN_U32, 1, shape);
    wgrun_launch launch = WGRUN_LAUNCH_INIT;
    wgrun_source source = text_source(endless_text, "endless.lua");
    wgrun_script *script = NULL;
    wgrun_kernel *kernel;
    pthread_t thread;
    options.size = sizeof options;
    options.run_kernels = 1;
    options.backend = WGRUN_SIM;
    REQUIRE(wgrun_engine_open(&options, &endless.engine) == WGRUN_OK);
    kernel = only_kernel(endless.engine, endless_text);
    launch.arguments = &argument;
    launch.argument_count = 1;
    launch.unchecked = 1;
    REQUIRE(pthread_create(&thread, NULL, interrupt, &endless) == 0);
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_INTERRUPTED);
    source.arguments = words;
    source.argument_count = 1;
    CHECK(wgrun_script_load(endless.engine, &source, &script) == WGRUN_INTERRUPTED);
    pthread_mutex_lock(&endless.mutex);
    endless.done = 1;
    pthread_mutex_unlock(&endless.mutex);
    pthread_join(thread, NULL);
    /* One that comes before the call is not lost, and is that call's alone. */
    wgrun_engine_interrupt(endless.engine);
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_INTERRUPTED);
    cancellations(endless.engine, kernel, &launch);
    CHECK(wgrun_kernel_close(kernel) == WGRUN_OK);
    CHECK(wgrun_engine_close(endless.engine) == WGRUN_OK);
}

static void threads(void) {
    pthread_t made[4];
    int numbers[4], i;
    for (i = 0; i < 4; ++i) {
        numbers[i] = i + 1;
        REQUIRE(pthread_create(&made[i], NULL, work, &numbers[i]) == 0);
    }
    for (i = 0; i < 4; ++i) pthread_join(made[i], NULL);
}

int main(void) {
    wgrun_engine *engine = NULL;
    CHECK(wgrun_api_version() >= WGRUN_C_API_VERSION);
    CHECK(wgrun_version()[0] != 0);
    REQUIRE(wgrun_engine_open(NULL, &engine) == WGRUN_OK);
    kernels();
    prints();
    findings_of_kernels(engine);
    findings_of_a_run(engine);
    scripts(engine);
    plans(engine);
    empty_workspaces(engine);
    misuse(engine);
    interrupts();
    threads();
    CHECK(wgrun_engine_close(engine) == WGRUN_OK);
    if (failures == 0) puts("ok");
    return failures == 0 ? 0 : 1;
}
