// The log parser on what ptxas, NVRTC 13.0.88 and the JIT really print.
#include "tests/catch.hpp"
#include "wgrun/gpu.hpp"

using namespace wgrun;
using namespace wgrun::gpu;

TEST_CASE("a clean verbose log gives the kernel's figures and no notes") {
    const AssemblerLog log = parse_log(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 1 barriers, 8192 bytes smem
ptxas info    : Compile time = 11.475 ms
)");
    CHECK(log.notes.empty());
    REQUIRE(log.functions.size() == 1);
    CHECK(log.functions[0].name == "k");
    CHECK(log.functions[0].registers == 30);
    CHECK(log.functions[0].barriers == 1);
    CHECK(log.functions[0].shared_bytes == 8192);
    CHECK(log.functions[0].spill_store_bytes == 0);
}

TEST_CASE("two kernels, one of which spills") {
    const AssemblerLog log = parse_log(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'second' for 'sm_90a'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
ptxas info    : Compile time = 21.888 ms
ptxas info    : Compiling entry function 'spill' for 'sm_90a'
ptxas info    : Function properties for spill
    232 bytes stack frame, 164 bytes spill stores, 168 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers, 232 bytes cumulative stack size
ptxas info    : Compile time = 7.444 ms
)");
    REQUIRE(log.functions.size() == 2);
    CHECK(log.functions[0].registers == 4);
    const FunctionReport& spill = log.functions[1];
    CHECK(spill.name == "spill");
    CHECK(spill.registers == 24);
    CHECK(spill.stack_bytes == 232);
    CHECK(spill.spill_store_bytes == 164);
    CHECK(spill.spill_load_bytes == 168);
    CHECK(spill.shared_bytes == 0);
}

TEST_CASE("the JIT's and NVRTC's form of the same, with a called function after its kernel") {
    const AssemblerLog log = parse_log(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'z' for 'sm_90a'
ptxas info    : Function properties for z
ptxas         .     40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 11 registers, used 0 barriers, 40 bytes cumulative stack size, 132 bytes smem, 360 bytes cmem[0]
ptxas info    : Compile time = 2.727 ms
ptxas info    : Function properties for _Z1fi
ptxas         .     8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
info    : 0 bytes gmem
info    : Function properties for 'z':
info    : used 28 registers, 0 stack, 0 bytes smem, 412 bytes cmem[0], 0 bytes lmem
)");
    CHECK(log.notes.empty());
    REQUIRE(log.functions.size() == 2);
    CHECK(log.functions[0].registers == 11);
    CHECK(log.functions[0].stack_bytes == 40);
    CHECK(log.functions[0].shared_bytes == 132);
    CHECK(log.functions[1].name == "_Z1fi");
    CHECK(log.functions[1].stack_bytes == 8);
    CHECK(log.functions[1].registers == 0);
}

TEST_CASE("the C75xx notes carry code, line and kernel") {
    const AssemblerLog log = parse_log(
        "ptxas info    : (C7519) warpgroup.arrive is injected in around line 12 by compiler to allow use of "
        "registers "
        "in GMMA in function 'k'\n"
        "ptxas info    : (C7517) warpgroup.wait is injected in around line 15 by compiler to allow use of "
        "registers "
        "defined by GMMA in function 'k'\r\n"
        "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due "
        "to "
        "insufficient register resources for the wgmma pipeline in the function 'big'\n"
        "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine "
        "register count at "
        "entry.");
    REQUIRE(log.notes.size() == 4);
    CHECK(log.notes[0].code == "C7519");
    CHECK(log.notes[0].line == 12);
    CHECK(log.notes[0].function == "k");
    CHECK(log.notes[0].severity == Severity::note);
    CHECK(log.notes[0].message.starts_with("warpgroup.arrive is injected"));
    CHECK(log.notes[1].code == "C7517");
    CHECK(log.notes[1].line == 15);
    CHECK(log.notes[1].message.ends_with("in function 'k'"));
    CHECK(log.notes[2].code == "C7511");
    CHECK(log.notes[2].line == 0);
    CHECK(log.notes[2].function == "big");
    CHECK(log.notes[3].code == "C7508");
    CHECK(log.notes[3].message ==
          "Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.");
}

