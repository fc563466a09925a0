# wgrun sass: machine code under the lines that it comes from, and its products; check --sass. Texts of nvdisasm take the place of
# ptxas and nvdisasm, and a program of nvdisasm's name.
kernels=$SOURCE/tests/sass
cp "$kernels/hello_wgmma.ptx" "$kernels/hello_wgmma.sass" .
run sass --brief hello_wgmma.ptx hello_wgmma.sass
exits 0
out 'hello_wgmma: 204 instructions, 4 products
  0840  HGMMA.64x64x16.F32.BF16  group 1, waited for at 0b90, stall 1, hello_wgmma.ptx:275
  08f0  HGMMA.64x64x16.F32.BF16  group 1, waited for at 0b90, stall 1, hello_wgmma.ptx:290
  09a0  HGMMA.64x64x16.F32.BF16  group 1, waited for at 0b90, stall 1, hello_wgmma.ptx:305
  0a80  HGMMA.64x64x16.F32.BF16  group 1, waited for at 0b90, stall 1, hello_wgmma.ptx:320
  up to 54 registers in use, at 04b0, hello_wgmma.ptx:101
  machine code: proved'
run sass hello_wgmma.ptx hello_wgmma.sass
exits 0
out_has 'hello_wgmma.ptx:324: wgmma.wait_group.sync.aligned 0;
    0b90  WARPGROUP.DEPBAR.LE gsb0, 0x0  // stall'
run sass --json hello_wgmma.ptx hello_wgmma.sass
exits 0
python3 -c "
import json
k = json.load(open('out.txt'))['kernels'][0]
p = k['products'][3]
assert k['verdict']['verdict'] == 'proved' and len(k['products']) == 4, k['verdict']
assert p['waits'] == ['0b90'] and p['line'] == 320 and p['n'] == 64 and p['k'] == 16 and not p['registers'] and p['group'] == 1, p
i = next(i for i in k['instructions'] if i['address'] == '0b90')
assert i['line'] == 324 and i['stall'] > 0 and i['waits'] == 0 and i['live'] > 30, i
assert p['stall'] == 1 and p['waits_for'] == [] and k['registers']['most'] == 54 and k['registers']['line'] == 101 and k['stack'] == 0, k
w = next(i for i in k['instructions'] if i.get('waits'))
assert any(1 << one['scoreboard'] & w['waits'] and one['cycles'] > 0 and one['address'] < w['address'] for one in w['waits_for']), w" || bad "the JSON"

# What becomes of the wait decides.
sed 's/WARPGROUP.DEPBAR.LE gsb0, 0x0;/NOP;/' hello_wgmma.sass > broken.sass
run sass --brief hello_wgmma.ptx broken.sass
exits 1
out_has 'no wait covers it, stall 1, hello_wgmma.ptx:320'
out_has 'machine code: refuted: WG-SASS-01'
err_has 'hello_wgmma.ptx:275: error: 0x'
err_has 'reads the accumulator R24 of the product at 0x840'
err_has "(the assembler's fault: the program asks for it) [WG-SASS-01]"
run check --budget 1 --sass hello_wgmma.ptx broken.sass
exits 1
out_has 'hello_wgmma: 204 instructions of machine code, 4 products'
run check --budget 1 --sass --json hello_wgmma.ptx hello_wgmma.sass
exits 0
python3 -c "
import json
all = json.load(open('out.txt'))
assert all['kernels'][0]['verdicts'][-1] == {'property': 'kept', 'verdict': 'proved', 'domain': 'all launches'}, all['kernels']
assert all['machine_code'][0]['products'] == 4 and all['machine_code'][0]['verdict'] == 'proved', all['machine_code']" || bad "the JSON of check"

# Machine code alone shows what becomes of registers; it decides nothing else.
run check --sass hello_wgmma.sass
exits 0
out_has 'machine code: undecided: hello_wgmma.sass:1: there is no PTX to compare it with (give the PTX, and the cubin behind it)'
run check --sass --strict hello_wgmma.sass
exits 6
run check --sass broken.sass
exits 1
run sass --brief broken.sass
exits 1

