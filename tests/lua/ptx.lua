-- Kernels that were read from PTX: wg.ptx, and what only they take.
local check = require "check"
local wg = require "wgrun"

local here = debug.getinfo(1, "S").source:match("@(.*)lua/") or "tests/"
local m = wg.ptx(here .. "ptx/rows.ptx")
check.equal(m.kernels, { "add", "softmax" })
check.equal(rawequal(m.add, m[1]), true)
check.equal(m[3], nil)
check.raises("has no kernel `softmx`: did you mean `softmax`?", function() return m.softmx end)

-- Results, also at the edge of a grid that is larger than the tensors.
local n = 1000
local a = wg.randn { dtype = "f32", shape = n, seed = 1 }
local b = wg.randn { dtype = "f32", shape = n, seed = 2 }
local sum = a + b
local d = wg.zeros("f32", n)
check.equal(m.add:run { grid = 8, block = 128, args = { a, b, d, n } }, "sim")
check.equal(wg.compare(d, sum, 0), true)

local rows, columns = 3, 300
local x, y = wg.randn { dtype = "f32", shape = { rows, columns }, seed = 3 }, wg.zeros("f32", { rows, columns })
local function softmax(row)
  local most, total, out = -math.huge, 0, {}
  for i = 0, columns - 1 do most = math.max(most, x[{ row, i }]) end
  for i = 0, columns - 1 do total = total + math.exp(x[{ row, i }] - most) end
  for i = 0, columns - 1 do out[i] = math.exp(x[{ row, i }] - most) / total end
  return out
end
for _, block in ipairs { 32, 96, 128 } do
  y:fill(0)
  m.softmax:run { grid = rows, block = block, shared = columns * 4, args = { x, y, columns } }
  for row = 0, rows - 1 do
    local want = softmax(row)
    for i = 0, columns - 1 do
      assert(math.abs(y[{ row, i }] - want[i]) < 1e-6, ("block %d, row %d, column %d"):format(block, row, i))
    end
  end
end

-- A pointer into a tensor; the rest stays as it is.
d:fill(-1)
m.add:run { grid = 1, block = 128, args = { wg.pointer(a, 10), b, wg.pointer(d, 20), 100 } }
check.equal(d[19], -1.0)
check.equal(d[120], -1.0)
for i = 0, 99 do assert(math.abs(d[20 + i] - (a[10 + i] + b[i])) < 1e-6) end

-- What the launch decides, and what the text does.
check.raises("the text does not say how many threads a CTA has", m.softmax.run, m.softmax,
  { grid = 1, args = { x, y, columns } })
check.raises("block {256, 1, 1}: the text allows 128 threads at most (.maxntid)", m.add.run, m.add,
  { grid = 1, block = 256, args = { a, b, d, n } })
check.raises("kernel add takes 4 arguments", m.add.run, m.add, { block = 128, args = { a, b, d } })
check.raises("a number of type u32 is expected, not a tensor", m.add.run, m.add, { args = { a, b, d, a } })
check.raises("an integer of type u32 is expected, not 1.5", m.add.run, m.add, { args = { a, b, d, 1.5 } })
check.raises("a tensor map that the launch makes is not what the parameter takes", m.add.run, m.add,
  { args = { a, b, d, wg.tensor_map(d, { box = { 4 } }) } })
local mine = wg.kernel("mine", { threads = 32 }, function() end)
check.raises("block, cluster and shared are the launch's", mine.run, mine, { block = 32 })

-- Too little shared memory is an access beyond its end, told at the line of the source, too.
local told = check.raises("", m.softmax.run, m.softmax, { grid = 1, block = 32, shared = 64, args = { x, y, columns } })
check.equal(told.rule, "WG-MEM-03")
check.equal(told.notes[1].file, "rows.cu")

-- The simulator ends where a thread reaches an instruction that it does not know, and not before.
local function entry(params, body)
  return wg.ptx { name = "mine.ptx", text = (".version 8.0\n.target sm_90a\n.address_size 64\n" ..
    ".visible .entry f(%s)\n.reqntid 32\n{\n.reg .b32 %%r<9>;\n.reg .b64 %%rd<9>;\n.reg .pred %%p<3>;\n%s\nret;\n}\n"):format(params, body) }
end
local strange = entry(".param .u32 n", [[
ld.param.u32 %r1, [n];
setp.eq.u32 %p1, %r1, 0;
@%p1 bra DONE;
vadd.s32.s32.s32 %r2, %r1, %r1;
DONE:]])
strange.f:run { args = { 0 } }
local unknown = check.raises("a thread has reached an instruction that the simulator does not know: vadd.s32.s32.s32 %r2, %r1, %r1;",
  strange.f.run, strange.f, { args = { 1 } })
