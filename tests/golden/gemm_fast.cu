// gemm
#pragma nv_diag_suppress 549  // variable is used before its value is set
struct alignas(64) TensorMap { unsigned char bytes[128]; };
extern "C" __global__ void __launch_bounds__(384, 1)
gemm(const __grid_constant__ TensorMap param_A, const __grid_constant__ TensorMap param_B, const __grid_constant__ TensorMap param_D, unsigned param_M, unsigned param_N, unsigned param_K, const __grid_constant__ TensorMap param_A_edge) {
    extern __shared__ __align__(1024) unsigned char wgrun_shared[];
    const unsigned shared_base = (unsigned)__cvta_generic_to_shared(wgrun_shared);
    // shared_base + 0: A, 131072 bytes
    // shared_base + 131072: B, 65536 bytes
    // shared_base + 196608: D, 16384 bytes
    // shared_base + 212992: pipeline_full, 64 bytes
    // shared_base + 213056: pipeline_empty, 64 bytes
    int p8, p46, p51, p53, p56, p59, p70, p85, p88, p93, p94, p104, p122, p197, p199, p203, p204, p205, p214;
    int p215, p219, p235;
    unsigned r3, r4, r5, r7, r9, r10, r11, r12, r13, r14, r15, r16, r17, r18, r19, r20, r21, r22, r23, r24;
    unsigned r25, r26, r27, r28, r29, r30, r31, r32, r33, r34, r35, r36, r37, r38, r39, r40, r41, r42, r43;
    unsigned r44, r45, r47, r48, r49, r50, r52, r54, r55, r57, r58, r60, r61, r62, r63, r64, r65, r66, r67;
    unsigned r68, r69, r71, r72, r73, r74, r75, r76, r77, r78, r79, r80, r81, r82, r83, r84, r86, r87, r89;
    unsigned r90, r91, r92, r95, r96, r97, r98, r99, r100, r101, r102, r103, r105, r106, r107, r108, r109;
    unsigned r110, r111, r112, r114, r116, r117, r118, r119, r120, r121, r123, r124, r125, r126, r127, r128;
    unsigned r129, r130, r131, r132, r133, r134, r135, r136, r137, r138, r139, r140, r141, r142, r143, r144;
    unsigned r145, r146, r147, r148, r149, r150, r151, r152, r153, r186, r187, r188, r189, r190, r191, r192;
    unsigned r193, r194, r195, r196, r198, r200, r201, r202, r216, r217, r218, r220, r221, r222, r223, r224;
    unsigned r225, r226, r227, r228, r229, r230, r231, r232, r233, r234, r236, r237, r238, r239, r240, r241;
    unsigned r242, r243, r244, r245, r246, r247, r248, r249, r250, r251, r252, r253, r254, r255;
    float f154, f155, f156, f157, f158, f159, f160, f161, f162, f163, f164, f165, f166, f167, f168, f169, f170;
    float f171, f172, f173, f174, f175, f176, f177, f178, f179, f180, f181, f182, f183, f184, f185;
    unsigned long long l0, l1, l2, l6, l113, l115, l206, l207, l208, l209, l210, l211, l212, l213;
    // gemm_fast.lua:65
    l0 = (unsigned long long)&param_A;
    l1 = (unsigned long long)&param_B;
    l2 = (unsigned long long)&param_D;
    r3 = param_M;
    r4 = param_N;
    r5 = param_K;
    l6 = (unsigned long long)&param_A_edge;
    asm("mov.u32 %0, %%tid.x;" : "=r"(r7) : );
    asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p8) : "r"(r7));
    if (p8) {
        asm volatile("prefetch.tensormap [%0];" :  : "l"(l0) : "memory");
        asm volatile("prefetch.tensormap [%0];" :  : "l"(l1) : "memory");
        asm volatile("prefetch.tensormap [%0];" :  : "l"(l6) : "memory");
        asm volatile("prefetch.tensormap [%0];" :  : "l"(l2) : "memory");
        r9 = shared_base + 212992;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r9) : "memory");
        r10 = shared_base + 213056;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" :  : "r"(r10) : "memory");
        r11 = shared_base + 212992;
        asm("add.u32 %0, %1, 8;" : "=r"(r12) : "r"(r11));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r12) : "memory");
        r13 = shared_base + 213056;
        asm("add.u32 %0, %1, 8;" : "=r"(r14) : "r"(r13));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" :  : "r"(r14) : "memory");
        r15 = shared_base + 212992;
        asm("add.u32 %0, %1, 16;" : "=r"(r16) : "r"(r15));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r16) : "memory");
        r17 = shared_base + 213056;
        asm("add.u32 %0, %1, 16;" : "=r"(r18) : "r"(r17));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" :  : "r"(r18) : "memory");
        r19 = shared_base + 212992;
        asm("add.u32 %0, %1, 24;" : "=r"(r20) : "r"(r19));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r20) : "memory");
        r21 = shared_base + 213056;
        asm("add.u32 %0, %1, 24;" : "=r"(r22) : "r"(r21));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" :  : "r"(r22) : "memory");
        r23 = shared_base + 212992;
        asm("add.u32 %0, %1, 32;" : "=r"(r24) : "r"(r23));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r24) : "memory");
        r25 = shared_base + 213056;
        asm("add.u32 %0, %1, 32;" : "=r"(r26) : "r"(r25));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" :  : "r"(r26) : "memory");
        r27 = shared_base + 212992;
        asm("add.u32 %0, %1, 40;" : "=r"(r28) : "r"(r27));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r28) : "memory");
        r29 = shared_base + 213056;
        asm("add.u32 %0, %1, 40;" : "=r"(r30) : "r"(r29));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" :  : "r"(r30) : "memory");
        r31 = shared_base + 212992;
        asm("add.u32 %0, %1, 48;" : "=r"(r32) : "r"(r31));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r32) : "memory");
        r33 = shared_base + 213056;
        asm("add.u32 %0, %1, 48;" : "=r"(r34) : "r"(r33));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" :  : "r"(r34) : "memory");
        r35 = shared_base + 212992;
        asm("add.u32 %0, %1, 56;" : "=r"(r36) : "r"(r35));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r36) : "memory");
        r37 = shared_base + 213056;
        asm("add.u32 %0, %1, 56;" : "=r"(r38) : "r"(r37));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" :  : "r"(r38) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" :  :  : "memory");
    }
    asm("mov.u32 %0, %%tid.x;" : "=r"(r39) : );
    asm("shl.b32 %0, %1, 4;" : "=r"(r40) : "r"(r39));
    r41 = 0;
    r42 = 0;
    r43 = 0;
    r44 = 0;
    r45 = 0;
    for (;;) {
        asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 8; selp.b32 %0, 1, 0, q0; }" : "=r"(p46) : "r"(r45));
        if (!p46) break;
        r47 = shared_base + 0;
        asm("add.u32 %0, %1, %2;" : "=r"(r48) : "r"(r47), "r"(r40));
        asm("mul.lo.u32 %0, %1, 16384;" : "=r"(r49) : "r"(r45));
        asm("add.u32 %0, %1, %2;" : "=r"(r50) : "r"(r48), "r"(r49));
        asm volatile("st.shared.v4.b32 [%0+8192], {%1, %2, %3, %4};" :  : "r"(r50), "r"(r41), "r"(r42), "r"(r43), "r"(r44) : "memory");
        asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 2048; selp.b32 %0, 1, 0, q0; }" : "=r"(p51) : "r"(r40));
        if (p51) asm volatile("st.shared.v4.b32 [%0+14336], {%1, %2, %3, %4};" :  : "r"(r50), "r"(r41), "r"(r42), "r"(r43), "r"(r44) : "memory");
        asm("add.u32 %0, %1, 1;" : "=r"(r45) : "r"(r45));
    }
    asm volatile("fence.proxy.async.shared::cta;" :  :  : "memory");
    asm volatile("griddepcontrol.launch_dependents;" :  :  : "memory");
    asm volatile("griddepcontrol.wait;" :  :  : "memory");
    asm volatile("bar.sync 0;" :  :  : "memory");
    asm("shr.u32 %0, %1, 7;" : "=r"(r52) : "r"(r7));
    asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p53) : "r"(r52));
    if (p53) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;" :  :  : "memory");
        asm("shr.u32 %0, %1, 5;" : "=r"(r54) : "r"(r7));
        asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(r55) : "r"(r54) : "memory");
        asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p56) : "r"(r55));
        if (p56) {
            r57 = 0;
            r58 = 0;
            asm volatile("{ .reg .pred q0; elect.sync _|q0, -1; selp.b32 %0, 1, 0, q0; }" : "=r"(p59) :  : "memory");
            r60 = shared_base + 0;
            r61 = shared_base + 131072;
            asm("add.u32 %0, %1, 127;" : "=r"(r62) : "r"(r3));
            asm("shr.u32 %0, %1, 7;" : "=r"(r63) : "r"(r62));
            asm("add.u32 %0, %1, 63;" : "=r"(r64) : "r"(r4));
            asm("shr.u32 %0, %1, 6;" : "=r"(r65) : "r"(r64));
            asm("mul.lo.u32 %0, %1, %2;" : "=r"(r66) : "r"(r63), "r"(r65));
            asm("mov.u32 %0, %%ctaid.x;" : "=r"(r67) : );
            asm("mov.u32 %0, %%nctaid.x;" : "=r"(r68) : );
            r69 = r67;
            for (;;) {
                asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p70) : "r"(r69), "r"(r66));
                if (!p70) break;
                asm("mul.lo.u32 %0, %1, 12;" : "=r"(r71) : "r"(r65));
                asm("div.u32 %0, %1, %2;" : "=r"(r72) : "r"(r69), "r"(r71));
                asm("mul.lo.u32 %0, %1, 12;" : "=r"(r73) : "r"(r72));
                asm("sub.u32 %0, %1, %2;" : "=r"(r74) : "r"(r63), "r"(r73));
                asm("min.u32 %0, %1, 12;" : "=r"(r75) : "r"(r74));
                asm("mul.lo.u32 %0, %1, %2;" : "=r"(r76) : "r"(r72), "r"(r71));
                asm("sub.u32 %0, %1, %2;" : "=r"(r77) : "r"(r69), "r"(r76));
                asm("div.u32 %0, %1, %2;" : "=r"(r78) : "r"(r77), "r"(r75));
                asm("mul.lo.u32 %0, %1, %2;" : "=r"(r79) : "r"(r78), "r"(r75));
                asm("sub.u32 %0, %1, %2;" : "=r"(r80) : "r"(r77), "r"(r79));
                asm("add.u32 %0, %1, %2;" : "=r"(r81) : "r"(r73), "r"(r80));
                asm("mul.lo.u32 %0, %1, 128;" : "=r"(r82) : "r"(r81));
                asm("mul.lo.u32 %0, %1, 64;" : "=r"(r83) : "r"(r78));
                asm("sub.u32 %0, %1, %2;" : "=r"(r84) : "r"(r3), "r"(r82));
                asm("{ .reg .pred q0; setp.le.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p85) : "r"(r84));
                asm("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; selp.u32 %0, 16384, 24576, q0; }" : "=r"(r86) : "r"(p85));
                r87 = 0;
                for (;;) {
                    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p88) : "r"(r87), "r"(r5));
                    if (!p88) break;
                    asm("shl.b32 %0, %1, 3;" : "=r"(r89) : "r"(r57));
                    r90 = shared_base + 213056;
                    asm("add.u32 %0, %1, %2;" : "=r"(r91) : "r"(r90), "r"(r89));
                    asm("xor.b32 %0, %1, 1;" : "=r"(r92) : "r"(r58));
                    for (;;) {
                        asm volatile("{ .reg .pred q0; mbarrier.try_wait.parity.shared::cta.b64 q0, [%1], %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p93) : "r"(r91), "r"(r92) : "memory");
                        asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; not.pred q0, q1; selp.b32 %0, 1, 0, q0; }" : "=r"(p94) : "r"(p93));
                        if (!p94) break;
                    }
                    if (p59) {
                        asm("shl.b32 %0, %1, 3;" : "=r"(r95) : "r"(r57));
                        r96 = shared_base + 212992;
                        asm("add.u32 %0, %1, %2;" : "=r"(r97) : "r"(r96), "r"(r95));
                        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :  : "r"(r97), "r"(r86) : "memory");
                        if (p85) {
                            asm("mul.lo.u32 %0, %1, 16384;" : "=r"(r98) : "r"(r57));
                            asm("add.u32 %0, %1, %2;" : "=r"(r99) : "r"(r60), "r"(r98));
                            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :  : "r"(r99), "l"(l6), "r"(r87), "r"(r82), "r"(r97) : "memory");
                        } else {
                            asm("mul.lo.u32 %0, %1, 16384;" : "=r"(r100) : "r"(r57));
                            asm("add.u32 %0, %1, %2;" : "=r"(r101) : "r"(r60), "r"(r100));
                            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :  : "r"(r101), "l"(l0), "r"(r87), "r"(r82), "r"(r97) : "memory");
                        }
                        asm("mul.lo.u32 %0, %1, 8192;" : "=r"(r102) : "r"(r57));
                        asm("add.u32 %0, %1, %2;" : "=r"(r103) : "r"(r61), "r"(r102));
                        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :  : "r"(r103), "l"(l1), "r"(r87), "r"(r83), "r"(r97) : "memory");
                    }
                    asm("add.u32 %0, %1, 1;" : "=r"(r57) : "r"(r57));
                    asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 8; selp.b32 %0, 1, 0, q0; }" : "=r"(p104) : "r"(r57));
                    if (p104) r57 = 0;
                    if (p104) asm("xor.b32 %0, %1, 1;" : "=r"(r58) : "r"(r58));
                    asm("add.u32 %0, %1, 64;" : "=r"(r87) : "r"(r87));
                }
                asm("add.u32 %0, %1, %2;" : "=r"(r69) : "r"(r69), "r"(r68));
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;" :  :  : "memory");
        asm("mov.u32 %0, %%tid.x;" : "=r"(r105) : );
        asm("and.b32 %0, %1, 31;" : "=r"(r106) : "r"(r105));
        asm("shr.u32 %0, %1, 7;" : "=r"(r107) : "r"(r105));
        asm("sub.u32 %0, %1, 1;" : "=r"(r108) : "r"(r107));
        asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(r109) : "r"(r108) : "memory");
        asm("mul.lo.u32 %0, %1, 8192;" : "=r"(r110) : "r"(r109));
        r111 = shared_base + 0;
        asm("add.u32 %0, %1, %2;" : "=r"(r112) : "r"(r111), "r"(r110));
        l113 = 0x4000004000010000ull | (unsigned long long)((r112 & 0x3FFFF) >> 4);
        r114 = shared_base + 131072;
        l115 = 0x4000004000010000ull | (unsigned long long)((r114 & 0x3FFFF) >> 4);
        asm("mul.lo.u32 %0, %1, 8192;" : "=r"(r116) : "r"(r109));
        asm("add.u32 %0, %1, 1;" : "=r"(r117) : "r"(r109));
        asm("mov.u32 %0, %%tid.x;" : "=r"(r118) : );
        asm("and.b32 %0, %1, 127;" : "=r"(r119) : "r"(r118));
        asm("and.b32 %0, %1, 31;" : "=r"(r120) : "r"(r119));
        asm("shr.u32 %0, %1, 5;" : "=r"(r121) : "r"(r119));
        asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p122) : "r"(r119));
        r123 = shared_base + 196608;
        asm("add.u32 %0, %1, %2;" : "=r"(r124) : "r"(r123), "r"(r116));
        asm("shl.b32 %0, %1, 4;" : "=r"(r125) : "r"(r121));
        asm("and.b32 %0, %1, 15;" : "=r"(r126) : "r"(r120));
        asm("add.u32 %0, %1, %2;" : "=r"(r127) : "r"(r125), "r"(r126));
        asm("mul.lo.u32 %0, %1, 128;" : "=r"(r128) : "r"(r127));
        asm("add.u32 %0, %1, %2;" : "=r"(r129) : "r"(r124), "r"(r128));
        asm("shr.u32 %0, %1, 4;" : "=r"(r130) : "r"(r120));
        asm("add.u32 %0, %1, 0;" : "=r"(r131) : "r"(r130));
        asm("and.b32 %0, %1, 7;" : "=r"(r132) : "r"(r120));
        asm("xor.b32 %0, %1, %2;" : "=r"(r133) : "r"(r131), "r"(r132));
        asm("shl.b32 %0, %1, 4;" : "=r"(r134) : "r"(r133));
        asm("add.u32 %0, %1, %2;" : "=r"(r135) : "r"(r129), "r"(r134));
        asm("shr.u32 %0, %1, 4;" : "=r"(r136) : "r"(r120));
        asm("add.u32 %0, %1, 2;" : "=r"(r137) : "r"(r136));
        asm("and.b32 %0, %1, 7;" : "=r"(r138) : "r"(r120));
        asm("xor.b32 %0, %1, %2;" : "=r"(r139) : "r"(r137), "r"(r138));
        asm("shl.b32 %0, %1, 4;" : "=r"(r140) : "r"(r139));
        asm("add.u32 %0, %1, %2;" : "=r"(r141) : "r"(r129), "r"(r140));
        asm("shr.u32 %0, %1, 4;" : "=r"(r142) : "r"(r120));
        asm("add.u32 %0, %1, 4;" : "=r"(r143) : "r"(r142));
        asm("and.b32 %0, %1, 7;" : "=r"(r144) : "r"(r120));
        asm("xor.b32 %0, %1, %2;" : "=r"(r145) : "r"(r143), "r"(r144));
        asm("shl.b32 %0, %1, 4;" : "=r"(r146) : "r"(r145));
        asm("add.u32 %0, %1, %2;" : "=r"(r147) : "r"(r129), "r"(r146));
        asm("shr.u32 %0, %1, 4;" : "=r"(r148) : "r"(r120));
        asm("add.u32 %0, %1, 6;" : "=r"(r149) : "r"(r148));
        asm("and.b32 %0, %1, 7;" : "=r"(r150) : "r"(r120));
        asm("xor.b32 %0, %1, %2;" : "=r"(r151) : "r"(r149), "r"(r150));
        asm("shl.b32 %0, %1, 4;" : "=r"(r152) : "r"(r151));
        asm("add.u32 %0, %1, %2;" : "=r"(r153) : "r"(r129), "r"(r152));
        r186 = 0;
        r187 = 0;
        r188 = 0;
        asm("add.u32 %0, %1, 127;" : "=r"(r189) : "r"(r3));
        asm("shr.u32 %0, %1, 7;" : "=r"(r190) : "r"(r189));
        asm("add.u32 %0, %1, 63;" : "=r"(r191) : "r"(r4));
        asm("shr.u32 %0, %1, 6;" : "=r"(r192) : "r"(r191));
        asm("mul.lo.u32 %0, %1, %2;" : "=r"(r193) : "r"(r190), "r"(r192));
        asm("mov.u32 %0, %%ctaid.x;" : "=r"(r194) : );
        asm("mov.u32 %0, %%nctaid.x;" : "=r"(r195) : );
        r196 = r194;
        for (;;) {
            asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p197) : "r"(r196), "r"(r193));
            if (!p197) break;
            r198 = 0;
            for (;;) {
                asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p199) : "r"(r198), "r"(r5));
                if (!p199) break;
                asm("shl.b32 %0, %1, 3;" : "=r"(r200) : "r"(r186));
                r201 = shared_base + 212992;
                asm("add.u32 %0, %1, %2;" : "=r"(r202) : "r"(r201), "r"(r200));
                for (;;) {
                    asm volatile("{ .reg .pred q0; mbarrier.try_wait.parity.shared::cta.b64 q0, [%1], %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p203) : "r"(r202), "r"(r187) : "memory");
                    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; not.pred q0, q1; selp.b32 %0, 1, 0, q0; }" : "=r"(p204) : "r"(p203));
                    if (!p204) break;
                }
                asm volatile("wgmma.fence.sync.aligned;" :  :  : "memory");
                asm("{ .reg .pred q0; setp.gt.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p205) : "r"(r198));
                asm("mad.wide.u32 %0, %1, 1024, %2;" : "=l"(l206) : "r"(r186), "l"(l113));
                asm("mad.wide.u32 %0, %1, 512, %2;" : "=l"(l207) : "r"(r186), "l"(l115));
                asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, q0, 1, 1, 0, 0; }" : "+f"(f154), "+f"(f155), "+f"(f156), "+f"(f157), "+f"(f158), "+f"(f159), "+f"(f160), "+f"(f161), "+f"(f162), "+f"(f163), "+f"(f164), "+f"(f165), "+f"(f166), "+f"(f167), "+f"(f168), "+f"(f169), "+f"(f170), "+f"(f171), "+f"(f172), "+f"(f173), "+f"(f174), "+f"(f175), "+f"(f176), "+f"(f177), "+f"(f178), "+f"(f179), "+f"(f180), "+f"(f181), "+f"(f182), "+f"(f183), "+f"(f184), "+f"(f185) : "l"(l206), "l"(l207), "r"(p205) : "memory");
                asm("add.u64 %0, %1, 2;" : "=l"(l208) : "l"(l207));
                asm("add.u64 %0, %1, 2;" : "=l"(l209) : "l"(l206));
                asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;" : "+f"(f154), "+f"(f155), "+f"(f156), "+f"(f157), "+f"(f158), "+f"(f159), "+f"(f160), "+f"(f161), "+f"(f162), "+f"(f163), "+f"(f164), "+f"(f165), "+f"(f166), "+f"(f167), "+f"(f168), "+f"(f169), "+f"(f170), "+f"(f171), "+f"(f172), "+f"(f173), "+f"(f174), "+f"(f175), "+f"(f176), "+f"(f177), "+f"(f178), "+f"(f179), "+f"(f180), "+f"(f181), "+f"(f182), "+f"(f183), "+f"(f184), "+f"(f185) : "l"(l209), "l"(l208) : "memory");
                asm("add.u64 %0, %1, 4;" : "=l"(l210) : "l"(l207));
                asm("add.u64 %0, %1, 4;" : "=l"(l211) : "l"(l206));
                asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;" : "+f"(f154), "+f"(f155), "+f"(f156), "+f"(f157), "+f"(f158), "+f"(f159), "+f"(f160), "+f"(f161), "+f"(f162), "+f"(f163), "+f"(f164), "+f"(f165), "+f"(f166), "+f"(f167), "+f"(f168), "+f"(f169), "+f"(f170), "+f"(f171), "+f"(f172), "+f"(f173), "+f"(f174), "+f"(f175), "+f"(f176), "+f"(f177), "+f"(f178), "+f"(f179), "+f"(f180), "+f"(f181), "+f"(f182), "+f"(f183), "+f"(f184), "+f"(f185) : "l"(l211), "l"(l210) : "memory");
                asm("add.u64 %0, %1, 6;" : "=l"(l212) : "l"(l207));
                asm("add.u64 %0, %1, 6;" : "=l"(l213) : "l"(l206));
                asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;" : "+f"(f154), "+f"(f155), "+f"(f156), "+f"(f157), "+f"(f158), "+f"(f159), "+f"(f160), "+f"(f161), "+f"(f162), "+f"(f163), "+f"(f164), "+f"(f165), "+f"(f166), "+f"(f167), "+f"(f168), "+f"(f169), "+f"(f170), "+f"(f171), "+f"(f172), "+f"(f173), "+f"(f174), "+f"(f175), "+f"(f176), "+f"(f177), "+f"(f178), "+f"(f179), "+f"(f180), "+f"(f181), "+f"(f182), "+f"(f183), "+f"(f184), "+f"(f185) : "l"(l213), "l"(l212) : "memory");
                asm volatile("wgmma.commit_group.sync.aligned;" :  :  : "memory");
                asm volatile("wgmma.wait_group.sync.aligned 1;" :  :  : "memory");
                asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p214) : "r"(r106));
                asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p215) : "r"(p214), "r"(p205));
                asm("shl.b32 %0, %1, 3;" : "=r"(r216) : "r"(r188));
                r217 = shared_base + 213056;
                asm("add.u32 %0, %1, %2;" : "=r"(r218) : "r"(r217), "r"(r216));
                if (p215) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :  : "r"(r218) : "memory");
                r188 = r186;
                asm("add.u32 %0, %1, 1;" : "=r"(r186) : "r"(r186));
                asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 8; selp.b32 %0, 1, 0, q0; }" : "=r"(p219) : "r"(r186));
                if (p219) r186 = 0;
                if (p219) asm("xor.b32 %0, %1, 1;" : "=r"(r187) : "r"(r187));
                asm("add.u32 %0, %1, 64;" : "=r"(r198) : "r"(r198));
            }
            asm("mul.lo.u32 %0, %1, 12;" : "=r"(r220) : "r"(r192));
            asm("div.u32 %0, %1, %2;" : "=r"(r221) : "r"(r196), "r"(r220));
            asm("mul.lo.u32 %0, %1, 12;" : "=r"(r222) : "r"(r221));
            asm("sub.u32 %0, %1, %2;" : "=r"(r223) : "r"(r190), "r"(r222));
            asm("min.u32 %0, %1, 12;" : "=r"(r224) : "r"(r223));
            asm("mul.lo.u32 %0, %1, %2;" : "=r"(r225) : "r"(r221), "r"(r220));
            asm("sub.u32 %0, %1, %2;" : "=r"(r226) : "r"(r196), "r"(r225));
            asm("div.u32 %0, %1, %2;" : "=r"(r227) : "r"(r226), "r"(r224));
            asm("mul.lo.u32 %0, %1, %2;" : "=r"(r228) : "r"(r227), "r"(r224));
            asm("sub.u32 %0, %1, %2;" : "=r"(r229) : "r"(r226), "r"(r228));
            asm("add.u32 %0, %1, %2;" : "=r"(r230) : "r"(r222), "r"(r229));
            asm("mul.lo.u32 %0, %1, 128;" : "=r"(r231) : "r"(r230));
            asm("mul.lo.u32 %0, %1, 64;" : "=r"(r232) : "r"(r227));
            asm("mul.lo.u32 %0, %1, 64;" : "=r"(r233) : "r"(r109));
            asm("add.u32 %0, %1, %2;" : "=r"(r234) : "r"(r231), "r"(r233));
            asm volatile("wgmma.wait_group.sync.aligned 0;" :  :  : "memory");
            asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p235) : "r"(r106));
            asm("shl.b32 %0, %1, 3;" : "=r"(r236) : "r"(r188));
            r237 = shared_base + 213056;
            asm("add.u32 %0, %1, %2;" : "=r"(r238) : "r"(r237), "r"(r236));
            if (p235) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :  : "r"(r238) : "memory");
            if (p122) asm volatile("cp.async.bulk.wait_group.read 0;" :  :  : "memory");
            asm volatile("bar.sync %0, 128;" :  : "r"(r117) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r239) : "f"(f155), "f"(f154));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r240) : "f"(f157), "f"(f156));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r241) : "f"(f159), "f"(f158));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r242) : "f"(f161), "f"(f160));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :  : "r"(r135), "r"(r239), "r"(r240), "r"(r241), "r"(r242) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r243) : "f"(f163), "f"(f162));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r244) : "f"(f165), "f"(f164));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r245) : "f"(f167), "f"(f166));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r246) : "f"(f169), "f"(f168));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :  : "r"(r141), "r"(r243), "r"(r244), "r"(r245), "r"(r246) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r247) : "f"(f171), "f"(f170));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r248) : "f"(f173), "f"(f172));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r249) : "f"(f175), "f"(f174));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r250) : "f"(f177), "f"(f176));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :  : "r"(r147), "r"(r247), "r"(r248), "r"(r249), "r"(r250) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r251) : "f"(f179), "f"(f178));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r252) : "f"(f181), "f"(f180));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r253) : "f"(f183), "f"(f182));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r254) : "f"(f185), "f"(f184));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :  : "r"(r153), "r"(r251), "r"(r252), "r"(r253), "r"(r254) : "memory");
            asm volatile("fence.proxy.async.shared::cta;" :  :  : "memory");
            asm volatile("bar.sync %0, 128;" :  : "r"(r117) : "memory");
            if (p122) {
                asm("add.u32 %0, %1, 0;" : "=r"(r255) : "r"(r232));
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" :  : "l"(l2), "r"(r255), "r"(r234), "r"(r124) : "memory");
                asm volatile("cp.async.bulk.commit_group;" :  :  : "memory");
            }
            asm("add.u32 %0, %1, %2;" : "=r"(r196) : "r"(r196), "r"(r195));
        }
        if (p122) asm volatile("cp.async.bulk.wait_group.read 0;" :  :  : "memory");
    }
}
