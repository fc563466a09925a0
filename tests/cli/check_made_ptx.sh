# CUDA C++ is compiled by nvcc, and binaries give the PTX that they carry. Here others stand in for CUDA's tools.
mkdir bin
PATH="$PWD/bin:$PATH"
file bin/nvcc <<END
#!/bin/sh
[ "\$1 \$2" = "-ptx -arch=sm_90a" ] || exit 9
case \$5 in wrong.cu) echo "wrong.cu(3): error: expected a ;"; exit 2;; esac
cp "$SOURCE/tests/ptx/missing_fence.ptx" "\$7"
END
file bin/cuobjdump <<END
#!/bin/sh
[ "\$1" = -ptx ] || exit 9
[ "\$2" = none.o ] && exit 0
printf '\nFatbin ptx code:\n================\narch = sm_80\ncompressed\n\n'
printf '.version 8.0\n.target sm_80\n.address_size 64\n.entry old() { nothing here; }\n'
printf '\nFatbin ptx code:\n================\narch = sm_90a\ncompressed\n\n'
cat "$SOURCE/tests/ptx/wait_loops.ptx"
if [ "\$2" = two.a ]; then
    printf '\nmember two.a:b.o:\nFatbin ptx code:\n================\narch = sm_90a\n\n'
    sed 's/product.cu/other.cu/' "$SOURCE/tests/ptx/missing_fence.ptx"
    printf '\nFatbin ptx code:\n================\narch = sm_90a\n\n'
    cat "$SOURCE/tests/ptx/missing_fence.ptx"
fi
printf '\nFatbin elf code:\n================\narch = sm_90a\n'
END
chmod +x bin/nvcc bin/cuobjdump

echo "__global__ void product();" >product.cu
run check product.cu
exits 1
err_has "product.cu.ptx:32: error: "
err_has "product.cu:15: the source"
err_has "[WG-FENCE-01]"
out_has "product.cu: 1 kernel, 1 error, 0 remarks"
run check --fix product.cu
exits 2
err_has "--fix and --diff are for PTX and scripts"

cp product.cu wrong.cu
run check wrong.cu
exits 1
err_has "nvcc does not compile wrong.cu:"
err_has "wrong.cu(3): error: expected a ;"

printf '\177ELFmore' >program
run check program
exits 0
err ""
out_lacks "old"
printf '\177ELFmore' >none.o
run check none.o
exits 1
err_has "none.o carries no PTX for sm_90"
err_has "compute_90a"

# Modules of one binary are independent: they have files of the same numbers, and kernels of the same names. Lines are those of what
# cuobjdump prints.
printf '!<arch>\nmore' >two.a
run check two.a
exits 1
err_has "other.cu:15: the source"
err_has "product.cu:15: the source"
out_has "two.a: "
out_has "2 errors"
first=$(cuobjdump -ptx two.a | grep -n '^.*\.visible .entry product' | sed -n 1p | cut -d: -f1)
second=$(cuobjdump -ptx two.a | grep -n '^.*\.visible .entry product' | sed -n 2p | cut -d: -f1)
out_has "two.a.ptx:$first: product: "
out_has "two.a.ptx:$second: product: "
