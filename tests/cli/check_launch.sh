# check --dynamic runs a PTX text as a JSON file describes its launch.
cp "$SOURCE/tests/ptx/rows.ptx" .
cp "$SOURCE/tests/ptx/launch.json" .
run check --dynamic rows.ptx --launch launch.json
exits 0
err ""
out_has "softmax: 4 schedules on the simulator"

# A barrier is missing: two threads meet in shared memory, and the lines of the source are told.
sed '0,/bar.sync/{/bar.sync/d}' rows.ptx >unordered.ptx
run check --dynamic unordered.ptx --launch launch.json
exits 1
err_has "unordered.ptx:210: error: thread "
err_has "nothing orders the two [WG-RACE-01]"
err_has "rows.cu:16: the source"
run check --dynamic --json unordered.ptx --launch launch.json
exits 1
out_has '"rule": "WG-RACE-01"'

# Shared memory that is too small for the row.
sed 's/1200/1100/' launch.json >small.json
run check --dynamic rows.ptx --launch small.json
exits 1
err_has "[WG-MEM-03]"

# Every kind of argument.
file structure.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry f(.param .align 8 .b8 s[24], .param .u64 p)
.reqntid 32
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [s];
    ld.param.u64 %rd2, [s+8];
    ld.param.u32 %r1, [s+16];
    ld.param.u64 %rd3, [p];
    ld.global.u32 %r2, [%rd1];
    ret;
}
END
file structure.json <<'END'
{ "grid": 1, "tensors": { "a": { "dtype": "u32", "shape": 8, "fill": "zeros" } },
  "arguments": [ { "struct": 24, "parts": [ { "at": 0, "value": "a" }, { "at": 8, "value": { "pointer": "a", "offset": 4 } },
                                            { "at": 16, "value": 7 } ] },
                 { "pointer": { "dtype": "f16", "shape": [4, 4], "fill": "zeros" } } ] }
END
run check --dynamic structure.ptx --launch structure.json
exits 0

# Copies of pixels, whose tensor map the launch makes: right, with too few bytes, and through a map of boxes.
cp "$SOURCE/tests/ptx/pixels.ptx" "$SOURCE/tests/ptx/pixels.json" .
run check --dynamic pixels.ptx --launch pixels.json
exits 0
sed 's/"copies"/"too_few"/' pixels.json >too_few.json
run check --dynamic pixels.ptx --launch too_few.json
exits 1
err_has "[WG-MBAR-0"
sed 's/"box": .4, 8., "lower": .0, 0., "upper": .-1, 0./"box": [4, 8, 1, 1]/' pixels.json >boxes.json
run check --dynamic pixels.ptx --launch boxes.json
exits 1
err_has "the copy moves pixels, and its tensor map describes boxes [WG-TMA-01]"

# What is no launch is told with its place.
wrong() { sed "$1" launch.json >wrong.json; run check --dynamic rows.ptx --launch wrong.json; exits 1; err_has "$2"; }
wrong 's/"shape"/"shap"/' 'wrong.json.tensors.x: unknown key `shap`: did you mean `shape`? (legal: dtype, shape, fill, seed, file)'
wrong 's/"x", "y"/"x", "z"/' 'wrong.json.arguments[1]: expected the name of one of `tensors`, got "z"'
wrong 's/"grid": 3/"grid": 0/' 'wrong.json.grid: expected extents from 1, got 0'
wrong 's/"grid": 3,//' '`grid` is missing'
wrong 's/"softmax"/"softmx"/' 'has no kernel `softmx`: did you mean `softmax`?'
wrong 's/"block": 96/"block": 2000/' 'threads'
wrong 's/, 300\]/]/' 'kernel softmax takes 3 arguments'
wrong 's/^{/[/' 'no JSON'
wrong '/"kernel"/d' '`kernel` is missing: the text has 2 kernels'
run check --dynamic rows.ptx --launch none.json
exits 2
err_has "cannot read none.json: No such file or directory"
printf '{\n  "grid": 1,\n}\n' >comma.json
run check --dynamic rows.ptx --launch comma.json
exits 1
err_has "wgrun: comma.json:3: no JSON: syntax error"
run check --dynamic rows.ptx
exits 2
err_has "--dynamic and --launch FILE belong together"
run check --launch launch.json rows.ptx
exits 2

# A tensor map wants elements of whole bytes.
file map.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry m(.param .align 64 .b8 map[128])
.reqntid 32
{
    ret;
}
END
file map.json <<'END'
{ "grid": 1, "arguments": [ { "map": { "dtype": "b1", "shape": [8, 64], "fill": "zeros" }, "box": [64, 8] } ] }
END
run check --dynamic map.ptx --launch map.json
exits 1
err_has "map.json.arguments[0]: a tensor map of b1: its elements have less than a byte"
