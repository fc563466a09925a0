// hello_wgmma
#pragma nv_diag_suppress 549  // variable is used before its value is set
extern "C" __global__ void __launch_bounds__(128, 1)
hello_wgmma(unsigned long long param_A, unsigned long long param_B, unsigned long long param_D) {
    extern __shared__ __align__(1024) unsigned char wgrun_shared[];
    const unsigned shared_base = (unsigned)__cvta_generic_to_shared(wgrun_shared);
    // shared_base + 0: a, 8192 bytes
    // shared_base + 8192: b, 8192 bytes
    int p13, p20, p21, p39, p46, p47, p65, p72, p73, p91, p98, p99, p118, p125, p126, p144, p151, p152, p170;
    int p177, p178, p196, p203, p204, p282, p286, p287, p289, p290, p292, p293, p295, p296, p298, p299, p301;
    int p302, p304, p305, p307, p308, p310, p314, p315, p317, p318, p320, p321, p323, p324, p326, p327, p329;
    int p330, p332, p333, p335, p336;
    unsigned r6, r7, r8, r9, r10, r11, r12, r16, r17, r18, r19, r22, r23, r24, r25, r26, r27, r28, r29, r30;
    unsigned r31, r32, r33, r34, r35, r36, r37, r38, r42, r43, r44, r45, r48, r49, r50, r51, r52, r53, r54;
    unsigned r55, r56, r57, r58, r59, r60, r61, r62, r63, r64, r68, r69, r70, r71, r74, r75, r76, r77, r78;
    unsigned r79, r80, r81, r82, r83, r84, r85, r86, r87, r88, r89, r90, r94, r95, r96, r97, r100, r101, r102;
    unsigned r103, r104, r105, r106, r107, r108, r109, r110, r111, r112, r113, r114, r115, r116, r117, r121;
    unsigned r122, r123, r124, r127, r128, r129, r130, r131, r132, r133, r134, r135, r136, r137, r138, r139;
    unsigned r140, r141, r142, r143, r147, r148, r149, r150, r153, r154, r155, r156, r157, r158, r159, r160;
    unsigned r161, r162, r163, r164, r165, r166, r167, r168, r169, r173, r174, r175, r176, r179, r180, r181;
    unsigned r182, r183, r184, r185, r186, r187, r188, r189, r190, r191, r192, r193, r194, r195, r199, r200;
    unsigned r201, r202, r205, r206, r207, r208, r209, r210, r211, r212, r213, r214, r215, r248, r250, r252;
    unsigned r253, r255, r256, r258, r259, r261, r262, r264, r265, r267, r268, r270, r271, r272, r273, r274;
    unsigned r275, r276, r277, r278, r279, r280, r281, r285, r288, r291, r294, r297, r300, r303, r306, r309;
    unsigned r313, r316, r319, r322, r325, r328, r331, r334;
    float f216, f217, f218, f219, f220, f221, f222, f223, f224, f225, f226, f227, f228, f229, f230, f231, f232;
    float f233, f234, f235, f236, f237, f238, f239, f240, f241, f242, f243, f244, f245, f246, f247;
    unsigned long long l0, l1, l2, l3, l4, l5, l14, l15, l40, l41, l66, l67, l92, l93, l119, l120, l145, l146;
    unsigned long long l171, l172, l197, l198, l249, l251, l254, l257, l260, l263, l266, l269, l283, l284;
    unsigned long long l311, l312;
    // hello_wgmma.lua:8
#line 8 "scripts/hello_wgmma.lua"
    l0 = param_A;
#line 8 "scripts/hello_wgmma.lua"
    asm("cvta.to.global.u64 %0, %1;" : "=l"(l1) : "l"(l0));
    // hello_wgmma.lua:9
#line 9 "scripts/hello_wgmma.lua"
    l2 = param_B;
#line 9 "scripts/hello_wgmma.lua"
    asm("cvta.to.global.u64 %0, %1;" : "=l"(l3) : "l"(l2));
    // hello_wgmma.lua:10
#line 10 "scripts/hello_wgmma.lua"
    l4 = param_D;
#line 10 "scripts/hello_wgmma.lua"
    asm("cvta.to.global.u64 %0, %1;" : "=l"(l5) : "l"(l4));
    // hello_wgmma.lua:15
#line 15 "scripts/hello_wgmma.lua"
    asm("mov.u32 %0, %%tid.x;" : "=r"(r6) : );
#line 15 "scripts/hello_wgmma.lua"
    r7 = shared_base + 0;
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r8) : "r"(r6));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r9) : "r"(r6));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r10) : "r"(r8));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 3;" : "=r"(r11) : "r"(r9));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r12) : "r"(r11));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p13) : "r"(r10));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 128, %2;" : "=l"(l14) : "r"(r10), "l"(l1));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 2, %2;" : "=l"(l15) : "r"(r12), "l"(l14));
#line 15 "scripts/hello_wgmma.lua"
    r16 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r17 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r18 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r19 = 0;
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p20) : "r"(r12));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p21) : "r"(p20), "r"(p13));
#line 15 "scripts/hello_wgmma.lua"
    if (p21) asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r16), "=r"(r17), "=r"(r18), "=r"(r19) : "l"(l15) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r22) : "r"(r8));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 1024;" : "=r"(r23) : "r"(r22));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r24) : "r"(r8));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 128;" : "=r"(r25) : "r"(r24));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r26) : "r"(r23), "r"(r25));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 4;" : "=r"(r27) : "r"(r9));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r28) : "r"(r26), "r"(r27));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r29) : "r"(r28));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 112;" : "=r"(r30) : "r"(r29));
