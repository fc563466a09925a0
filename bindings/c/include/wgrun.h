/* wgrun in C: load scripts that write kernels for Hopper tensor cores; check, print, compile, launch and simulate these.
 *
 * Every function returns a status, WGRUN_OK (0) or the kind of failure; wgrun_last_error() has the details. A function
 * that fails changes nothing and does not write its results. None throws, jumps or ends the process: errors of scripts
 * and of the machine, and lack of memory, are statuses.
 *
 * Handles (wgrun_engine * and the other pointers to incomplete types) are names, not addresses. A closed handle is never
 * reused: using it, closing it twice, or passing one of another kind is WGRUN_BAD_HANDLE.
 * Handles may be closed in any order, and each must be; closing NULL does nothing.
 *
 * Threads: an engine, with the scripts, kernels and plans that came from it, is used by one thread at a time (not always
 * the same one); a second call meanwhile, also from within one of its callbacks, returns WGRUN_BUSY. Different engines may
 * be used by different threads at once. Findings, verdicts, timelines, files and tunings never change, and may be read by
 * any number of threads.
 *
 * Stability: WGRUN_C_API_VERSION grows when something is added. Existing functions and values keep their meaning, structs
 * their layout; structs that begin with `size` may grow at their end, and the library reads and writes no more of one
 * than `size` says. Set `size` to sizeof the struct, and every member that you do not need to 0, the default, as the
 * INIT macros do. wgrun_argument, wgrun_place and wgrun_progress never change.
 *
 * Strings end with NUL and are UTF-8, as far as scripts are. Strings that the library returns live as long as the handle
 * that they were obtained from. docs/c_api.md has examples. */
#ifndef WGRUN_H
#define WGRUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WGRUN_C_API_VERSION 7

#if defined(__GNUC__)
#define WGRUN_API __attribute__((visibility("default")))
#else
#define WGRUN_API
#endif

typedef struct wgrun_engine wgrun_engine;     /* options and callbacks, for one call at a time */
typedef struct wgrun_script wgrun_script;     /* a script that has run, in a Lua state of its own */
typedef struct wgrun_kernel wgrun_kernel;     /* a kernel of a script; keeps the script's state alive */
typedef struct wgrun_plan wgrun_plan;         /* a launch that the script computed from shapes */
typedef struct wgrun_tensor wgrun_tensor;     /* host memory: another library's, or a tensor that a script returned */
typedef struct wgrun_findings wgrun_findings; /* what the checker, the simulator or an error reported */
typedef struct wgrun_verdicts wgrun_verdicts; /* what is proved of a kernel */
typedef struct wgrun_cancellation wgrun_cancellation; /* by which another thread ends a call */
typedef struct wgrun_timeline wgrun_timeline; /* a run laid out in time */
typedef struct wgrun_files wgrun_files;       /* kernels as files for programs without wgrun */
typedef struct wgrun_tuning wgrun_tuning;     /* the candidates of a search, and how fast they are */

/* ---- Statuses and errors -------------------------------------------------------------------------------------------- */

enum wgrun_status {
    WGRUN_OK = 0,
    WGRUN_BAD_ARGUMENT = 1,  /* the caller's mistake: an invalid value */
    WGRUN_BAD_HANDLE = 2,    /* NULL, closed, or of another kind */
    WGRUN_BUSY = 3,          /* the engine is in use, by another thread or by the caller of this callback */
    WGRUN_FOUND_ERRORS = 4,  /* the checker or the simulator found errors in the kernel: the error has the findings */
    WGRUN_SCRIPT_FAILED = 5, /* the script has a syntax error or raised an error of its own */
    WGRUN_NO_FILE = 6,       /* a file, or a program or library of CUDA, does not exist */
    WGRUN_IO_FAILED = 7,
    WGRUN_NO_DEVICE = 8,     /* no driver, no sm_90 device, no current context */
    WGRUN_NO_MEMORY = 9,     /* of the host or the device */
    WGRUN_NOT_COMPILED = 10, /* the assembler or NVRTC refused the text */
    WGRUN_TIMED_OUT = 11,
    WGRUN_DEVICE_FAILED = 12, /* a kernel failed on the device, or the driver refused a call */
    WGRUN_INTERRUPTED = 13,   /* by wgrun_cancellation_request or wgrun_engine_interrupt */
    WGRUN_LIMIT_REACHED = 14, /* one of the engine's limits for scripts: wgrun_limits */
    WGRUN_INTERNAL = 99       /* a fault of the library */
};

/* "WGRUN_BUSY"; "unknown status" for other numbers. */
WGRUN_API const char *wgrun_status_name(int status);

/* The library's version of the C API, which may be newer than the WGRUN_C_API_VERSION of this header. */
WGRUN_API int wgrun_api_version(void);

/* "0.1.0" */
WGRUN_API const char *wgrun_version(void);

/* The calling thread's last failure in this library. Its strings are valid until this thread's next failure; they are
 * never NULL. */
typedef struct wgrun_error {
    size_t size;
    int status;
    int line;              /* of `file`; 0: none */
    const char *code;      /* "EINVAL", "ENOENT", ...: the engine's code, more exact than the status */
    const char *message;   /* the first finding's, without its place */
    const char *file;      /* of the script; "" */
    const char *rule;      /* "WG-FENCE-01"; "" */
    const char *fix;       /* what to do; "" */
    const char *text;      /* the whole error, as the command-line tool prints it */
    const char *traceback; /* of the script; "" */
} wgrun_error;

