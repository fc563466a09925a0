/* Restricted engines, limits, the host's own allocator, and DLPack both ways, by wgrun.h alone. Ends with 0 if all is
 * right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wgrun.h>

static int failures = 0;

static wgrun_error last(void) {
    wgrun_error error = {0};
    error.size = sizeof error;
    wgrun_last_error(&error);
    return error;
}

static void check_at(int good, const char *what, int line) {
    if (good) return;
    fprintf(stderr, "main.c:%d: %s\n  last failure: %s %s\n", line, what, wgrun_status_name(last().status), last().text);
    ++failures;
}
#define CHECK(condition) check_at(condition, #condition, __LINE__)
#define REQUIRE(condition) do { CHECK(condition); if (failures > 0) exit(1); } while (0)

static int says(const char *words) { return strstr(last().text, words) != NULL; }

static int load(wgrun_engine *engine, const char *text, wgrun_script **script) {
    wgrun_source source = {0};
    source.size = sizeof source;
    source.file = "test.lua";
    source.text = text;
    source.length = strlen(text);
    *script = NULL;
    return wgrun_script_load(engine, &source, script);
}

static wgrun_engine *open_engine(int restricted, const wgrun_limits *limits) {
    wgrun_engine_options options = {0};
    wgrun_engine *engine = NULL;
    options.size = sizeof options;
    options.run_kernels = 1;
    options.backend = WGRUN_SIM;
    options.restricted = restricted;
    options.limits = limits;
    REQUIRE(wgrun_engine_open(&options, &engine) == WGRUN_OK);
    return engine;
}

/* ---- Restricted scripts, and limits ---------------------------------------------------------------------------------- */

static const char kernel_text[] =
    "local wg = require 'wgrun'\n"
    "return wg.kernel('fill', { threads = 32 }, function(k)\n"
    "  local A = k:param('A', 'f32*')\n"
    "  k:loop(1000, function() end)\n"
    "  k:st_global_f32(k:element(A, k:special 'tid.x'), k:mov(7, { type = 'f32' }))\n"
    "end)\n";

