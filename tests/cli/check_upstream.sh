# What is wrong in kernels of others, in as few lines as show it: `// EXPECT: RULE` at the lines that the check names, on the simulator
# too where a launch stands beside the text. Of two sides of a race either may be named.
for text in "$SOURCE"/tests/ptx/upstream/*.ptx; do
    launch=${text%.ptx}.json
    if [ -f "$launch" ]; then run check --dynamic --launch "$launch" "$text"; else run check "$text"; fi
    found=$(sed -n 's/.*\.ptx:\([0-9]*\): [a-z]*: .*\[\(WG-[A-Z0-9-]*\)\]$/\1 \2/p' err.txt | sort -u)
    wanted=$(awk '{ if (split($0, part, "// EXPECT: ") == 2) { n = split(part[2], rules, " "); for (i = 1; i <= n; i++) print NR, rules[i] } }' "$text")
    [ -n "$found" ] || bad "nothing is found in $text"
    echo "$found" | while read -r finding; do
        echo "$wanted" | grep -qx "$finding" || echo "$finding"
    done > more.txt
    [ -s more.txt ] && bad "more than expected in $text: $(cat more.txt)"
    case $text in *one_value_by_warps.ptx | *copy_by_each_lane.ptx) exits 0 ;; *) exits 1 ;; esac
    for rule in $(echo "$wanted" | sed 's/.* //' | sort -u); do
        echo "$found" | grep -q "$rule" || bad "no $rule in $text: $found"
    done
done
