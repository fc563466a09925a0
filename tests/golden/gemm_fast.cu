// gemm
#pragma nv_diag_suppress 549  // variable is used before its value is set
struct alignas(64) TensorMap { unsigned char bytes[128]; };
extern "C" __global__ void __launch_bounds__(256, 1)
gemm(const __grid_constant__ TensorMap param_A, const __grid_constant__ TensorMap param_B, const __grid_constant__ TensorMap param_D, unsigned param_M, unsigned param_N, unsigned param_K) {
    extern __shared__ __align__(1024) unsigned char wgrun_shared[];
    const unsigned shared_base = (unsigned)__cvta_generic_to_shared(wgrun_shared);
    // shared_base + 0: A, 65536 bytes
    // shared_base + 65536: B, 131072 bytes
    // shared_base + 196608: D, 16384 bytes
    // shared_base + 212992: pipeline_full, 64 bytes
    // shared_base + 213056: pipeline_empty, 64 bytes
    int p7, p39, p42, p45, p56, p71, p76, p77, p85, p101, p208, p210, p214, p215, p216, p225, p226, p230, p244;
    unsigned r3, r4, r5, r6, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17, r18, r19, r20, r21, r22, r23;
    unsigned r24, r25, r26, r27, r28, r29, r30, r31, r32, r33, r34, r35, r36, r37, r38, r40, r41, r43, r44;
    unsigned r46, r47, r48, r49, r50, r51, r52, r53, r54, r55, r57, r58, r59, r60, r61, r62, r63, r64, r65;
    unsigned r66, r67, r68, r69, r70, r72, r73, r74, r75, r78, r79, r80, r81, r82, r83, r84, r86, r87, r88;
    unsigned r89, r90, r91, r93, r95, r96, r97, r98, r99, r100, r102, r103, r104, r105, r106, r107, r108, r109;
    unsigned r110, r111, r112, r113, r114, r115, r116, r117, r118, r119, r120, r121, r122, r123, r124, r125;
    unsigned r126, r127, r128, r129, r130, r131, r132, r197, r198, r199, r200, r201, r202, r203, r204, r205;
    unsigned r206, r207, r209, r211, r212, r213, r227, r228, r229, r231, r232, r233, r234, r235, r236, r237;
    unsigned r238, r239, r240, r241, r242, r243, r245, r246, r247, r248, r249, r250, r251, r252, r253, r254;
    unsigned r255, r256, r257, r258, r259, r260, r261, r262, r263, r264, r265, r266, r267, r268, r269, r270;
    unsigned r271, r272, r273, r274, r275, r276, r277, r278, r279, r280, r281, r282;
    float f133, f134, f135, f136, f137, f138, f139, f140, f141, f142, f143, f144, f145, f146, f147, f148, f149;
    float f150, f151, f152, f153, f154, f155, f156, f157, f158, f159, f160, f161, f162, f163, f164, f165, f166;
    float f167, f168, f169, f170, f171, f172, f173, f174, f175, f176, f177, f178, f179, f180, f181, f182, f183;
    float f184, f185, f186, f187, f188, f189, f190, f191, f192, f193, f194, f195, f196;
    unsigned long long l0, l1, l2, l92, l94, l217, l218, l219, l220, l221, l222, l223, l224;
    // gemm_fast.lua:65
    l0 = (unsigned long long)&param_A;
    l1 = (unsigned long long)&param_B;
    l2 = (unsigned long long)&param_D;
    r3 = param_M;
    r4 = param_N;
    r5 = param_K;
    asm("mov.u32 %0, %%tid.x;" : "=r"(r6) : );
    asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p7) : "r"(r6));
    if (p7) {
        asm volatile("prefetch.tensormap [%0];" :  : "l"(l0) : "memory");
        asm volatile("prefetch.tensormap [%0];" :  : "l"(l1) : "memory");
        asm volatile("prefetch.tensormap [%0];" :  : "l"(l2) : "memory");
        r8 = shared_base + 212992;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r8) : "memory");
        r9 = shared_base + 213056;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r9) : "memory");
        r10 = shared_base + 212992;
        asm("add.u32 %0, %1, 8;" : "=r"(r11) : "r"(r10));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r11) : "memory");
        r12 = shared_base + 213056;
        asm("add.u32 %0, %1, 8;" : "=r"(r13) : "r"(r12));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r13) : "memory");
        r14 = shared_base + 212992;
        asm("add.u32 %0, %1, 16;" : "=r"(r15) : "r"(r14));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r15) : "memory");
        r16 = shared_base + 213056;
        asm("add.u32 %0, %1, 16;" : "=r"(r17) : "r"(r16));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r17) : "memory");
        r18 = shared_base + 212992;
        asm("add.u32 %0, %1, 24;" : "=r"(r19) : "r"(r18));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r19) : "memory");
        r20 = shared_base + 213056;
        asm("add.u32 %0, %1, 24;" : "=r"(r21) : "r"(r20));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r21) : "memory");
        r22 = shared_base + 212992;
        asm("add.u32 %0, %1, 32;" : "=r"(r23) : "r"(r22));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r23) : "memory");
        r24 = shared_base + 213056;
        asm("add.u32 %0, %1, 32;" : "=r"(r25) : "r"(r24));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r25) : "memory");
        r26 = shared_base + 212992;
        asm("add.u32 %0, %1, 40;" : "=r"(r27) : "r"(r26));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r27) : "memory");
        r28 = shared_base + 213056;
        asm("add.u32 %0, %1, 40;" : "=r"(r29) : "r"(r28));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r29) : "memory");
        r30 = shared_base + 212992;
        asm("add.u32 %0, %1, 48;" : "=r"(r31) : "r"(r30));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r31) : "memory");
        r32 = shared_base + 213056;
        asm("add.u32 %0, %1, 48;" : "=r"(r33) : "r"(r32));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r33) : "memory");
        r34 = shared_base + 212992;
        asm("add.u32 %0, %1, 56;" : "=r"(r35) : "r"(r34));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :  : "r"(r35) : "memory");
        r36 = shared_base + 213056;
        asm("add.u32 %0, %1, 56;" : "=r"(r37) : "r"(r36));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" :  : "r"(r37) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" :  :  : "memory");
    }
    asm volatile("griddepcontrol.launch_dependents;" :  :  : "memory");
    asm volatile("griddepcontrol.wait;" :  :  : "memory");
    asm volatile("bar.sync 0;" :  :  : "memory");
    asm("shr.u32 %0, %1, 7;" : "=r"(r38) : "r"(r6));
    asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p39) : "r"(r38));
    if (p39) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 56;" :  :  : "memory");
        asm("shr.u32 %0, %1, 5;" : "=r"(r40) : "r"(r6));
        asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(r41) : "r"(r40) : "memory");
        asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p42) : "r"(r41));
        if (p42) {
            r43 = 0;
            r44 = 0;
            asm volatile("{ .reg .pred q0; elect.sync _|q0, -1; selp.b32 %0, 1, 0, q0; }" : "=r"(p45) :  : "memory");
            r46 = shared_base + 0;
            r47 = shared_base + 65536;
            asm("add.u32 %0, %1, 63;" : "=r"(r48) : "r"(r3));
            asm("shr.u32 %0, %1, 6;" : "=r"(r49) : "r"(r48));
            asm("add.u32 %0, %1, 127;" : "=r"(r50) : "r"(r4));
            asm("shr.u32 %0, %1, 7;" : "=r"(r51) : "r"(r50));
            asm("mul.lo.u32 %0, %1, %2;" : "=r"(r52) : "r"(r49), "r"(r51));
            asm("mov.u32 %0, %%ctaid.x;" : "=r"(r53) : );
            asm("mov.u32 %0, %%nctaid.x;" : "=r"(r54) : );
            r55 = r53;
            for (;;) {
                asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p56) : "r"(r55), "r"(r52));
                if (!p56) break;
                asm("mul.lo.u32 %0, %1, 12;" : "=r"(r57) : "r"(r51));
                asm("div.u32 %0, %1, %2;" : "=r"(r58) : "r"(r55), "r"(r57));
                asm("mul.lo.u32 %0, %1, 12;" : "=r"(r59) : "r"(r58));
                asm("sub.u32 %0, %1, %2;" : "=r"(r60) : "r"(r49), "r"(r59));
                asm("min.u32 %0, %1, 12;" : "=r"(r61) : "r"(r60));
                asm("mul.lo.u32 %0, %1, %2;" : "=r"(r62) : "r"(r58), "r"(r57));
                asm("sub.u32 %0, %1, %2;" : "=r"(r63) : "r"(r55), "r"(r62));
                asm("div.u32 %0, %1, %2;" : "=r"(r64) : "r"(r63), "r"(r61));
                asm("mul.lo.u32 %0, %1, %2;" : "=r"(r65) : "r"(r64), "r"(r61));
                asm("sub.u32 %0, %1, %2;" : "=r"(r66) : "r"(r63), "r"(r65));
                asm("add.u32 %0, %1, %2;" : "=r"(r67) : "r"(r59), "r"(r66));
                asm("mul.lo.u32 %0, %1, 64;" : "=r"(r68) : "r"(r67));
                asm("mul.lo.u32 %0, %1, 128;" : "=r"(r69) : "r"(r64));
                r70 = 0;
                for (;;) {
                    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p71) : "r"(r70), "r"(r5));
                    if (!p71) break;
                    asm("shl.b32 %0, %1, 3;" : "=r"(r72) : "r"(r43));
                    r73 = shared_base + 213056;
                    asm("add.u32 %0, %1, %2;" : "=r"(r74) : "r"(r73), "r"(r72));
                    asm("xor.b32 %0, %1, 1;" : "=r"(r75) : "r"(r44));
                    for (;;) {
                        asm volatile("{ .reg .pred q0; mbarrier.try_wait.parity.shared::cta.b64 q0, [%1], %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p76) : "r"(r74), "r"(r75) : "memory");
                        asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; not.pred q0, q1; selp.b32 %0, 1, 0, q0; }" : "=r"(p77) : "r"(p76));
                        if (!p77) break;
                    }
                    if (p45) {
                        asm("shl.b32 %0, %1, 3;" : "=r"(r78) : "r"(r43));
                        r79 = shared_base + 212992;
                        asm("add.u32 %0, %1, %2;" : "=r"(r80) : "r"(r79), "r"(r78));
                        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 24576;" :  : "r"(r80) : "memory");
                        asm("mul.lo.u32 %0, %1, 8192;" : "=r"(r81) : "r"(r43));
                        asm("add.u32 %0, %1, %2;" : "=r"(r82) : "r"(r46), "r"(r81));
                        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :  : "r"(r82), "l"(l0), "r"(r70), "r"(r68), "r"(r80) : "memory");
                        asm("mul.lo.u32 %0, %1, 16384;" : "=r"(r83) : "r"(r43));
                        asm("add.u32 %0, %1, %2;" : "=r"(r84) : "r"(r47), "r"(r83));
                        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :  : "r"(r84), "l"(l1), "r"(r70), "r"(r69), "r"(r80) : "memory");
                    }
                    asm("add.u32 %0, %1, 1;" : "=r"(r43) : "r"(r43));
                    asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 8; selp.b32 %0, 1, 0, q0; }" : "=r"(p85) : "r"(r43));
                    if (p85) r43 = 0;
                    if (p85) asm("xor.b32 %0, %1, 1;" : "=r"(r44) : "r"(r44));
                    asm("add.u32 %0, %1, 64;" : "=r"(r70) : "r"(r70));
                }
                asm("add.u32 %0, %1, %2;" : "=r"(r55) : "r"(r55), "r"(r54));
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 256;" :  :  : "memory");
        asm("mov.u32 %0, %%tid.x;" : "=r"(r86) : );
        asm("and.b32 %0, %1, 31;" : "=r"(r87) : "r"(r86));
        asm("shr.u32 %0, %1, 7;" : "=r"(r88) : "r"(r86));
        asm("sub.u32 %0, %1, 1;" : "=r"(r89) : "r"(r88));
        asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(r90) : "r"(r89) : "memory");
        r91 = shared_base + 0;
        l92 = 0x4000004000010000ull | (unsigned long long)((r91 & 0x3FFFF) >> 4);
        r93 = shared_base + 65536;
        l94 = 0x4000004000010000ull | (unsigned long long)((r93 & 0x3FFFF) >> 4);
        asm("mul.lo.u32 %0, %1, 16384;" : "=r"(r95) : "r"(r90));
        asm("add.u32 %0, %1, 1;" : "=r"(r96) : "r"(r90));
        asm("mov.u32 %0, %%tid.x;" : "=r"(r97) : );
        asm("and.b32 %0, %1, 127;" : "=r"(r98) : "r"(r97));
        asm("and.b32 %0, %1, 31;" : "=r"(r99) : "r"(r98));
        asm("shr.u32 %0, %1, 5;" : "=r"(r100) : "r"(r98));
        asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p101) : "r"(r98));
        r102 = shared_base + 196608;
        asm("add.u32 %0, %1, %2;" : "=r"(r103) : "r"(r102), "r"(r95));
        asm("shl.b32 %0, %1, 4;" : "=r"(r104) : "r"(r100));
        asm("and.b32 %0, %1, 15;" : "=r"(r105) : "r"(r99));
        asm("add.u32 %0, %1, %2;" : "=r"(r106) : "r"(r104), "r"(r105));
        asm("mul.lo.u32 %0, %1, 128;" : "=r"(r107) : "r"(r106));
        asm("add.u32 %0, %1, %2;" : "=r"(r108) : "r"(r103), "r"(r107));
        asm("shr.u32 %0, %1, 4;" : "=r"(r109) : "r"(r99));
        asm("add.u32 %0, %1, 0;" : "=r"(r110) : "r"(r109));
        asm("and.b32 %0, %1, 7;" : "=r"(r111) : "r"(r99));
        asm("xor.b32 %0, %1, %2;" : "=r"(r112) : "r"(r110), "r"(r111));
        asm("shl.b32 %0, %1, 4;" : "=r"(r113) : "r"(r112));
        asm("add.u32 %0, %1, %2;" : "=r"(r114) : "r"(r108), "r"(r113));
        asm("shr.u32 %0, %1, 4;" : "=r"(r115) : "r"(r99));
        asm("add.u32 %0, %1, 2;" : "=r"(r116) : "r"(r115));
        asm("and.b32 %0, %1, 7;" : "=r"(r117) : "r"(r99));
        asm("xor.b32 %0, %1, %2;" : "=r"(r118) : "r"(r116), "r"(r117));
        asm("shl.b32 %0, %1, 4;" : "=r"(r119) : "r"(r118));
        asm("add.u32 %0, %1, %2;" : "=r"(r120) : "r"(r108), "r"(r119));
        asm("shr.u32 %0, %1, 4;" : "=r"(r121) : "r"(r99));
        asm("add.u32 %0, %1, 4;" : "=r"(r122) : "r"(r121));
        asm("and.b32 %0, %1, 7;" : "=r"(r123) : "r"(r99));
        asm("xor.b32 %0, %1, %2;" : "=r"(r124) : "r"(r122), "r"(r123));
        asm("shl.b32 %0, %1, 4;" : "=r"(r125) : "r"(r124));
        asm("add.u32 %0, %1, %2;" : "=r"(r126) : "r"(r108), "r"(r125));
        asm("shr.u32 %0, %1, 4;" : "=r"(r127) : "r"(r99));
        asm("add.u32 %0, %1, 6;" : "=r"(r128) : "r"(r127));
        asm("and.b32 %0, %1, 7;" : "=r"(r129) : "r"(r99));
        asm("xor.b32 %0, %1, %2;" : "=r"(r130) : "r"(r128), "r"(r129));
        asm("shl.b32 %0, %1, 4;" : "=r"(r131) : "r"(r130));
        asm("add.u32 %0, %1, %2;" : "=r"(r132) : "r"(r108), "r"(r131));
        r197 = 0;
        r198 = 0;
        r199 = 0;
        asm("add.u32 %0, %1, 63;" : "=r"(r200) : "r"(r3));
        asm("shr.u32 %0, %1, 6;" : "=r"(r201) : "r"(r200));
        asm("add.u32 %0, %1, 127;" : "=r"(r202) : "r"(r4));
        asm("shr.u32 %0, %1, 7;" : "=r"(r203) : "r"(r202));
        asm("mul.lo.u32 %0, %1, %2;" : "=r"(r204) : "r"(r201), "r"(r203));
        asm("mov.u32 %0, %%ctaid.x;" : "=r"(r205) : );
        asm("mov.u32 %0, %%nctaid.x;" : "=r"(r206) : );
        r207 = r205;
        for (;;) {
            asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p208) : "r"(r207), "r"(r204));
            if (!p208) break;
            r209 = 0;
            for (;;) {
                asm("{ .reg .pred q0; setp.lt.u32 q0, %1, %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p210) : "r"(r209), "r"(r5));
                if (!p210) break;
                asm("shl.b32 %0, %1, 3;" : "=r"(r211) : "r"(r197));
                r212 = shared_base + 212992;
                asm("add.u32 %0, %1, %2;" : "=r"(r213) : "r"(r212), "r"(r211));
                for (;;) {
                    asm volatile("{ .reg .pred q0; mbarrier.try_wait.parity.shared::cta.b64 q0, [%1], %2; selp.b32 %0, 1, 0, q0; }" : "=r"(p214) : "r"(r213), "r"(r198) : "memory");
                    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; not.pred q0, q1; selp.b32 %0, 1, 0, q0; }" : "=r"(p215) : "r"(p214));
                    if (!p215) break;
                }
                asm volatile("wgmma.fence.sync.aligned;" :  :  : "memory");
                asm("{ .reg .pred q0; setp.gt.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p216) : "r"(r209));
                asm("mad.wide.u32 %0, %1, 512, %2;" : "=l"(l217) : "r"(r197), "l"(l92));
                asm("mad.wide.u32 %0, %1, 1024, %2;" : "=l"(l218) : "r"(r197), "l"(l94));
                asm volatile("{ .reg .pred q0; setp.ne.b32 q0, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, q0, 1, 1, 0, 0; }" : "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138), "+f"(f139), "+f"(f140), "+f"(f141), "+f"(f142), "+f"(f143), "+f"(f144), "+f"(f145), "+f"(f146), "+f"(f147), "+f"(f148), "+f"(f149), "+f"(f150), "+f"(f151), "+f"(f152), "+f"(f153), "+f"(f154), "+f"(f155), "+f"(f156), "+f"(f157), "+f"(f158), "+f"(f159), "+f"(f160), "+f"(f161), "+f"(f162), "+f"(f163), "+f"(f164), "+f"(f165), "+f"(f166), "+f"(f167), "+f"(f168), "+f"(f169), "+f"(f170), "+f"(f171), "+f"(f172), "+f"(f173), "+f"(f174), "+f"(f175), "+f"(f176), "+f"(f177), "+f"(f178), "+f"(f179), "+f"(f180), "+f"(f181), "+f"(f182), "+f"(f183), "+f"(f184), "+f"(f185), "+f"(f186), "+f"(f187), "+f"(f188), "+f"(f189), "+f"(f190), "+f"(f191), "+f"(f192), "+f"(f193), "+f"(f194), "+f"(f195), "+f"(f196) : "l"(l217), "l"(l218), "r"(p216) : "memory");
                asm("add.u64 %0, %1, 2;" : "=l"(l219) : "l"(l218));
                asm("add.u64 %0, %1, 2;" : "=l"(l220) : "l"(l217));
                asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;" : "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138), "+f"(f139), "+f"(f140), "+f"(f141), "+f"(f142), "+f"(f143), "+f"(f144), "+f"(f145), "+f"(f146), "+f"(f147), "+f"(f148), "+f"(f149), "+f"(f150), "+f"(f151), "+f"(f152), "+f"(f153), "+f"(f154), "+f"(f155), "+f"(f156), "+f"(f157), "+f"(f158), "+f"(f159), "+f"(f160), "+f"(f161), "+f"(f162), "+f"(f163), "+f"(f164), "+f"(f165), "+f"(f166), "+f"(f167), "+f"(f168), "+f"(f169), "+f"(f170), "+f"(f171), "+f"(f172), "+f"(f173), "+f"(f174), "+f"(f175), "+f"(f176), "+f"(f177), "+f"(f178), "+f"(f179), "+f"(f180), "+f"(f181), "+f"(f182), "+f"(f183), "+f"(f184), "+f"(f185), "+f"(f186), "+f"(f187), "+f"(f188), "+f"(f189), "+f"(f190), "+f"(f191), "+f"(f192), "+f"(f193), "+f"(f194), "+f"(f195), "+f"(f196) : "l"(l220), "l"(l219) : "memory");
                asm("add.u64 %0, %1, 4;" : "=l"(l221) : "l"(l218));
                asm("add.u64 %0, %1, 4;" : "=l"(l222) : "l"(l217));
                asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;" : "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138), "+f"(f139), "+f"(f140), "+f"(f141), "+f"(f142), "+f"(f143), "+f"(f144), "+f"(f145), "+f"(f146), "+f"(f147), "+f"(f148), "+f"(f149), "+f"(f150), "+f"(f151), "+f"(f152), "+f"(f153), "+f"(f154), "+f"(f155), "+f"(f156), "+f"(f157), "+f"(f158), "+f"(f159), "+f"(f160), "+f"(f161), "+f"(f162), "+f"(f163), "+f"(f164), "+f"(f165), "+f"(f166), "+f"(f167), "+f"(f168), "+f"(f169), "+f"(f170), "+f"(f171), "+f"(f172), "+f"(f173), "+f"(f174), "+f"(f175), "+f"(f176), "+f"(f177), "+f"(f178), "+f"(f179), "+f"(f180), "+f"(f181), "+f"(f182), "+f"(f183), "+f"(f184), "+f"(f185), "+f"(f186), "+f"(f187), "+f"(f188), "+f"(f189), "+f"(f190), "+f"(f191), "+f"(f192), "+f"(f193), "+f"(f194), "+f"(f195), "+f"(f196) : "l"(l222), "l"(l221) : "memory");
                asm("add.u64 %0, %1, 6;" : "=l"(l223) : "l"(l218));
                asm("add.u64 %0, %1, 6;" : "=l"(l224) : "l"(l217));
                asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;" : "+f"(f133), "+f"(f134), "+f"(f135), "+f"(f136), "+f"(f137), "+f"(f138), "+f"(f139), "+f"(f140), "+f"(f141), "+f"(f142), "+f"(f143), "+f"(f144), "+f"(f145), "+f"(f146), "+f"(f147), "+f"(f148), "+f"(f149), "+f"(f150), "+f"(f151), "+f"(f152), "+f"(f153), "+f"(f154), "+f"(f155), "+f"(f156), "+f"(f157), "+f"(f158), "+f"(f159), "+f"(f160), "+f"(f161), "+f"(f162), "+f"(f163), "+f"(f164), "+f"(f165), "+f"(f166), "+f"(f167), "+f"(f168), "+f"(f169), "+f"(f170), "+f"(f171), "+f"(f172), "+f"(f173), "+f"(f174), "+f"(f175), "+f"(f176), "+f"(f177), "+f"(f178), "+f"(f179), "+f"(f180), "+f"(f181), "+f"(f182), "+f"(f183), "+f"(f184), "+f"(f185), "+f"(f186), "+f"(f187), "+f"(f188), "+f"(f189), "+f"(f190), "+f"(f191), "+f"(f192), "+f"(f193), "+f"(f194), "+f"(f195), "+f"(f196) : "l"(l224), "l"(l223) : "memory");
                asm volatile("wgmma.commit_group.sync.aligned;" :  :  : "memory");
                asm volatile("wgmma.wait_group.sync.aligned 1;" :  :  : "memory");
                asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p225) : "r"(r87));
                asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p226) : "r"(p225), "r"(p216));
                asm("shl.b32 %0, %1, 3;" : "=r"(r227) : "r"(r199));
                r228 = shared_base + 213056;
                asm("add.u32 %0, %1, %2;" : "=r"(r229) : "r"(r228), "r"(r227));
                if (p226) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :  : "r"(r229) : "memory");
                r199 = r197;
                asm("add.u32 %0, %1, 1;" : "=r"(r197) : "r"(r197));
                asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 8; selp.b32 %0, 1, 0, q0; }" : "=r"(p230) : "r"(r197));
                if (p230) r197 = 0;
                if (p230) asm("xor.b32 %0, %1, 1;" : "=r"(r198) : "r"(r198));
                asm("add.u32 %0, %1, 64;" : "=r"(r209) : "r"(r209));
            }
            asm("mul.lo.u32 %0, %1, 12;" : "=r"(r231) : "r"(r203));
            asm("div.u32 %0, %1, %2;" : "=r"(r232) : "r"(r207), "r"(r231));
            asm("mul.lo.u32 %0, %1, 12;" : "=r"(r233) : "r"(r232));
            asm("sub.u32 %0, %1, %2;" : "=r"(r234) : "r"(r201), "r"(r233));
            asm("min.u32 %0, %1, 12;" : "=r"(r235) : "r"(r234));
            asm("mul.lo.u32 %0, %1, %2;" : "=r"(r236) : "r"(r232), "r"(r231));
            asm("sub.u32 %0, %1, %2;" : "=r"(r237) : "r"(r207), "r"(r236));
            asm("div.u32 %0, %1, %2;" : "=r"(r238) : "r"(r237), "r"(r235));
            asm("mul.lo.u32 %0, %1, %2;" : "=r"(r239) : "r"(r238), "r"(r235));
            asm("sub.u32 %0, %1, %2;" : "=r"(r240) : "r"(r237), "r"(r239));
            asm("add.u32 %0, %1, %2;" : "=r"(r241) : "r"(r233), "r"(r240));
            asm("mul.lo.u32 %0, %1, 64;" : "=r"(r242) : "r"(r241));
            asm("mul.lo.u32 %0, %1, 128;" : "=r"(r243) : "r"(r238));
            asm volatile("wgmma.wait_group.sync.aligned 0;" :  :  : "memory");
            asm("{ .reg .pred q0; setp.eq.u32 q0, %1, 0; selp.b32 %0, 1, 0, q0; }" : "=r"(p244) : "r"(r87));
            asm("shl.b32 %0, %1, 3;" : "=r"(r245) : "r"(r199));
            r246 = shared_base + 213056;
            asm("add.u32 %0, %1, %2;" : "=r"(r247) : "r"(r246), "r"(r245));
            if (p244) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :  : "r"(r247) : "memory");
            if (p101) asm volatile("cp.async.bulk.wait_group.read 0;" :  :  : "memory");
            asm volatile("bar.sync %0, 128;" :  : "r"(r96) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r248) : "f"(f134), "f"(f133));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r249) : "f"(f136), "f"(f135));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r250) : "f"(f138), "f"(f137));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r251) : "f"(f140), "f"(f139));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :  : "r"(r114), "r"(r248), "r"(r249), "r"(r250), "r"(r251) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r252) : "f"(f142), "f"(f141));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r253) : "f"(f144), "f"(f143));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r254) : "f"(f146), "f"(f145));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r255) : "f"(f148), "f"(f147));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :  : "r"(r120), "r"(r252), "r"(r253), "r"(r254), "r"(r255) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r256) : "f"(f150), "f"(f149));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r257) : "f"(f152), "f"(f151));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r258) : "f"(f154), "f"(f153));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r259) : "f"(f156), "f"(f155));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :  : "r"(r126), "r"(r256), "r"(r257), "r"(r258), "r"(r259) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r260) : "f"(f158), "f"(f157));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r261) : "f"(f160), "f"(f159));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r262) : "f"(f162), "f"(f161));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r263) : "f"(f164), "f"(f163));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :  : "r"(r132), "r"(r260), "r"(r261), "r"(r262), "r"(r263) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r264) : "f"(f166), "f"(f165));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r265) : "f"(f168), "f"(f167));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r266) : "f"(f170), "f"(f169));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r267) : "f"(f172), "f"(f171));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0+8192], {%1, %2, %3, %4};" :  : "r"(r114), "r"(r264), "r"(r265), "r"(r266), "r"(r267) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r268) : "f"(f174), "f"(f173));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r269) : "f"(f176), "f"(f175));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r270) : "f"(f178), "f"(f177));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r271) : "f"(f180), "f"(f179));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0+8192], {%1, %2, %3, %4};" :  : "r"(r120), "r"(r268), "r"(r269), "r"(r270), "r"(r271) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r272) : "f"(f182), "f"(f181));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r273) : "f"(f184), "f"(f183));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r274) : "f"(f186), "f"(f185));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r275) : "f"(f188), "f"(f187));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0+8192], {%1, %2, %3, %4};" :  : "r"(r126), "r"(r272), "r"(r273), "r"(r274), "r"(r275) : "memory");
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r276) : "f"(f190), "f"(f189));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r277) : "f"(f192), "f"(f191));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r278) : "f"(f194), "f"(f193));
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r279) : "f"(f196), "f"(f195));
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0+8192], {%1, %2, %3, %4};" :  : "r"(r132), "r"(r276), "r"(r277), "r"(r278), "r"(r279) : "memory");
            asm volatile("fence.proxy.async.shared::cta;" :  :  : "memory");
            asm volatile("bar.sync %0, 128;" :  : "r"(r96) : "memory");
            if (p101) {
                asm("add.u32 %0, %1, 0;" : "=r"(r280) : "r"(r243));
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" :  : "l"(l2), "r"(r280), "r"(r242), "r"(r103) : "memory");
                asm("add.u32 %0, %1, 64;" : "=r"(r281) : "r"(r243));
                asm("add.u32 %0, %1, 8192;" : "=r"(r282) : "r"(r103));
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" :  : "l"(l2), "r"(r281), "r"(r242), "r"(r282) : "memory");
                asm volatile("cp.async.bulk.commit_group;" :  :  : "memory");
            }
            asm("add.u32 %0, %1, %2;" : "=r"(r207) : "r"(r207), "r"(r206));
        }
        if (p101) asm volatile("cp.async.bulk.wait_group.read 0;" :  :  : "memory");
    }
}
