# layout:print() shows a grid on standard output.
run -e 'require("wgrun").layout("(2,3):(3,1)"):print()'
exits 0
for offset in 0 1 2 3 4 5; do out_has "$offset"; done
[ "$(wc -l <out.txt)" -ge 3 ] || bad "a grid has several lines"