#line 15 "scripts/hello_wgmma.lua"
    asm("xor.b32 %0, %1, %2;" : "=r"(r31) : "r"(r28), "r"(r30));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r32) : "r"(r7), "r"(r31));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 128;" : "=r"(r33) : "r"(r6));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r34) : "r"(r33));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r35) : "r"(r33));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r36) : "r"(r34));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 3;" : "=r"(r37) : "r"(r35));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r38) : "r"(r37));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p39) : "r"(r36));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 128, %2;" : "=l"(l40) : "r"(r36), "l"(l1));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 2, %2;" : "=l"(l41) : "r"(r38), "l"(l40));
#line 15 "scripts/hello_wgmma.lua"
    r42 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r43 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r44 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r45 = 0;
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p46) : "r"(r38));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p47) : "r"(p46), "r"(p39));
#line 15 "scripts/hello_wgmma.lua"
    if (p47) asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r42), "=r"(r43), "=r"(r44), "=r"(r45) : "l"(l41) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r48) : "r"(r34));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 1024;" : "=r"(r49) : "r"(r48));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r50) : "r"(r34));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 128;" : "=r"(r51) : "r"(r50));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r52) : "r"(r49), "r"(r51));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 4;" : "=r"(r53) : "r"(r35));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r54) : "r"(r52), "r"(r53));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r55) : "r"(r54));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 112;" : "=r"(r56) : "r"(r55));
#line 15 "scripts/hello_wgmma.lua"
    asm("xor.b32 %0, %1, %2;" : "=r"(r57) : "r"(r54), "r"(r56));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r58) : "r"(r7), "r"(r57));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 256;" : "=r"(r59) : "r"(r6));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r60) : "r"(r59));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r61) : "r"(r59));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r62) : "r"(r60));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 3;" : "=r"(r63) : "r"(r61));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r64) : "r"(r63));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p65) : "r"(r62));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 128, %2;" : "=l"(l66) : "r"(r62), "l"(l1));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 2, %2;" : "=l"(l67) : "r"(r64), "l"(l66));