static void restricted_scripts(void) {
    wgrun_engine *engine = open_engine(1, NULL);
    wgrun_script *script = NULL;
    CHECK(load(engine, "io.open 'x'", &script) == WGRUN_SCRIPT_FAILED && says("global 'io'"));
    CHECK(load(engine, "os.execute 'true'", &script) == WGRUN_SCRIPT_FAILED && says("field 'execute'"));
    CHECK(load(engine, "os.exit(0)", &script) == WGRUN_SCRIPT_FAILED);
    CHECK(load(engine, "assert(load('\\27Lua'))", &script) == WGRUN_SCRIPT_FAILED && says("binary chunk"));
    CHECK(load(engine, "require 'wgrun'.load 't.npy'", &script) == WGRUN_SCRIPT_FAILED &&
          says("wg.load is not for restricted scripts"));
    CHECK(load(engine, "require 'wgrun'.zeros('f32', { 1 }):save 't.npy'", &script) == WGRUN_SCRIPT_FAILED &&
          says("tensor:save is not for restricted scripts"));
    CHECK(load(engine, "return ('x'):rep(1 << 30)", &script) == WGRUN_LIMIT_REACHED &&
          says("not enough memory: the script may use 512 MiB"));
    CHECK(load(engine, "return require 'wgrun'.zeros('u8', { 5 << 30 })", &script) == WGRUN_LIMIT_REACHED &&
          says("tensors may use 4096 MiB"));
    CHECK(load(engine, kernel_text, &script) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
    CHECK(wgrun_engine_close(engine) == WGRUN_OK);
}

static void ends(const wgrun_limits *limits, const char *text, const char *words) {
    wgrun_engine *engine = open_engine(0, limits);
    wgrun_script *script = NULL;
    const int status = load(engine, text, &script);
    if (status != WGRUN_LIMIT_REACHED || !says(words))
        fprintf(stderr, "%s\n  does not end with: %s\n", text, words);
    CHECK(status == WGRUN_LIMIT_REACHED && says(words) && script == NULL && strcmp(last().code, "ELIMIT") == 0);
    /* The engine goes on, and the next script has all that the first one had. */
    CHECK(load(engine, "return require 'wgrun'.layout '8:2' (3)", &script) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
    CHECK(wgrun_engine_close(engine) == WGRUN_OK);
}

#define SPIN \
    "local wg = require 'wgrun'\n" \
    "local k = wg.kernel('spin', { threads = 32 }, function(k) k:loop(4000000000, function() end) end)\n"

static void limits_of_scripts(void) {
    wgrun_limits limits = {0};
    limits.size = sizeof limits;
    limits.memory = 20u << 20;
    ends(&limits, "local s = 'x' while true do s = s .. s end", "the script may use 20 MiB");
    ends(&limits, "local t = {} while true do t = { t } end", "the script may use 20 MiB");
    ends(&limits, "coroutine.wrap(function() local s = 'x' while true do s = s .. s end end)()", "the script may use 20 MiB");
    limits.memory = 0;
    limits.milliseconds = 300;
    ends(&limits, "while true do pcall(function() while true do end end) end", "more than 0.3 s");
    ends(&limits, SPIN "k:run { grid = { 1, 1, 1 } }", "more than 0.3 s");
    ends(&limits, SPIN "pcall(k.run, k, { grid = { 1, 1, 1 } })", "more than 0.3 s");
    limits.milliseconds = WGRUN_NO_LIMIT;
    limits.instructions = 200000;
    ends(&limits, "while true do end", "more than 200000 instructions");
    limits.instructions = 0;
    limits.tensors = 10u << 20;
    ends(&limits, "return require 'wgrun'.zeros('u8', { 11 << 20 })", "tensors may use 10 MiB");
    limits.tensors = 0;
    limits.program = 1000;
    ends(&limits, "require 'wgrun'.kernel('k', {}, function(k) while true do k:mov(1, { type = 'u32' }) end end)",
         "the kernel has more than 1000 instructions");
    limits.program = 0;
    limits.steps = 500;
    ends(&limits, SPIN "k:run { grid = { 1, 1, 1 } }", "more than 500 steps");
}

/* Simulations that the host asks for; engines with limits of their own, in turn. */
static void limits_of_simulations(void) {
    static const int64_t shape[1] = {32};
    float data[32] = {0};
    wgrun_limits limits = {0};
    wgrun_engine *small, *large;
    wgrun_script *script[2] = {NULL, NULL};
    wgrun_kernel *kernel[2] = {NULL, NULL};
    wgrun_launch launch = WGRUN_LAUNCH_INIT;
    wgrun_argument argument = {0};
    int i;
    limits.size = sizeof limits;
    limits.steps = 100;
    small = open_engine(1, &limits);
    limits.steps = 1000000;
    large = open_engine(0, &limits);
    CHECK(load(small, kernel_text, &script[0]) == WGRUN_OK);
    CHECK(load(large, kernel_text, &script[1]) == WGRUN_OK);
    for (i = 0; i < 2; ++i) REQUIRE(wgrun_script_kernel(script[i], WGRUN_RETURNED, 0, &kernel[i]) == WGRUN_OK);
    argument.kind = WGRUN_MEMORY;
    argument.address = (uint64_t)(uintptr_t)data;
    argument.shape = shape;
    argument.rank = 1;
    launch.arguments = &argument;
    launch.argument_count = 1;
    for (i = 0; i < 3; ++i) {
        data[31] = 0;
        CHECK(wgrun_kernel_simulate(kernel[0], &launch) == WGRUN_LIMIT_REACHED && says("more than 100 steps"));
        CHECK(data[31] == 0);
        CHECK(wgrun_kernel_simulate(kernel[1], &launch) == WGRUN_OK && data[31] == 7);
    }
    for (i = 0; i < 2; ++i) {
        CHECK(wgrun_script_close(script[i]) == WGRUN_OK);
        CHECK(wgrun_kernel_close(kernel[i]) == WGRUN_OK);
    }
    CHECK(wgrun_engine_close(small) == WGRUN_OK);
    CHECK(wgrun_engine_close(large) == WGRUN_OK);
}

/* A plan's function has its own time; one that does not end is stopped, and the script goes on. */
static void limits_of_plans(void) {
    wgrun_limits limits = {0};
    wgrun_engine *engine;
    wgrun_script *script = NULL;
    wgrun_plan *plan = NULL;
    wgrun_argument operand = {0};
    limits.size = sizeof limits;
    limits.milliseconds = 200;
    engine = open_engine(1, &limits);
    REQUIRE(load(engine,
                 "local wg = require 'wgrun'\n"
                 "local kernel = wg.kernel('nothing', {}, function() end)\n"
                 "return { slow = { kernel = kernel, launch = function(_, n)\n"
                 "  while n > 5 do end return { grid = n, args = {} } end } }", &script) == WGRUN_OK);
    operand.kind = WGRUN_INTEGER;
    operand.integer = 6;
    CHECK(wgrun_script_plan(script, 0, &operand, 1, WGRUN_SIMULATOR_DEVICE, &plan) == WGRUN_LIMIT_REACHED && says("0.2 s"));
    operand.integer = 4;
    CHECK(wgrun_script_plan(script, 0, &operand, 1, WGRUN_SIMULATOR_DEVICE, &plan) == WGRUN_OK);
    CHECK(wgrun_plan_close(plan) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
    CHECK(wgrun_engine_close(engine) == WGRUN_OK);
}

/* A program of version 1, and one that says what cannot be. */
static void sizes_of_structs(void) {
    struct {
        size_t size;
        int run_kernels, backend;
        uint64_t seed;
        wgrun_text_function print;
        void *print_user;
        wgrun_text_function log;
        void *log_user;
        int beyond; /* none of the library's business */
    } old = {0};
    wgrun_engine_options options = {0};
    wgrun_limits limits = {0};
    wgrun_engine *engine = NULL;
    wgrun_script *script = NULL;
    old.size = offsetof(wgrun_engine_options, restricted);
    old.beyond = 1;
    CHECK(wgrun_engine_open((const wgrun_engine_options *)(const void *)&old, &engine) == WGRUN_OK);
    CHECK(load(engine, "assert(io.open)", &script) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
    CHECK(wgrun_engine_close(engine) == WGRUN_OK);
    options.size = sizeof options;
    options.limits = &limits;
    CHECK(wgrun_engine_open(&options, &engine) == WGRUN_BAD_ARGUMENT && says("options->limits->size"));
    CHECK(wgrun_api_version() >= 2);
}

/* ---- The host's allocator -------------------------------------------------------------------------------------------- */

struct heap {
    size_t held, most, fail_after;
    int bad;
};

static void *allocate(void *user, void *block, size_t old_size, size_t size) {
    struct heap *heap = user;
    void *result = NULL;
    if (block == NULL && old_size != 0) heap->bad = 1;
    if (old_size > heap->held) heap->bad = 1;
    if (size > old_size && heap->held + (size - old_size) > heap->fail_after) return NULL;
    if (size == 0)
        free(block);
    else if ((result = realloc(block, size)) == NULL)
        return NULL;
    heap->held = heap->held - old_size + size;
    if (heap->held > heap->most) heap->most = heap->held;
    return result;
}

static void allocators(void) {
    struct heap heap = {0, 0, (size_t)-1, 0};
    wgrun_engine_options options = {0};
    wgrun_engine *engine = NULL;
    wgrun_script *script = NULL;
    wgrun_kernel *kernel = NULL;
    const char *text = NULL;
    size_t whole, room;
    int refused = 0;
    options.size = sizeof options;
    options.allocate = allocate;
    options.allocate_user = &heap;
    REQUIRE(wgrun_engine_open(&options, &engine) == WGRUN_OK);
    CHECK(heap.held == 0);
    REQUIRE(load(engine, kernel_text, &script) == WGRUN_OK);
    CHECK(heap.held > 100000 && !heap.bad);
    REQUIRE(wgrun_script_kernel(script, WGRUN_RETURNED, 0, &kernel) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK);
    CHECK(heap.held > 0); /* the kernel keeps the state */
    CHECK(wgrun_kernel_ptx(kernel, &text, NULL) == WGRUN_OK);
    CHECK(wgrun_kernel_close(kernel) == WGRUN_OK);
    CHECK(heap.held == 0);
    whole = heap.most;
    /* However little memory there is: a status, and all is given back. */
    for (room = 0; room < whole; room += 20011) {
        int status;
        heap.fail_after = room;
        status = load(engine, kernel_text, &script);
        CHECK(status == WGRUN_NO_MEMORY || status == WGRUN_OK);
        refused += status == WGRUN_NO_MEMORY;
        if (status == WGRUN_OK) CHECK(wgrun_script_close(script) == WGRUN_OK);
        if (status != WGRUN_OK) CHECK(strcmp(last().code, "ENOMEM") == 0 && says("not enough memory"));
        CHECK(heap.held == 0);
    }
    CHECK(refused > 3);
    heap.fail_after = (size_t)-1;
    CHECK(load(engine, kernel_text, &script) == WGRUN_OK);
    CHECK(wgrun_script_close(script) == WGRUN_OK && !heap.bad);
    CHECK(wgrun_engine_close(engine) == WGRUN_OK);
}

/* ---- DLPack ---------------------------------------------------------------------------------------------------------- */

/* As in <dlpack/dlpack.h> 1.1. */
typedef struct {
    void *data;
    struct { int32_t type, id; } device;
    int32_t ndim;
    struct { uint8_t code, bits; uint16_t lanes; } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;

struct DLManagedTensor {
    DLTensor tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
    struct { uint32_t major, minor; } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor tensor;
};

typedef struct DLManagedTensor Managed;
typedef struct DLManagedTensorVersioned Versioned;

static int deleted = 0;

static void forget(Versioned *self) { ++deleted, (void)self; }
static void forget_unversioned(Managed *self) { ++deleted, (void)self; }

static int64_t shape_of_six[2] = {2, 3};
static float six[6] = {1, 2, 3, 4, 5, 6};

static DLTensor view(void) {
    DLTensor tensor = {0};
    tensor.data = six;
    tensor.device.type = 1;
    tensor.ndim = 2;
    tensor.dtype.code = 2;
    tensor.dtype.bits = 32;
    tensor.dtype.lanes = 1;
    tensor.shape = shape_of_six;
    return tensor;
}

static Versioned versioned(void) {
    Versioned managed = {0};
    managed.version.major = 1;
    managed.version.minor = 1;
    managed.deleter = forget;
    managed.tensor = view();
    return managed;
}

static void refused(Versioned managed, const char *words) {
    wgrun_tensor *tensor = NULL;
    deleted = 0;
    CHECK(wgrun_tensor_from_dlpack(&managed, WGRUN_ANY_DTYPE, &tensor) == WGRUN_BAD_ARGUMENT);
    if (!says(words)) fprintf(stderr, "expected: %s\n", words);
    CHECK(says(words) && tensor == NULL && deleted == 0);
}

static void dlpack_in(void) {
    static int64_t strides[2] = {1, 2};
    Versioned managed = versioned();
    Managed old = {0};
    wgrun_tensor *tensor = NULL;
    wgrun_argument argument = {0};
    CHECK(wgrun_tensor_from_dlpack(&managed, WGRUN_ANY_DTYPE, &tensor) == WGRUN_OK);
    CHECK(wgrun_tensor_argument(tensor, &argument) == WGRUN_OK);
    CHECK(argument.kind == WGRUN_MEMORY && argument.dtype == WGRUN_F32 && argument.rank == 2 && !argument.read_only);
    CHECK(argument.shape[0] == 2 && argument.shape[1] == 3 && argument.address == (uint64_t)(uintptr_t)six);
    CHECK(deleted == 0 && wgrun_tensor_close(tensor) == WGRUN_OK && deleted == 1);
    CHECK(wgrun_tensor_close(tensor) == WGRUN_BAD_HANDLE && deleted == 1);

    deleted = 0;
    old.tensor = view();
    old.deleter = forget_unversioned;
    CHECK(wgrun_tensor_from_dlpack_unversioned(&old, WGRUN_TF32, &tensor) == WGRUN_OK);
    CHECK(wgrun_tensor_argument(tensor, &argument) == WGRUN_OK && argument.dtype == WGRUN_TF32);
    CHECK(wgrun_tensor_close(tensor) == WGRUN_OK && deleted == 1);

    managed.flags = 1;
    CHECK(wgrun_tensor_from_dlpack(&managed, WGRUN_ANY_DTYPE, &tensor) == WGRUN_OK);
    CHECK(wgrun_tensor_argument(tensor, &argument) == WGRUN_OK && argument.read_only);
    {
        Managed *out = NULL;
        CHECK(wgrun_tensor_to_dlpack_unversioned(tensor, &out) == WGRUN_BAD_ARGUMENT && out == NULL && says("read-only"));
    }
    CHECK(wgrun_tensor_close(tensor) == WGRUN_OK);

    tensor = NULL;
    CHECK(wgrun_tensor_from_dlpack(NULL, WGRUN_ANY_DTYPE, &tensor) == WGRUN_BAD_ARGUMENT && says("null"));
    managed = versioned(), managed.tensor.device.type = 2, managed.tensor.device.id = 3;
    refused(managed, "CUDA device 3");
    managed = versioned(), managed.tensor.dtype.code = 5, managed.tensor.dtype.bits = 64;
    refused(managed, "complex of 64 bits, for which there is no dtype");
    managed = versioned(), managed.tensor.dtype.lanes = 4;
    refused(managed, "vectors of 4");
    managed = versioned(), managed.tensor.strides = strides;
    refused(managed, "not in row-major order");
    managed = versioned(), managed.tensor.byte_offset = 2;
    refused(managed, "not aligned");
    managed = versioned(), managed.tensor.data = NULL;
    refused(managed, "the data is null");
    managed = versioned(), managed.tensor.ndim = 99;
    refused(managed, "99 dimensions");
    managed = versioned(), managed.version.major = 2;
    refused(managed, "version 2.1");
    managed = versioned();
    deleted = 0;
    CHECK(wgrun_tensor_from_dlpack(&managed, WGRUN_BF16, &tensor) == WGRUN_BAD_ARGUMENT && says("not bf16"));
    CHECK(wgrun_tensor_from_dlpack(&managed, 77, &tensor) == WGRUN_BAD_ARGUMENT && says("dtype 77: not a wgrun_dtype"));
    CHECK(wgrun_tensor_from_dlpack(&managed, WGRUN_ANY_DTYPE, NULL) == WGRUN_BAD_ARGUMENT && deleted == 0);
    CHECK(wgrun_tensor_argument(NULL, &argument) == WGRUN_BAD_HANDLE);
}

/* Another library's memory through a kernel; what a script made, in another library's hands. */
static void dlpack_out(wgrun_engine *engine) {
    float data[32] = {0};
    int64_t shape[1] = {32};
    Versioned managed = versioned(), *given = NULL, *again = NULL;
    Managed *old = NULL;
    wgrun_script *script = NULL;
    wgrun_kernel *kernel = NULL;
    wgrun_tensor *tensor = NULL;
    wgrun_argument argument = {0};
    wgrun_launch launch = WGRUN_LAUNCH_INIT;
    wgrun_item item = {0};
    size_t count = 0;

    deleted = 0;
    managed.tensor.data = data;
    managed.tensor.ndim = 1;
    managed.tensor.shape = shape;
    CHECK(wgrun_tensor_from_dlpack(&managed, WGRUN_ANY_DTYPE, &tensor) == WGRUN_OK);
    REQUIRE(load(engine, kernel_text, &script) == WGRUN_OK);
    REQUIRE(wgrun_script_kernel(script, WGRUN_RETURNED, 0, &kernel) == WGRUN_OK);
    CHECK(wgrun_tensor_argument(tensor, &argument) == WGRUN_OK);
    launch.arguments = &argument;
    launch.argument_count = 1;
    CHECK(wgrun_kernel_simulate(kernel, &launch) == WGRUN_OK && data[0] == 7 && data[31] == 7);
    CHECK(wgrun_kernel_close(kernel) == WGRUN_OK && wgrun_script_close(script) == WGRUN_OK);
    /* Given on: the first owner hears of it when the last has let go. */
    CHECK(wgrun_tensor_to_dlpack(tensor, &given) == WGRUN_OK && given->tensor.data == data);
    CHECK(wgrun_tensor_close(tensor) == WGRUN_OK && deleted == 0);
    CHECK(wgrun_tensor_from_dlpack(given, WGRUN_ANY_DTYPE, &tensor) == WGRUN_OK && deleted == 0);
    CHECK(wgrun_tensor_close(tensor) == WGRUN_OK && deleted == 1);

    REQUIRE(load(engine,
                 "local wg = require 'wgrun'\n"
                 "local closed = wg.zeros('f32', { 9 }) closed:close()\n"
                 "return { b = wg.tensor('f32', { 2, 2 }, { 1, 2, 3, 4 }), a = wg.zeros('bf16', { 0, 3 }), closed = closed },\n"
                 "       wg.tensor('s64', {}, { 5 })\n", &script) == WGRUN_OK);
    CHECK(wgrun_script_count(script, WGRUN_TENSORS, &count) == WGRUN_OK && count == 3);
    item.size = sizeof item;
    CHECK(wgrun_script_item(script, WGRUN_TENSORS, 0, &item) == WGRUN_OK && strcmp(item.name, "a") == 0);
    CHECK(wgrun_script_item(script, WGRUN_TENSORS, 1, &item) == WGRUN_OK && strcmp(item.name, "b") == 0);
    CHECK(wgrun_script_item(script, WGRUN_TENSORS, 2, &item) == WGRUN_OK && strcmp(item.name, "") == 0);
    CHECK(wgrun_script_item(script, WGRUN_TENSORS, 3, &item) == WGRUN_BAD_ARGUMENT);
    CHECK(wgrun_script_count(script, WGRUN_RETURNED, &count) == WGRUN_OK && count == 0);
    CHECK(wgrun_script_tensor(script, 3, &tensor) == WGRUN_BAD_ARGUMENT);
    REQUIRE(wgrun_script_tensor(script, 2, &tensor) == WGRUN_OK);
    CHECK(wgrun_tensor_argument(tensor, &argument) == WGRUN_OK && argument.rank == 0 && argument.shape != NULL);
    CHECK(*(const int64_t *)(uintptr_t)argument.address == 5);
    CHECK(wgrun_tensor_close(tensor) == WGRUN_OK);
    REQUIRE(wgrun_script_tensor(script, 1, &tensor) == WGRUN_OK);
    CHECK(wgrun_tensor_to_dlpack(tensor, &given) == WGRUN_OK && wgrun_tensor_to_dlpack(tensor, &again) == WGRUN_OK);
    CHECK(wgrun_tensor_to_dlpack_unversioned(tensor, &old) == WGRUN_OK && old->tensor.data == given->tensor.data);
    CHECK(wgrun_tensor_close(tensor) == WGRUN_OK && wgrun_script_close(script) == WGRUN_OK);
    CHECK(given->version.major == 1 && given->flags == 0 && given->tensor.device.type == 1 && given->tensor.ndim == 2);
    CHECK(given->tensor.shape[0] == 2 && given->tensor.strides[0] == 2 && given->tensor.dtype.bits == 32);
    CHECK(((const float *)given->tensor.data)[3] == 4);
    given->deleter(given);
    ((float *)again->tensor.data)[3] = 9; /* one memory: it lives as long as one of them does */
    again->deleter(again);
    CHECK(((const float *)old->tensor.data)[3] == 9);
    old->deleter(old);
}

int main(void) {
    wgrun_engine *engine;
    restricted_scripts();
    limits_of_scripts();
    limits_of_simulations();
    limits_of_plans();
    sizes_of_structs();
    allocators();
    dlpack_in();
    engine = open_engine(0, NULL);
    dlpack_out(engine);
    CHECK(wgrun_engine_close(engine) == WGRUN_OK);
    if (failures == 0) puts("ok");
    return failures == 0 ? 0 : 1;
}