TEST_CASE("errors with and without a line") {
    const AssemblerLog log =
        parse_log(R"(ptxas bad.ptx, line 9; error   : Illegal operand type to instruction 'ld'
ptxas application ptx input, line 12; error   : Unknown modifier '.m64n12k16'
ptxas v.ptx, line 1; fatal   : Unsupported .version 9.9; current version is '9.0'
ptxas error   : Entry function 'k' uses too much shared data (0x493e0 bytes, 0x38c00 max)
ptxas fatal   : (C7602) Insufficient registers (64) to compile instruction at line 266 in function big. Try to compile with register target of 154 or higher.
ptxas warning : Too many maxnreg specified for entry k, will be ignored
error   : Undefined reference to 'f' in '<input>'
ptxas fatal   : Ptx assembly aborted due to errors
)");
    REQUIRE(log.notes.size() == 7);
    CHECK(log.notes[0].line == 9);
    CHECK(log.notes[0].severity == Severity::error);
    CHECK(log.notes[0].message == "Illegal operand type to instruction 'ld'");
    CHECK(log.notes[1].line == 12);
    CHECK(log.notes[1].message == "Unknown modifier '.m64n12k16'");
    CHECK(log.notes[2].line == 1);
    CHECK(log.notes[2].message == "Unsupported .version 9.9; current version is '9.0'");
    CHECK(log.notes[3].line == 0);
    CHECK(log.notes[3].function == "k");
    CHECK(log.notes[4].code == "C7602");
    CHECK(log.notes[4].line == 266);
    CHECK(log.notes[4].function == "big");
    CHECK(log.notes[5].severity == Severity::warning);
    CHECK(log.notes[6].message == "Undefined reference to 'f' in '<input>'");
}

TEST_CASE("NVRTC's own front end") {
    const AssemblerLog log = parse_log(R"(kernel.cu(8): error: identifier "ouch" is undefined
    ouch[threadIdx.x]=d0+smem[5];
    ^

1 error detected in the compilation of "kernel.cu".
kernel.cu(3): warning #177-D: variable "q" was declared but never referenced
    int q; float d0=0,d1=0,d2=0,d3=0;
        ^
kernel.cu(1): catastrophic error: cannot open source file "nowhere.h"
nvrtc: error: unrecognized option -bogus found
    f(3): not a diagnostic
)");
    REQUIRE(log.notes.size() == 4);
    CHECK(log.notes[0].line == 8);
    CHECK(log.notes[0].severity == Severity::error);
    CHECK(log.notes[0].message == "identifier \"ouch\" is undefined");
    CHECK(log.notes[1].line == 3);
    CHECK(log.notes[1].severity == Severity::warning);
    CHECK(log.notes[1].code == "177-D");
    CHECK(log.notes[2].message == "cannot open source file \"nowhere.h\"");
    CHECK(log.notes[3].message == "unrecognized option -bogus found");
    CHECK(log.notes[3].line == 0);
}

TEST_CASE("odd logs do no harm") {
    CHECK(parse_log("").notes.empty());
    CHECK(parse_log("\n\n  \n").functions.empty());
    CHECK(parse_log("ptxas ").notes.empty());
    CHECK(parse_log("ptxas info    : Used 3 registers").functions.empty());
    CHECK(parse_log("    12 bytes stack frame").functions.empty());
    CHECK(parse_log("ptxas info    : (C75").notes.size() == 1);
    CHECK(parse_log("ptxas x, line 99999999999999999999; error : big").notes.size() <= 1);
    CHECK(parse_log(std::string(1 << 20, '(')).notes.empty());
    const std::string zeros(100, '\0');
    CHECK(parse_log(zeros).text == zeros);
}

TEST_CASE("a compile error says the first error and counts the others") {
    const auto message = [](const char* log) {
        return std::string(CompileError("ptxas", parse_log(log)).what());
    };
    CHECK(message("ptxas a, line 9; error   : One\nptxas a, line 12; error   : Two\nptxas a, line 13; error  "
                  " : Three\n") == "ptxas: line 9: One (and 2 more errors)");
    CHECK(message("ptxas warning : W\nptxas fatal   : (C7602) Too few\nptxas error   : E\n") ==
          "ptxas: Too few (C7602) (and 1 more error)");
    CHECK(message("something else") == "ptxas: something else");
    CHECK(message("") == "ptxas: failed without a message");
    CHECK(CompileError("ptxas", {}).code() == "ECOMPILE");
}