# What does not fit.
run check --sass hello_wgmma.ptx hello_wgmma.sass broken.sass
exits 2
err_has 'machine code stands behind its only text: FILE CUBIN'
sed '/nv_debug_ptx_txt/d' hello_wgmma.sass > lines.sass
run sass --brief hello_wgmma.ptx lines.sass
exits 0
out_has 'machine code: undecided: the machine code does not name lines of the PTX'
cp "$kernels/pipeline.sass" .
run sass hello_wgmma.ptx pipeline.sass
exits 0
out 'hello_wgmma: 0 instructions, 0 products
  machine code: undecided: there is no machine code of it'
run sass hello_wgmma.ptx nothing.sass
exits 2
err_has 'nothing.sass has no machine code'
run sass nothing.sass
exits 2
mkdir folder
run check --sass folder
exits 2
head -c 3000 hello_wgmma.sass > cut.sass
run sass --brief hello_wgmma.ptx cut.sass
exits 1
err_has 'cut.sass ends in the middle of hello_wgmma'

# The programs of the toolkit.
unset WGRUN_CUDA
run doctor
grep -q '^ptxas *missing' out.txt && exit 77
if ! grep -q '^nvdisasm *missing' out.txt; then
    run sass --brief "$SOURCE/scripts/hello_wgmma.lua"
    exits 0
    out_has 'machine code: proved'
    out_has 'scripts/hello_wgmma.lua:26'
    run check --budget 1 --sass --strict "$kernels/pipeline.ptx"
    out_has 'gemm_pipeline: proved'
fi
file s.lua <<'LUA'
local wg = require "wgrun"
wg.kernel("plus", { threads = 32 }, function(k)
  local X = k:param("X", "u32*")
  local i = k:special "tid.x"
  k:st_global_u32(k:element(X, i), i + 1)
end)
LUA
"$WGRUN" ptx s.lua > s.ptx
store=$(grep -n 'st.global' s.ptx | cut -d : -f 1)
mkdir bin
cat > bin/nvdisasm <<SH
#!/bin/sh
[ "\$1 \$2 \$3 \$4" = "-c -hex -g -gp" ] || exit 9
[ -s "\$5" ] || exit 8
cat <<'SASS'
	.target	sm_90a
plus:
.text.plus:
	//## File ".nv_debug_ptx_txt", line 1
        /*0010*/                   S2R R5, SR_TID.X ;
	//## File ".nv_debug_ptx_txt", line $store
        /*0070*/                   STG.E desc[UR4][R2.64], R5 ;  /* 0x0000000502007986 */
                                                               /* 0x000fe2000c101904 */
.L_x_1:
        /*0080*/                   EXIT ;
        /*0090*/                   NOP;
.L_x_2:
SASS
SH
chmod +x bin/nvdisasm
PATH="$WORK/bin:$PATH"
run sass s.lua
exits 0
out 'plus: 3 instructions, 0 products
  up to 3 registers in use, at 0070, s.lua:5
  machine code: proved
    0010  S2R R5, SR_TID.X  // 2 live
s.lua:5: k:st_global_u32(k:element(X, i), i + 1)
    0070  STG.E desc[UR4][R2.64], R5  // stall 1, 3 live
  .L_x_1:
    0080  EXIT  // 0 live'
run sass --json s.lua
exits 0
python3 -c "
import json
k = json.load(open('out.txt'))['kernels'][0]
assert k['kernel'] == 'plus', k
i = k['instructions'][1]
assert i == {'address': '0070', 'text': 'STG.E desc[UR4][R2.64], R5', 'file': 's.lua', 'line': 5, 'stall': 1, 'yield': False, 'waits': 0, 'live': 3}, i" || bad "the JSON"
printf '#!/bin/sh\necho no; exit 3\n' > bin/nvdisasm
run sass s.lua
exits 1
err_has "nvdisasm failed (3): no"

# Other chips, and what is no text of nvdisasm at all.
for target in sm_80 sm_100a; do
    sed "1s/^/	.target	$target\n/" hello_wgmma.sass > other.sass
    run sass hello_wgmma.ptx other.sass
    exits 1
    err_has "other.sass is machine code for $target: only that of sm_90 and sm_90a is read"
done
{ echo '.text.k:'; echo '/*0000*/ EXIT;'; head -c 100000 /dev/urandom; } > garbage.sass
run sass --brief garbage.sass
[ $code -le 2 ] || bad "garbage: $code"