/* WGRUN_BAD_ARGUMENT if `error` is NULL or its `size` is invalid. */
WGRUN_API int wgrun_last_error(wgrun_error *error);

/* ---- Cancellation --------------------------------------------------------------------------------------------------
 *
 * A call that takes long (loading a script, plans, checks, verdicts, texts, compiling, simulating) ends with
 * WGRUN_INTERRUPTED once its token is cancelled, also if that was before the call began. A token is for as many calls as
 * the host likes; one for each call is usual. Work of the driver and of NVRTC in this process is not ended. All of this
 * since version 5. */

/* Asked in the thread that works, at most every 20 ms; the call ends once it returns another value than 0. It must return,
 * and not call the library. */
typedef int (*wgrun_poll_function)(void *user);

/* `poll` may be NULL: then the token is cancelled by wgrun_cancellation_request alone. */
WGRUN_API int wgrun_cancellation_open(wgrun_poll_function poll, void *user, wgrun_cancellation **cancellation);
/* Any thread may call it, at any time. A cancelled token stays so. */
WGRUN_API int wgrun_cancellation_request(wgrun_cancellation *cancellation);
/* From now on the token is that of all calls of the calling thread; NULL: none is. Lua code of scripts that are loaded with
 * a token looks at it every 1000 instructions: that takes a few percent of tracing a kernel, and half of a bare loop. */
WGRUN_API int wgrun_cancellation_use(wgrun_cancellation *cancellation);
WGRUN_API int wgrun_cancellation_close(wgrun_cancellation *cancellation);

/* ---- Progress -------------------------------------------------------------------------------------------------------
 *
 * A function of the host hears how far a call is that takes long: checks, verdicts, compiling, simulating, timelines,
 * wgrun_script_tune. Since version 6. */

/* A piece of work in flight. */
typedef struct wgrun_progress {
    const char *what; /* "tune fill", "scale on the simulator:" */
    const char *unit; /* of done and total: "CTAs"; may be "" */
    uint64_t done;
    uint64_t total;   /* 0: nobody knows */
    double seconds;   /* since it began */
} wgrun_progress;

/* `parts`: the pieces of work in flight, the outermost first; they are valid during the call. Called in the thread that
 * works, at most every 100 ms, and not for what is over sooner. It must return, and not call the library. */
typedef void (*wgrun_progress_function)(void *user, const wgrun_progress *parts, size_t count);

/* From now on `tell` hears of all calls of the calling thread; NULL: nobody does. */
WGRUN_API int wgrun_progress_use(wgrun_progress_function tell, void *user);

/* ---- Findings ------------------------------------------------------------------------------------------------------- */

enum wgrun_severity { WGRUN_NOTE = 0, WGRUN_WARNING = 1, WGRUN_ERROR = 2 };

typedef struct wgrun_finding {
    size_t size;
    int severity;
    int line; /* of `file`; 0: none */
    const char *rule;
    const char *file;
    const char *message;
    const char *fix;
    const char *section; /* of the PTX ISA: "9.7.15.7.1" */
    size_t note_count;   /* further places: wgrun_findings_note */
} wgrun_finding;

/* The findings of the calling thread's last failure; an empty list if it had none. */
WGRUN_API int wgrun_last_findings(wgrun_findings **findings);
WGRUN_API int wgrun_findings_count(const wgrun_findings *findings, size_t *count);
WGRUN_API int wgrun_findings_get(const wgrun_findings *findings, size_t index, wgrun_finding *finding);
/* A note, such as "issued here", with its place. Each result pointer may be NULL. */
WGRUN_API int wgrun_findings_note(const wgrun_findings *findings, size_t index, size_t note, const char **message,
                                  const char **file, int *line);
/* The findings as the command-line tool prints them. */
WGRUN_API int wgrun_findings_text(const wgrun_findings *findings, const char **text);
/* The findings as `wgrun check --json` prints them: {"findings": [{"rule", "severity", "file", "line", "message", "fix",
 * "section", "notes", "fixes", "facts", "launch"}]}. */
WGRUN_API int wgrun_findings_json(const wgrun_findings *findings, const char **json);
WGRUN_API int wgrun_findings_close(wgrun_findings *findings);

/* ---- Verdicts ------------------------------------------------------------------------------------------------------- */

enum wgrun_verdict_kind { WGRUN_PROVED = 0, WGRUN_REFUTED = 1, WGRUN_UNDECIDED = 2 };

/* What is proved of a kernel for every launch of a domain, refuted by a finding, or undecided (docs/verdicts.md): one for
 * each property, in the order of docs/verdicts.md. All of this since version 3. */
typedef struct wgrun_verdict {
    size_t size;
    int kind;
    int line;               /* of `file`: of the finding, or of what stopped the proof; 0: none */
    const char *property;   /* "no-deadlock" */
    const char *title;      /* "no deadlock" */
    const char *domain;     /* proved: of which launches, "all launches with n >= 1"; else "" */
    const char *reason;     /* refuted: the rule; undecided: what stopped the proof; else "" */
    const char *file;
    const char *assumption; /* undecided: what would decide it; proved: what is taken for granted of the data; may be "" */
} wgrun_verdict;

