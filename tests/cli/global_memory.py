# Kernels whose threads meet in global memory, or leave it, in some launch, and kernels that never do:
#   global_memory.py ptx       the text of all of them
#   global_memory.py FILE      what `wgrun check --json` says of it: nothing wrong is proved, and the others are
import json
import sys

HEAD = """.version 8.3
.target sm_90a
.address_size 64
"""
REGISTERS = """  .reg .pred %p<20>;
  .reg .b16 %h<20>;
  .reg .b32 %r<60>;
  .reg .b64 %d<60>;
  .reg .f32 %f<20>;
"""
texts, wrong, legal = [], {}, {}


def entry(name, body, params=("u64 A", "u32 n"), ntid="128, 1, 1", attr="", pre=""):
    """A, B are in %d0, %d1; tid.x, ctaid.x, n, m in %r0 to %r3; ctaid.x * 128 + tid.x in %r4."""
    start = "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r4, %r1, 128, %r0;\n"
    for place in (("u64 A", "%d0"), ("u64 B", "%d1"), ("u32 n", "%r2"), ("u32 m", "%r3")):
        if place[0] in params:
            start += "ld.param.%s %s, [%s];\n" % (place[0].split()[0], place[1], place[0].split()[1])
    shape = ".reqntid %s\n" % ntid if ntid else ""
    declared = ", ".join(".param ." + one for one in params)
    texts.append("%s.visible .entry %s(%s)\n%s%s{\n%s%s%s\nret;\n}\n"
                 % (pre, name, declared, shape, attr, REGISTERS, start, body))


def race(name, body, **how):
    entry(name, body, **how)
    wrong[name] = "global-races"


def bnd(name, body, **how):
    entry(name, body, **how)
    wrong[name] = "bounds"


def ok(name, body, **how):
    entry(name, body, **how)
    legal[name] = ("global-races", "bounds")


def apart(name, body, **how):
    entry(name, body, **how)
    legal[name] = ("global-races",)


def st(index):
    """Stores 4 bytes at A + 4 * index."""
    return "mul.wide.u32 %%d20, %s, 4; add.u64 %%d20, %%d20, %%d0; st.global.u32 [%%d20], %%r0;\n" % index


def loop(init, body, step, cond="setp.lt.u32 %p0, %r11, %r2; @%p0 bra L;"):
    return "mov.u32 %r11, 0;\n" + init + "\nL:\n" + body + "\n" + step + "\nadd.u32 %r11, %r11, 1;\n" + cond + "\n"


