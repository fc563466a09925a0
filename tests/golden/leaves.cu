// leaves
#pragma nv_diag_suppress 549  // variable is used before its value is set
extern "C" __global__ void __launch_bounds__(64, 1)
leaves(unsigned long long param_out, unsigned param_n) {
    int p5, p7, p8, p9;
    unsigned r2, r3, r4, r6;
    unsigned long long l0, l1, l10;
    // leaves.lua:4
    l0 = param_out;
    asm("cvta.to.global.u64 %0, %1;" : "=l"(l1) : "l"(l0));
    r2 = param_n;
    // leaves.lua:5
    asm("mov.u32 %0, %%tid.x;" : "=r"(r3) : );
    // leaves.lua:6
    r4 = 0;
    // leaves.lua:7
    asm("{ .reg .pred q0; setp.ge.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p5) : "r"(r3), "r"(r2));
    if (p5) {
        return;
    }
    // leaves.lua:8
    r6 = 0;
    for (;;) {
        asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p7) : "r"(r6), "r"(r2));
        if (!p7) break;
        {
            // leaves.lua:9
            asm("{ .reg .pred q0; setp.eq.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p8) : "r"(r6), "r"(r3));
            if (p8) {
                goto next_0;
            }
            // leaves.lua:10
            asm("{ .reg .pred q0; setp.gt.u32 q0, %1, 20; selp.b32 %0, 1, 0, q0; }" : "=r"(p9) : "r"(r6));
            if (p9) {
                break;
            }
            // leaves.lua:11
            asm("add.u32 %0, %1, %2;" : "=r"(r4) : "r"(r4), "r"(r6));
        // leaves.lua:8
        }
        next_0:;
        asm("add.u32 %0, %1, 1;" : "=r"(r6) : "r"(r6));
    }
    // leaves.lua:13
    asm("mad.wide.u32 %0, %1, 4, %2;" : "=l"(l10) : "r"(r3), "l"(l1));
    asm volatile("st.global.u32 [%0], %1;" :  : "l"(l10), "r"(r4) : "memory");
}
