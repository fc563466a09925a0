/* What tools ask of kernels, by wgrun.h alone: reports, source maps, timelines, files, sizes, tuning, progress, scripts that
 * run again; and what becomes of misuse, limits and cancellation there. Ends with 0 if all is right. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const char scale_text[] =
    "local wg = require 'wgrun'\n"
    "local factor = tonumber((...)) or 2\n"
    "calls = (calls or 0) + 1\n"
    "assert(calls == 1 and arg[1] == (...))\n"
    "local scale = wg.kernel('scale' .. (select(2, ...) or ''), { threads = 128 }, function(k)\n"
    "  local A, n = k:param('A', 'f32*'), k:param('n', 'u32')\n"
    "  local i = k:special 'ctaid.x' * 128 + k:special 'tid.x'\n"
    "  k:if_(i:lt(n), function()\n"
    "    local address = k:element(A, i)\n"
    "    k:st_global_f32(address, k:ld_global_f32(address) * factor)\n"
    "  end)\n"
    "end)\n"
    "scale:sizes { n = { 1, 300 }, run = function(size)\n"
    "  local A = wg.ones('f32', { size.n })\n"
    "  scale:run { grid = (size.n + 127) // 128, args = { A, size.n } }\n"
    "  assert(A[size.n - 1] == factor, 'the last element is not scaled')\n"
    "  assert(size.n ~= 129, 'not with 129')\n"
    "end }\n"
    "scale:launch_rule { notes = { n = 'the elements of A' } }\n"
    "return scale\n";

static const char tuning_text[] =
    "local wg = require 'wgrun'\n"
    "return wg.tuning { name = 'fill', space = { threads = { 32, 64, 96 } }, build = function(options)\n"
    "  if options.threads == 96 then return nil, 'no ' .. options.threads end\n"
    "  local begin = os.clock()\n" /* progress is told of what takes long */
    "  repeat until os.clock() - begin > 0.05\n"
    "  local fill = wg.kernel('fill', { threads = options.threads }, function(k)\n"
    "    local X = k:param('X', 'f32*')\n"
    "    k:loop(20, function() k:st_global_f32(k:element(X, k:special 'tid.x'), 1.0) end)\n"
    "  end)\n"
    "  return fill, { grid = 4096 // options.threads, args = { wg.zeros('f32', { 128 }) } }\n"
    "end }\n";

static const char endless_text[] =
    "local wg = require 'wgrun'\n"
    "local endless\n"
    "endless = wg.kernel('endless', { threads = 32 }, function(k)\n"
    "  local A = k:param('A', 'u32*')\n"
    "  k:while_(function() return k:ld_global_b32(k:element(A, 0)):eq(0) end, function() end)\n"
    "end)\n"
    "endless:sizes { n = { 1, 8 }, run = function()\n"
    "  endless:run { args = { wg.zeros('u32', { 1 }) }, unchecked = true }\n"
    "end }\n"
    "return endless\n";

static wgrun_engine *engine_with(const wgrun_limits *limits) {
    wgrun_engine_options options = {0};
    wgrun_engine *engine = NULL;
    options.size = sizeof options;
    options.limits = limits;
    REQUIRE(wgrun_engine_open(&options, &engine) == WGRUN_OK);
    return engine;
}

static wgrun_script *load(wgrun_engine *engine, const char *text) {
    wgrun_source source = {0};
    wgrun_script *script = NULL;
    source.size = sizeof source;
    source.file = "test.lua";
    source.text = text;
    source.length = strlen(text);
    REQUIRE(wgrun_script_load(engine, &source, &script) == WGRUN_OK);
    return script;
}

static wgrun_kernel *kernel_of(wgrun_script *script) {
    wgrun_kernel *kernel = NULL;
    REQUIRE(wgrun_script_kernel(script, WGRUN_RETURNED, 0, &kernel) == WGRUN_OK);
    return kernel;
}

