# The example script figures.lua: every figure is an SVG document that an XML parser takes.
run "$(dirname "$CASE")/../../scripts/figures.lua" "a folder's"
exits 0
err ""
has "a folder's/index.html" "Figure 170: bf16, MN-major, swizzle 64B: LBO 512, SBO 1024 bytes"
number=156
while [ $number -le 170 ]; do
    has "a folder's/figure$number.svg" "</svg>"
    number=$((number + 1))
done
if command -v xmllint >/dev/null; then
    xmllint --noout "a folder's"/*.svg || bad "not well formed"
fi
