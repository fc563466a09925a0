// gemm
#pragma nv_diag_suppress 549  // variable is used before its value is set
struct alignas(64) TensorMap { unsigned char bytes[128]; };
extern "C" __global__ void __launch_bounds__(256, 1)
gemm(const __grid_constant__ TensorMap param_A, const __grid_constant__ TensorMap param_B, const __grid_constant__ TensorMap param_D, unsigned param_M, unsigned param_N, unsigned param_K, const __grid_constant__ TensorMap param_B_edge) {
    extern __shared__ __align__(1024) unsigned char wgrun_shared[];
    const unsigned shared_base = (unsigned)__cvta_generic_to_shared(wgrun_shared);
    // shared_base + 0: A, 131072 bytes
    // shared_base + 131072: B, 81920 bytes
    // shared_base + 212992: D, 5120 bytes
    // shared_base + 218112: pipeline_full, 64 bytes
    // shared_base + 218176: pipeline_empty, 64 bytes
    int p8, p46, p51, p53, p56, p59, p71, p86, p89, p94, p95, p109, p147, p174, p176, p180, p181, p182, p199;
    int p200, p204, p218;
    unsigned r3, r4, r5, r7, r9, r10, r11, r12, r13, r14, r15, r16, r17, r18, r19, r20, r21, r22, r23, r24;
    unsigned r25, r26, r27, r28, r29, r30, r31, r32, r33, r34, r35, r36, r37, r38, r39, r40, r41, r42, r43;
    unsigned r44, r45, r47, r48, r49, r50, r52, r54, r55, r57, r58, r60, r61, r62, r63, r64, r65, r66, r67;
    unsigned r68, r69, r70, r72, r73, r74, r75, r76, r77, r78, r79, r80, r81, r82, r83, r84, r85, r87, r88;
    unsigned r90, r91, r92, r93, r96, r97, r98, r99, r100, r101, r102, r103, r104, r105, r106, r107, r108;
    unsigned r110, r111, r112, r113, r114, r115, r117, r139, r140, r141, r142, r143, r144, r145, r146, r148;
    unsigned r149, r150, r151, r152, r153, r154, r155, r156, r157, r158, r159, r160, r161, r162, r163, r164;
    unsigned r165, r166, r167, r168, r169, r170, r171, r172, r173, r175, r177, r178, r179, r201, r202, r203;
    unsigned r205, r206, r207, r208, r209, r210, r211, r212, r213, r214, r215, r216, r217, r219, r220, r221;
    unsigned r222, r223, r224, r225, r226, r227, r228, r229, r230, r231;
    float f119, f120, f121, f122, f123, f124, f125, f126, f127, f128, f129, f130, f131, f132, f133, f134, f135;
    float f136, f137, f138;
    unsigned long long l0, l1, l2, l6, l116, l118, l183, l184, l185, l186, l187, l188, l189, l190, l191, l192;
    unsigned long long l193, l194, l195, l196, l197, l198;
    // gemm_fast.lua:71
    l0 = (unsigned long long)&param_A;
    l1 = (unsigned long long)&param_B;
    l2 = (unsigned long long)&param_D;
    r3 = param_M;
    r4 = param_N;
    r5 = param_K;
    l6 = (unsigned long long)&param_B_edge;
    asm("mov.u32 %0, %%tid.x;" : "=r"(r7) : );
    asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p8) : "r"(r7));
    if (p8) {
        asm volatile("prefetch.tensormap [%0];" :  : "l"(l0) : "memory");
        asm volatile("prefetch.tensormap [%0];" :  : "l"(l1) : "memory");
        asm volatile("prefetch.tensormap [%0];" :  : "l"(l6) : "memory");
        asm volatile("prefetch.tensormap [%0];" :  : "l"(l2) : "memory");
        r9 = shared_base + 218112;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r9) : "memory");
        r10 = shared_base + 218176;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r10) : "memory");
        r11 = shared_base + 218112;
        asm("add.u32 %0, %1, 8;" : "=r"(r12) : "r"(r11));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r12) : "memory");
        r13 = shared_base + 218176;
        asm("add.u32 %0, %1, 8;" : "=r"(r14) : "r"(r13));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r14) : "memory");
        r15 = shared_base + 218112;
        asm("add.u32 %0, %1, 16;" : "=r"(r16) : "r"(r15));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r16) : "memory");
        r17 = shared_base + 218176;
        asm("add.u32 %0, %1, 16;" : "=r"(r18) : "r"(r17));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r18) : "memory");
        r19 = shared_base + 218112;
        asm("add.u32 %0, %1, 24;" : "=r"(r20) : "r"(r19));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r20) : "memory");
        r21 = shared_base + 218176;
        asm("add.u32 %0, %1, 24;" : "=r"(r22) : "r"(r21));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r22) : "memory");
        r23 = shared_base + 218112;
        asm("add.u32 %0, %1, 32;" : "=r"(r24) : "r"(r23));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r24) : "memory");
        r25 = shared_base + 218176;
        asm("add.u32 %0, %1, 32;" : "=r"(r26) : "r"(r25));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r26) : "memory");
        r27 = shared_base + 218112;
        asm("add.u32 %0, %1, 40;" : "=r"(r28) : "r"(r27));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r28) : "memory");
        r29 = shared_base + 218176;
        asm("add.u32 %0, %1, 40;" : "=r"(r30) : "r"(r29));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r30) : "memory");
        r31 = shared_base + 218112;
        asm("add.u32 %0, %1, 48;" : "=r"(r32) : "r"(r31));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r32) : "memory");
        r33 = shared_base + 218176;
        asm("add.u32 %0, %1, 48;" : "=r"(r34) : "r"(r33));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r34) : "memory");
        r35 = shared_base + 218112;
        asm("add.u32 %0, %1, 56;" : "=r"(r36) : "r"(r35));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r36) : "memory");
        r37 = shared_base + 218176;
        asm("add.u32 %0, %1, 56;" : "=r"(r38) : "r"(r37));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r38) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" :  :  : "memory");
    }
    asm("mov.u32 %0, %%tid.x;" : "=r"(r43) : );
    asm("shl.b32 %0, %1, 4;" : "=r"(r44) : "r"(r43));
    r39 = 0;
    r40 = 0;
    r41 = 0;
    r42 = 0;
    r45 = 0;
    for (;;) {
        asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 16; selp.b32 %0, 1, 0, q0; }" : "=r"(p46) : "r"(r45));
        if (!p46) break;
        asm("mul.lo.u32 %0, %1, 5120;" : "=r"(r47) : "r"(r45));
        r48 = shared_base + 131072;
        asm("add.u32 %0, %1, %2;" : "=r"(r49) : "r"(r48), "r"(r44));
        asm("add.u32 %0, %1, %2;" : "=r"(r50) : "r"(r49), "r"(r47));
        asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 1024; selp.b32 %0, 1, 0, q0; }" : "=r"(p51) : "r"(r44));
        if (p51) asm volatile("st.shared.v4.b32 [%0+4096], {%1, %2, %3, %4};" :  : "r"(r50), "r"(r39), "r"(r40), "r"(r41), "r"(r42) : "memory");
        asm("add.u32 %0, %1, 1;" : "=r"(r45) : "r"(r45));
    }
    asm volatile("fence.proxy.async.shared::cta;" :  :  : "memory");
    asm volatile("griddepcontrol.launch_dependents;" :  :  : "memory");
    asm volatile("griddepcontrol.wait;" :  :  : "memory");
    asm volatile("bar.sync 0;" :  :  : "memory");
    asm("shr.u32 %0, %1, 7;" : "=r"(r52) : "r"(r7));
    asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p53) : "r"(r52));
    if (p53) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 56;" :  :  : "memory");
        asm("shr.u32 %0, %1, 5;" : "=r"(r54) : "r"(r7));
        asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(r55) : "r"(r54) : "memory");
        asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p56) : "r"(r55));
        if (p56) {
            r57 = 0;
            r58 = 0;
            asm volatile("{ .reg .pred q0; elect.sync _|q0, -1; selp.b32 %0, 1, 0, q0; }" : "=r"(p59) :  : "memory");
            r60 = shared_base + 0;
            r61 = shared_base + 131072;
            asm("add.u32 %0, %1, 63;" : "=r"(r62) : "r"(r3));
            asm("shr.u32 %0, %1, 6;" : "=r"(r63) : "r"(r62));
            asm("add.u32 %0, %1, 39;" : "=r"(r64) : "r"(r4));
            asm("shr.u32 %0, %1, 3;" : "=r"(r65) : "r"(r64));
            asm("mul.hi.u32 %0, %1, 858993460;" : "=r"(r66) : "r"(r65));
            asm("mul.lo.u32 %0, %1, %2;" : "=r"(r67) : "r"(r63), "r"(r66));
            asm("mov.u32 %0, %%ctaid.x;" : "=r"(r68) : );
            asm("mov.u32 %0, %%nctaid.x;" : "=r"(r69) : );
            r70 = r68;
            for (;;) {
                asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p71) : "r"(r70), "r"(r67));
                if (!p71) break;
                asm("mul.lo.u32 %0, %1, 1;" : "=r"(r72) : "r"(r66));
                asm("div.u32 %0, %1, %2;" : "=r"(r73) : "r"(r70), "r"(r72));
                asm("mul.lo.u32 %0, %1, 1;" : "=r"(r74) : "r"(r73));
                asm("sub.u32 %0, %1, %2;" : "=r"(r75) : "r"(r63), "r"(r74));
                asm("min.u32 %0, %1, 1;" : "=r"(r76) : "r"(r75));
                asm("mul.lo.u32 %0, %1, %2;" : "=r"(r77) : "r"(r73), "r"(r72));
                asm("sub.u32 %0, %1, %2;" : "=r"(r78) : "r"(r70), "r"(r77));
                asm("div.u32 %0, %1, %2;" : "=r"(r79) : "r"(r78), "r"(r76));
                asm("mul.lo.u32 %0, %1, %2;" : "=r"(r80) : "r"(r79), "r"(r76));
                asm("sub.u32 %0, %1, %2;" : "=r"(r81) : "r"(r78), "r"(r80));
                asm("add.u32 %0, %1, %2;" : "=r"(r82) : "r"(r74), "r"(r81));
                asm("mul.lo.u32 %0, %1, 64;" : "=r"(r83) : "r"(r82));
                asm("mul.lo.u32 %0, %1, 40;" : "=r"(r84) : "r"(r79));
                asm("sub.u32 %0, %1, %2;" : "=r"(r85) : "r"(r4), "r"(r84));
                asm("{ .reg .pred q0; setp.le.u32 q0, %1, 32; selp.b32 %0, 1, 0, q0; }" : "=r"(p86) : "r"(r85));
                asm("{ .reg .pred q0; setp.ne.b32 q0, %1, 0; selp.u32 %0, 24576, 26624, q0; }" : "=r"(r87) : "r"(p86));
                r88 = 0;
                for (;;) {
                    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p89) : "r"(r88), "r"(r5));
                    if (!p89) break;
                    asm("shl.b32 %0, %1, 3;" : "=r"(r90) : "r"(r57));
                    r91 = shared_base + 218176;
                    asm("add.u32 %0, %1, %2;" : "=r"(r92) : "r"(r91), "r"(r90));
                    asm("xor.b32 %0, %1, 1;" : "=r"(r93) : "r"(r58));
                    for (;;) {
                        asm volatile("{ .reg .pred q0; mbarrier.try_wait.parity.shared::cta.b64 q0, [%1], %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p94) : "r"(r92), "r"(r93) : "memory");
                        asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; not.pred q0, q1; selp.b32 %0, 1, 0, q0; }" : "=r"(p95) : "r"(p94));
                        if (!p95) break;
                    }
                    if (p59) {
                        asm("shl.b32 %0, %1, 3;" : "=r"(r96) : "r"(r57));
                        r97 = shared_base + 218112;
                        asm("add.u32 %0, %1, %2;" : "=r"(r98) : "r"(r97), "r"(r96));
                        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :  : "r"(r98), "r"(r87) : "memory");
                        asm("mul.lo.u32 %0, %1, 16384;" : "=r"(r99) : "r"(r57));
                        asm("add.u32 %0, %1, %2;" : "=r"(r100) : "r"(r60), "r"(r99));
                        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :  : "r"(r100), "l"(l0), "r"(r88), "r"(r83), "r"(r98) : "memory");
                        asm("add.u32 %0, %1, 64;" : "=r"(r101) : "r"(r88));
                        asm("add.u32 %0, %1, 8192;" : "=r"(r102) : "r"(r100));
                        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :  : "r"(r102), "l"(l0), "r"(r101), "r"(r83), "r"(r98) : "memory");
                        asm("mul.lo.u32 %0, %1, 10240;" : "=r"(r103) : "r"(r57));
                        asm("add.u32 %0, %1, %2;" : "=r"(r104) : "r"(r61), "r"(r103));
                        if (p86) {
                            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :  : "r"(r104), "l"(l6), "r"(r88), "r"(r84), "r"(r98) : "memory");
                            asm("add.u32 %0, %1, 5120;" : "=r"(r105) : "r"(r104));
                            asm("add.u32 %0, %1, 64;" : "=r"(r106) : "r"(r88));
                            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :  : "r"(r105), "l"(l6), "r"(r106), "r"(r84), "r"(r98) : "memory");
                        } else {
                            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :  : "r"(r104), "l"(l1), "r"(r88), "r"(r84), "r"(r98) : "memory");
                            asm("add.u32 %0, %1, 64;" : "=r"(r107) : "r"(r88));
                            asm("add.u32 %0, %1, 5120;" : "=r"(r108) : "r"(r104));
                            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :  : "r"(r108), "l"(l1), "r"(r107), "r"(r84), "r"(r98) : "memory");
                        }
                    }
                    asm("add.u32 %0, %1, 1;" : "=r"(r57) : "r"(r57));
                    asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 8; selp.b32 %0, 1, 0, q0; }" : "=r"(p109) : "r"(r57));
                    if (p109) r57 = 0;
                    if (p109) asm("xor.b32 %0, %1, 1;" : "=r"(r58) : "r"(r58));
                    asm("add.u32 %0, %1, 128;" : "=r"(r88) : "r"(r88));
                }
                asm("add.u32 %0, %1, %2;" : "=r"(r70) : "r"(r70), "r"(r69));
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 256;" :  :  : "memory");
        asm("mov.u32 %0, %%tid.x;" : "=r"(r110) : );
        asm("and.b32 %0, %1, 31;" : "=r"(r111) : "r"(r110));
        asm("shr.u32 %0, %1, 7;" : "=r"(r112) : "r"(r110));
        asm("sub.u32 %0, %1, 1;" : "=r"(r113) : "r"(r112));
        asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(r114) : "r"(r113) : "memory");
        r115 = shared_base + 0;
        l116 = 0x4000004000010000ull | (unsigned long long)((r115 & 0x3FFFF) >> 4);
        r117 = shared_base + 131072;
        l118 = 0x4000004000010000ull | (unsigned long long)((r117 & 0x3FFFF) >> 4);
        r139 = 0;
        r140 = 0;
        asm("mul.lo.u32 %0, %1, 5120;" : "=r"(r141) : "r"(r114));
        asm("add.u32 %0, %1, 1;" : "=r"(r142) : "r"(r114));
        asm("mov.u32 %0, %%tid.x;" : "=r"(r143) : );
        asm("and.b32 %0, %1, 127;" : "=r"(r144) : "r"(r143));
        asm("and.b32 %0, %1, 31;" : "=r"(r145) : "r"(r144));
        asm("shr.u32 %0, %1, 5;" : "=r"(r146) : "r"(r144));
        asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p147) : "r"(r144));
        r148 = shared_base + 212992;
        asm("add.u32 %0, %1, %2;" : "=r"(r149) : "r"(r148), "r"(r141));
        asm("shr.u32 %0, %1, 3;" : "=r"(r150) : "r"(r145));
        asm("and.b32 %0, %1, 7;" : "=r"(r151) : "r"(r145));
        asm("shr.u32 %0, %1, 1;" : "=r"(r152) : "r"(r150));
        asm("shl.b32 %0, %1, 3;" : "=r"(r153) : "r"(r152));
        asm("add.u32 %0, %1, %2;" : "=r"(r154) : "r"(r151), "r"(r153));
        asm("mul.lo.u32 %0, %1, 128;" : "=r"(r155) : "r"(r154));
        asm("add.u32 %0, %1, %2;" : "=r"(r156) : "r"(r149), "r"(r155));
        asm("shl.b32 %0, %1, 1;" : "=r"(r157) : "r"(r146));
        asm("and.b32 %0, %1, 1;" : "=r"(r158) : "r"(r150));
        asm("add.u32 %0, %1, %2;" : "=r"(r159) : "r"(r157), "r"(r158));
        asm("and.b32 %0, %1, 7;" : "=r"(r160) : "r"(r145));
        asm("xor.b32 %0, %1, %2;" : "=r"(r161) : "r"(r159), "r"(r160));
        asm("shl.b32 %0, %1, 4;" : "=r"(r162) : "r"(r161));
        asm("add.u32 %0, %1, %2;" : "=r"(r163) : "r"(r156), "r"(r162));
        r164 = 0;
        asm("add.u32 %0, %1, 63;" : "=r"(r165) : "r"(r3));
        asm("shr.u32 %0, %1, 6;" : "=r"(r166) : "r"(r165));
        asm("add.u32 %0, %1, 39;" : "=r"(r167) : "r"(r4));
        asm("shr.u32 %0, %1, 3;" : "=r"(r168) : "r"(r167));
        asm("mul.hi.u32 %0, %1, 858993460;" : "=r"(r169) : "r"(r168));
        asm("mul.lo.u32 %0, %1, %2;" : "=r"(r170) : "r"(r166), "r"(r169));
        asm("mov.u32 %0, %%ctaid.x;" : "=r"(r171) : );
        asm("mov.u32 %0, %%nctaid.x;" : "=r"(r172) : );
        r173 = r171;
        for (;;) {
            asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p174) : "r"(r173), "r"(r170));
            if (!p174) break;
            r175 = 0;
            for (;;) {
                asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p176) : "r"(r175), "r"(r5));
                if (!p176) break;
                asm("shl.b32 %0, %1, 3;" : "=r"(r177) : "r"(r139));
                r178 = shared_base + 218112;
                asm("add.u32 %0, %1, %2;" : "=r"(r179) : "r"(r178), "r"(r177));
                for (;;) {
                    asm volatile("{ .reg .pred q0; mbarrier.try_wait.parity.shared::cta.b64 q0, [%1], %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p180) : "r"(r179), "r"(r140) : "memory");
                    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; not.pred q0, q1; selp.b32 %0, 1, 0, q0; }" : "=r"(p181) : "r"(p180));
                    if (!p181) break;
                }
                asm volatile("wgmma.fence.sync.aligned;" :  :  : "memory");
                asm("{ .reg .pred q0; setp.gt.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p182) : "r"(r175));
                asm("mad.wide.u32 %0, %1, 1024, %2;" : "=l"(l183) : "r"(r139), "l"(l116));
                asm("mad.wide.u32 %0, %1, 640, %2;" : "=l"(l184) : "r"(r139), "l"(l118));
                asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %22, 0; wgmma.mma_async.sync.aligned.m64n40k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19}, %20, %21, q0, 1, 1, 0, 0; }" : "+f"(f119), "+f"(f120), "+f"(f121), "+f"(f122), "+f"(f123), "+f"(f124), "+f"(f125), "+f"(f126), "+f"(f127), "+f"(f128), "+f"(f129), "+f"(f130), "+f"(f131), "+f"(f132), "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138) : "l"(l183), "l"(l184), "r"(p182) : "memory");
                asm("add.u64 %0, %1, 2;" : "=l"(l185) : "l"(l184));
                asm("add.u64 %0, %1, 2;" : "=l"(l186) : "l"(l183));
                asm volatile("wgmma.mma_async.sync.aligned.m64n40k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19}, %20, %21, 1, 1, 1, 0, 0;" : "+f"(f119), "+f"(f120), "+f"(f121), "+f"(f122), "+f"(f123), "+f"(f124), "+f"(f125), "+f"(f126), "+f"(f127), "+f"(f128), "+f"(f129), "+f"(f130), "+f"(f131), "+f"(f132), "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138) : "l"(l186), "l"(l185) : "memory");
                asm("add.u64 %0, %1, 4;" : "=l"(l187) : "l"(l184));
                asm("add.u64 %0, %1, 4;" : "=l"(l188) : "l"(l183));
                asm volatile("wgmma.mma_async.sync.aligned.m64n40k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19}, %20, %21, 1, 1, 1, 0, 0;" : "+f"(f119), "+f"(f120), "+f"(f121), "+f"(f122), "+f"(f123), "+f"(f124), "+f"(f125), "+f"(f126), "+f"(f127), "+f"(f128), "+f"(f129), "+f"(f130), "+f"(f131), "+f"(f132), "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138) : "l"(l188), "l"(l187) : "memory");
                asm("add.u64 %0, %1, 6;" : "=l"(l189) : "l"(l184));
                asm("add.u64 %0, %1, 6;" : "=l"(l190) : "l"(l183));
                asm volatile("wgmma.mma_async.sync.aligned.m64n40k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19}, %20, %21, 1, 1, 1, 0, 0;" : "+f"(f119), "+f"(f120), "+f"(f121), "+f"(f122), "+f"(f123), "+f"(f124), "+f"(f125), "+f"(f126), "+f"(f127), "+f"(f128), "+f"(f129), "+f"(f130), "+f"(f131), "+f"(f132), "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138) : "l"(l190), "l"(l189) : "memory");
                asm("add.u64 %0, %1, 320;" : "=l"(l191) : "l"(l184));
                asm("add.u64 %0, %1, 512;" : "=l"(l192) : "l"(l183));
                asm volatile("wgmma.mma_async.sync.aligned.m64n40k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19}, %20, %21, 1, 1, 1, 0, 0;" : "+f"(f119), "+f"(f120), "+f"(f121), "+f"(f122), "+f"(f123), "+f"(f124), "+f"(f125), "+f"(f126), "+f"(f127), "+f"(f128), "+f"(f129), "+f"(f130), "+f"(f131), "+f"(f132), "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138) : "l"(l192), "l"(l191) : "memory");
                asm("add.u64 %0, %1, 322;" : "=l"(l193) : "l"(l184));
                asm("add.u64 %0, %1, 514;" : "=l"(l194) : "l"(l183));
                asm volatile("wgmma.mma_async.sync.aligned.m64n40k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19}, %20, %21, 1, 1, 1, 0, 0;" : "+f"(f119), "+f"(f120), "+f"(f121), "+f"(f122), "+f"(f123), "+f"(f124), "+f"(f125), "+f"(f126), "+f"(f127), "+f"(f128), "+f"(f129), "+f"(f130), "+f"(f131), "+f"(f132), "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138) : "l"(l194), "l"(l193) : "memory");
                asm("add.u64 %0, %1, 324;" : "=l"(l195) : "l"(l184));
                asm("add.u64 %0, %1, 516;" : "=l"(l196) : "l"(l183));
                asm volatile("wgmma.mma_async.sync.aligned.m64n40k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19}, %20, %21, 1, 1, 1, 0, 0;" : "+f"(f119), "+f"(f120), "+f"(f121), "+f"(f122), "+f"(f123), "+f"(f124), "+f"(f125), "+f"(f126), "+f"(f127), "+f"(f128), "+f"(f129), "+f"(f130), "+f"(f131), "+f"(f132), "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138) : "l"(l196), "l"(l195) : "memory");
                asm("add.u64 %0, %1, 326;" : "=l"(l197) : "l"(l184));
                asm("add.u64 %0, %1, 518;" : "=l"(l198) : "l"(l183));
                asm volatile("wgmma.mma_async.sync.aligned.m64n40k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19}, %20, %21, 1, 1, 1, 0, 0;" : "+f"(f119), "+f"(f120), "+f"(f121), "+f"(f122), "+f"(f123), "+f"(f124), "+f"(f125), "+f"(f126), "+f"(f127), "+f"(f128), "+f"(f129), "+f"(f130), "+f"(f131), "+f"(f132), "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138) : "l"(l198), "l"(l197) : "memory");
                asm volatile("wgmma.commit_group.sync.aligned;" :  :  : "memory");
                asm volatile("wgmma.wait_group.sync.aligned 1;" :  :  : "memory");
                asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p199) : "r"(r111));
                asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p200) : "r"(p199), "r"(p182));
                asm("shl.b32 %0, %1, 3;" : "=r"(r201) : "r"(r164));
                r202 = shared_base + 218176;
                asm("add.u32 %0, %1, %2;" : "=r"(r203) : "r"(r202), "r"(r201));
                if (p200) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :  : "r"(r203) : "memory");
                r164 = r139;
                asm("add.u32 %0, %1, 1;" : "=r"(r139) : "r"(r139));
                asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 8; selp.b32 %0, 1, 0, q0; }" : "=r"(p204) : "r"(r139));
                if (p204) r139 = 0;
                if (p204) asm("xor.b32 %0, %1, 1;" : "=r"(r140) : "r"(r140));
                asm("add.u32 %0, %1, 128;" : "=r"(r175) : "r"(r175));
            }
            asm("mul.lo.u32 %0, %1, 1;" : "=r"(r205) : "r"(r169));
            asm("div.u32 %0, %1, %2;" : "=r"(r206) : "r"(r173), "r"(r205));
            asm("mul.lo.u32 %0, %1, 1;" : "=r"(r207) : "r"(r206));
            asm("sub.u32 %0, %1, %2;" : "=r"(r208) : "r"(r166), "r"(r207));
            asm("min.u32 %0, %1, 1;" : "=r"(r209) : "r"(r208));
            asm("mul.lo.u32 %0, %1, %2;" : "=r"(r210) : "r"(r206), "r"(r205));
            asm("sub.u32 %0, %1, %2;" : "=r"(r211) : "r"(r173), "r"(r210));
            asm("div.u32 %0, %1, %2;" : "=r"(r212) : "r"(r211), "r"(r209));
            asm("mul.lo.u32 %0, %1, %2;" : "=r"(r213) : "r"(r212), "r"(r209));
            asm("sub.u32 %0, %1, %2;" : "=r"(r214) : "r"(r211), "r"(r213));
            asm("add.u32 %0, %1, %2;" : "=r"(r215) : "r"(r207), "r"(r214));
            asm("mul.lo.u32 %0, %1, 64;" : "=r"(r216) : "r"(r215));
            asm("mul.lo.u32 %0, %1, 40;" : "=r"(r217) : "r"(r212));
            asm volatile("wgmma.wait_group.sync.aligned 0;" :  :  : "memory");
            asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p218) : "r"(r111));
            asm("shl.b32 %0, %1, 3;" : "=r"(r219) : "r"(r164));
            r220 = shared_base + 218176;
            asm("add.u32 %0, %1, %2;" : "=r"(r221) : "r"(r220), "r"(r219));
            if (p218) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :  : "r"(r221) : "memory");
            if (p147) asm volatile("cp.async.bulk.wait_group.read 0;" :  :  : "memory");
            asm volatile("bar.sync %0, 128;" :  : "r"(r142) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r222) : "f"(f120), "f"(f119));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r223) : "f"(f122), "f"(f121));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r224) : "f"(f124), "f"(f123));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r225) : "f"(f126), "f"(f125));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" :  : "r"(r163), "r"(r222), "r"(r223), "r"(r224), "r"(r225) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r226) : "f"(f128), "f"(f127));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r227) : "f"(f130), "f"(f129));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r228) : "f"(f132), "f"(f131));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r229) : "f"(f134), "f"(f133));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0+2048], {%1, %2, %3, %4};" :  : "r"(r163), "r"(r226), "r"(r227), "r"(r228), "r"(r229) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r230) : "f"(f136), "f"(f135));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r231) : "f"(f138), "f"(f137));
            asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0+4096], {%1, %2};" :  : "r"(r163), "r"(r230), "r"(r231) : "memory");
            asm volatile("fence.proxy.async.shared::cta;" :  :  : "memory");
            asm volatile("bar.sync %0, 128;" :  : "r"(r142) : "memory");
            if (p147) {
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" :  : "l"(l2), "r"(r216), "r"(r217), "r"(r149) : "memory");
                asm volatile("cp.async.bulk.commit_group;" :  :  : "memory");
            }
            asm("add.u32 %0, %1, %2;" : "=r"(r173) : "r"(r173), "r"(r172));
        }
        if (p147) asm volatile("cp.async.bulk.wait_group.read 0;" :  :  : "memory");
    }
}
