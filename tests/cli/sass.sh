# wgrun sass: machine code under the lines of the script. A program of nvdisasm's name stands in for it.
unset WGRUN_CUDA
run doctor
grep -q '^ptxas *missing' out.txt && exit 77
file s.lua <<'END'
local wg = require "wgrun"
wg.kernel("plus", { threads = 32 }, function(k)
  local X = k:param("X", "u32*")
  local i = k:special "tid.x"
  k:st_global_u32(k:element(X, i), i + 1)
end)
END
mkdir bin
cat > bin/nvdisasm <<'END'
#!/bin/sh
[ "$1 $2" = "-c -g" ] || exit 9
[ -s "$3" ] || exit 8
cat <<'SASS'
	.target	sm_90a
plus:
.text.plus:
	//## File "s.lua", line 4
        /*0010*/                   S2R R5, SR_TID.X ;
	//## File "s.lua", line 5
        /*0070*/              @!P0 STG.E desc[UR4][R2.64], R5 ;
.L_x_1:
        /*0080*/                   EXIT ;
        /*0090*/                   NOP;
.L_x_2:
SASS
END
chmod +x bin/nvdisasm
PATH="$WORK/bin:$PATH"
run sass s.lua
exits 0
out 'plus
s.lua:4: local i = k:special "tid.x"
    0010  S2R R5, SR_TID.X
s.lua:5: k:st_global_u32(k:element(X, i), i + 1)
    0070  @!P0 STG.E desc[UR4][R2.64], R5
  .L_x_1:
    0080  EXIT'
run sass --json s.lua
exits 0
python3 -c "
import json
k = json.load(open('out.txt'))['kernels'][0]
assert k['kernel'] == 'plus' and k['instructions'][1] == {'address': '0070', 'text': '@!P0 STG.E desc[UR4][R2.64], R5', 'file': 's.lua', 'line': 5}, k" || bad "the JSON"
printf '#!/bin/sh\necho no; exit 3\n' > bin/nvdisasm
run sass s.lua
exits 1
err_has "nvdisasm failed (3): no"