WGRUN_API int wgrun_verdicts_count(const wgrun_verdicts *verdicts, size_t *count);
WGRUN_API int wgrun_verdicts_get(const wgrun_verdicts *verdicts, size_t index, wgrun_verdict *verdict);
/* As the member `verdicts` of `wgrun check --json`. */
WGRUN_API int wgrun_verdicts_json(const wgrun_verdicts *verdicts, const char **json);
WGRUN_API int wgrun_verdicts_close(wgrun_verdicts *verdicts);

/* A number of a launch: a parameter by its name, or "p+8", 8 bytes from the start of the structure p. */
typedef struct wgrun_number {
    const char *name;
    int64_t value;
} wgrun_number;

/* What is given of the launches that verdicts are about, and what the proofs may take. Since version 7. */
typedef struct wgrun_assumptions {
    size_t size;
    double budget;       /* seconds that proofs may take, counted in operations, so that verdicts do not depend on the
                          * machine; 0: 10 */
    uint32_t grid[3];    /* CTAs; all 0: any grid */
    uint32_t block[3];   /* of PTX that leaves them open: threads of a CTA, CTAs of a cluster; all 0: as the text says */
    uint32_t cluster[3];
    const wgrun_number *numbers;
    size_t number_count;
} wgrun_assumptions;

/* ---- PTX of other compilers ----------------------------------------------------------------------------------------- */

/* Checks every kernel of a PTX text by the rules that need no launch. `name` is what findings call the text ("stdin" if
 * NULL). The result is that of `wgrun check --json`: {"findings": [...], "kernels": [{"name", "file", "line",
 * "instructions", "unread", "undecided", "verdicts"}]}; it lives until the thread's next call of this function. A text that
 * is no PTX has findings, too. Since version 4. */
WGRUN_API int wgrun_check_ptx(const char *name, const char *text, size_t length, const char **json);
/* The same for launches as given, which are all launches if `given` is NULL. Since version 7. */
WGRUN_API int wgrun_check_ptx_given(const char *name, const char *text, size_t length, const wgrun_assumptions *given,
                                    const char **json);

/* ---- Engines -------------------------------------------------------------------------------------------------------- */

enum wgrun_backend { WGRUN_AUTO = 0, WGRUN_GPU = 1, WGRUN_GPU_CUDA = 2, WGRUN_SIM = 3 };

/* Called in the thread that uses the engine, which is busy meanwhile. It must return, and neither throw nor jump. The
 * text is not NUL-terminated. */
typedef void (*wgrun_text_function)(void *user, const char *text, size_t length);

/* Memory for a Lua state: resizes `block` from `old_size` to `size` bytes; returns NULL if there is no memory, and `block`
 * is then unchanged. NULL with an old_size of 0 asks for a new block; a `size` of 0 frees it, and the result is ignored.
 * A smaller size must not fail. Blocks are aligned as malloc aligns. Called in the thread that uses the engine, and in the
 * one that closes the last handle of a script; it must return, and not call the library. */
typedef void *(*wgrun_allocate_function)(void *user, void *block, size_t old_size, size_t size);

#define WGRUN_NO_LIMIT (~(uint64_t)0)

/* Limits of each script of an engine; docs/sandbox.md says what each of them guarantees, and what it does not. 0 is the
 * default: no limit, or for a restricted engine the one that docs/sandbox.md names. Exceeding one is
 * WGRUN_LIMIT_REACHED. Since version 2. */
typedef struct wgrun_limits {
    size_t size;
    uint64_t memory;       /* bytes of the script's Lua state; the rest is in the host's heap (docs/sandbox.md) */
    uint64_t milliseconds; /* of wgrun_script_load with all that it runs, of each wgrun_script_plan, each simulation */
    uint64_t instructions; /* of Lua, in wgrun_script_load and in each wgrun_script_plan */
    uint64_t tensors;      /* bytes of the script's tensors that live at the same time */
    uint64_t program;      /* instructions, blocks and registers of one kernel */
    uint64_t steps;        /* warp instructions of one simulation */
} wgrun_limits;

typedef struct wgrun_engine_options {
    size_t size;
    /* 0: the script's own kernel:run, time and prepare do nothing (run returns "none"), as under `wgrun check`, so that
     * loading a script makes its kernels and runs none. 1: they run. */
    int run_kernels;
    int backend;                  /* wgrun_backend: what they run on where the script leaves it open */
    uint64_t seed;                /* of the simulator's schedules */
    wgrun_text_function print;    /* receives what scripts print: lines, and pictures as a whole; NULL: standard output */
    void *print_user;
    wgrun_text_function log;      /* receives remarks and warnings; NULL: they are dropped */
    void *log_user;
    /* Since version 2. */
    int restricted;             /* 1: scripts without files, other programs and bytecode, and with limits: docs/sandbox.md */
    const wgrun_limits *limits; /* copied; NULL: the defaults */
    /* Gives the scripts' Lua states their memory, and nothing else: what Lua allocates for values, code, stacks and the
     * heads of wgrun's objects. Programs, findings, texts, tensors, the data of the checker and the simulator, and the
     * handles use malloc and operator new. NULL: realloc and free. */
    wgrun_allocate_function allocate;
    void *allocate_user; /* must live until every script of the engine is gone: until its last handle, and those of its
                          * kernels and plans, are closed */
} wgrun_engine_options;