#line 15 "scripts/hello_wgmma.lua"
    r68 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r69 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r70 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r71 = 0;
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p72) : "r"(r64));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p73) : "r"(p72), "r"(p65));
#line 15 "scripts/hello_wgmma.lua"
    if (p73) asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r68), "=r"(r69), "=r"(r70), "=r"(r71) : "l"(l67) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r74) : "r"(r60));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 1024;" : "=r"(r75) : "r"(r74));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r76) : "r"(r60));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 128;" : "=r"(r77) : "r"(r76));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r78) : "r"(r75), "r"(r77));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 4;" : "=r"(r79) : "r"(r61));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r80) : "r"(r78), "r"(r79));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r81) : "r"(r80));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 112;" : "=r"(r82) : "r"(r81));
#line 15 "scripts/hello_wgmma.lua"
    asm("xor.b32 %0, %1, %2;" : "=r"(r83) : "r"(r80), "r"(r82));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r84) : "r"(r7), "r"(r83));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 384;" : "=r"(r85) : "r"(r6));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r86) : "r"(r85));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r87) : "r"(r85));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r88) : "r"(r86));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 3;" : "=r"(r89) : "r"(r87));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r90) : "r"(r89));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p91) : "r"(r88));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 128, %2;" : "=l"(l92) : "r"(r88), "l"(l1));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 2, %2;" : "=l"(l93) : "r"(r90), "l"(l92));
#line 15 "scripts/hello_wgmma.lua"
    r94 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r95 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r96 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r97 = 0;
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p98) : "r"(r90));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p99) : "r"(p98), "r"(p91));
#line 15 "scripts/hello_wgmma.lua"
    if (p99) asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r94), "=r"(r95), "=r"(r96), "=r"(r97) : "l"(l93) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r100) : "r"(r86));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 1024;" : "=r"(r101) : "r"(r100));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r102) : "r"(r86));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 128;" : "=r"(r103) : "r"(r102));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r104) : "r"(r101), "r"(r103));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 4;" : "=r"(r105) : "r"(r87));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r106) : "r"(r104), "r"(r105));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r107) : "r"(r106));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 112;" : "=r"(r108) : "r"(r107));
#line 15 "scripts/hello_wgmma.lua"
    asm("xor.b32 %0, %1, %2;" : "=r"(r109) : "r"(r106), "r"(r108));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r110) : "r"(r7), "r"(r109));
#line 15 "scripts/hello_wgmma.lua"
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" :  : "r"(r32), "r"(r16), "r"(r17), "r"(r18), "r"(r19) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" :  : "r"(r58), "r"(r42), "r"(r43), "r"(r44), "r"(r45) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" :  : "r"(r84), "r"(r68), "r"(r69), "r"(r70), "r"(r71) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" :  : "r"(r110), "r"(r94), "r"(r95), "r"(r96), "r"(r97) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm("mov.u32 %0, %%tid.x;" : "=r"(r111) : );
#line 15 "scripts/hello_wgmma.lua"
    r112 = shared_base + 8192;
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r113) : "r"(r111));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r114) : "r"(r111));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r115) : "r"(r113));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 3;" : "=r"(r116) : "r"(r114));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r117) : "r"(r116));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p118) : "r"(r115));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 128, %2;" : "=l"(l119) : "r"(r115), "l"(l3));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 2, %2;" : "=l"(l120) : "r"(r117), "l"(l119));
#line 15 "scripts/hello_wgmma.lua"
    r121 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r122 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r123 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r124 = 0;
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p125) : "r"(r117));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p126) : "r"(p125), "r"(p118));
#line 15 "scripts/hello_wgmma.lua"
    if (p126) asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r121), "=r"(r122), "=r"(r123), "=r"(r124) : "l"(l120) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r127) : "r"(r113));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 1024;" : "=r"(r128) : "r"(r127));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r129) : "r"(r113));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 128;" : "=r"(r130) : "r"(r129));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r131) : "r"(r128), "r"(r130));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 4;" : "=r"(r132) : "r"(r114));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r133) : "r"(r131), "r"(r132));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r134) : "r"(r133));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 112;" : "=r"(r135) : "r"(r134));