ok("plain", st("%r4"))
race("tile_127", "mad.lo.u32 %r5, %r1, 127, %r0;\n" + st("%r5"))
race("no_ctaid", st("%r0"))
race("shl60", """
cvt.u64.u32 %d9, %r0; shl.b64 %d5, %d9, 60; shr.s64 %d5, %d5, 60; shl.b64 %d5,%d5,2; add.u64 %d6, %d0, %d5;
mul.wide.u32 %d7, %r1, 512; add.u64 %d6,%d6,%d7; st.global.u32 [%d6+64], %r0;""")
race("shl60u", """
cvt.u64.u32 %d9, %r0; shl.b64 %d5, %d9, 60; shr.u64 %d5, %d5, 60; shl.b64 %d5,%d5,2; add.u64 %d6, %d0, %d5;
mul.wide.u32 %d7, %r1, 512; add.u64 %d6,%d6,%d7; st.global.u32 [%d6], %r0;""")
race("shl62addr", "cvt.u64.u32 %d9, %r0; shl.b64 %d5, %d9, 62; add.u64 %d6, %d0, %d5; mul.wide.u32 %d7, %r1, 512; add.u64 %d6,%d6,%d7; st.global.u32 [%d6], %r0;")
race("neg_shl27", """shl.b32 %r5, %r0, 27; neg.s32 %r5, %r5; cvt.s64.s32 %d5, %r5; shl.b64 %d5, %d5, 2; add.u64 %d6,%d0,%d5; mul.wide.u32 %d7,%r1,4; add.u64 %d6,%d6,%d7; st.global.u32 [%d6], %r0;""")
race("cta_shl28", "shl.b32 %r5, %r1, 28; add.u32 %r5, %r5, %r0;\n" + st("%r5"))
race("cta_shl28_mask", "shl.b32 %r5, %r1, 28; shr.u32 %r5, %r5, 21; add.u32 %r5, %r5, %r0;\n" + st("%r5"))
race("cvt_u16", "cvt.u16.u32 %h0, %r4; cvt.u32.u16 %r5, %h0;\n" + st("%r5"))
race("cvt_u8", "cvt.u16.u32 %h0, %r4; cvt.u8.u16 %h1, %h0; cvt.u32.u16 %r5, %h1;\n" + st("%r5"))
race("cvt_u8_r", "cvt.u8.u32 %r5, %r4;\n" + st("%r5"))
race("mask_ffff", "and.b32 %r5, %r4, 65535;\n" + st("%r5"))
race("mask_hole", "and.b32 %r5, %r4, 0xFFFFFFDF;\n" + st("%r5"))
race("xor_overlap", "shl.b32 %r5, %r1, 6; xor.b32 %r5, %r5, %r0;\n" + st("%r5"))
race("or_overlap", "shl.b32 %r5, %r1, 6; or.b32 %r5, %r5, %r0;\n" + st("%r5"))
race("min", "min.u32 %r5, %r4, 1000;\n" + st("%r5"))
race("max", "max.u32 %r5, %r4, 5;\n" + st("%r5"))
race("min_n", "sub.u32 %r6, %r2, 1; min.u32 %r5, %r4, %r6;\n" + st("%r5"))
race("selp", "setp.lt.u32 %p0, %r4, %r2; selp.u32 %r5, %r4, 0, %p0;\n" + st("%r5"))
race("guard_mov", "mov.u32 %r5, %r4; setp.ge.u32 %p0, %r4, %r2; @%p0 mov.u32 %r5, 3;\n" + st("%r5"))
race("div2", "shr.u32 %r5, %r4, 1;\n" + st("%r5"))
race("divs_neg", "sub.s32 %r5, %r0, 5; div.s32 %r5, %r5, 4; mad.lo.s32 %r5, %r5, 4, 64; rem.s32 %r6, %r0, 3; add.s32 %r5,%r5,%r6; cvt.s64.s32 %d5, %r5; shl.b64 %d5,%d5,2; add.u64 %d5,%d5,%d0; st.global.u32 [%d5], %r0;")
race("rems_neg", "sub.s32 %r5, %r0, 64; rem.s32 %r5, %r5, 64; add.s32 %r5, %r5, 64; mad.lo.u32 %r5, %r1, 128, %r5;\n" + st("%r5"))
race("ld_small", "mad.lo.u32 %r5, %r1, %r2, %r0;\n" + st("%r5"))
race("ld_small_guard_le", "setp.gt.u32 %p0, %r0, %r2; @%p0 ret; mad.lo.u32 %r5, %r1, %r2, %r0;\n" + st("%r5"))
ok("ld_guard_lt", "setp.ge.u32 %p0, %r0, %r2; @%p0 ret; mad.lo.u32 %r5, %r1, %r2, %r0;\n" + st("%r5"))
race("two_offs", st("%r4") + "add.u32 %r5, %r4, 1;\n" + st("%r5"))
race("halo_read", "ld.global.u32 %r9, [%d0];\n" + st("%r4"))
race("halo_next", "mul.wide.u32 %d5, %r4, 4; add.u64 %d5, %d5, %d0; ld.global.u32 %r9, [%d5+4]; st.global.u32 [%d5], %r9;")
race("ptr_ambig", "ld.param.u64 %d10, [B];\n" + "mul.wide.u32 %d5, %r4, 4; add.u64 %d6, %d0, %d5; st.global.u32 [%d6], %r0; add.u64 %d7, %d6, %d10; st.global.u32 [%d7], %r0;", params=("u64 A", "u64 B", "u32 n"))
race("ptr_ambig2", "mul.wide.u32 %d5, %r4, 4; add.u64 %d7, %d5, %d1; add.u64 %d7, %d7, %d0; st.global.u32 [%d7], %r0; add.u64 %d6, %d0, %d5; st.global.u32 [%d6], %r0; ", params=("u64 B", "u64 A", "u32 n"))
race("param_hi", "ld.param.u32 %r5, [B+4]; ld.param.u32 %r6, [B]; sub.u32 %r7, %r5, %r6; mul.lo.u32 %r5, %r4, %r7;\n" + st("%r5"), params=("u64 A", "u64 B", "u32 n"))
race("param_u8", "ld.param.u8 %r5, [n]; sub.u32 %r6, %r2, %r5; add.u32 %r6, %r6, 1; mul.lo.u32 %r7, %r6, 0; ld.param.u8 %r8, [n]; mul.lo.u32 %r9, %r4, %r8;\n" + st("%r9"))
race("struct", "ld.param.u32 %r5, [S+4]; ld.param.u32 %r6, [S]; sub.u32 %r7, %r5, %r6; mul.lo.u32 %r5, %r4, %r7;\n" + st("%r5"), params=("u64 A", "align 4 .b8 S[8]"))
race("struct2", "ld.param.u64 %d10, [S]; ld.param.u64 %d11, [S+8]; mul.wide.u32 %d5, %r4, 4; add.u64 %d6, %d10, %d5; st.global.u32 [%d6], %r0; add.u64 %d7, %d11, %d5; st.global.u32 [%d7+4], %r0;", params=("align 8 .b8 S[16]",))
race("no_ntid", "mad.lo.u32 %r5, %r1, 128, %r0;" + st("%r5"), ntid=None)
race("no_ntid2", st("%r1"), ntid=None)
race("no_ntid3", "mov.u32 %r5, %ntid.x; mad.lo.u32 %r5, %r1, %r5, 0;" + st("%r5"), ntid=None)
race("maxntid_y", st("%r4"), ntid=None, attr=".maxntid 128, 2, 1\n")
race("block2d", st("%r4"), ntid="128, 2, 1")
race("block2d_b", "mov.u32 %r5, %tid.y; mad.lo.u32 %r5, %r5, 15, %r0; mad.lo.u32 %r5, %r1, 128, %r5;" + st("%r5"), ntid="16, 8, 1")
race("grid_y", "mov.u32 %r5, %ctaid.y; add.u32 %r5, %r5, %r4;\n" + st("%r5"))
race("grid_y2", "mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.y; mad.lo.u32 %r5, %r1, %r6, %r5; mad.lo.u32 %r5, %r5, 120, %r0;" + st("%r5"))
race("grid_wrong", "mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.y; mad.lo.u32 %r5, %r5, %r6, %r1; mad.lo.u32 %r5, %r5, 128, %r0;" + st("%r5"))
ok("grid_right", "mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.x; mad.lo.u32 %r5, %r5, %r6, %r1; mad.lo.u32 %r5, %r5, 128, %r0;" + st("%r5"))
race("unread_but_n", "mov.u32 %r5, %nctaid.y; mad.lo.u32 %r5, %r5, 128, %r4;" + st("%r5") + "mov.u32 %r6, %ctaid.y; setp.eq.u32 %p0, %r6, 5; @%p0 st.global.u32 [%d20], %r0;")
gs = "mov.u32 %r5, %nctaid.x; mul.lo.u32 %r5, %r5, 128; mov.u32 %r10, %r4;"
ok("gridstride", gs + "\nL: setp.ge.u32 %p0, %r10, %r2; @%p0 bra E;\n" + st("%r10") + "add.u32 %r10, %r10, %r5; bra L;\nE:\n")
race("gridstride_127", gs.replace("128","127") + "\nL: setp.ge.u32 %p0, %r10, %r2; @%p0 bra E;\n" + st("%r10") + "add.u32 %r10, %r10, %r5; bra L;\nE:\n")
race("gridstride_no_n", "mov.u32 %r10,%r4;" + "\nL: setp.ge.u32 %p0, %r10, %r2; @%p0 bra E;\n" + st("%r10") + "add.u32 %r10, %r10, 128; bra L;\nE:\n")
ok("dowhile", loop("mul.lo.u32 %r12, %r2, 128; mad.lo.u32 %r10, %r1, %r12, %r0;", st("%r10"), "add.u32 %r10, %r10, 128;"))
race("dowhile_short", loop("sub.u32 %r13, %r2, 1; mul.lo.u32 %r12, %r13, 128; mad.lo.u32 %r10, %r1, %r12, %r0;", st("%r10"), "add.u32 %r10, %r10, 128;"))
race("dowhile_le", loop("mul.lo.u32 %r12, %r2, 128; mad.lo.u32 %r10, %r1, %r12, %r0;", st("%r10"), "add.u32 %r10, %r10, 128;", "setp.le.u32 %p0, %r11, %r2; @%p0 bra L;"))
race("sometimes_step", loop("mul.lo.u32 %r12, %r2, 128; mad.lo.u32 %r10, %r1, %r12, %r0;", st("%r10"), "and.b32 %r14, %r11, 1; setp.eq.u32 %p1, %r14, 0; @%p1 add.u32 %r10, %r10, 128; @!%p1 add.u32 %r10,%r10,127;"))
race("sometimes_step2", loop("mul.lo.u32 %r12, %r2, 128; mad.lo.u32 %r10, %r1, %r12, %r0;", st("%r10"), "and.b32 %r14, %r0, 1; setp.eq.u32 %p1, %r14, 0; @%p1 add.u32 %r10, %r10, 128; @!%p1 add.u32 %r10,%r10,129;"))
race("two_latches", "mov.u32 %r11,0; mul.lo.u32 %r12, %r2, 128; mad.lo.u32 %r10, %r1, %r12, %r0;\nL: setp.ge.u32 %p0,%r11,%r2; @%p0 bra E;\n" + st("%r10") + "add.u32 %r11,%r11,1; and.b32 %r14,%r11,3; setp.eq.u32 %p1,%r14,0; @%p1 bra X; add.u32 %r10,%r10,128; bra L;\nX: add.u32 %r10,%r10,64; bra L;\nE:\n")
race("two_latches_tid", "mov.u32 %r11,0; mul.lo.u32 %r12, %r2, 128; mad.lo.u32 %r10, %r1, %r12, %r0;\nL: setp.ge.u32 %p0,%r11,%r2; @%p0 bra E;\n" + st("%r10") + "add.u32 %r11,%r11,1; setp.eq.u32 %p1,%r0,0; @%p1 bra X; add.u32 %r10,%r10,128; bra L;\nX: add.u32 %r10,%r10,1; bra L;\nE:\n")
race("break_carry", "mov.u32 %r11,0; mov.u32 %r10,%r4;\nL: setp.ge.u32 %p0,%r11,%r2; @%p0 bra E; setp.eq.u32 %p1,%r11,%r0; @%p1 bra F; add.u32 %r10,%r10,1; add.u32 %r11,%r11,1; bra L;\nF: add.u32 %r10, %r10, 5;\nE:\n" + st("%r10"))
race("after_loop", "mov.u32 %r11,0;\nL: add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r0; @%p0 bra L; mad.lo.u32 %r10,%r1,128,%r11;\n" + st("%r10"))
race("inner", "mov.u32 %r11,0; mad.lo.u32 %r10,%r1,1024,%r0;\nL: mov.u32 %r12,0;\nM:\n" + st("%r10") + "add.u32 %r10,%r10,128; add.u32 %r12,%r12,1; setp.lt.u32 %p1,%r12,4; @%p1 bra M; sub.u32 %r10,%r10,513; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,2; @%p0 bra L;\n")
race("inner_n", "mov.u32 %r11,0; mul.lo.u32 %r13,%r2,128; mad.lo.u32 %r10,%r1,%r13,%r0;\nL: mov.u32 %r12,0;\nM:\n" + st("%r10") + "add.u32 %r10,%r10,128; add.u32 %r12,%r12,1; setp.lt.u32 %p1,%r12,%r2; @%p1 bra M; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,2; @%p0 bra L;\n")
race("ptr64_loop", "mul.wide.u32 %d5,%r4,4; add.u64 %d5,%d5,%d0; mov.u32 %r11,0;\nL: st.global.u32 [%d5],%r0; add.u64 %d5,%d5,512; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;\n")
race("ptr64_loop4", "mul.wide.u32 %d5,%r4,16; add.u64 %d5,%d5,%d0; mov.u32 %r11,0;\nL: st.global.u32 [%d5],%r0; add.u64 %d5,%d5,4; add.u32 %r11,%r11,1; setp.le.u32 %p0,%r11,4; @%p0 bra L;\n")
ok("ptr64_loop4ok", "mul.wide.u32 %d5,%r4,16; add.u64 %d5,%d5,%d0; mov.u32 %r11,0;\nL: st.global.u32 [%d5],%r0; add.u64 %d5,%d5,4; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,4; @%p0 bra L;\n")
race("shl_loop", "mov.u32 %r11,0; mov.u32 %r12,1;\nL: mad.lo.u32 %r10,%r1,128,%r12; add.u32 %r10,%r10,%r0;\n" + st("%r10") + "shl.b32 %r12,%r12,1; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;\n")
race("wrap_loop2", loop("mad.lo.u32 %r10,%r1,0x8000000,%r0;", st("%r10"), ""))
race("loaded", "mul.wide.u32 %d5,%r4,4; add.u64 %d5,%d5,%d1; ld.global.u32 %r5,[%d5];\n" + st("%r5"), params=("u64 A","u64 B","u32 n"))
race("loaded_mul", "ld.global.u32 %r5,[%d1]; mul.lo.u32 %r5,%r5,%r4;\n" + st("%r5"), params=("u64 A","u64 B","u32 n"))
race("loaded_add_cta", "ld.global.u32 %r5,[%d1]; mad.lo.u32 %r5,%r1,%r5,%r0;\n" + st("%r5"), params=("u64 A","u64 B","u32 n"))
race("loaded_cond2", "ld.global.u32 %r5,[%d1]; sub.u32 %r6,5,%r5; setp.lt.s32 %p0,%r6,0; @%p0 ret; setp.le.u32 %p1,%r5,5; @%p1 ret; \n" + st("%r0"), params=("u64 A","u64 B","u32 n"))
bnd("st_mixed_8_at_4", "mul.wide.u32 %d5,%r4,4; add.u64 %d5,%d5,%d0; shr.u64 %d6,%d5,3; st.global.u64 [%d5],%d5;")
race("st_v2_and_scalar", "mul.wide.u32 %d5,%r4,8; add.u64 %d5,%d5,%d0; st.global.v2.u32 [%d5],{%r0,%r1}; st.global.u32 [%d5+8],%r0;")
race("st_v4_scalar", "mul.wide.u32 %d5,%r4,16; add.u64 %d5,%d5,%d0; st.global.v4.u32 [%d5],{%r0,%r1,%r0,%r1}; mul.wide.u32 %d6,%r4,4; add.u64 %d6,%d6,%d0; st.global.u32 [%d6],%r0;")
race("u8_u32", "mul.wide.u32 %d5,%r4,4; add.u64 %d5,%d5,%d0; st.global.u32 [%d5],%r0; st.global.u8 [%d5+7],%r0;")
ok("u8", "cvt.u64.u32 %d5,%r4; add.u64 %d5,%d5,%d0; st.global.u8 [%d5],%r0;")
bnd("st_u16_1", "cvt.u64.u32 %d5,%r4; add.u64 %d5,%d5,%d0; st.global.u16 [%d5],%h0;")
race("atom_plain", "red.global.add.u32 [%d0],1;\n" + st("%r4"))
race("atom_plain2", "atom.global.add.u32 %r9,[%d0],1; ld.global.u32 %r10,[%d0];")
race("atom_cta_scope", "red.relaxed.cta.global.add.u32 [%d0],1;")
race("atom_mixed_size", "red.global.add.u32 [%d0],1; atom.global.add.u64 %d5,[%d0],1;")
race("atom_ticket", "atom.global.add.u32 %r5,[%d1],1;\n" + st("%r5"), params=("u64 A","u64 B","u32 n"))
race("exit_guard_or", "setp.lt.u32 %p0,%r4,%r2; setp.lt.or.u32 %p1,%r0,64,%p0; @!%p1 ret; and.b32 %r5,%r4,63;\n" + st("%r5"))
race("pred_or", "setp.lt.u32 %p0,%r0,1; setp.ge.u32 %p1,%r4,%r2; or.pred %p2,%p0,%p1; @%p2 st.global.u32 [%d0],%r0;")
race("pred_xor", "setp.lt.u32 %p0,%r4,1; setp.lt.u32 %p1,%r4,2; xor.pred %p2,%p0,%p1; not.pred %p2,%p2; @%p2 st.global.u32 [%d0],%r0;")
ok("pred_and", "setp.eq.u32 %p0,%r0,0; setp.eq.u32 %p1,%r1,0; and.pred %p2,%p0,%p1; @%p2 st.global.u32 [%d0],%r0;")
race("setp_and", "setp.lt.u32 %p0,%r0,2; setp.eq.and.u32 %p1,%r1,0,%p0; @%p1 st.global.u32 [%d0],%r0;")
race("elect_loop", "mov.u32 %r11,0;\nL: elect.sync _|%p1,0xffffffff; @%p1 st.global.u32 [%d0],%r0; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;")
race("elect_part", "and.b32 %r5,%r0,31; setp.ge.u32 %p2,%r5,16; @%p2 bra X; elect.sync _|%p1,0x0000ffff; bra Y;\nX: elect.sync _|%p1,0xffff0000;\nY: shr.u32 %r6,%r4,5; @!%p1 ret;\n" + st("%r6"))
ok("elect", "elect.sync _|%p1,0xffffffff; shr.u32 %r6,%r4,5; @!%p1 ret;\n" + st("%r6"))
race("elect_cta", "elect.sync _|%p1,0xffffffff; @!%p1 ret;\n" + st("%r1"))
race("shfl_half", "mov.u32 %r5,%r4; shfl.sync.idx.b32 %r6,%r5,0,31,0xffffffff;\n" + st("%r6"))
race("shfl_seg", "shfl.sync.idx.b32 %r6,%r0,0,0x181f,0xffffffff; and.b32 %r7,%r0,31; sub.u32 %r8,%r0,%r6; add.u32 %r8,%r8,%r6; and.b32 %r8,%r8,7; shr.u32 %r9,%r0,5; mad.lo.u32 %r9,%r9,32,%r8; mad.lo.u32 %r9,%r1,128,%r9;\n" + st("%r9"))
race("shfl_down", "shfl.sync.down.b32 %r6,%r4,1,31,0xffffffff;\n" + st("%r6"))
race("shfl_turn", """and.b32 %r5,%r0,1; mov.u32 %r11,0;
L: setp.ge.u32 %p0,%r11,3; @%p0 bra E;
setp.eq.u32 %p1,%r5,1; setp.eq.and.u32 %p2,%r11,0,%p1; @%p2 bra X;
shfl.sync.idx.b32 %r12,%r11,0,31,0xffffffff; sub.u32 %r13,%r11,%r12; add.u32 %r14,%r4,%r13; mul.wide.u32 %d5,%r14,4; add.u64 %d5,%d5,%d0; st.global.u32 [%d5],%r0;
X: add.u32 %r11,%r11,1; bra L;
E:""")
race("guard_uninit", "setp.lt.u32 %p0,%r0,64; @%p0 mov.u32 %r5,%r4; @!%p0 sub.u32 %r5,%r4,64;\n" + st("%r5"))
race("guard_uninit2", "setp.lt.u32 %p0,%r0,64; @%p0 mov.u32 %r5,%r4;\n" + st("%r5"))
race("unreach", "bra Z;\nQ: mov.u32 %r4,0;\nZ: and.b32 %r5,%r4,63;\n" + st("%r5"))
ok("unreach_ok", "bra Z;\nQ: mov.u32 %r4,0;\nZ:\n" + st("%r4"))
race("nctaid_sub", "mov.u32 %r5,%nctaid.x; sub.u32 %r6,%r5,%r1; add.u32 %r6,%r6,%r1; mad.lo.u32 %r5,%r6,128,%r0;\n" + st("%r5"))
race("unsigned_sub", "sub.u32 %r5,%r0,64; shr.u32 %r5,%r5,4; and.b32 %r5,%r5,0xff; mad.lo.u32 %r5,%r1,256,%r5;\n" + st("%r5"))
race("cluster_rank", "mov.u32 %r5,%cluster_ctarank; mad.lo.u32 %r5,%r5,128,%r0;\n" + st("%r5"), attr=".reqnctapercluster 2, 1, 1\n")
race("cluster_id", "mov.u32 %r5,%clusterid.x; mad.lo.u32 %r5,%r5,128,%r0;\n" + st("%r5"), attr=".reqnctapercluster 2, 1, 1\n")
ok("cluster_ok", "mov.u32 %r5,%clusterid.x; mov.u32 %r6,%cluster_ctarank; mad.lo.u32 %r5,%r5,2,%r6; mad.lo.u32 %r5,%r5,128,%r0;\n" + st("%r5"), attr=".reqnctapercluster 2, 1, 1\n")
race("cluster_y", "mov.u32 %r5,%clusterid.x; mov.u32 %r6,%cluster_ctarank; mad.lo.u32 %r5,%r5,2,%r6; mad.lo.u32 %r5,%r5,128,%r0;\n" + st("%r5"), attr=".reqnctapercluster 1, 2, 1\n")
race("no_cluster_attr", "mov.u32 %r5,%cluster_ctarank; mov.u32 %r6,%clusterid.x; mad.lo.u32 %r5,%r6,128,%r0;\n" + st("%r5"))
race("mul_hi", "mul.hi.u32 %r5,%r4,0x80000000;\n" + st("%r5"))
race("div_tile", "div.u32 %r5,%r1,%r2; rem.u32 %r6,%r1,%r3; mad.lo.u32 %r7,%r5,%r2,%r6; mad.lo.u32 %r7,%r7,128,%r0;\n" + st("%r7"), params=("u64 A","u32 n","u32 m"))
ok("div_tile_ok", "div.u32 %r5,%r1,%r2; rem.u32 %r6,%r1,%r2; mad.lo.u32 %r7,%r5,%r2,%r6; mad.lo.u32 %r7,%r7,128,%r0;\n" + st("%r7"), params=("u64 A","u32 n","u32 m"))
race("div_tile2", "div.u32 %r5,%r1,%r2; rem.u32 %r6,%r1,%r2; mad.lo.u32 %r7,%r6,%r2,%r5; mad.lo.u32 %r7,%r7,128,%r0;\n" + st("%r7"), params=("u64 A","u32 n","u32 m"))
race("gvar", "mov.u64 %d5,gv; st.global.u32 [%d5],%r0;", pre=".visible .global .align 4 .u32 gv;\n")
race("gvar2", "mov.u64 %d5,gv; mul.wide.u32 %d6,%r0,4; add.u64 %d5,%d5,%d6; st.global.u32 [%d5],%r0;", pre=".visible .global .align 4 .b8 gv[512];\n")
race("volatile_weak", "st.volatile.global.u32 [%d0],%r0; setp.eq.u32 %p0,%r4,0; @%p0 st.global.u32 [%d0],%r0;")
race("strong_sizes", "st.relaxed.gpu.global.u32 [%d0],%r0; st.relaxed.gpu.global.u64 [%d0],%d0;")
race("discard", "discard.global.L2 [%d0],128;\n" + st("%r4"))
race("ne_loop", "mov.u32 %r11,0; mul.lo.u32 %r12,%r2,128; mad.lo.u32 %r10,%r1,%r12,%r0;\nL:\n" + st("%r10") + "add.u32 %r10,%r10,128; add.u32 %r11,%r11,1; add.u32 %r13,%r2,1; setp.ne.u32 %p0,%r11,%r13; @%p0 bra L;")
ok("ne_loop_ok", "mov.u32 %r11,0; mul.lo.u32 %r12,%r2,128; mad.lo.u32 %r10,%r1,%r12,%r0;\nL:\n" + st("%r10") + "add.u32 %r10,%r10,128; add.u32 %r11,%r11,1; setp.ne.u32 %p0,%r11,%r2; @%p0 bra L;")
race("ne_loop_from", "mov.u32 %r11,%r0; mul.lo.u32 %r12,%r2,128; mad.lo.u32 %r10,%r1,%r12,%r0;\nL:\n" + st("%r10") + "add.u32 %r10,%r10,128; add.u32 %r11,%r11,1; setp.ne.u32 %p0,%r11,%r2; @%p0 bra L;")
race("ne_loop_2", "mov.u32 %r11,0; mul.lo.u32 %r12,%r2,128; mad.lo.u32 %r10,%r1,%r12,%r0;\nL:\n" + st("%r10") + "add.u32 %r10,%r10,128; add.u32 %r11,%r11,2; setp.ne.u32 %p0,%r11,%r2; @%p0 bra L;")
race("dowhile_gt", "mov.u32 %r11,%r2; mul.lo.u32 %r12,%r2,128; mad.lo.u32 %r10,%r1,%r12,%r0;\nL:\n" + st("%r10") + "add.u32 %r10,%r10,128; sub.u32 %r11,%r11,1; setp.ge.s32 %p0,%r11,0; @%p0 bra L;")
ok("dowhile_gt_ok", "mov.u32 %r11,%r2; mul.lo.u32 %r12,%r2,128; mad.lo.u32 %r10,%r1,%r12,%r0;\nL:\n" + st("%r10") + "add.u32 %r10,%r10,128; sub.u32 %r11,%r11,1; setp.gt.s32 %p0,%r11,0; @%p0 bra L;")
race("dowhile_or", "mov.u32 %r11,0; mul.lo.u32 %r12,%r2,128; mad.lo.u32 %r10,%r1,%r12,%r0;\nL:\n" + st("%r10") + "add.u32 %r10,%r10,128; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; setp.lt.or.u32 %p1,%r11,%r0,%p0; @%p1 bra L;")
race("dowhile_skip", "mov.u32 %r11,0; mul.lo.u32 %r12,%r2,128; mad.lo.u32 %r10,%r1,%r12,%r0;\nL:\n" + st("%r10") + "add.u32 %r10,%r10,128; and.b32 %r14,%r0,1; setp.eq.u32 %p1,%r14,0; @%p1 add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;")
race("dowhile_inner", "mov.u32 %r11,0; mul.lo.u32 %r12,%r2,128; mad.lo.u32 %r10,%r1,%r12,%r0;\nL: mov.u32 %r15,0;\nM: mad.lo.u32 %r16,%r15,128,%r10;\n" + st("%r16") + "add.u32 %r15,%r15,1; setp.lt.u32 %p1,%r15,%r2; @%p1 bra M; add.u32 %r10,%r10,128; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;")
ok("dowhile_nest_ok", "mov.u32 %r11,0; mul.lo.u32 %r12,%r2,128; mul.lo.u32 %r13,%r12,%r2; mad.lo.u32 %r10,%r1,%r13,%r0;\nL: mov.u32 %r15,0;\nM: mad.lo.u32 %r16,%r15,128,%r10;\n" + st("%r16") + "add.u32 %r15,%r15,1; setp.lt.u32 %p1,%r15,%r2; @%p1 bra M; add.u32 %r10,%r10,%r12; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;")
race("loop_guard_flag", "mov.u32 %r11,0; setp.eq.u32 %p3,%r0,0; \nL: @%p3 st.global.u32 [%d0],%r0; setp.eq.u32 %p3,%r11,%r0; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;")
race("loop_swap", "mov.u32 %r10,%r4; add.u32 %r12,%r4,64; mov.u32 %r11,0;\nL:\n" + st("%r10") + "mov.u32 %r13,%r10; mov.u32 %r10,%r12; mov.u32 %r12,%r13; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;")
race("loop_xor", "mov.u32 %r10,%r0; mov.u32 %r11,0;\nL: mad.lo.u32 %r12,%r1,64,%r10;\n" + st("%r12") + "xor.b32 %r10,%r10,64; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;")
race("loop_growth_reg", "mov.u32 %r10,%r4; mov.u32 %r12,1; mov.u32 %r11,0;\nL:\n" + st("%r10") + "add.u32 %r10,%r10,%r12; add.u32 %r12,%r12,1; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;")
race("loop_growth_inner", "mov.u32 %r10,%r4; mov.u32 %r11,0;\nL:\n" + st("%r10") + "mov.u32 %r12,0;\nM: add.u32 %r12,%r12,1; setp.lt.u32 %p1,%r12,%r11; @%p1 bra M; add.u32 %r10,%r10,%r12; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;")
race("loop_loaded_stride", "ld.global.u32 %r12,[%d1]; mov.u32 %r10,%r4; mov.u32 %r11,0;\nL:\n" + st("%r10") + "add.u32 %r10,%r10,%r12; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;", params=("u64 A","u64 B","u32 n"))
race("cond_stale", "setp.lt.u32 %p0,%r0,32; mov.u32 %r5,%r0; @!%p0 bra X; add.u32 %r5,%r5,96; bra Y;\nX:\nY: mad.lo.u32 %r5,%r1,128,%r5;\n" + st("%r5").replace("nop_fix:",""))
race("setp_q", "setp.lt.u32 %p0|%p1,%r0,64; @%p1 sub.u32 %r4,%r4,64; \n" + st("%r4"))
race("setp_s", "sub.u32 %r5,%r0,64; setp.lt.u32 %p0,%r5,64; @%p0 mov.u32 %r4,%r5; mad.lo.u32 %r4,%r1,128,%r4; and.b32 %r4,%r4,127; mad.lo.u32 %r4,%r1,128,%r4;\n" + st("%r4"))
race("bfe", "bfe.u32 %r5,%r4,1,20;\n" + st("%r5"))
race("bfe2", "bfe.u32 %r5,%r4,0,8;\n" + st("%r5"))
race("lop3", "lop3.b32 %r5,%r0,%r1,0,0x3c;\n" + st("%r5"))
race("prmt", "prmt.b32 %r5,%r4,0,0x4440;\n" + st("%r5"))
race("sat", "sub.sat.s32 %r5,%r4,100; max.s32 %r5,%r5,0;\n" + st("%r5"))
race("cvt_sat", "cvt.sat.u16.u32 %h0,%r4; cvt.u32.u16 %r5,%h0;\n" + st("%r5"))
race("cvt_sat2", "neg.s32 %r5,%r4; cvt.sat.u32.s32 %r5,%r5;\n" + st("%r5"))
race("cvt_s8", "cvt.s8.s32 %r5,%r4; add.s32 %r5,%r5,128;\n" + st("%r5"))
race("mul24", "mul24.lo.u32 %r5,%r4,2; shr.u32 %r5,%r5,2;\n" + st("%r5"))
race("mulhi64", "cvt.u64.u32 %d5,%r4; mul.hi.u64 %d5,%d5,%d5; add.u64 %d5,%d5,%d0; st.global.u32 [%d5],%r0;")
race("mul64_wrap", "cvt.u64.u32 %d5,%r0; mul.lo.u64 %d5,%d5,0x1000000000000000; shl.b64 %d5,%d5,2; mul.wide.u32 %d6,%r1,512; add.u64 %d5,%d5,%d6; add.u64 %d5,%d5,%d0; st.global.u32 [%d5],%r0;")
race("add_chain_wrap", "cvt.u64.u32 %d5,%r0; shl.b64 %d5,%d5,57; add.u64 %d5,%d5,%d5; add.u64 %d5,%d5,%d5; add.u64 %d5,%d5,%d5;add.u64 %d5,%d5,%d5;add.u64 %d5,%d5,%d5;add.u64 %d5,%d5,%d5; mul.wide.u32 %d6,%r1,512; add.u64 %d5,%d5,%d6; add.u64 %d5,%d5,%d0; st.global.u32 [%d5],%r0;")
race("neg_index_u32", "neg.s32 %r5,%r0; mul.wide.u32 %d5,%r5,4; and.b64 %d5,%d5,255; mul.wide.u32 %d6,%r1,256; add.u64 %d5,%d5,%d6; add.u64 %d5,%d5,%d0; st.global.u32 [%d5],%r0;")
bnd("neg_off", "mul.wide.u32 %d5,%r4,4; add.u64 %d5,%d5,%d0; st.global.u32 [%d5+-4],%r0;")
bnd("neg_s", "sub.s32 %r5,%r0,%r2; cvt.s64.s32 %d5,%r5; shl.b64 %d5,%d5,2; add.u64 %d5,%d5,%d0; ld.global.u32 %r9,[%d5];")
bnd("loaded_idx", "ld.global.u32 %r5,[%d1]; cvt.s64.s32 %d5,%r5; shl.b64 %d5,%d5,2; add.u64 %d5,%d5,%d0; ld.global.u32 %r9,[%d5];", params=("u64 A","u64 B","u32 n"))
bnd("endless", "mov.u32 %r11,0; mul.wide.u32 %d5,%r4,4; add.u64 %d5,%d5,%d0;\nL: ld.global.u32 %r9,[%d5]; add.u64 %d5,%d5,4; setp.ne.u32 %p0,%r9,0; @%p0 bra L;")
bnd("down", "mov.u32 %r11,0; mul.wide.u32 %d5,%r4,4; add.u64 %d5,%d5,%d0;\nL: ld.global.u32 %r9,[%d5]; sub.u64 %d5,%d5,4; add.u32 %r11,%r11,1; setp.lt.u32 %p0,%r11,%r2; @%p0 bra L;")
bnd("mis2", "mul.wide.u32 %d5,%r4,2; add.u64 %d5,%d5,%d0; ld.global.u32 %r9,[%d5];")
bnd("mis_n", "mul.lo.u32 %r5,%r1,%r2; add.u32 %r5,%r5,%r0; mul.wide.u32 %d5,%r5,2; add.u64 %d5,%d5,%d0; ld.global.u32 %r9,[%d5];")
bnd("mis_const", "mul.wide.u32 %d5,%r4,8; add.u64 %d5,%d5,%d0; ld.global.u64 %d7,[%d5+4];")
bnd("mis_v4", "mul.wide.u32 %d5,%r4,8; add.u64 %d5,%d5,%d0; ld.global.v4.u32 {%r5,%r6,%r7,%r8},[%d5];")
ok("red_ok", "red.global.add.u32 [%d0],1;")
ok("red_v", "mul.wide.u32 %d5,%r0,8; add.u64 %d5,%d5,%d0; red.global.add.v2.f32 [%d5],{%f0,%f1};")
ok("transposed", "mov.u32 %r5,%tid.y; mov.u32 %r6,%ctaid.y; mad.lo.u32 %r7,%r1,32,%r0; mad.lo.u32 %r8,%r6,8,%r5; setp.ge.u32 %p0,%r7,%r2; setp.ge.u32 %p1,%r8,%r3; or.pred %p2,%p0,%p1; @%p2 ret; mad.lo.u32 %r9,%r8,%r2,%r7;\n" + st("%r9"), ntid="32, 8, 1", params=("u64 A","u32 n","u32 m"))
race("transposed_le", "mov.u32 %r5,%tid.y; mov.u32 %r6,%ctaid.y; mad.lo.u32 %r7,%r1,32,%r0; mad.lo.u32 %r8,%r6,8,%r5; setp.gt.u32 %p0,%r7,%r2; setp.ge.u32 %p1,%r8,%r3; or.pred %p2,%p0,%p1; @%p2 ret; mad.lo.u32 %r9,%r8,%r2,%r7;\n" + st("%r9"), ntid="32, 8, 1", params=("u64 A","u32 n","u32 m"))
race("transposed_and", "mov.u32 %r5,%tid.y; mov.u32 %r6,%ctaid.y; mad.lo.u32 %r7,%r1,32,%r0; mad.lo.u32 %r8,%r6,8,%r5; setp.ge.u32 %p0,%r7,%r2; setp.ge.u32 %p1,%r8,%r3; and.pred %p2,%p0,%p1; @%p2 ret; mad.lo.u32 %r9,%r8,%r2,%r7;\n" + st("%r9"), ntid="32, 8, 1", params=("u64 A","u32 n","u32 m"))
race("transposed_m", "mov.u32 %r5,%tid.y; mov.u32 %r6,%ctaid.y; mad.lo.u32 %r7,%r1,32,%r0; mad.lo.u32 %r8,%r6,8,%r5; setp.ge.u32 %p0,%r7,%r2; setp.ge.u32 %p1,%r8,%r3; or.pred %p2,%p0,%p1; @%p2 ret; mad.lo.u32 %r9,%r8,%r3,%r7;\n" + st("%r9"), ntid="32, 8, 1", params=("u64 A","u32 n","u32 m"))
apart("xor_const_ok", "xor.b32 %r5,%r0,5; mad.lo.u32 %r5,%r1,128,%r5;\n" + st("%r5"))
ok("guard_ld_ok", "setp.lt.u32 %p0,%r4,%r2; mul.wide.u32 %d5,%r4,4; @%p0 add.u64 %d6,%d5,%d0; @%p0 st.global.u32 [%d6],%r0;")
ok("nvcc_stride_ok", """mov.u32 %r5,%nctaid.x; mul.lo.u32 %r5,%r5,128; setp.ge.u32 %p0,%r4,%r2; @%p0 ret; mov.u32 %r10,%r4;
L:
""" + st("%r10") + "add.u32 %r10,%r10,%r5; setp.lt.u32 %p0,%r10,%r2; @%p0 bra L;")
ok("nvcc_stride_s32_ok", """mov.u32 %r5,%nctaid.x; mov.u32 %r6,%ntid.x; mul.lo.s32 %r5,%r5,%r6; mad.lo.s32 %r10,%r1,%r6,%r0; setp.ge.s32 %p0,%r10,%r2; @%p0 bra E;
L: mul.wide.s32 %d5,%r10,4; add.s64 %d5,%d0,%d5; st.global.u32 [%d5],%r0; add.s32 %r10,%r10,%r5; setp.lt.s32 %p0,%r10,%r2; @%p0 bra L;
E:""")

if sys.argv[1] == "ptx":
    print(HEAD + "".join(texts))
    sys.exit()
faults = []
seen = set()
for kernel in json.load(open(sys.argv[1]))["kernels"]:
    name = kernel["name"]
    seen.add(name)
    for one in kernel["verdicts"]:
        # A race between the CTAs of a cluster is none where each has one.
        alone = name == "no_cluster_attr" and one.get("domain", "").startswith("all launches of clusters of 1")
        if one["verdict"] == "proved" and wrong.get(name) == one["property"] and not alone:
            faults.append("%s: %s is proved, and wrong" % (name, one["property"]))
        if one["verdict"] != "proved" and one["property"] in legal.get(name, ()):
            faults.append("%s: %s is not proved: %s" % (name, one["property"], one["reason"]))
faults += ["%s is not checked" % name for name in sorted((set(wrong) | set(legal)) - seen)]
print("\n".join(faults))
sys.exit(1 if faults else 0)
