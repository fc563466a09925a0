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
