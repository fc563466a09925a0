# os.exit gives the script's own code, 5 for a wrong result by convention.
run -e 'io.stdout:write("text") os.exit(5)'
exits 5
out "text"