#line 15 "scripts/hello_wgmma.lua"
    asm("xor.b32 %0, %1, %2;" : "=r"(r136) : "r"(r133), "r"(r135));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r137) : "r"(r112), "r"(r136));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 128;" : "=r"(r138) : "r"(r111));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r139) : "r"(r138));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r140) : "r"(r138));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r141) : "r"(r139));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 3;" : "=r"(r142) : "r"(r140));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r143) : "r"(r142));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p144) : "r"(r141));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 128, %2;" : "=l"(l145) : "r"(r141), "l"(l3));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 2, %2;" : "=l"(l146) : "r"(r143), "l"(l145));
#line 15 "scripts/hello_wgmma.lua"
    r147 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r148 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r149 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r150 = 0;
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p151) : "r"(r143));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p152) : "r"(p151), "r"(p144));
#line 15 "scripts/hello_wgmma.lua"
    if (p152) asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r147), "=r"(r148), "=r"(r149), "=r"(r150) : "l"(l146) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r153) : "r"(r139));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 1024;" : "=r"(r154) : "r"(r153));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r155) : "r"(r139));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 128;" : "=r"(r156) : "r"(r155));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r157) : "r"(r154), "r"(r156));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 4;" : "=r"(r158) : "r"(r140));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r159) : "r"(r157), "r"(r158));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r160) : "r"(r159));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 112;" : "=r"(r161) : "r"(r160));
#line 15 "scripts/hello_wgmma.lua"
    asm("xor.b32 %0, %1, %2;" : "=r"(r162) : "r"(r159), "r"(r161));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r163) : "r"(r112), "r"(r162));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 256;" : "=r"(r164) : "r"(r111));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r165) : "r"(r164));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r166) : "r"(r164));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r167) : "r"(r165));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 3;" : "=r"(r168) : "r"(r166));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r169) : "r"(r168));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p170) : "r"(r167));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 128, %2;" : "=l"(l171) : "r"(r167), "l"(l3));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 2, %2;" : "=l"(l172) : "r"(r169), "l"(l171));
#line 15 "scripts/hello_wgmma.lua"
    r173 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r174 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r175 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r176 = 0;
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p177) : "r"(r169));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p178) : "r"(p177), "r"(p170));
#line 15 "scripts/hello_wgmma.lua"
    if (p178) asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r173), "=r"(r174), "=r"(r175), "=r"(r176) : "l"(l172) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r179) : "r"(r165));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 1024;" : "=r"(r180) : "r"(r179));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r181) : "r"(r165));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 128;" : "=r"(r182) : "r"(r181));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r183) : "r"(r180), "r"(r182));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 4;" : "=r"(r184) : "r"(r166));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r185) : "r"(r183), "r"(r184));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r186) : "r"(r185));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 112;" : "=r"(r187) : "r"(r186));
#line 15 "scripts/hello_wgmma.lua"
    asm("xor.b32 %0, %1, %2;" : "=r"(r188) : "r"(r185), "r"(r187));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r189) : "r"(r112), "r"(r188));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 384;" : "=r"(r190) : "r"(r111));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r191) : "r"(r190));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r192) : "r"(r190));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r193) : "r"(r191));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 3;" : "=r"(r194) : "r"(r192));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r195) : "r"(r194));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p196) : "r"(r193));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 128, %2;" : "=l"(l197) : "r"(r193), "l"(l3));
#line 15 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 2, %2;" : "=l"(l198) : "r"(r195), "l"(l197));
#line 15 "scripts/hello_wgmma.lua"
    r199 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r200 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r201 = 0;
