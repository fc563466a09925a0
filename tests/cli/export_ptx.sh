# export of a kernel that was read from PTX: its text, and a launch with the dynamic memory that it was last launched with.
file k.ptx <<'END'
.version 8.6
.target sm_90a
.address_size 64
.global .u32 runs = 0;
.shared .align 16 .b8 fixed[512];
.extern .shared .align 16 .b8 more[];
.visible .entry k$1(.param .u64 p, .param .align 8 .b8 st[24], .param .align 64 .b8 map[128])
.reqntid 32
{
 .reg .u64 a, b; .reg .u32 r, x;
 ld.param.u64 a, [p]; ld.param.u64 b, [st+8]; ld.param.u32 x, [st+16];
 mov.u32 r, fixed; st.shared.u32 [r], x; mov.u32 r, more; st.shared.u32 [r], x; bar.sync 0;
 st.global.u32 [a], x; st.global.u32 [b], x; st.global.u32 [runs], x;
 ret;
}
END
file k.lua <<'END'
local wg = require "wgrun"
local k = wg.ptx "k.ptx"["k$1"]
local y, z, w = wg.zeros("u32", { 8 }), wg.zeros("u32", { 8 }), wg.zeros("f16", { 64, 64 })
local struct = wg.struct { size = 24, [8] = z, [16] = 77 }
if (...) == "launched" then
  k:run { grid = 1, shared = 256, args = { y, struct, wg.tensor_map(w, { box = { 64, 8 } }) } }
  assert(y[0] == 77 and z[0] == 77)
end
local files = k:export "out".files
print(table.concat(files, " "))
END
run --backend=sim k.lua
exits 1
err_has "k.lua:9: kernel k\$1: the launch decides how much dynamic shared memory it has"
run --backend=sim k.lua launched
exits 0
out_has kernel.h
[ ! -e out/kernel.cu ] || bad "CUDA C++ of a text"
cmp -s k.ptx out/kernel.ptx || bad "another text"
has out/kernel.c "config.sharedMemBytes = 256;"
has out/kernel.c 'cuModuleGetFunction(&kernel->function, kernel->module, "k$1")'
has out/kernel.c "arguments[1] = (void *)st;"
has out/kernel.h "CUdeviceptr p, const void *st"
has out/kernel.h "st: structure of 24 bytes, aligned to 8"
has out/kernel.json '"shared_bytes": 256'
has out/kernel.json '"ptx_version": "8.6"'
has out/kernel.json '"entry": "k$1"'
has out/kernel.json '"kind": "structure"'
! grep -q runs out/kernel.h || bad "a variable of the module is no parameter"

# What a launch decides about clusters stands in no text.
sed -i 's/k\$1(.*/k(.param .u64 p)/; s/^.reqntid 32/.reqntid 32 .explicitcluster/; /ld.param.u64 b/d; /mov.u32 r/d; /global.u32/d' k.ptx
file c.lua <<'END'
local wg = require "wgrun"
local k = wg.ptx "k.ptx".k
k:run { grid = 2, cluster = 2, shared = 16, args = { 0 } }
k:export "clusters"
END
run --backend=sim c.lua
exits 1
err_has "the launch decides the size of its clusters, and the text does not state it"
