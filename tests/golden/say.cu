// say
#pragma nv_diag_suppress 549  // variable is used before its value is set
extern "C" __global__ void __launch_bounds__(64, 1)
say(unsigned long long param_X, unsigned param_n, unsigned long long param_messages) {
    int p4, p7, p8, p9, p11, p14, p17, p21;
    unsigned r2, r3, r19;
    float f6;
    unsigned long long l0, l1, l5, l10, l12, l13, l15, l16, l18, l20, l22;
    // say.lua:4
    l0 = param_X;
    asm("cvta.to.global.u64 %0, %1;" : "=l"(l1) : "l"(l0));
    r2 = param_n;
    // say.lua:5
    asm("mov.u32 %0, %%tid.x;" : "=r"(r3) : );
    // say.lua:6
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p4) : "r"(r3), "r"(r2));
    if (!p4) {
        // say.lua:3
        l12 = param_messages;
        // say.lua:6
        asm volatile("{ .reg .pred q0; {\n    .reg .b32 number, capacity;\n    .reg .b64 first;\n    atom.relaxed.gpu.global.add.u32 number, [%2], 1;\n    ld.global.b32 capacity, [%2+4];\n    ld.global.b64 first, [%2+8];\n    setp.lt.u32 q0, number, capacity;\n    mad.wide.u32 %0, number, 32, first;\n} selp.b32 %1, 1, 0, q0; }" : "=l"(l10), "=r"(p11) : "l"(l12) : "memory");
        asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; @q0 st.relaxed.sys.global.b32 [%0+16], %2; }" :  : "l"(l10), "r"(p11), "r"(r3) : "memory");
        asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; @q0 st.relaxed.sys.global.b32 [%0+24], %2; }" :  : "l"(l10), "r"(p11), "r"(r2) : "memory");
        asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; {\n    .reg .b32 message, cta_x, cta_yz, thread, by;\n    mov.u32 message, 1;\n    mov.u32 cta_x, %%ctaid.x;\n    mov.u32 cta_yz, %%ctaid.z;\n    shl.b32 cta_yz, cta_yz, 16;\n    mov.u32 thread, %%ctaid.y;\n    or.b32 cta_yz, cta_yz, thread;\n    mov.u32 thread, %%tid.z;\n    mov.u32 by, %%ntid.y;\n    mul.lo.u32 thread, thread, by;\n    mov.u32 by, %%tid.y;\n    add.u32 thread, thread, by;\n    mov.u32 by, %%ntid.x;\n    mul.lo.u32 thread, thread, by;\n    mov.u32 by, %%tid.x;\n    add.u32 thread, thread, by;\n    @q0 st.volatile.global.v4.b32 [%0], {message, cta_x, cta_yz, thread};\n} }" :  : "l"(l10), "r"(p11) : "memory");
        asm volatile("fence.sc.sys;\n nanosleep.u32 200000;\n trap;" :  :  : "memory");
    }
    // say.lua:7
    asm("mad.wide.u32 %0, %1, 4, %2;" : "=l"(l5) : "r"(r3), "l"(l1));
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(f6) : "l"(l5) : "memory");
    // say.lua:8
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 2; selp.b32 %0, 1, 0, q0; }" : "=r"(p7) : "r"(r3));
    if (p7) {
        // say.lua:3
        l15 = param_messages;
        // say.lua:8
        asm volatile("{ .reg .pred q0; {\n    .reg .b32 number, capacity;\n    .reg .b64 first;\n    atom.relaxed.gpu.global.add.u32 number, [%2], 1;\n    ld.global.b32 capacity, [%2+4];\n    ld.global.b64 first, [%2+8];\n    setp.lt.u32 q0, number, capacity;\n    mad.wide.u32 %0, number, 32, first;\n} selp.b32 %1, 1, 0, q0; }" : "=l"(l13), "=r"(p14) : "l"(l15) : "memory");
        asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; @q0 st.relaxed.sys.global.f32 [%0+16], %2; }" :  : "l"(l13), "r"(p14), "f"(f6) : "memory");
        asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; @q0 st.relaxed.sys.global.b32 [%0+24], %2; }" :  : "l"(l13), "r"(p14), "r"(r3) : "memory");
        asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; {\n    .reg .b32 message, cta_x, cta_yz, thread, by;\n    mov.u32 message, 2;\n    mov.u32 cta_x, %%ctaid.x;\n    mov.u32 cta_yz, %%ctaid.z;\n    shl.b32 cta_yz, cta_yz, 16;\n    mov.u32 thread, %%ctaid.y;\n    or.b32 cta_yz, cta_yz, thread;\n    mov.u32 thread, %%tid.z;\n    mov.u32 by, %%ntid.y;\n    mul.lo.u32 thread, thread, by;\n    mov.u32 by, %%tid.y;\n    add.u32 thread, thread, by;\n    mov.u32 by, %%ntid.x;\n    mul.lo.u32 thread, thread, by;\n    mov.u32 by, %%tid.x;\n    add.u32 thread, thread, by;\n    @q0 st.volatile.global.v4.b32 [%0], {message, cta_x, cta_yz, thread};\n} }" :  : "l"(l13), "r"(p14) : "memory");
    }
    // say.lua:9
    asm("{ .reg .pred q0; setp.gt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p8) : "r"(r2));
    if (p8) {
        asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p9) : "r"(r3), "r"(r2));
        // say.lua:3
        l18 = param_messages;
        // say.lua:9
        asm volatile("{ .reg .pred q0; {\n    .reg .b32 number, capacity;\n    .reg .b64 first;\n    atom.relaxed.gpu.global.add.u32 number, [%2], 1;\n    ld.global.b32 capacity, [%2+4];\n    ld.global.b64 first, [%2+8];\n    setp.lt.u32 q0, number, capacity;\n    mad.wide.u32 %0, number, 32, first;\n} selp.b32 %1, 1, 0, q0; }" : "=l"(l16), "=r"(p17) : "l"(l18) : "memory");
        asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; @q0 st.relaxed.sys.global.b32 [%0+16], %2; }" :  : "l"(l16), "r"(p17), "r"(r2) : "memory");
        asm("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(r19) : "r"(p9));
        asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; @q0 st.relaxed.sys.global.b32 [%0+24], %2; }" :  : "l"(l16), "r"(p17), "r"(r19) : "memory");
        asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; {\n    .reg .b32 message, cta_x, cta_yz, thread, by;\n    mov.u32 message, 3;\n    mov.u32 cta_x, %%ctaid.x;\n    mov.u32 cta_yz, %%ctaid.z;\n    shl.b32 cta_yz, cta_yz, 16;\n    mov.u32 thread, %%ctaid.y;\n    or.b32 cta_yz, cta_yz, thread;\n    mov.u32 thread, %%tid.z;\n    mov.u32 by, %%ntid.y;\n    mul.lo.u32 thread, thread, by;\n    mov.u32 by, %%tid.y;\n    add.u32 thread, thread, by;\n    mov.u32 by, %%ntid.x;\n    mul.lo.u32 thread, thread, by;\n    mov.u32 by, %%tid.x;\n    add.u32 thread, thread, by;\n    @q0 st.volatile.global.v4.b32 [%0], {message, cta_x, cta_yz, thread};\n} }" :  : "l"(l16), "r"(p17) : "memory");
        asm volatile("fence.sc.sys;\n nanosleep.u32 200000;\n trap;" :  :  : "memory");
    }
    // say.lua:3
    l22 = param_messages;
    // say.lua:10
    asm volatile("{ .reg .pred q0; {\n    .reg .b32 number, capacity;\n    .reg .b64 first;\n    atom.relaxed.gpu.global.add.u32 number, [%2], 1;\n    ld.global.b32 capacity, [%2+4];\n    ld.global.b64 first, [%2+8];\n    setp.lt.u32 q0, number, capacity;\n    mad.wide.u32 %0, number, 32, first;\n} selp.b32 %1, 1, 0, q0; }" : "=l"(l20), "=r"(p21) : "l"(l22) : "memory");
    asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; {\n    .reg .b32 message, cta_x, cta_yz, thread, by;\n    mov.u32 message, 4;\n    mov.u32 cta_x, %%ctaid.x;\n    mov.u32 cta_yz, %%ctaid.z;\n    shl.b32 cta_yz, cta_yz, 16;\n    mov.u32 thread, %%ctaid.y;\n    or.b32 cta_yz, cta_yz, thread;\n    mov.u32 thread, %%tid.z;\n    mov.u32 by, %%ntid.y;\n    mul.lo.u32 thread, thread, by;\n    mov.u32 by, %%tid.y;\n    add.u32 thread, thread, by;\n    mov.u32 by, %%ntid.x;\n    mul.lo.u32 thread, thread, by;\n    mov.u32 by, %%tid.x;\n    add.u32 thread, thread, by;\n    @q0 st.volatile.global.v4.b32 [%0], {message, cta_x, cta_yz, thread};\n} }" :  : "l"(l20), "r"(p21) : "memory");
}