/* `options` may be NULL. */
WGRUN_API int wgrun_engine_open(const wgrun_engine_options *options, wgrun_engine **engine);
WGRUN_API int wgrun_engine_close(wgrun_engine *engine);

/* Ends the call that takes long which the engine is doing, with WGRUN_INTERRUPTED, or, if there is none, the next one. A
 * script's own Lua code is stopped if the engine has a limit of time or of instructions, or the call a wgrun_cancellation.
 * This is the one function that another thread may call while the engine is in use. */
WGRUN_API int wgrun_engine_interrupt(wgrun_engine *engine);

/* ---- Scripts -------------------------------------------------------------------------------------------------------- */

typedef struct wgrun_source {
    size_t size;
    const char *file;    /* the script's path; with `text`, what messages call it ("stdin" if NULL) */
    const char *text;    /* the script itself, instead of the file's contents */
    size_t length;       /* of `text`, in bytes */
    const char *const *arguments; /* its `...` and `arg` */
    size_t argument_count;
} wgrun_source;

/* Runs the script in a new Lua state with the standard libraries and wgrun. os.exit ends the script, not the process.
 * WGRUN_NO_FILE, WGRUN_SCRIPT_FAILED, and the failures of kernels that it runs. A script that fails after it has made
 * kernels, because their results are missing (run_kernels is 0), is loaded nevertheless: wgrun_script_warnings. */
WGRUN_API int wgrun_script_load(wgrun_engine *engine, const wgrun_source *source, wgrun_script **script);
/* Runs the script once more in its Lua state, with other arguments: for many variants of one script, each of which costs
 * less than a state of its own. Its globals are as they were before it ran first; modules that it has required stay as
 * they are. The result has kernels of its own and is closed on its own; with those of the same state it counts as one for
 * limits of memory and tensors. The failures of wgrun_script_load. Since version 6. */
WGRUN_API int wgrun_script_again(wgrun_script *script, const char *const *arguments, size_t count, wgrun_script **again);
WGRUN_API int wgrun_script_close(wgrun_script *script);
WGRUN_API int wgrun_script_warnings(wgrun_script *script, wgrun_findings **findings);

enum wgrun_list {
    /* What the script returns: kernels, launchers, and tables of them, each entry with its key for a name. */
    WGRUN_RETURNED = 0,
    /* All kernels that it made, in the order of their making; none if run_kernels is 1. */
    WGRUN_MADE = 1,
    /* The tensors that it returns, and those in tables of them: wgrun_script_tensor. Since version 2. */
    WGRUN_TENSORS = 2
};

typedef struct wgrun_item {
    size_t size;
    const char *name; /* its key in the table that the script returned; else the kernel's name, for a tensor "" */
    /* 1: an object with a `launch` method, which computes a launch from shapes (wgrun_script_plan), as wg.gemm's have. */
    int launches;
} wgrun_item;

WGRUN_API int wgrun_script_count(wgrun_script *script, int list, size_t *count);
WGRUN_API int wgrun_script_item(wgrun_script *script, int list, size_t index, wgrun_item *item);
/* The kernel of the item: each call returns a new handle of the same kernel. */
WGRUN_API int wgrun_script_kernel(wgrun_script *script, int list, size_t index, wgrun_kernel **kernel);

/* ---- Kernels -------------------------------------------------------------------------------------------------------- */

WGRUN_API int wgrun_kernel_close(wgrun_kernel *kernel);

typedef struct wgrun_kernel_info {
    size_t size;
    const char *name;
    const char *file; /* the script's file and line where the kernel was made */
    int line;
    int threads;         /* of a CTA */
    uint32_t cluster[3]; /* CTAs; {1, 1, 1}: none */
    int64_t shared_bytes; /* dynamic shared memory of a CTA */
    size_t parameter_count;
} wgrun_kernel_info;

WGRUN_API int wgrun_kernel_info_get(wgrun_kernel *kernel, wgrun_kernel_info *info);

enum wgrun_dtype {
    WGRUN_ANY_DTYPE = 0,
    WGRUN_F64 = 1,
    WGRUN_F32 = 2,
    WGRUN_TF32 = 3,
    WGRUN_F16 = 4,
    WGRUN_BF16 = 5,
    WGRUN_E4M3 = 6,
    WGRUN_E5M2 = 7,
    WGRUN_S8 = 8,
    WGRUN_U8 = 9,
    WGRUN_S32 = 10,
    WGRUN_U32 = 11,
    WGRUN_S64 = 12,
    WGRUN_U64 = 13,
    WGRUN_B1 = 14
};

/* "bf16"; NULL for other numbers. */
WGRUN_API const char *wgrun_dtype_name(int dtype);
/* Bits of an element; 0 for other numbers. */
WGRUN_API int wgrun_dtype_bits(int dtype);

enum wgrun_parameter_kind {
    WGRUN_POINTER = 1,
    WGRUN_TENSOR_MAP = 2, /* made on the host, from an argument of kind WGRUN_MEMORY with its shape */
    WGRUN_INTEGER_PARAMETER = 3,
    WGRUN_REAL_PARAMETER = 4
};