#line 15 "scripts/hello_wgmma.lua"
    r202 = 0;
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p203) : "r"(r195));
#line 15 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p204) : "r"(p203), "r"(p196));
#line 15 "scripts/hello_wgmma.lua"
    if (p204) asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r199), "=r"(r200), "=r"(r201), "=r"(r202) : "l"(l198) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r205) : "r"(r191));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 1024;" : "=r"(r206) : "r"(r205));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 7;" : "=r"(r207) : "r"(r191));
#line 15 "scripts/hello_wgmma.lua"
    asm("mul.lo.u32 %0, %1, 128;" : "=r"(r208) : "r"(r207));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r209) : "r"(r206), "r"(r208));
#line 15 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 4;" : "=r"(r210) : "r"(r192));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r211) : "r"(r209), "r"(r210));
#line 15 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 3;" : "=r"(r212) : "r"(r211));
#line 15 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 112;" : "=r"(r213) : "r"(r212));
#line 15 "scripts/hello_wgmma.lua"
    asm("xor.b32 %0, %1, %2;" : "=r"(r214) : "r"(r211), "r"(r213));
#line 15 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r215) : "r"(r112), "r"(r214));
#line 15 "scripts/hello_wgmma.lua"
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" :  : "r"(r137), "r"(r121), "r"(r122), "r"(r123), "r"(r124) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" :  : "r"(r163), "r"(r147), "r"(r148), "r"(r149), "r"(r150) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" :  : "r"(r189), "r"(r173), "r"(r174), "r"(r175), "r"(r176) : "memory");
#line 15 "scripts/hello_wgmma.lua"
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" :  : "r"(r215), "r"(r199), "r"(r200), "r"(r201), "r"(r202) : "memory");
    // hello_wgmma.lua:18
#line 18 "scripts/hello_wgmma.lua"
    asm volatile("fence.proxy.async.shared::cta;" :  :  : "memory");
    // hello_wgmma.lua:19
#line 19 "scripts/hello_wgmma.lua"
    asm volatile("bar.sync 0;" :  :  : "memory");
    // hello_wgmma.lua:22
#line 22 "scripts/hello_wgmma.lua"
    asm volatile("wgmma.fence.sync.aligned;" :  :  : "memory");
    // hello_wgmma.lua:25
#line 25 "scripts/hello_wgmma.lua"
    r248 = shared_base + 0;
#line 25 "scripts/hello_wgmma.lua"
    l249 = 0x4000004000010000ull | (unsigned long long)((r248 & 0x3FFFF) >> 4);
#line 25 "scripts/hello_wgmma.lua"
    r250 = shared_base + 8192;
#line 25 "scripts/hello_wgmma.lua"
    l251 = 0x4000004000010000ull | (unsigned long long)((r250 & 0x3FFFF) >> 4);
    // hello_wgmma.lua:26
#line 26 "scripts/hello_wgmma.lua"
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 0, 1, 1, 0, 0;" : "+f"(f216), "+f"(f217), "+f"(f218), "+f"(f219), "+f"(f220), "+f"(f221), "+f"(f222), "+f"(f223), "+f"(f224), "+f"(f225), "+f"(f226), "+f"(f227), "+f"(f228), "+f"(f229), "+f"(f230), "+f"(f231), "+f"(f232), "+f"(f233), "+f"(f234), "+f"(f235), "+f"(f236), "+f"(f237), "+f"(f238), "+f"(f239), "+f"(f240), "+f"(f241), "+f"(f242), "+f"(f243), "+f"(f244), "+f"(f245), "+f"(f246), "+f"(f247) : "l"(l249), "l"(l251) : "memory");
    // hello_wgmma.lua:25
#line 25 "scripts/hello_wgmma.lua"
    r252 = shared_base + 0;
#line 25 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 32;" : "=r"(r253) : "r"(r252));
#line 25 "scripts/hello_wgmma.lua"
    l254 = 0x4000004000010000ull | (unsigned long long)((r253 & 0x3FFFF) >> 4);
#line 25 "scripts/hello_wgmma.lua"
    r255 = shared_base + 8192;
