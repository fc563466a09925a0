# --json: the error on standard output as JSON, the script's own output on standard error.
file bad.lua <<'END'
print "noise"
error "went wrong"
END
run --json bad.lua
exits 1
err "noise"
out_has '"file": "bad.lua"'
out_has '"line": 2'
out_has '"message": "went wrong"'
out_lacks noise
run --json -e 'local x = 1'
exits 0
out_has '"findings": []'