typedef struct wgrun_parameter {
    size_t size;
    const char *name;
    const char *type; /* as scripts write it: "const bf16*", "u32"; of a tensor map "bf16" */
    int kind;
    int dtype;       /* of a pointer's or tensor map's elements; else WGRUN_ANY_DTYPE */
    int is_const;    /* 1: a pointer or tensor map through which the kernel only reads */
    int box_rank;    /* of a tensor map: the dimensions of its tensor; else 0 */
    int64_t box[5];  /* elements that one copy moves, the contiguous dimension first */
    int swizzle;     /* bytes of the tensor map's swizzle: 0, 32, 64, 128 */
} wgrun_parameter;

WGRUN_API int wgrun_kernel_parameter(wgrun_kernel *kernel, size_t index, wgrun_parameter *parameter);

enum wgrun_argument_kind { WGRUN_MEMORY = 1, WGRUN_INTEGER = 2, WGRUN_REAL = 3 };

/* One argument, or one operand of a plan. Memory is contiguous and row-major. Its dtype and shape are checked if
 * they are given; the shape (in elements, the slowest extent first) is needed for tensor maps, plans and the simulator. */
typedef struct wgrun_argument {
    int kind;
    int dtype;            /* of memory; WGRUN_ANY_DTYPE: what the parameter has */
    uint64_t address;     /* of memory: a device pointer for a launch, a host pointer for the simulator */
    const int64_t *shape; /* of memory; NULL: not given */
    int rank;
    int read_only;        /* of memory: it may be passed only for const parameters */
    int64_t integer;
    double real;
    const char *name;     /* of an operand passed by name; NULL: by its position. Ignored in a launch */
} wgrun_argument;

/* The context that is current in the calling thread. */
#define WGRUN_CURRENT_DEVICE (-1)
/* No device: the simulator. For plans only. */
#define WGRUN_SIMULATOR_DEVICE (-2)

typedef struct wgrun_launch {
    size_t size;
    uint32_t grid[3]; /* CTAs; 0 stands for 1 */
    int unchecked;    /* 1: in spite of the static checker's errors */
    const wgrun_argument *arguments;
    size_t argument_count;
    /* On the GPU. */
    int backend;      /* WGRUN_AUTO and WGRUN_GPU: PTX through the driver; WGRUN_GPU_CUDA: CUDA C++ through NVRTC */
    int device;       /* a CUDA ordinal, whose primary context is used unless the current one is of that device */
    void *stream;     /* CUstream or cudaStream_t; NULL: the default stream */
    /* On the simulator. */
    uint64_t seed;        /* of the order in which warps run */
    const char *numerics; /* "exact" (NULL too) or "h200" */
    /* Of a kernel that was read from PTX, whose text may leave them to the launch: threads of a CTA, CTAs of a cluster, in
     * each of which an extent of 0 stands for 1, and bytes of dynamic shared memory. All 0: what the text says. */
    uint32_t block[3];
    uint32_t cluster[3];
    int64_t shared;
} wgrun_launch;

#define WGRUN_LAUNCH_INIT {sizeof(wgrun_launch), {1, 1, 1}, 0, NULL, 0, WGRUN_AUTO, WGRUN_CURRENT_DEVICE, NULL, 0, NULL, {0, 0, 0}, {0, 0, 0}, 0}

/* Every finding of the static checker; if it finds no error and `launch` is not NULL, also those of a launch with this
 * grid and these integers (barriers that never open, phases that never complete). WGRUN_OK whatever is found. */
WGRUN_API int wgrun_kernel_check(wgrun_kernel *kernel, const wgrun_launch *launch, wgrun_findings **findings);

/* What is proved of the kernel for every launch. Takes longer than wgrun_kernel_check, some seconds at most;
 * it can be cancelled. What the proof finds is among the findings of later checks.
 * Since version 3. */
WGRUN_API int wgrun_kernel_verdicts(wgrun_kernel *kernel, wgrun_verdicts **verdicts);
/* The same for launches as given, which are all launches if `given` is NULL. WGRUN_BAD_ARGUMENT for numbers that the kernel
 * does not have. Since version 7. */
WGRUN_API int wgrun_kernel_verdicts_given(wgrun_kernel *kernel, const wgrun_assumptions *given, wgrun_verdicts **verdicts);

/* The kernel's text and its length in bytes. WGRUN_FOUND_ERRORS if the checker found an error. `length` may be NULL. */
WGRUN_API int wgrun_kernel_ptx(wgrun_kernel *kernel, const char **text, size_t *length);
WGRUN_API int wgrun_kernel_cuda(wgrun_kernel *kernel, const char **text, size_t *length);

enum wgrun_assembler {
    WGRUN_ANY_ASSEMBLER = 0, /* the first of those below that is available */
    WGRUN_PTXAS = 1,
    WGRUN_DRIVER = 2, /* in the current context, else in that of the first sm_90 device */
    WGRUN_NVRTC = 3
};

/* Machine code for sm_90a, in which the kernel has its name. WGRUN_NOT_COMPILED, WGRUN_NO_FILE, WGRUN_NO_DEVICE. */
WGRUN_API int wgrun_kernel_cubin(wgrun_kernel *kernel, int assembler, const void **image, size_t *bytes);

/* Does the slow part of a launch ahead of it: compiles the kernel and loads it into the context. */
WGRUN_API int wgrun_kernel_load(wgrun_kernel *kernel, int backend, int device);

