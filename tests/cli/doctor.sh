# doctor: what is here and, for what is not, why.
run doctor
exits 0
err ""
out_has "kernels run on  sim"
out_has "ptxas"
out_has "nvdisasm"
run doctor --json
exits 0
out_has '"backend": "sim"'
