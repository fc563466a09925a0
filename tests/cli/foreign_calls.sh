# What a PTX text calls of CUDA's library, on the simulator: vprintf prints, __assertfail ends the launch.
file calls.lua <<'LUA'
local wg = require "wgrun"
local calls = {}

local function variable(name, text)
  local bytes = {}
  for i = 1, #text do bytes[i] = text:byte(i) end
  bytes[#bytes + 1] = 0
  return (".global .align 1 .b8 %s[%d] = {%s};\n"):format(name, #bytes, table.concat(bytes, ", "))
end

--- A kernel that stores values (PTX by byte) and prints them: f(out), of 32 threads, of which those below `threads` print. Its results
--- go to out.
function calls.printer(format, values, threads, words, more, last)
  local stores = {}
  for offset, line in pairs(values) do stores[#stores + 1] = (line .. "\n"):format("[%rd2+" .. offset .. "]") end
  table.sort(stores)
  local declared = variable("FORMAT", format)
  for name, word in pairs(words or {}) do declared = declared .. variable(name, word) end
  return wg.ptx { name = "printer.ptx", text = ([[
.version 8.0
.target sm_90a
.address_size 64
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
]] .. declared .. [[
.visible .entry f(.param .u64 out)
.reqntid 32
{
.local .align 8 .b8 depot[64];
.reg .b64 %SP, %SPL, %rd<9>;
.reg .b32 %r<9>;
.reg .pred %p;
mov.u64 %SPL, depot;
cvta.local.u64 %SP, %SPL;
add.u64 %rd1, %SP, 0;
add.u64 %rd2, %SPL, 0;
ld.param.u64 %rd3, [out];
cvta.to.global.u64 %rd3, %rd3;
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd4, %r1, 4;
add.u64 %rd3, %rd3, %rd4;
setp.ge.u32 %p, %r1, ]] .. threads .. [[;
@%p bra DONE;
]] .. (more or "") .. table.concat(stores) .. [[
mov.u64 %rd6, FORMAT;
cvta.global.u64 %rd6, %rd6;
{
.param .b64 param0;
st.param.b64 [param0], %rd6;
.param .b64 param1;
st.param.b64 [param1], %rd1;
.param .b32 retval0;
call.uni (retval0), vprintf, (param0, param1);
ld.param.b32 %r2, [retval0];
}
st.global.u32 [%rd3], %r2;
]] .. (last or "") .. [[

DONE:
ret;
}
]]) }.f
end

function calls.run(kernel)
  local out = wg.zeros("s32", { 32 })
  kernel:run { grid = { 1 }, args = { out }, backend = "sim" }
  return out
end
return calls
LUA

# Every conversion, with the layout of a C structure; the value returned is the number of values.
file formats.lua <<'LUA'
local calls = dofile "calls.lua"
local out = calls.run(calls.printer("%d %u %x|%5.2f|%-7s|%c|%lld %#llx %hhd|%*d|%p %%|%y|%.2s|%s\n", {
  [0] = "st.local.u32 %s, -5;", [4] = "st.local.u32 %s, 4294967295;", [8] = "st.local.u32 %s, 255;",
  [16] = "st.local.f64 %s, 0d3FF8000000000000;",
  [24] = "mov.u64 %%rd5, WORD; cvta.global.u64 %%rd5, %%rd5; st.local.u64 %s, %%rd5;",
  [32] = "st.local.u32 %s, 65;",
  [40] = "mov.u64 %%rd5, -9; st.local.u64 %s, %%rd5;", [48] = "mov.u64 %%rd5, 1099511627776; st.local.u64 %s, %%rd5;",
  [56] = "st.local.u32 %s, 511;", [60] = "st.local.u32 %s, 4;",
}, 1, { WORD = "word" }))
print(out:totable()[1], out:totable()[2])
LUA
run formats.lua
exits 1   # the rest of the values lies beyond the array
err_has 'printer.ptx:'
err_has '[WG-MEM-07]'
err_has 'thread 0 loads 8 bytes at byte 80 of its local memory'

file most.lua <<'LUA'
local calls = dofile "calls.lua"
local out = calls.run(calls.printer("%d %u %x|%5.2f|%-7s|%c|%lld %#llx %hhd|%% %y\n", {
  [0] = "st.local.u32 %s, -5;", [4] = "st.local.u32 %s, 4294967295;", [8] = "st.local.u32 %s, 255;",
  [16] = "mov.u64 %%rd5, 0x3FF8000000000000; st.local.u64 %s, %%rd5;",
  [24] = "mov.u64 %%rd5, WORD; cvta.global.u64 %%rd5, %%rd5; st.local.u64 %s, %%rd5;",
  [32] = "st.local.u32 %s, 65;",
  [40] = "mov.u64 %%rd5, -9; st.local.u64 %s, %%rd5;", [48] = "mov.u64 %%rd5, 1099511627776; st.local.u64 %s, %%rd5;",
  [56] = "st.local.u32 %s, 511;",
}, 1, { WORD = "word" }))
print(out:totable()[1], out:totable()[2])
LUA
run most.lua
exits 0
err ""
out "-5 4294967295 ff| 1.50|word   |A|-9 0x10000000000 -1|% %y
9	0"

# Lane after lane; a line may come in parts, and the last may lack its end.
file lanes.lua <<'LUA'
local calls = dofile "calls.lua"
calls.run(calls.printer("%d,", { [0] = "st.local.u32 %s, %%r1;" }, 4))
print ""
calls.run(calls.printer("no values", {}, 1))
LUA
run lanes.lua
exits 0
err ""
out "0,1,2,3,
no values"

# A format that is no string of the kernel's.
file wild.lua <<'LUA'
local calls = dofile "calls.lua"
calls.run(calls.printer("%s\n", { [0] = "mov.u64 %%rd5, 4096; st.local.u64 %s, %%rd5;" }, 1))
LUA
run wild.lua
exits 1
err_has "printer.ptx:"
err_has "[WG-MEM-01]"

# A null pointer is printed as such, and a width that would fill the memory is cut.
file null.lua <<'LUA'
local calls = dofile "calls.lua"
calls.run(calls.printer("%s %2000000000d|\n", { [0] = "mov.u64 %%rd5, 0; st.local.u64 %s, %%rd5;", [8] = "st.local.u32 %s, 1;" }, 1))
LUA
run null.lua
exits 0
out_has "(null) "
[ "$(wc -c <out.txt)" -lt 5000 ] || bad "the width is not cut"

# An assertion that fails.
file assert.lua <<'LUA'
local wg = require "wgrun"
local kernel = wg.ptx { name = "assert.ptx", text = [[
.version 8.0
.target sm_90a
.address_size 64
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 WHAT[7] = {110, 32, 60, 32, 49, 54, 0};
.global .align 1 .b8 FILE[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 NAME[9] = {118, 111, 105, 100, 32, 102, 40, 41, 0};
.visible .entry f()
.reqntid 32
{
.reg .b64 %rd<5>;
.reg .b32 %r<2>;
.reg .pred %p;
mov.u32 %r1, %tid.x;
setp.lt.u32 %p, %r1, 16;
@%p bra DONE;
mov.u64 %rd1, WHAT;
cvta.global.u64 %rd1, %rd1;
mov.u64 %rd2, FILE;
cvta.global.u64 %rd2, %rd2;
mov.u64 %rd3, NAME;
cvta.global.u64 %rd3, %rd3;
{
.param .b64 param0;
st.param.b64 [param0], %rd1;
.param .b64 param1;
st.param.b64 [param1], %rd2;
.param .b32 param2;
st.param.b32 [param2], 12;
.param .b64 param3;
st.param.b64 [param3], %rd3;
.param .b64 param4;
st.param.b64 [param4], 1;
call.uni __assertfail, (param0, param1, param2, param3, param4);
}
DONE:
ret;
}
]] }
kernel.f:run { grid = { 1 }, backend = "sim" }
LUA
run assert.lua
exits 1
err_has "assert.ptx:34: error: assertion failed: n < 16 (a.cu:12, void f()) (thread 16) [WG-TRAP-01]"

# A check says nothing of them, and its run ahead goes past what prints.
file behind.lua <<'LUA'
local calls = dofile "calls.lua"
calls.run(calls.printer("%d\n", { [0] = "st.local.u32 %s, 1;" }, 32, nil, nil, "st.global.u32 [%rd3+4096], 1;"))
LUA
run check most.lua
exits 0
err_lacks "printer.ptx"
run check behind.lua
exits 1
err_has "stores 4 bytes at"
err_has "[WG-MEM-01]"