check.equal({ unknown.file, unknown.line }, { "mine.ptx", 13 })
check.equal(strange.f:ptx():find("vadd.s32.s32.s32 %r2, %r1, %r1;", 1, true) ~= nil, true)

-- A structure by value: a pointer, a pointer into a tensor, numbers of several widths.
local structure = entry(".param .align 8 .b8 s[40]", [[
ld.param.u64 %rd1, [s];
ld.param.u64 %rd2, [s+8];
ld.param.u32 %r1, [s+16];
ld.param.f32 %r2, [s+20];
ld.param.u64 %rd3, [s+24];
ld.param.u16 %r3, [s+32];
ld.global.f32 %r4, [%rd1];
st.global.f32 [%rd2], %r4;
st.global.u32 [%rd2+4], %r1;
st.global.f32 [%rd2+8], %r2;
st.global.u64 [%rd2+16], %rd3;
st.global.u32 [%rd2+24], %r3;]])
local out = wg.zeros("u32", 16)
structure.f:run { args = { wg.struct { size = 40, [0] = a, [8] = wg.pointer(out, 8), [16] = -2, [20] = 0.5,
  [24] = { "u64", 1 << 40 }, [32] = { "u16", 65535 } } } }
local bits = string.unpack("I4", string.pack("f", a[0]))
check.equal(out:totable(), { 0, 0, 0, 0, 0, 0, 0, 0, bits, 0xFFFFFFFE, 0x3F000000, 0, 0, 256, 65535, 0 })
check.raises("a structure of 40 bytes is expected, not of 8", structure.f.run, structure.f,
  { args = { wg.struct { size = 8, [0] = a } } })
check.raises("a structure of 40 bytes is expected, not a tensor", structure.f.run, structure.f, { args = { a } })
check.raises("8 bytes at byte 36 of a structure of 40", structure.f.run, structure.f,
  { args = { wg.struct { size = 40, [36] = a } } })

-- Compilers write .u32 for an int.
local whole = wg.ptx { text = [[
.version 9.0
.target sm_90a
.address_size 64
.visible .entry f(.param .u32 n, .param .u64 y) .reqntid 32 {
.reg .b32 %r<2>; .reg .b64 %rd<2>;
ld.param.u32 %r1, [n];
ld.param.u64 %rd1, [y];
st.global.u32 [%rd1], %r1;
ret; }]], name = "mine.ptx" }.f
local stored = wg.zeros("s32", 1)
whole:run { args = { -100, stored } }
check.equal(stored[0], -100)
check.raises("-2147483649 does not fit u32", whole.run, whole, { args = { -(1 << 31) - 1, stored } })

check.raises("4294967296 does not fit s32", wg.struct, { size = 8, [0] = 1 << 32 })
check.raises("keys are offsets in bytes", wg.struct, { size = 8, a = 1 })
check.raises("`size` is missing", wg.struct, { [0] = 1 })
check.raises("expected a tensor, got string", wg.struct, { size = 8, [0] = "a" })
check.raises("element 1001 of a tensor of 1000", wg.pointer, a, 1001)

check.raises("a tensor map of b1: its elements have less than a byte", wg.tensor_map, wg.zeros("b1", { 8, 64 }), { box = { 64, 8 } })

local boxes = dofile(here .. "ptx/boxes.lua")

-- A tensor map inside of a structure: a box is copied from where the structure says, and the number beside it is added.
local whole, part = wg.arange("u32", 0, 16 * 16):reshape(16, 16), wg.zeros("u32", { 8, 8 })
boxes.structure:run { args = { wg.struct { size = 384, [0] = part, [128] = wg.tensor_map(whole, { box = { 8, 8 } }), [256] = 1000 } } }
for row = 0, 7 do
  for column = 0, 7 do check.equal(part[{ row, column }], whole[{ row + 4, column + 8 }] + 1000) end
end
check.raises("a tensor map", boxes.structure.run, boxes.structure,
  { args = { wg.struct { size = 384, [0] = part, [64] = wg.tensor_map(whole, { box = { 8, 8 } }), [256] = 1000 } } })

-- A relaxed wait sees that the copy has come, and a fence behind it lets the thread read the bytes (PTX ISA 9.7.13.15.16).
local text = boxes.structure:ptx():gsub("try_wait%.parity%.", "try_wait.parity.relaxed.cta."):gsub("%.version 8%.%d", ".version 8.6")
local function copied(text)
  local relaxed = wg.ptx { name = "relaxed.ptx", text = text }[1]
  relaxed:run { args = { wg.struct { size = 384, [0] = part, [128] = wg.tensor_map(whole, { box = { 8, 8 } }), [256] = 1000 } } }
