# explain: a rule, or the list.
run explain
exits 0
out_has "WG-FENCE-01"
run explain WG-FENCE-01
exits 0
out_has "WG-FENCE-01 (error): "
out_has "wrong:"
out_has "right:"
out_has "fix: "
out_has "PTX ISA 9.7.15"
run explain --json WG-FENCE-01
exits 0
out_has '"law": '
run explain WG-FENCE-1
exits 2
err_has "there is no rule \`WG-FENCE-1\`: did you mean"
run explain global-races
exits 0
out_has "a property that a verdict proves or refutes: "

# rules: the same list, and docs/rules.md.
run rules
exits 0
out_has "WG-FENCE-01    "
run rules --json
exits 0
out_has '"id": "WG-TMA-01"'
run rules --markdown
exits 0
out_has "## WG-FENCE-01"

# Codes of ptxas, and errors of CUDA by number and by both of their names.
for code in C7504 C7505 C7506 C7507 C7508 C7509 C7510 C7511 C7512 C7513 C7514 C7515 C7516 C7517 C7518 C7519 c7520; do
    run explain $code
    exits 0
    out_has "a note of ptxas"
    out_has "cause: "
    out_has "fix: "
done
run explain C7517
out_has "in PTX: wgmma.wait_group.sync.aligned 0 on every path before this line"
run explain --json C7510
out_has '"rule": "WG-PERF-01"'
for word in 700 CUDA_ERROR_ILLEGAL_ADDRESS cudaErrorIllegalAddress; do
    run explain $word
    exits 0
    out_has "CUDA_ERROR_ILLEGAL_ADDRESS (error 700 of CUDA): "
    out_has "cause: "
done
run explain --json 222
out_has '"number": 222'
run explain C7999
exits 2
err_has "there is no rule \`C7999\`"