#line 25 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 32;" : "=r"(r256) : "r"(r255));
#line 25 "scripts/hello_wgmma.lua"
    l257 = 0x4000004000010000ull | (unsigned long long)((r256 & 0x3FFFF) >> 4);
    // hello_wgmma.lua:26
#line 26 "scripts/hello_wgmma.lua"
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;" : "+f"(f216), "+f"(f217), "+f"(f218), "+f"(f219), "+f"(f220), "+f"(f221), "+f"(f222), "+f"(f223), "+f"(f224), "+f"(f225), "+f"(f226), "+f"(f227), "+f"(f228), "+f"(f229), "+f"(f230), "+f"(f231), "+f"(f232), "+f"(f233), "+f"(f234), "+f"(f235), "+f"(f236), "+f"(f237), "+f"(f238), "+f"(f239), "+f"(f240), "+f"(f241), "+f"(f242), "+f"(f243), "+f"(f244), "+f"(f245), "+f"(f246), "+f"(f247) : "l"(l254), "l"(l257) : "memory");
    // hello_wgmma.lua:25
#line 25 "scripts/hello_wgmma.lua"
    r258 = shared_base + 0;
#line 25 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 64;" : "=r"(r259) : "r"(r258));
#line 25 "scripts/hello_wgmma.lua"
    l260 = 0x4000004000010000ull | (unsigned long long)((r259 & 0x3FFFF) >> 4);
#line 25 "scripts/hello_wgmma.lua"
    r261 = shared_base + 8192;
#line 25 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 64;" : "=r"(r262) : "r"(r261));
#line 25 "scripts/hello_wgmma.lua"
    l263 = 0x4000004000010000ull | (unsigned long long)((r262 & 0x3FFFF) >> 4);
    // hello_wgmma.lua:26
#line 26 "scripts/hello_wgmma.lua"
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;" : "+f"(f216), "+f"(f217), "+f"(f218), "+f"(f219), "+f"(f220), "+f"(f221), "+f"(f222), "+f"(f223), "+f"(f224), "+f"(f225), "+f"(f226), "+f"(f227), "+f"(f228), "+f"(f229), "+f"(f230), "+f"(f231), "+f"(f232), "+f"(f233), "+f"(f234), "+f"(f235), "+f"(f236), "+f"(f237), "+f"(f238), "+f"(f239), "+f"(f240), "+f"(f241), "+f"(f242), "+f"(f243), "+f"(f244), "+f"(f245), "+f"(f246), "+f"(f247) : "l"(l260), "l"(l263) : "memory");
    // hello_wgmma.lua:25
#line 25 "scripts/hello_wgmma.lua"
    r264 = shared_base + 0;
#line 25 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 96;" : "=r"(r265) : "r"(r264));
#line 25 "scripts/hello_wgmma.lua"
    l266 = 0x4000004000010000ull | (unsigned long long)((r265 & 0x3FFFF) >> 4);
#line 25 "scripts/hello_wgmma.lua"
    r267 = shared_base + 8192;
#line 25 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 96;" : "=r"(r268) : "r"(r267));
#line 25 "scripts/hello_wgmma.lua"
    l269 = 0x4000004000010000ull | (unsigned long long)((r268 & 0x3FFFF) >> 4);
    // hello_wgmma.lua:26
#line 26 "scripts/hello_wgmma.lua"
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;" : "+f"(f216), "+f"(f217), "+f"(f218), "+f"(f219), "+f"(f220), "+f"(f221), "+f"(f222), "+f"(f223), "+f"(f224), "+f"(f225), "+f"(f226), "+f"(f227), "+f"(f228), "+f"(f229), "+f"(f230), "+f"(f231), "+f"(f232), "+f"(f233), "+f"(f234), "+f"(f235), "+f"(f236), "+f"(f237), "+f"(f238), "+f"(f239), "+f"(f240), "+f"(f241), "+f"(f242), "+f"(f243), "+f"(f244), "+f"(f245), "+f"(f246), "+f"(f247) : "l"(l266), "l"(l269) : "memory");
    // hello_wgmma.lua:29
