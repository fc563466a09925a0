-- What `make lint` asks of Lua files.
std = "lua54"
max_line_length = false
ignore = { "581" } -- not (x <= y), which is true of NaN
redefined = false -- k is the builder's methods in a file, and the builder in a function
self = false