end
check.equal(check.raises("thread 0 reads `box`, which the bulk copy writes", copied, text).rule, "WG-TMA-02")
copied((text:gsub("mad%.lo%.u32", "fence.acq_rel.cta;\n%0", 1)))

-- A tensor map whose address comes by a register of 32 bits, as Triton has it: the check that runs ahead knows no such map.
part = wg.zeros("u32", { 8, 8 })
boxes.narrow:run { args = { wg.tensor_map(whole, { box = { 8, 8 } }), part } }
for row = 0, 7 do
  for column = 0, 7 do check.equal(part[{ row, column }], whole[{ row + 4, column + 8 }]) end
end

-- Clusters that the launch decides: each CTA writes into the memory of the next one.
local clusters = wg.ptx { name = "clusters", text = [[
.version 8.0
.target sm_90a
.address_size 64
.visible .entry f(.param .u64 p)
.reqntid 32
{
.reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<2>;
.shared .align 4 .b32 mail[32];
ld.param.u64 %rd1, [p];
mov.u32 %r1, %cluster_ctarank;
mov.u32 %r2, %cluster_nctarank;
add.u32 %r3, %r1, 1;
rem.u32 %r3, %r3, %r2;
mov.u32 %r4, %tid.x;
shl.b32 %r5, %r4, 2;
mov.u32 %r6, mail;
add.u32 %r6, %r6, %r5;
mapa.shared::cluster.u32 %r7, %r6, %r3;
mad.lo.u32 %r8, %r1, 100, %r4;
barrier.cluster.arrive.relaxed.aligned;
barrier.cluster.wait.aligned;
st.shared::cluster.u32 [%r7], %r8;
barrier.cluster.arrive.release.aligned;
barrier.cluster.wait.acquire.aligned;
ld.shared.u32 %r8, [%r6];
mov.u32 %r5, %ctaid.x;
mad.lo.u32 %r5, %r5, 32, %r4;
mul.wide.u32 %rd2, %r5, 4;
add.u64 %rd1, %rd1, %rd2;
st.global.u32 [%rd1], %r8;
ret;
}
]] }
for _, size in ipairs { 1, 2, 4 } do
  local letters = wg.zeros("u32", { 4, 32 })
  clusters.f:run { grid = 4, cluster = size, args = { letters } }
  for cta = 0, 3 do check.equal(letters[{ cta, 5 }], (cta % size + size - 1) % size * 100 + 5) end
end
check.raises("", clusters.f.run, clusters.f, { grid = 3, cluster = 2, args = { wg.zeros("u32", { 4, 32 }) } })