#line 29 "scripts/hello_wgmma.lua"
    asm volatile("wgmma.commit_group.sync.aligned;" :  :  : "memory");
    // hello_wgmma.lua:30
#line 30 "scripts/hello_wgmma.lua"
    asm volatile("wgmma.wait_group.sync.aligned 0;" :  :  : "memory");
    // hello_wgmma.lua:31
#line 31 "scripts/hello_wgmma.lua"
    asm("mov.u32 %0, %%tid.x;" : "=r"(r270) : );
#line 31 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 127;" : "=r"(r271) : "r"(r270));
#line 31 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 31;" : "=r"(r272) : "r"(r271));
#line 31 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 5;" : "=r"(r273) : "r"(r271));
#line 31 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 4;" : "=r"(r274) : "r"(r273));
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, 0, %1;" : "=r"(r275) : "r"(r274));
#line 31 "scripts/hello_wgmma.lua"
    asm("shr.u32 %0, %1, 2;" : "=r"(r276) : "r"(r272));
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, %2;" : "=r"(r277) : "r"(r275), "r"(r276));
#line 31 "scripts/hello_wgmma.lua"
    asm("and.b32 %0, %1, 3;" : "=r"(r278) : "r"(r272));
#line 31 "scripts/hello_wgmma.lua"
    asm("shl.b32 %0, %1, 1;" : "=r"(r279) : "r"(r278));
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, 0, %1;" : "=r"(r280) : "r"(r279));
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r281) : "r"(r277));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p282) : "r"(r281));
#line 31 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 256, %2;" : "=l"(l283) : "r"(r281), "l"(l5));
#line 31 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 4, %2;" : "=l"(l284) : "r"(r280), "l"(l283));
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r285) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p286) : "r"(r285));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p287) : "r"(p286), "r"(p282));
#line 31 "scripts/hello_wgmma.lua"
    if (p287) asm volatile("st.global.v2.f32 [%0], {%1, %2};" :  : "l"(l284), "f"(f216), "f"(f217) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 8;" : "=r"(r288) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p289) : "r"(r288));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p290) : "r"(p289), "r"(p282));
#line 31 "scripts/hello_wgmma.lua"
    if (p290) asm volatile("st.global.v2.f32 [%0+32], {%1, %2};" :  : "l"(l284), "f"(f220), "f"(f221) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 16;" : "=r"(r291) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p292) : "r"(r291));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p293) : "r"(p292), "r"(p282));
#line 31 "scripts/hello_wgmma.lua"
    if (p293) asm volatile("st.global.v2.f32 [%0+64], {%1, %2};" :  : "l"(l284), "f"(f224), "f"(f225) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 24;" : "=r"(r294) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p295) : "r"(r294));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p296) : "r"(p295), "r"(p282));
#line 31 "scripts/hello_wgmma.lua"
    if (p296) asm volatile("st.global.v2.f32 [%0+96], {%1, %2};" :  : "l"(l284), "f"(f228), "f"(f229) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 32;" : "=r"(r297) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p298) : "r"(r297));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p299) : "r"(p298), "r"(p282));
#line 31 "scripts/hello_wgmma.lua"
    if (p299) asm volatile("st.global.v2.f32 [%0+128], {%1, %2};" :  : "l"(l284), "f"(f232), "f"(f233) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 40;" : "=r"(r300) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p301) : "r"(r300));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p302) : "r"(p301), "r"(p282));
#line 31 "scripts/hello_wgmma.lua"
    if (p302) asm volatile("st.global.v2.f32 [%0+160], {%1, %2};" :  : "l"(l284), "f"(f236), "f"(f237) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 48;" : "=r"(r303) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p304) : "r"(r303));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p305) : "r"(p304), "r"(p282));
#line 31 "scripts/hello_wgmma.lua"
    if (p305) asm volatile("st.global.v2.f32 [%0+192], {%1, %2};" :  : "l"(l284), "f"(f240), "f"(f241) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 56;" : "=r"(r306) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p307) : "r"(r306));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p308) : "r"(p307), "r"(p282));
#line 31 "scripts/hello_wgmma.lua"
    if (p308) asm volatile("st.global.v2.f32 [%0+224], {%1, %2};" :  : "l"(l284), "f"(f244), "f"(f245) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 8;" : "=r"(r309) : "r"(r277));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p310) : "r"(r309));
#line 31 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 256, %2;" : "=l"(l311) : "r"(r309), "l"(l5));
#line 31 "scripts/hello_wgmma.lua"
    asm("mad.wide.u32 %0, %1, 4, %2;" : "=l"(l312) : "r"(r280), "l"(l311));
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 0;" : "=r"(r313) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p314) : "r"(r313));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p315) : "r"(p314), "r"(p310));
#line 31 "scripts/hello_wgmma.lua"
    if (p315) asm volatile("st.global.v2.f32 [%0], {%1, %2};" :  : "l"(l312), "f"(f218), "f"(f219) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 8;" : "=r"(r316) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p317) : "r"(r316));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p318) : "r"(p317), "r"(p310));
#line 31 "scripts/hello_wgmma.lua"
    if (p318) asm volatile("st.global.v2.f32 [%0+32], {%1, %2};" :  : "l"(l312), "f"(f222), "f"(f223) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 16;" : "=r"(r319) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p320) : "r"(r319));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p321) : "r"(p320), "r"(p310));
#line 31 "scripts/hello_wgmma.lua"
    if (p321) asm volatile("st.global.v2.f32 [%0+64], {%1, %2};" :  : "l"(l312), "f"(f226), "f"(f227) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 24;" : "=r"(r322) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p323) : "r"(r322));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p324) : "r"(p323), "r"(p310));
#line 31 "scripts/hello_wgmma.lua"
    if (p324) asm volatile("st.global.v2.f32 [%0+96], {%1, %2};" :  : "l"(l312), "f"(f230), "f"(f231) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 32;" : "=r"(r325) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p326) : "r"(r325));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p327) : "r"(p326), "r"(p310));
#line 31 "scripts/hello_wgmma.lua"
    if (p327) asm volatile("st.global.v2.f32 [%0+128], {%1, %2};" :  : "l"(l312), "f"(f234), "f"(f235) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 40;" : "=r"(r328) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p329) : "r"(r328));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p330) : "r"(p329), "r"(p310));
#line 31 "scripts/hello_wgmma.lua"
    if (p330) asm volatile("st.global.v2.f32 [%0+160], {%1, %2};" :  : "l"(l312), "f"(f238), "f"(f239) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 48;" : "=r"(r331) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p332) : "r"(r331));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p333) : "r"(p332), "r"(p310));
#line 31 "scripts/hello_wgmma.lua"
    if (p333) asm volatile("st.global.v2.f32 [%0+192], {%1, %2};" :  : "l"(l312), "f"(f242), "f"(f243) : "memory");
#line 31 "scripts/hello_wgmma.lua"
    asm("add.u32 %0, %1, 56;" : "=r"(r334) : "r"(r280));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 64; selp.b32 %0, 1, 0, q0; }" : "=r"(p335) : "r"(r334));
#line 31 "scripts/hello_wgmma.lua"
    asm("{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, 0; and.pred q0, q1, q2; selp.b32 %0, 1, 0, q0; }" : "=r"(p336) : "r"(p335), "r"(p310));
#line 31 "scripts/hello_wgmma.lua"
    if (p336) asm volatile("st.global.v2.f32 [%0+224], {%1, %2};" :  : "l"(l312), "f"(f246), "f"(f247) : "memory");
}
