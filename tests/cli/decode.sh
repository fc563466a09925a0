# decode: a matrix descriptor, field by field.
run decode 0x4000004000010080
exits 0
out_has "matrix descriptor 0x4000004000010080"
out_has "byte 0x800 of the shared window"
out_has "1024 bytes: K-major: to the next 8 rows"
out_has "128B: Swizzle<3,4,3>"
err ""
# Lua prints descriptors as signed decimals.
run decode 4611686293305360512
out_has "matrix descriptor 0x4000004000010080"
run decode -9223371761976803200
exits 0
out_has "64B: Swizzle<2,4,3>"
run decode --json 0x4000004000010080
exits 0
out_has '"sbo": 1024'
run decode 0xffffffffffffffff
exits 1
err_has "bits 14-15 are unused"
for number in 0x 0xg 12ab 0x10000000000000000 "" 1.5; do
    run decode "$number"
    exits 2
done
run decode
exits 2