-- What is no PTX, with all its errors; a file that is not there.
local wrong = check.raises("", wg.ptx, { text = ".version 8.0\n.target sm_90a\n.visible .entry f()\n{\nmov.u32 %r1 %r2;\nadd.u32 , 1;\n}\n" })
check.equal(#wrong.findings >= 2, true)
local none, why, code = wg.ptx "no such file.ptx"
check.equal({ none, code }, { nil, "ENOENT" })
assert(why:find "no such file")

-- The other members of a kernel.
local report = { m.add:report() }
assert(report[1] == nil or report[1].registers > 0, report[2])
local static = wg.ptx { text = ".version 8.0\n.target sm_90a\n.address_size 64\n.entry f()\n.reqntid 32\n{ .reg .b32 %r<2>;\n" ..
  ".shared .align 16 .b8 s[64];\nmov.b32 %r1, 0;\nst.shared.b32 [s], %r1;\nret; }\n" }
local of_static = static.f:report() -- nil where there is no ptxas
if of_static then check.equal({ of_static.static_shared, of_static.dynamic_shared }, { 64, 0 }) end
assert(#m.add:timeline { grid = 8, block = 128, args = { a, b, d, n } }.rows > 0)
local launch = m.add:prepare { grid = 8, block = 128, args = { a, b, d, n } }
d:fill(0)
launch:start()
launch:download()
check.equal(wg.compare(d, sum, 0), true)
d:fill(0)
check.equal(m.add:time { grid = 8, block = 128, args = { a, b, d, n }, rounds = 2 }.backend, "sim")
check.equal(d[0], 0.0)

-- Variables of the module, a function, and numbers of several words.
local words = wg.ptx { name = "words.ptx", text = [[
.version 8.0
.target sm_90a
.address_size 64
.const .align 8 .u64 factors[2] = {0x9E3779B97F4A7C15, 3};
.global .align 4 .u32 count = 40;
.func (.param .b32 high) mul_high(.param .align 8 .b8 pair[16])
{
  .reg .b32 %r<20>;
  ld.param.v2.u32 {%r1, %r2}, [pair];
  ld.param.v2.u32 {%r3, %r4}, [pair+8];
  mul.hi.u32 %r5, %r1, %r3;
  mad.lo.cc.u32 %r6, %r1, %r4, %r5;
  madc.hi.u32 %r7, %r1, %r4, 0;
  mad.lo.cc.u32 %r6, %r2, %r3, %r6;
  madc.hi.cc.u32 %r8, %r2, %r3, %r7;
  addc.u32 %r9, 0, 0;
  mad.lo.cc.u32 %r10, %r2, %r4, %r8;
  madc.hi.u32 %r11, %r2, %r4, %r9;
  st.param.b32 [high], %r10;
  ret;
}
.visible .entry high(.param .u64 x, .param .u64 y)
.reqntid 32, 1, 1
{
  .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred p;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 8;
  add.s64 %rd1, %rd1, %rd2;
  ld.global.u64 %rd3, [%rd1];
  ld.const.u64 %rd4, [factors];
  {
    .param .align 8 .b8 pair[16];
    .param .b32 out;
    st.param.b64 [pair], %rd3;
    st.param.b64 [pair+8], %rd4;
    call.uni (out), mul_high, (pair);
    ld.param.b32 %r2, [out];
  }
  ld.param.u64 %rd5, [y];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd5, %rd5, %rd2;
  st.global.u32 [%rd5], %r2;
  setp.ne.u32 p, %r1, 0;
  @p ret;
  mov.u64 %rd6, count;
  atom.global.add.u32 %r3, [%rd6], 1;
  st.global.u32 [%rd5+128], %r3;
  ret;
}
]] }
local x64, high = wg.zeros("s64", 32), wg.zeros("s32", 33)
for i = 0, 31 do x64[i] = 0x123456789ABCDEF * (i + 1) end
for count = 40, 41 do
  words.high:run { grid = 1, args = { x64, high } }
  check.equal(high[32], count) -- the next launch sees what this one has left
end
local function mul_high(a, b) -- bits 64 to 95 of a product
  local a0, a1, b0, b1 = a & 0xFFFFFFFF, a >> 32, b & 0xFFFFFFFF, b >> 32
  local mid = a1 * b0 + (a0 * b0 >> 32)
  local low = (mid & 0xFFFFFFFF) + a0 * b1
  return (a1 * b1 + (mid >> 32) + (low >> 32)) & 0xFFFFFFFF
end
for i = 0, 31 do check.equal(high[i] & 0xFFFFFFFF, mul_high(x64[i], 0x9E3779B97F4A7C15)) end

-- Registers that are wider than what is loaded or converted (PTX ISA 9.4.1): extended by the type's sign, or cut.
do
  local wide = wg.ptx { name = "wide.ptx", text = [[
.version 8.0
.target sm_90a
.address_size 64
.visible .entry wide(.param .u64 out, .param .u64 in)
.reqntid 32, 1, 1
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<16>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    ld.param.u64 %rd2, [in];
    cvta.to.global.u64 %rd2, %rd2;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %rd5, [%rd4];
    ld.global.s32 %rd6, [%rd4];
    ld.global.s8 %r2, [%rd4];
    cvt.s64.s32 %rd7, %rd5;
    add.s64 %rd8, %rd6, %rd7;
    cvt.s64.s32 %rd9, %r2;
    add.s64 %rd8, %rd8, %rd9;
    mul.wide.u32 %rd10, %r1, 8;
    add.s64 %rd11, %rd1, %rd10;
    st.global.u64 [%rd11], %rd8;
    ret;
}
]] }
  local numbers = {}
  for i = 0, 31 do numbers[i + 1] = i * 1000 - 9000 end
  local x, y = wg.tensor("s32", { 32 }, numbers), wg.zeros("s32", { 64 })
  wide.wide:run { grid = 1, args = { y, x }, backend = "sim" }
  for i = 0, 31 do
    local byte = numbers[i + 1] & 0xFF
    local want = 2 * numbers[i + 1] + (byte < 128 and byte or byte - 256)
    check.equal(y[{ 2 * i }], want)
    check.equal(y[{ 2 * i + 1 }], want < 0 and -1 or 0)
  end
end

-- Vectors of registers as operands, registers as parameters of a function, lop3 with a predicate, mbarriers without an order.
do
  local rare = wg.ptx { name = "rare.ptx", text = [[
.version 9.0
.target sm_90a
.address_size 64
.func (.reg .b32 %out) twice(.reg .b32 %x, .reg .f32 %y, .reg .b32 %more)
{
  add.u32 %out, %x, %x;
  add.u32 %out, %out, %more;
  ret;
}
.visible .entry f(.param .u64 p)
.reqntid 32
{
  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<8>; .reg .v4 .b32 %v; .reg .v2 .b32 %w; .reg .f32 %f;
  .shared .align 8 .b64 s;
  ld.param.u64 %rd1, [p];
  mov.u32 %r2, %tid.x;
  mov.u32 %r1, s;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra L;
  mbarrier.init.shared::cta.b64 [%r1], 32;
L:
  bar.sync 0;
  mbarrier.arrive.relaxed.cta.shared::cta.b64 %rd2, [%r1];
W:
  mbarrier.try_wait.relaxed.cta.shared::cta.b64 %p2, [%r1], %rd2;
  @!%p2 bra W;
  and.b32 %r3, %r2, 3;
  setp.gt.u32 %p3, %r2, 15;
  lop3.or.b32 %r4|%p4, %r2, %r3, 12, 0x80, %p3;   // lane & 3 & 12 = 0
  lop3.and.b32 %r5|%p5, %r2, %r3, 3, 0x80, !%p3;  // lane & 3
  mul.wide.u32 %rd3, %r2, 16;
  add.u64 %rd3, %rd1, %rd3;
  ld.global.v4.b32 %v, [%rd3];
  mov.f32 %f, 0f3F800000;
  mov.b32 %r8, %v.y;
  call (%r7), twice, (%r8, %f, 100);
  mov.b32 %v.x, %r7;
  mov.b32 %v.g, %r5;
  selp.u32 %w.x, 1, 0, %p4;
  selp.u32 %w.y, 1, 0, %p5;
  mov.b64 %rd4, %w;
  mov.b64 {%v.b, %v.a}, %rd4;
  st.global.v4.b32 [%rd3], %v;
  ret;
}
]] }
  check.equal(#rare.f:check(), 0)
  local data = wg.arange("u32", 0, 128):reshape(32, 4)
  rare.f:run { args = { data } }
  for lane = 0, 31 do
    local row = {}
    for i = 0, 3 do row[i + 1] = data[{ lane, i }] end
    check.equal(row, { 2 * (4 * lane + 1) + 100, lane & 3, lane > 15 and 1 or 0, lane & 3 ~= 0 and lane <= 15 and 1 or 0 })
  end
end

-- wmma: A and B of these shapes, by rows or by columns; D by rows unless it says otherwise.
local fragments = wg.ptx(here .. "ptx/fragments.ptx")
local function fragment_product(name, dtype, sums, m, n, k, options)
  local function made(count, seed) return wg.randn { dtype = "f32", shape = count, seed = seed } end
  local a, b, d = wg.zeros(dtype, m * k), wg.zeros(dtype, k * n), wg.zeros(sums, m * n)
  local x, y = made(m * k, 1), made(k * n, 2)
  for i = 0, m * k - 1 do a[i] = dtype == "s8" and math.floor(x[i] * 30) or math.floor(x[i] * 8) / 8 end
  for i = 0, k * n - 1 do b[i] = dtype == "s8" and math.floor(y[i] * 30) or math.floor(y[i] * 8) / 8 end
  for i = 0, m * n - 1 do d[i] = options.begins and i % 5 or 0 end
  local first = d:copy()
  check.equal(#fragments[name]:check(), 0)
  fragments[name]:run { args = { a, b, d } }
  for row = 0, m - 1 do
    for column = 0, n - 1 do
      local sum = options.begins and first[column * m + row] or 0
      for i = 0, k - 1 do
        sum = sum + a[options.a == "columns" and i * m + row or row * k + i] * b[options.b == "columns" and column * k + i or i * n + column]
      end
      check.equal(d[options.d == "columns" and column * m + row or row * n + column], sum * (options.times or 2))
    end
  end
end
fragment_product("half_square", "f16", "f32", 16, 16, 16, { b = "columns" })
fragment_product("half_wide", "f16", "f32", 8, 32, 16, { a = "columns" })
fragment_product("brain_high", "bf16", "f32", 32, 8, 16, {})
fragment_product("bytes", "s8", "s32", 16, 16, 16, { b = "columns" })
fragment_product("doubles", "f64", "f64", 8, 8, 4, { b = "columns" })
fragment_product("words", "f32", "f32", 16, 16, 8, { begins = true, times = 1 })
fragment_product("shared", "f16", "f16", 16, 16, 16, { b = "columns", d = "columns", times = 1 })
