# check --dynamic takes SentryWard's description of a launch (spverify.kernel-input/v1), too.
file k.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n, .param .align 64 .b8 map[128], .param .align 8 .b8 st[24], .param .f32 f)
{
 .reg .u64 a, b, q, o; .reg .u32 x, t, y; .reg .pred z;
 ld.param.u64 a, [p]; ld.param.u32 x, [n]; ld.param.u64 b, [st]; ld.param.u64 q, [st+8]; ld.param.u32 y, [st+16];
 mov.u32 t, %tid.x; setp.ge.u32 z, t, x; @z bra END;
 mul.wide.u32 o, t, 4; add.u64 a, a, o; add.u64 b, b, o;
 st.global.u32 [a], y; ld.global.u32 x, [b]; setp.ne.u64 z, q, 0; @z st.global.u32 [q], x;
END: ret;
}
END
file input.json <<'END'
{ "schema": "spverify.kernel-input/v1", "entry": "k",
  "launch": { "grid_dim": [1, 1, 1], "block_dim": [64, 1, 1], "cluster_dim": [1, 1, 1], "dynamic_shared_bytes": 0 },
  "declarations": [ { "parameter": "p", "type": "pointer", "space": "global", "object": "A" },
                    { "parameter": "st", "type": "pointer", "object": "A" },
                    { "parameter": 3, "offset": 16, "type": "u32", "name": "flag" } ],
  "tma_descriptors": [ { "parameter": "map", "element_type": "f16", "global_shape": [64, 32], "box_shape": [64, 8], "swizzle": "128B" } ],
  "arguments": [ { "parameter": "n", "type": "u32", "value": 40 }, { "parameter": 3, "offset": 8, "type": "pointer", "value": null },
                 { "field": "flag", "value": 7 }, { "parameter": "f", "type": "f32", "value": 0.5 } ] }
END
# The two pointers name one object: a thread writes there before it reads.
run check --dynamic k.ptx --launch input.json
exits 0
err ""
out_has "k: 4 schedules on the simulator"
# With another offset another thread reads.
sed 's/mul.wide.u32 o, t, 4; add.u64 a, a, o;/mul.wide.u32 o, t, 4; add.u64 a, a, o; add.u64 b, b, 128;/' k.ptx > race.ptx
run check --dynamic race.ptx --launch input.json
exits 1
err_has "[WG-RACE-"
sed 's/"type": "pointer", "object": "A" },/"type": "pointer", "object": "B" },/' input.json > apart.json
run check --dynamic race.ptx --launch apart.json
exits 0

wrong() { sed "$1" input.json > wrong.json; run check --dynamic k.ptx --launch wrong.json; exits 1; err_has "$2"; }
wrong '/tma_descriptors/d' 'wrong.json: `tma_descriptors` has none for parameter `map`'
wrong 's/"parameter": "n", "type": "u32", "value": 40/"parameter": "f", "type": "f32", "value": 1/' 'wrong.json: `arguments` has no value for parameter `n`'
wrong 's/"parameter": "n"/"parameter": "m"/' 'wrong.json.arguments[0].parameter: expected a parameter of k, got "m"'
wrong 's/"value": null/"value": 4/' 'wrong.json.arguments[1].value: expected null, got 4'
wrong 's/"offset": 8/"offset": 24/' 'wrong.json.arguments[1].offset: expected a byte of the parameter, got 24'
wrong 's/"flag", "value"/"flug", "value"/' 'wrong.json.arguments[2].field: expected the name of one of `declarations`, got "flug"'
wrong 's/"u32", "value": 40/"u33", "value": 40/' 'wrong.json.arguments[0].value: expected a value of a type'
wrong 's/"block_dim"/"block"/' 'wrong.json.launch: unknown key `block`'
wrong 's/"box_shape"/"box"/' 'unknown key `box`'
