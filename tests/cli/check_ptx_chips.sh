# A text for another chip, and for an older version: what holds is said, never "0 errors" alone.
text() { # VERSION TARGET INSTRUCTION
    printf '.version %s\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 y)\n.reqntid 128, 1, 1\n{\n    .reg .b32 %%r<4>;\n    %s\n    ret;\n}\n' "$1" "$2" "$3" >k.ptx
    run check k.ptx
}
text 8.7 sm_100a "tcgen05.wait::ld.sync.aligned;"
exits 3
err_has "k.ptx:2: error: the text is for sm_100a, of which wgrun has no rules: nothing of it is checked [WG-FORM-06]"
out_has "k.ptx: 0 kernels, 1 error, 0 remarks"
run check --json k.ptx
exits 3
out_has '"rule": "WG-FORM-06"'
run lua k.ptx
exits 3
text 8.7 sm_120 "bar.sync 0;"
exits 3
text 8.7 sm_90 "wgmma.fence.sync.aligned;"
exits 1
err_has "k.ptx:8: error: wgmma.fence is of .target sm_90a: the text has sm_90 [WG-FORM-06]"
err_has "fix: .target sm_90a"
text 7.8 sm_90a "wgmma.fence.sync.aligned;"
exits 1
err_has "k.ptx:8: error: wgmma.fence is of .version 8.0: the text has 7.8 [WG-FORM-06]"
text 9.0 sm_90a "tcgen05.wait::ld.sync.aligned;"
exits 1
err_has "k.ptx:8: error: tcgen05.wait::ld.sync.aligned is of .target sm_100a: the text has sm_90a [WG-FORM-06]"
out_lacks "not checked"
text 8.0 sm_80 "bar.sync 0;"
exits 0
err ""