static wgrun_kernel *only_kernel(wgrun_engine *engine, const char *text) {
    wgrun_script *script = load(engine, text);
    wgrun_kernel *kernel = kernel_of(script);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
    return kernel;
}

static wgrun_argument memory(void *data, int dtype, const int64_t *shape) {
    wgrun_argument argument = {0};
    argument.kind = WGRUN_MEMORY;
    argument.dtype = dtype;
    argument.address = (uint64_t)(uintptr_t)data;
    argument.rank = 1;
    argument.shape = shape;
    return argument;
}

/* Scales `count` elements, 3 of which `data` has. */
static wgrun_launch launch_of(wgrun_argument *arguments, float *data, int64_t count) {
    static const int64_t shape[1] = {3};
    wgrun_launch launch = WGRUN_LAUNCH_INIT;
    arguments[0] = memory(data, WGRUN_F32, shape);
    arguments[1] = memory(NULL, 0, NULL);
    arguments[1].kind = WGRUN_INTEGER;
    arguments[1].integer = count;
    launch.arguments = arguments;
    launch.argument_count = 2;
    return launch;
}

static void reports(wgrun_kernel *kernel) {
    wgrun_report report = {0};
    wgrun_findings *findings = NULL;
    size_t count = 9;
    int status;
    CHECK(wgrun_kernel_report(kernel, &report, NULL) == WGRUN_BAD_ARGUMENT); /* no size */
    CHECK(wgrun_kernel_report(kernel, NULL, NULL) == WGRUN_BAD_ARGUMENT);
    report.size = sizeof report;
    status = wgrun_kernel_report(kernel, &report, &findings);
    if (status == WGRUN_NO_FILE || status == WGRUN_NO_DEVICE) return; /* no assembler here */
    CHECK(status == WGRUN_OK);
    CHECK(report.threads == 128 && report.registers > 0 && report.estimated > 0 && report.spill_stores == 0);
    CHECK(report.ctas_per_sm == 16 && strcmp(report.limited_by, "threads") == 0);
    CHECK(strcmp(report.assembler, "ptxas") == 0 && report.assembler_version[0] != 0);
    CHECK(strstr(report.json, "\"ctas_per_sm\": 16") != NULL);
    CHECK(wgrun_findings_count(findings, &count) == WGRUN_OK && count == 0);
    CHECK(wgrun_findings_close(findings) == WGRUN_OK);
}

static void source_maps(wgrun_kernel *kernel) {
    const wgrun_place *lines = NULL;
    const char *text = NULL, *at;
    size_t count = 0, length = 0, line = 0, i, ends = 0;
    REQUIRE(wgrun_kernel_source_map(kernel, WGRUN_PTX_TEXT, &lines, &count) == WGRUN_OK);
    REQUIRE(wgrun_kernel_ptx(kernel, &text, &length) == WGRUN_OK);
    for (i = 0; i < length; ++i) ends += text[i] == '\n';
    CHECK(count == ends);
    at = strstr(text, "st.global");
    REQUIRE(at != NULL);
    for (; at > text; --at) line += at[-1] == '\n';
    CHECK(strcmp(lines[line].file, "test.lua") == 0 && lines[line].line == 10);
    CHECK(lines[0].file == NULL || lines[0].line > 0);
    REQUIRE(wgrun_kernel_source_map(kernel, WGRUN_CUDA_TEXT, &lines, &count) == WGRUN_OK);
    CHECK(count > 0);
    CHECK(wgrun_kernel_source_map(kernel, 3, &lines, &count) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_source_map(kernel, WGRUN_PTX_TEXT, NULL, &count) == WGRUN_BAD_ARGUMENT);
}

