# - is standard input, as a script.
input='local x = 20
local y = 22
print(x + y, arg[0], arg[1])
'
run - arg
exits 0
out "42	-	arg"
