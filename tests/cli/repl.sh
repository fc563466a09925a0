# Without a file: a loop that prints values, goes on after errors and joins unfinished lines.
input='1 + 1
x = { 1, "two", y = 3 }
x
function f()
  return 7
end
f()
nil + 1
local z = 5
wg.layout "(8,64):(64,1)"
"text", nil
'
run
exits 0
out '2
{1, "two", y = 3}
7
(8,64):(64,1)
text	nil'
err_has "stdin:1: attempt to perform arithmetic on a nil value"
err_has "a local ends with its line"