/* Starts the kernel on the GPU with the caller's device memory, in the caller's context and stream. Waits for nothing
 * and allocates nothing on the device but, once for each context, the kernel's code; while the stream is captured the
 * launch becomes part of the graph. The memory must live until the kernel has ended. WGRUN_FOUND_ERRORS,
 * WGRUN_BAD_ARGUMENT, WGRUN_NOT_COMPILED, WGRUN_NO_DEVICE, WGRUN_DEVICE_FAILED. */
WGRUN_API int wgrun_kernel_launch(wgrun_kernel *kernel, const wgrun_launch *launch);

/* Runs the kernel on the simulator with the caller's host memory, to its end. WGRUN_FOUND_ERRORS if the checker, or
 * the simulator during the run, found errors. */
WGRUN_API int wgrun_kernel_simulate(wgrun_kernel *kernel, const wgrun_launch *launch);

/* ---- Report ---------------------------------------------------------------------------------------------------------
 *
 * What this section and the following ones have is of version 6. They run no kernel on a device but where that is said,
 * and end with WGRUN_LIMIT_REACHED after the engine's limit of milliseconds. */

/* What the assembler says of a kernel: ptxas or, where there is none, the driver. The strings are valid until the next
 * report of this handle. */
typedef struct wgrun_report {
    size_t size;
    int threads;      /* of a CTA */
    int registers;    /* of a thread */
    int estimated;    /* the least that the program's values need, of 32 bits */
    int spill_stores; /* bytes of a thread */
    int spill_loads;
    int ctas_per_sm;
    int64_t static_shared; /* bytes of a CTA */
    int64_t dynamic_shared;
    const char *limited_by;        /* what keeps more CTAs out of an SM: "registers", "shared memory", "threads" or "CTAs" */
    const char *assembler;         /* "ptxas"; else what the driver calls itself */
    const char *assembler_version; /* of ptxas; else "" */
    const char *json;              /* the kernel's entry of `wgrun report --json`: all of this, and the assembler's notes */
} wgrun_report;

/* `findings`: what the assembler's notes mean for the script; may be NULL. WGRUN_FOUND_ERRORS, WGRUN_NOT_COMPILED;
 * WGRUN_NO_FILE or WGRUN_NO_DEVICE where there is no assembler. */
WGRUN_API int wgrun_kernel_report(wgrun_kernel *kernel, wgrun_report *report, wgrun_findings **findings);

/* ---- Source map ----------------------------------------------------------------------------------------------------- */

enum wgrun_text { WGRUN_PTX_TEXT = 1, WGRUN_CUDA_TEXT = 2 };

/* A line of a script. */
typedef struct wgrun_place {
    const char *file; /* NULL: none */
    int line;         /* 0: none */
} wgrun_place;

/* Where each line of the kernel's PTX or CUDA C++ comes from: lines[0] is about the text's first line. Valid until the next
 * such call with this handle. Of a kernel that was read from PTX each line of that is itself. WGRUN_FOUND_ERRORS. */
WGRUN_API int wgrun_kernel_source_map(wgrun_kernel *kernel, int text, const wgrun_place **lines, size_t *count);

/* ---- Timelines ------------------------------------------------------------------------------------------------------ */

typedef struct wgrun_timeline_info {
    size_t size;
    const char *kernel;
    const char *source;   /* "model" (of an H200's SM), "gpu", "simulator" */
    double cycles;        /* of the SM, until the last CTA shown has ended; of the simulator: steps */
    double microseconds;  /* model: of the launch, among others; gpu: of `cycles`; simulator: 0 */
    double ghz;
    double tensor_busy;   /* the share of the time, 0 to 1, in which the tensor core multiplies */
    double memory_busy;   /* model: likewise bytes on their way to the SM */
    int ctas;             /* that the SM runs in the launch; else those recorded */
    int shown;            /* of these, in the timeline */
    uint64_t dropped;     /* events for which there was no room */
    uint64_t dropped_warps;
    size_t row_count, span_count, request_count, verdict_count;
} wgrun_timeline_info;

typedef struct wgrun_timeline_row {
    size_t size;
    const char *name; /* "producer", "tensor core" */
    int warp;         /* of the CTA; -1: an engine of the SM */
    int exclusive;    /* 1: its spans do not overlap */
} wgrun_timeline_row;

typedef struct wgrun_timeline_span {
    size_t size;
    int row;
    int line;         /* of `file` */
    const char *kind; /* "work", "copies", ...: docs/timeline.md */
    double begin, end; /* cycles */
    const char *what; /* "full[2], phase 3" */
    const char *file;
} wgrun_timeline_span;

/* The requests of a line to memory. */
typedef struct wgrun_timeline_requests {
    size_t size;
    int shared;       /* 1: to shared memory */
    int line;         /* of `file` */
    const char *what; /* "ld.global" */
    const char *file;
    uint64_t count;
    uint64_t units;   /* sectors of 32 bytes that they move, or passes of the banks */
    uint64_t needed;  /* that would do for their bytes */
} wgrun_timeline_requests;

/* Runs one cluster of the launch on the simulator, with the caller's host memory, which then holds its results, and lays it
 * out in time by the model of docs/timeline.md. WGRUN_FOUND_ERRORS; WGRUN_BAD_ARGUMENT for runs that are too long. */
WGRUN_API int wgrun_kernel_timeline(wgrun_kernel *kernel, const wgrun_launch *launch, wgrun_timeline **timeline);

