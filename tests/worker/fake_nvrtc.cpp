// A libnvrtc.so.13 that compiles nothing, for worker/run.sh: what comes of a text follows from the kernel's
// name in it.
//
//   stuck       compiling it does not come back
//   add_one     "machine code" that the made-up driver takes, with the text that it was made of
//   suicide     the process is killed
//   anything else   refused, with a log
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

namespace {

struct Program {
    std::string text, log, cubin;
};

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(int) { return "a fake error"; }
int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, 0; }
int nvrtcCreateProgram(void** program, const char* text, const char*, int, const char* const*,
                       const char* const*) {
    return *program = new Program{text, {}, {}}, 0;
}
int nvrtcDestroyProgram(void** program) { return delete static_cast<Program*>(*program), 0; }
int nvrtcCompileProgram(void* handle, int, const char* const*) {
    auto& program = *static_cast<Program*>(handle);
    const auto has = [&](const char* name) { return program.text.find(name) != std::string::npos; };
    while (has("stuck(")) ::pause();
    if (has("suicide(")) ::kill(::getpid(), SIGKILL);
    if (has("add_one(")) {
        program.cubin = ".entry add_one(.param .u64 data, .param .u32 count)\n" + program.text;
        return 0;
    }
    program.log = "kernel.cu(1): error: a fake compiles nothing";
    return 6;
}
int nvrtcGetProgramLogSize(void* program, std::size_t* bytes) {
    return *bytes = static_cast<Program*>(program)->log.size() + 1, 0;
}
int nvrtcGetProgramLog(void* program, char* log) {
    return std::strcpy(log, static_cast<Program*>(program)->log.c_str()), 0;
}
int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
    return *bytes = static_cast<Program*>(program)->cubin.size() + 1, 0;
}
int nvrtcGetCUBIN(void* program, char* cubin) {
    return std::strcpy(cubin, static_cast<Program*>(program)->cubin.c_str()), 0;
}

}  // extern "C"
