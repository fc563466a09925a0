# Precompiled chunks can break the Lua machine: they are refused.
run -e 'io.open("x.luac", "wb"):write(string.dump(function() print "ran" end)):close()'
exits 0
run x.luac
exits 1
out ""
err_has "attempt to load a binary chunk (mode is 't')"