/* Runs the launch on launch->backend, with host memory, with a build of the kernel that notes when its warps wait, copy and
 * multiply. `clusters` of the grid are noted (0: 1), `events` of each warp (0: 4096). */
WGRUN_API int wgrun_kernel_profile(wgrun_kernel *kernel, const wgrun_launch *launch, int clusters, int64_t events,
                                   wgrun_timeline **timeline);

WGRUN_API int wgrun_timeline_info_get(const wgrun_timeline *timeline, wgrun_timeline_info *info);
WGRUN_API int wgrun_timeline_row_get(const wgrun_timeline *timeline, size_t index, wgrun_timeline_row *row);
WGRUN_API int wgrun_timeline_span_get(const wgrun_timeline *timeline, size_t index, wgrun_timeline_span *span);
WGRUN_API int wgrun_timeline_requests_get(const wgrun_timeline *timeline, size_t index, wgrun_timeline_requests *requests);
/* What limits the kernel, the most important limit first. */
WGRUN_API int wgrun_timeline_verdict(const wgrun_timeline *timeline, size_t index, const char **sentence);

enum wgrun_timeline_format {
    WGRUN_TIMELINE_TEXT = 1,     /* a row of characters for each warp and engine */
    WGRUN_TIMELINE_SVG = 2,
    WGRUN_TIMELINE_HTML = 3,     /* a page with the SVG */
    WGRUN_TIMELINE_PERFETTO = 4, /* trace events for ui.perfetto.dev */
    WGRUN_TIMELINE_JSON = 5      /* as `wgrun timeline --json` */
};

/* columns: of the text, 32 to 1000 (0: 80). from, to: the cycles that text and pictures show (both 0: all). `length` may be
 * NULL. */
WGRUN_API int wgrun_timeline_text(wgrun_timeline *timeline, int format, int columns, double from, double to,
                                  const char **text, size_t *length);
WGRUN_API int wgrun_timeline_close(wgrun_timeline *timeline);

/* ---- Export --------------------------------------------------------------------------------------------------------- */

typedef struct wgrun_file {
    size_t size;
    const char *kernel;
    const char *name;    /* "scale.ptx" */
    const char *content; /* of `length` bytes; that of a cubin has NULs */
    size_t length;
    int registers;        /* of a thread of the kernel; 0: there is no cubin */
    const char *no_cubin; /* why there is none; else "" */
} wgrun_file;

/* The kernels as files for programs without wgrun (docs/export.md): PTX, cubin where ptxas is found, CUDA C++, C with host
 * code, manifest. `folder` may be NULL: then they are in memory alone; else they are also written there, all or none, and
 * no file that wgrun has not written is replaced. `files` may be NULL if `folder` is not. The kernels are of one engine;
 * those of one name must be equal. WGRUN_FOUND_ERRORS, WGRUN_NOT_COMPILED, WGRUN_IO_FAILED, WGRUN_NO_FILE. */
WGRUN_API int wgrun_export(wgrun_kernel *const *kernels, size_t count, const char *folder, wgrun_files **files);
WGRUN_API int wgrun_files_count(const wgrun_files *files, size_t *count);
WGRUN_API int wgrun_files_get(const wgrun_files *files, size_t index, wgrun_file *file);
WGRUN_API int wgrun_files_close(wgrun_files *files);

/* ---- Sizes ----------------------------------------------------------------------------------------------------------
 *
 * The sizes that a script declares to be legal for its kernel (kernel:sizes). They are kept where run_kernels is 0. */

typedef struct wgrun_size {
    size_t size;
    const char *name;
    int64_t least, most, multiple_of;
} wgrun_size;

/* 0 if the script declares none. */
WGRUN_API int wgrun_kernel_size_count(wgrun_kernel *kernel, size_t *count);
/* Valid until the next such call with this handle. */
WGRUN_API int wgrun_kernel_size(wgrun_kernel *kernel, size_t index, wgrun_size *size);
/* Launches worth trying, `most` at most (0: 96): each has a value for each size, one launch after the other in `values`,
 * which is valid until the next such call with this handle. */
WGRUN_API int wgrun_kernel_edge_sizes(wgrun_kernel *kernel, size_t most, const int64_t **values, size_t *launches);
/* Has the script launch the kernel with these sizes on the simulator: what that breaks, and errors that the script raises,
 * are the findings. WGRUN_OK whatever is found. */
WGRUN_API int wgrun_kernel_check_size(wgrun_kernel *kernel, const int64_t *values, size_t count, uint64_t seed,
                                      wgrun_findings **findings);

/* ---- Tuning --------------------------------------------------------------------------------------------------------- */

typedef struct wgrun_tune_options {
    size_t size;
    /* "time": candidates run and are measured; "model": the cost model of a timeline is asked. NULL: as the script says, else
     * the model where kernels run on the simulator. */
    const char *measure;
    int rounds; /* launches of a measurement; 0: as the script says */
    /* The file that keeps measurements; "": none; NULL: as the script says, else one in wgrun's cache folder. Restricted
     * engines keep none. */
    const char *results;
} wgrun_tune_options;

/* One candidate. */
typedef struct wgrun_candidate {
    size_t size;
    int measured;        /* 0: it was skipped */
    int cached;          /* 1: it was measured before */
    double microseconds; /* the median */
    const char *options; /* "stages = 3, threads = 128" */
    const char *reason;  /* why it was skipped; else "" */
} wgrun_candidate;