static void timelines(wgrun_kernel *kernel) {
    wgrun_argument arguments[2];
    float data[3] = {1, 2, 3};
    wgrun_launch launch = launch_of(arguments, data, 3);
    wgrun_timeline *timeline = NULL;
    wgrun_timeline_info info = {0};
    wgrun_timeline_row row = {0};
    wgrun_timeline_span span = {0};
    wgrun_timeline_requests requests = {0};
    const char *text = NULL;
    size_t length = 0, i;
    int stores = 0;
    REQUIRE(wgrun_kernel_timeline(kernel, &launch, &timeline) == WGRUN_OK);
    CHECK(data[0] == 2 && data[2] == 6);
    info.size = sizeof info;
    row.size = sizeof row;
    span.size = sizeof span;
    requests.size = sizeof requests;
    REQUIRE(wgrun_timeline_info_get(timeline, &info) == WGRUN_OK);
    CHECK(strcmp(info.kernel, "scale") == 0 && strcmp(info.source, "model") == 0);
    CHECK(info.cycles > 0 && info.microseconds > 0 && info.ghz > 1 && info.ctas == 1 && info.shown == 1);
    CHECK(info.row_count > 0 && info.span_count > 0 && info.request_count == 2 && info.verdict_count > 0);
    CHECK(wgrun_timeline_row_get(timeline, 0, &row) == WGRUN_OK && row.name[0] != 0);
    for (i = 0; i < info.span_count; ++i) {
        CHECK(wgrun_timeline_span_get(timeline, i, &span) == WGRUN_OK);
        CHECK(span.row >= 0 && (size_t)span.row < info.row_count && span.begin <= span.end && span.kind[0] != 0);
    }
    for (i = 0; i < info.request_count; ++i) {
        CHECK(wgrun_timeline_requests_get(timeline, i, &requests) == WGRUN_OK);
        CHECK(requests.line == 10 && strcmp(requests.file, "test.lua") == 0 && !requests.shared);
        stores += strcmp(requests.what, "st.global") == 0;
    }
    CHECK(stores == 1);
    CHECK(wgrun_timeline_verdict(timeline, 0, &text) == WGRUN_OK && text[0] != 0);
    CHECK(wgrun_timeline_text(timeline, WGRUN_TIMELINE_TEXT, 0, 0, 0, &text, &length) == WGRUN_OK);
    CHECK(strlen(text) == length && strstr(text, "warp") != NULL);
    CHECK(wgrun_timeline_text(timeline, WGRUN_TIMELINE_SVG, 0, 0, 0, &text, NULL) == WGRUN_OK);
    CHECK(strncmp(text, "<svg", 4) == 0);
    CHECK(wgrun_timeline_text(timeline, WGRUN_TIMELINE_HTML, 0, 0, 100, &text, NULL) == WGRUN_OK);
    CHECK(strncmp(text, "<!doctype html>", 15) == 0 && strstr(text, "</svg>") != NULL);
    CHECK(wgrun_timeline_text(timeline, WGRUN_TIMELINE_PERFETTO, 0, 0, 0, &text, NULL) == WGRUN_OK);
    CHECK(strstr(text, "traceEvents") != NULL);
    CHECK(wgrun_timeline_text(timeline, WGRUN_TIMELINE_JSON, 0, 0, 0, &text, NULL) == WGRUN_OK);
    CHECK(strstr(text, "\"source\": \"model\"") != NULL);
    CHECK(wgrun_timeline_text(timeline, 6, 0, 0, 0, &text, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_timeline_text(timeline, WGRUN_TIMELINE_TEXT, 31, 0, 0, &text, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_timeline_text(timeline, WGRUN_TIMELINE_TEXT, 0, -1, 0, &text, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_timeline_row_get(timeline, info.row_count, &row) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_timeline_span_get(timeline, info.span_count, &span) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_timeline_verdict(timeline, info.verdict_count, &text) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_timeline_close(timeline) == WGRUN_OK);
    CHECK(wgrun_timeline_info_get(timeline, &info) == WGRUN_BAD_HANDLE);

    launch.backend = WGRUN_SIM;
    REQUIRE(wgrun_kernel_profile(kernel, &launch, 0, 0, &timeline) == WGRUN_OK);
    CHECK(wgrun_timeline_info_get(timeline, &info) == WGRUN_OK && strcmp(info.source, "simulator") == 0);
    CHECK(wgrun_timeline_close(timeline) == WGRUN_OK);
    CHECK(wgrun_kernel_profile(kernel, &launch, -1, 0, &timeline) == WGRUN_BAD_ARGUMENT);
    launch = launch_of(arguments, data, 4); /* one more than there are */
    CHECK(wgrun_kernel_timeline(kernel, &launch, &timeline) == WGRUN_FOUND_ERRORS);
    launch.argument_count = 1;
    CHECK(wgrun_kernel_timeline(kernel, &launch, &timeline) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_timeline(kernel, NULL, &timeline) == WGRUN_BAD_ARGUMENT);
}

static void exports(wgrun_engine *engine, wgrun_script *script, const char *folder) {
    static const char *const words[2] = {"3", "_again"};
    wgrun_kernel *kernels[2];
    wgrun_script *again = NULL;
    wgrun_files *files = NULL, *written = NULL;
    wgrun_file file = {0};
    wgrun_engine *other = engine_with(NULL);
    wgrun_kernel *foreign = only_kernel(other, scale_text);
    size_t count = 0, i;
    int noted = 0, ptx = 0;
    kernels[0] = kernel_of(script);
    REQUIRE(wgrun_script_again(script, words, 2, &again) == WGRUN_OK);
    kernels[1] = kernel_of(again);
    file.size = sizeof file;
    REQUIRE(wgrun_export(kernels, 2, NULL, &files) == WGRUN_OK);
    REQUIRE(wgrun_files_count(files, &count) == WGRUN_OK && count >= 10);
    for (i = 0; i < count; ++i) {
        REQUIRE(wgrun_files_get(files, i, &file) == WGRUN_OK);
        CHECK(strncmp(file.name, file.kernel, strlen(file.kernel)) == 0 && file.length > 0);
        CHECK((file.registers > 0) == (file.no_cubin[0] == 0));
        noted += strstr(file.name, ".json") != NULL && strstr(file.content, "the elements of A") != NULL;
        ptx += strstr(file.name, ".ptx") != NULL && strstr(file.content, ".entry scale") != NULL;
    }
    CHECK(noted == 2 && ptx == 2);
    CHECK(wgrun_files_get(files, count, &file) == WGRUN_BAD_ARGUMENT);
    if (folder != NULL) {
        char path[4096];
        FILE *opened;
        REQUIRE(wgrun_export(kernels, 2, folder, &written) == WGRUN_OK);
        snprintf(path, sizeof path, "%s/scale_again.ptx", folder);
        opened = fopen(path, "rb");
        CHECK(opened != NULL);
        if (opened != NULL) fclose(opened);
        CHECK(wgrun_export(kernels, 1, folder, NULL) == WGRUN_OK); /* its own files are replaced */
        snprintf(path, sizeof path, "%s/no/such", folder);
        CHECK(wgrun_export(kernels, 1, path, NULL) != WGRUN_OK);
        CHECK(wgrun_files_close(written) == WGRUN_OK);
    }
    CHECK(wgrun_export(kernels, 0, NULL, &files) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_export(NULL, 1, NULL, &files) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_export(kernels, 1, NULL, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_export(kernels, 1, "", NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_close(kernels[1]) == WGRUN_OK);
    CHECK(wgrun_export(kernels, 2, NULL, &files) == WGRUN_BAD_HANDLE);
    kernels[1] = foreign;
    CHECK(wgrun_export(kernels, 2, NULL, &files) == WGRUN_BAD_ARGUMENT); /* of two engines */
    CHECK(wgrun_files_close(files) == WGRUN_OK && wgrun_kernel_close(kernels[0]) == WGRUN_OK);
    CHECK(wgrun_script_close(again) == WGRUN_OK && wgrun_kernel_close(foreign) == WGRUN_OK);
    CHECK(wgrun_engine_close(other) == WGRUN_OK);
    (void)engine;
}

static void sizes(wgrun_engine *engine, wgrun_kernel *kernel) {
    wgrun_size size = {0};
    wgrun_findings *findings = NULL;
    wgrun_finding finding = {0};
    const int64_t *values = NULL;
    const char *json = NULL;
    int64_t own[2] = {129, 1};
    size_t count = 0, launches = 0, i;
    wgrun_kernel *bare = only_kernel(engine, "return require 'wgrun'.kernel('bare', {}, function() end)");
    size.size = sizeof size;
    finding.size = sizeof finding;
    REQUIRE(wgrun_kernel_size_count(kernel, &count) == WGRUN_OK && count == 1);
    REQUIRE(wgrun_kernel_size(kernel, 0, &size) == WGRUN_OK);
    CHECK(strcmp(size.name, "n") == 0 && size.least == 1 && size.most == 300 && size.multiple_of == 1);
    CHECK(wgrun_kernel_size(kernel, 1, &size) == WGRUN_BAD_ARGUMENT);
    REQUIRE(wgrun_kernel_edge_sizes(kernel, 0, &values, &launches) == WGRUN_OK && launches > 4);
    for (i = 0; i < launches; ++i) {
        CHECK(wgrun_kernel_check_size(kernel, &values[i], 1, i, &findings) == WGRUN_OK);
        CHECK(wgrun_findings_count(findings, &count) == WGRUN_OK && count == (values[i] == 129 ? 1u : 0u));
        CHECK(wgrun_findings_close(findings) == WGRUN_OK);
    }
    REQUIRE(wgrun_kernel_check_size(kernel, own, 1, 7, &findings) == WGRUN_OK);
    REQUIRE(wgrun_findings_get(findings, 0, &finding) == WGRUN_OK);
    CHECK(finding.line == 17 && strstr(finding.message, "not with 129") != NULL && finding.note_count == 1);
    CHECK(wgrun_findings_json(findings, &json) == WGRUN_OK && strstr(json, "\"seed\": 7") != NULL);
    CHECK(wgrun_findings_close(findings) == WGRUN_OK);
    CHECK(wgrun_kernel_check_size(kernel, own, 2, 0, &findings) == WGRUN_BAD_ARGUMENT);
    own[0] = 301;
    CHECK(wgrun_kernel_check_size(kernel, own, 1, 0, &findings) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_check_size(kernel, NULL, 1, 0, &findings) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_size_count(bare, &count) == WGRUN_OK && count == 0);
    CHECK(wgrun_kernel_edge_sizes(bare, 0, &values, &launches) == WGRUN_OK && launches == 0);
    CHECK(wgrun_kernel_check_size(bare, own, 1, 0, &findings) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_kernel_close(bare) == WGRUN_OK);
}

/* What a progress function heard. */
struct heard {
    int of_tuning, of_others;
};

static void hear(void *user, const wgrun_progress *parts, size_t count) {
    struct heard *heard = user;
    CHECK(count > 1 && parts[0].seconds >= parts[count - 1].seconds);
    if (strcmp(parts[0].what, "tune fill") == 0 && parts[0].total == 3 && strcmp(parts[0].unit, "candidates") == 0)
        ++heard->of_tuning;
    else
        ++heard->of_others;
}

static void tunings(wgrun_engine *engine) {
    wgrun_tune_options options = {0};
    wgrun_tuning *tuning = NULL;
    wgrun_candidate candidate = {0};
    wgrun_script *script = load(engine, tuning_text), *other = load(engine, scale_text), *none = load(engine, "return 1");
    const char *json = NULL;
    struct heard heard = {0, 0};
    size_t count = 0;
    options.size = sizeof options;
    options.results = "";
    candidate.size = sizeof candidate;
    CHECK(wgrun_progress_use(hear, &heard) == WGRUN_OK);
    REQUIRE(wgrun_script_tune(script, &options, &tuning) == WGRUN_OK);
    CHECK(wgrun_progress_use(NULL, NULL) == WGRUN_OK);
    CHECK(heard.of_tuning > 0 && heard.of_others == 0);
    REQUIRE(wgrun_tuning_count(tuning, &count) == WGRUN_OK && count == 3);
    REQUIRE(wgrun_tuning_get(tuning, 0, &candidate) == WGRUN_OK);
    CHECK(candidate.measured && !candidate.cached && candidate.microseconds > 0);
    CHECK(strncmp(candidate.options, "threads = ", 10) == 0 && candidate.reason[0] == 0);
    REQUIRE(wgrun_tuning_get(tuning, 2, &candidate) == WGRUN_OK);
    CHECK(!candidate.measured && strcmp(candidate.reason, "no 96") == 0);
    CHECK(wgrun_tuning_get(tuning, 3, &candidate) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_tuning_json(tuning, &json) == WGRUN_OK && strstr(json, "\"reason\": \"no 96\"") != NULL);
    CHECK(wgrun_tuning_close(tuning) == WGRUN_OK);
    options.measure = "time";
    options.rounds = 1;
    CHECK(wgrun_script_tune(script, &options, &tuning) == WGRUN_OK && wgrun_tuning_close(tuning) == WGRUN_OK);
    options.measure = "guess";
    CHECK(wgrun_script_tune(script, &options, &tuning) == WGRUN_BAD_ARGUMENT);
    options.measure = NULL;
    CHECK(wgrun_script_tune(other, &options, &tuning) == WGRUN_SCRIPT_FAILED); /* a kernel is no tuning */
    CHECK(wgrun_script_tune(none, NULL, &tuning) == WGRUN_SCRIPT_FAILED);
    CHECK(wgrun_script_close(none) == WGRUN_OK && wgrun_script_close(other) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
}

/* Runs of one script have arguments, globals and kernels of their own. */
static void again(wgrun_engine *engine) {
    wgrun_script *first = load(engine, scale_text), *runs[40];
    wgrun_kernel *kernels[40];
    wgrun_argument arguments[2];
    wgrun_launch launch;
    const char *words[1], *bad[1] = {NULL};
    char word[8];
    size_t count = 0;
    float data[3];
    int i;
    words[0] = word;
    for (i = 0; i < 40; ++i) {
        snprintf(word, sizeof word, "%d", i + 3);
        REQUIRE(wgrun_script_again(i % 2 ? runs[i - 1] : first, words, 1, &runs[i]) == WGRUN_OK);
        kernels[i] = kernel_of(runs[i]);
        CHECK(wgrun_script_count(runs[i], WGRUN_MADE, &count) == WGRUN_OK && count == 1);
    }
    for (i = 0; i < 40; ++i) {
        wgrun_kernel_info info = {0};
        if (i % 3 == 0) CHECK(wgrun_script_close(runs[i]) == WGRUN_OK); /* the kernel keeps what it needs */
        data[0] = data[1] = data[2] = 1;
        launch = launch_of(arguments, data, 3);
        CHECK(wgrun_kernel_simulate(kernels[i], &launch) == WGRUN_OK && data[1] == (float)(i + 3));
        info.size = sizeof info;
        CHECK(wgrun_kernel_info_get(kernels[i], &info) == WGRUN_OK && info.line == 5);
        CHECK(wgrun_kernel_close(kernels[i]) == WGRUN_OK);
        if (i % 3 != 0) CHECK(wgrun_script_close(runs[i]) == WGRUN_OK);
    }
    CHECK(wgrun_script_again(first, bad, 1, &runs[0]) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_script_again(first, NULL, 1, &runs[0]) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_script_again(first, NULL, 0, NULL) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_script_again(NULL, NULL, 0, &runs[0]) == WGRUN_BAD_HANDLE);
    words[0] = "no number";
    CHECK(wgrun_script_again(first, words, 1, &runs[0]) == WGRUN_OK && wgrun_script_close(runs[0]) == WGRUN_OK);
    CHECK(wgrun_script_close(first) == WGRUN_OK);
    first = load(engine, "if ... then error 'not again' end return require 'wgrun'.kernel('k', {}, function() end)");
    CHECK(wgrun_script_again(first, words, 1, &runs[0]) == WGRUN_SCRIPT_FAILED);
    CHECK(wgrun_script_again(first, NULL, 0, &runs[0]) == WGRUN_OK && wgrun_script_close(runs[0]) == WGRUN_OK);
    CHECK(wgrun_script_close(first) == WGRUN_OK);
}

/* What a token has cancelled, and what an engine's limits end. */
static void ended(wgrun_engine *engine, wgrun_kernel *kernel) {
    static const int64_t shape[1] = {1};
    const int64_t one[1] = {1};
    uint32_t zero[1] = {0};
    float data[3] = {1, 2, 3};
    wgrun_limits limits = {0};
    wgrun_engine *short_lived;
    wgrun_kernel *endless;
    wgrun_script *script = load(engine, tuning_text), *more = NULL;
    wgrun_argument arguments[2], argument = memory(zero, WGRUN_U32, shape);
    wgrun_launch launch = launch_of(arguments, data, 3);
    wgrun_cancellation *token = NULL;
    wgrun_report report = {0};
    wgrun_timeline *timeline = NULL;
    wgrun_findings *findings = NULL;
    wgrun_tuning *tuning = NULL;
    wgrun_files *files = NULL;
    const wgrun_place *lines = NULL;
    size_t count = 0;
    report.size = sizeof report;
    REQUIRE(wgrun_cancellation_open(NULL, NULL, &token) == WGRUN_OK);
    CHECK(wgrun_cancellation_request(token) == WGRUN_OK && wgrun_cancellation_use(token) == WGRUN_OK);
    CHECK(wgrun_kernel_report(kernel, &report, NULL) == WGRUN_INTERRUPTED);
    CHECK(wgrun_kernel_source_map(kernel, WGRUN_PTX_TEXT, &lines, &count) == WGRUN_INTERRUPTED);
    CHECK(wgrun_kernel_timeline(kernel, &launch, &timeline) == WGRUN_INTERRUPTED);
    CHECK(wgrun_kernel_profile(kernel, &launch, 0, 0, &timeline) == WGRUN_INTERRUPTED);
    CHECK(wgrun_export(&kernel, 1, NULL, &files) == WGRUN_INTERRUPTED);
    CHECK(wgrun_kernel_check_size(kernel, one, 1, 0, &findings) == WGRUN_INTERRUPTED);
    CHECK(wgrun_script_tune(script, NULL, &tuning) == WGRUN_INTERRUPTED);
    CHECK(wgrun_script_again(script, NULL, 0, &more) == WGRUN_INTERRUPTED);
    CHECK(wgrun_cancellation_use(NULL) == WGRUN_OK && wgrun_cancellation_close(token) == WGRUN_OK);
    CHECK(wgrun_kernel_check_size(kernel, one, 1, 0, &findings) == WGRUN_OK);
    CHECK(wgrun_findings_close(findings) == WGRUN_OK);

    limits.size = sizeof limits;
    limits.milliseconds = 2000; /* enough to load a script beside other work */
    short_lived = engine_with(&limits);
    endless = only_kernel(short_lived, endless_text);
    launch.arguments = &argument;
    launch.argument_count = 1;
    launch.unchecked = 1;
    CHECK(wgrun_kernel_timeline(endless, &launch, &timeline) == WGRUN_LIMIT_REACHED);
    launch.backend = WGRUN_SIM;
    CHECK(wgrun_kernel_profile(endless, &launch, 0, 0, &timeline) == WGRUN_LIMIT_REACHED);
    CHECK(wgrun_kernel_check_size(endless, one, 1, 0, &findings) == WGRUN_LIMIT_REACHED);
    CHECK(wgrun_kernel_check_size(endless, one, 1, 0, &findings) == WGRUN_LIMIT_REACHED);
    CHECK(wgrun_kernel_close(endless) == WGRUN_OK && wgrun_engine_close(short_lived) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
}

/* A token takes the place of the one before, and what it has ended may be asked for again. */
static void cancelled_plans(wgrun_engine *engine) {
    wgrun_script *script = load(engine,
        "local wg = require 'wgrun'\n"
        "local k = wg.kernel('k', { threads = 32 }, function(k) k:param('n', 'u32') end)\n"
        "return { kernel = k, launch = function() return { grid = 1, args = { 1 } } end }\n");
    wgrun_cancellation *token = NULL, *other = NULL;
    wgrun_plan *plan = NULL;
    int i;
    REQUIRE(wgrun_cancellation_open(NULL, NULL, &token) == WGRUN_OK);
    REQUIRE(wgrun_cancellation_open(NULL, NULL, &other) == WGRUN_OK);
    CHECK(wgrun_cancellation_request(token) == WGRUN_OK);
    for (i = 0; i < 2; ++i) {
        CHECK(wgrun_cancellation_use(token) == WGRUN_OK);
        CHECK(wgrun_script_plan(script, 0, NULL, 0, WGRUN_SIMULATOR_DEVICE, &plan) == WGRUN_INTERRUPTED);
        CHECK(wgrun_cancellation_use(i == 0 ? other : NULL) == WGRUN_OK); /* in place of the first */
        CHECK(wgrun_script_plan(script, 0, NULL, 0, WGRUN_SIMULATOR_DEVICE, &plan) == WGRUN_OK);
        CHECK(wgrun_plan_close(plan) == WGRUN_OK);
    }
    CHECK(wgrun_cancellation_close(token) == WGRUN_OK && wgrun_cancellation_close(other) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
}

static void *work(void *argument) {
    wgrun_engine *engine = engine_with(NULL);
    wgrun_kernel *kernel = only_kernel(engine, scale_text);
    wgrun_argument arguments[2];
    float data[3];
    int i;
    (void)argument;
    for (i = 0; i < 4; ++i) {
        const int64_t one[1] = {1};
        wgrun_launch launch = launch_of(arguments, data, 3);
        wgrun_timeline *timeline = NULL;
        wgrun_findings *findings = NULL;
        wgrun_files *files = NULL;
        wgrun_script *script = load(engine, scale_text), *more = NULL;
        CHECK(wgrun_kernel_timeline(kernel, &launch, &timeline) == WGRUN_OK);
        CHECK(wgrun_export(&kernel, 1, NULL, &files) == WGRUN_OK);
        CHECK(wgrun_kernel_check_size(kernel, one, 1, 0, &findings) == WGRUN_OK);
        CHECK(wgrun_script_again(script, NULL, 0, &more) == WGRUN_OK);
        CHECK(wgrun_timeline_close(timeline) == WGRUN_OK && wgrun_files_close(files) == WGRUN_OK);
        CHECK(wgrun_findings_close(findings) == WGRUN_OK && wgrun_script_close(more) == WGRUN_OK);
        CHECK(wgrun_script_close(script) == WGRUN_OK);
    }
    tunings(engine);
    CHECK(wgrun_kernel_close(kernel) == WGRUN_OK && wgrun_engine_close(engine) == WGRUN_OK);
    return NULL;
}

/* argv[1]: a folder to make, or none. */
int main(int argc, char **argv) {
    wgrun_engine *engine = engine_with(NULL);
    wgrun_script *script = load(engine, scale_text);
    wgrun_kernel *kernel = kernel_of(script);
    pthread_t threads[2];
    int i;
    reports(kernel);
    source_maps(kernel);
    timelines(kernel);
    exports(engine, script, argc > 1 ? argv[1] : NULL);
    sizes(engine, kernel);
    tunings(engine);
    again(engine);
    ended(engine, kernel);
    cancelled_plans(engine);
    CHECK(wgrun_kernel_close(kernel) == WGRUN_OK && wgrun_script_close(script) == WGRUN_OK);
    CHECK(wgrun_engine_close(engine) == WGRUN_OK);
    for (i = 0; i < 2; ++i) REQUIRE(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    if (failures == 0) puts("ok");
    return failures == 0 ? 0 : 1;
}