/* Searches for the fastest options of what the script's first result describes (wg.tuning, or options of wg.tune), one
 * candidate after the other, in this process: one that hangs or faults on a GPU takes the process's context with it, where
 * `wgrun tune` has processes for that. Kernels run, whatever run_kernels is. `options` may be NULL. WGRUN_SCRIPT_FAILED
 * where no candidate works. */
WGRUN_API int wgrun_script_tune(wgrun_script *script, const wgrun_tune_options *options, wgrun_tuning **tuning);
WGRUN_API int wgrun_tuning_count(const wgrun_tuning *tuning, size_t *count);
/* The fastest first, then those that were skipped. */
WGRUN_API int wgrun_tuning_get(const wgrun_tuning *tuning, size_t index, wgrun_candidate *candidate);
/* The members `name`, `place`, `file`, `results` and `skipped` of `wgrun tune --json`. */
WGRUN_API int wgrun_tuning_json(const wgrun_tuning *tuning, const char **json);
WGRUN_API int wgrun_tuning_close(wgrun_tuning *tuning);

/* ---- Tensors --------------------------------------------------------------------------------------------------------
 *
 * Host memory, shared and never copied: DLPack (https://dmlc.github.io/dlpack), whose structs are declared in
 * <dlpack/dlpack.h>. Tensors never change; any number of threads may use one. All of this since version 2. */

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* Takes over another library's tensor: its deleter is called exactly once, when the handle and all that was made of it are
 * gone, by the thread that releases the last of them. After a failure the caller still owns it, and the deleter was not
 * called. `dtype`: the element type, if the other library could not state it (u8 as e4m3, 16-bit unsigned integers as
 * bf16); WGRUN_ANY_DTYPE: the type that it states. WGRUN_BAD_ARGUMENT for memory of a device (launches
 * take its address as it is, in a wgrun_argument), for element types that are no wgrun_dtype, for vectors as elements, for
 * memory that is not row-major without gaps, for another major version of DLPack, and for inconsistent structs. */
WGRUN_API int wgrun_tensor_from_dlpack(struct DLManagedTensorVersioned *managed, int dtype, wgrun_tensor **tensor);
WGRUN_API int wgrun_tensor_from_dlpack_unversioned(struct DLManagedTensor *managed, int dtype, wgrun_tensor **tensor);

/* The tensor's memory for another library, which must call the deleter, exactly once; the memory lives until then,
 * whatever happens to the handles. The unversioned form cannot mark memory as read-only: WGRUN_BAD_ARGUMENT. */
WGRUN_API int wgrun_tensor_to_dlpack(wgrun_tensor *tensor, struct DLManagedTensorVersioned **managed);
WGRUN_API int wgrun_tensor_to_dlpack_unversioned(wgrun_tensor *tensor, struct DLManagedTensor **managed);

/* The tensor as an argument of a simulation, or an operand of a plan: its shape and memory live as long as the handle. */
WGRUN_API int wgrun_tensor_argument(wgrun_tensor *tensor, wgrun_argument *argument);
WGRUN_API int wgrun_tensor_close(wgrun_tensor *tensor);

/* The tensor at this index of the list WGRUN_TENSORS: each call returns a new handle of the same memory. */
WGRUN_API int wgrun_script_tensor(wgrun_script *script, size_t index, wgrun_tensor **tensor);

/* ---- Plans ---------------------------------------------------------------------------------------------------------- */

/* Asks an item that `launches` what to launch for operands of these dtypes and shapes: calls item:launch(operands...,
 * { name = operand, ... }) in the script, which returns { grid =, args = }. Several operands of one name are a list there.
 * The operands' addresses do not matter, and a plan holds for all operands of the same shapes, dtypes and numbers.
 * `device` is where it will run: the script may query the size of the device. */
WGRUN_API int wgrun_script_plan(wgrun_script *script, size_t index, const wgrun_argument *operands, size_t count,
                                int device, wgrun_plan **plan);
WGRUN_API int wgrun_plan_close(wgrun_plan *plan);

typedef struct wgrun_plan_info {
    size_t size;
    uint32_t grid[3];
    size_t argument_count;
} wgrun_plan_info;

WGRUN_API int wgrun_plan_info_get(wgrun_plan *plan, wgrun_plan_info *info);
WGRUN_API int wgrun_plan_kernel(wgrun_plan *plan, wgrun_kernel **kernel);

/* The argument of a plan's launch at one position. */
typedef struct wgrun_planned {
    size_t size;
    int operand;  /* the index of the operand that it is; -1: it is `argument` */
    /* A number, or memory that the kernel needs besides its operands: of this dtype and shape, on the device for a
     * launch, holding at first the bytes at `argument.address`, which belong to the plan. It may be kept for the
     * plan's next launches in the same stream. */
    wgrun_argument argument;
    size_t bytes; /* of the memory */
    int zeros;    /* 1: it is all zero */
    int empty;    /* 1: nobody reads it before it is written, so that it may hold anything; `zeros` is 1, too. Since
                   * version 6. */
} wgrun_planned;

WGRUN_API int wgrun_plan_argument(wgrun_plan *plan, size_t index, wgrun_planned *planned);

#ifdef __cplusplus
}
#endif

#endif
