# A thin front of CMake: `make help` lists what it makes.

BUILD   := build
JOBS    := $(shell nproc)
# ON: warnings are errors. A compiler that is newer than this tree may have warnings that nobody has seen yet.
WERROR  ?= OFF

.PHONY: all demo test run-tests dist wheel release site playground bench conformance mutate verdicts sass foreign ptxas-compare asan tsan fuzz lint prose tidy format \
        deps help clean

all: $(BUILD)/CMakeCache.txt ## the tool, build/wgrun
	@cmake/alone.sh $(BUILD) cmake --build $(BUILD) --target wgrun -j $(JOBS)

$(BUILD)/CMakeCache.txt:
	@cmake/install-packages.sh
	@cmake --preset release -DWGRUN_WERROR=$(WERROR)

# Installs what is missing, builds, and multiplies two matrices: on the GPU where there is one.
demo: deps all ## installs what is missing, builds, and multiplies two matrices
	$(BUILD)/wgrun doctor
	$(BUILD)/wgrun scripts/hello_wgmma.lua
	$(BUILD)/wgrun scripts/gemm.lua

# Without a CUDA toolkit, ptxas and NVRTC come as Python wheels into the build folder, as numpy does (tests/needs.sh).
test: deps $(BUILD)/CMakeCache.txt ## all tests
	@cmake/alone.sh $(BUILD) $(MAKE) --no-print-directory run-tests

run-tests:
	@cmake --preset release -DWGRUN_WERROR=$(WERROR) > /dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	@env $$(tests/needs.sh $(CURDIR)/$(BUILD)/needs) ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure

# build/dist: the tool, the libraries and the documents as an archive and as a Debian package. Without the tests, whose build takes longer.
dist: deps ## an archive and a Debian package, in build/dist
	@PACKAGES="dpkg-dev file" cmake/install-packages.sh
	@cmake --preset release -B $(BUILD)/package -DWGRUN_TESTS=OFF > /dev/null
	@cmake --build $(BUILD)/package -j $(JOBS)
	@cd $(BUILD)/package && cpack -B ../dist
	@rm -rf $(BUILD)/unpacked && mkdir $(BUILD)/unpacked && tar -C $(BUILD)/unpacked -xf $(BUILD)/dist/wgrun-*.tar.*
	@find $(BUILD)/unpacked -type f -exec cmake/runpaths.sh {} + && rm -r $(BUILD)/unpacked

# The Python package with the library and the tool inside, in $(BUILD)/dist. Needs pip, setuptools and wheel.
PYTHON := python3
wheel: $(BUILD)/CMakeCache.txt ## the Python package, in build/dist
	@cmake --build $(BUILD) --target wgrun wgrun_lib_c_shared -j $(JOBS)
	@packaging/wheel.sh $(BUILD) $(BUILD)/dist $(PYTHON)
	@ls $(BUILD)/dist/wgrun-*.whl

# All that is published, in $(BUILD)/release, tried in new roots of Debian; as root.
release: deps ## all that is published, tried in new roots of Debian, in build/release (as root)
	@mkdir -p $(BUILD)
	@packaging/release.sh $(BUILD)

# The documents as a site, in $(BUILD)/site. tests/docs/site_pages.py opens its pages.
site: ## the documents as a site, in build/site
	@packaging/site.sh $(BUILD)

# wgrun in WebAssembly and what its page loads, in $(BUILD)/playground: make site puts them into the site. Needs Debian's emscripten.
playground: ## wgrun in WebAssembly and its page, in build/playground
	@PACKAGES="emscripten dpkg-dev cmake ninja-build make" cmake/install-packages.sh
	@packaging/playground.sh $(BUILD)

# The figures of docs/experiments that need no GPU.
bench: all ## the figures that need no GPU
	@cmake --build $(BUILD) --target bench_layouts -j $(JOBS)
	@$(BUILD)/tests/bench_layouts
	@tests/bench/run.sh $(BUILD)/wgrun

# Every form of wgmma on this machine's GPU, beside the simulator.
conformance: all ## every form of wgmma on this machine's GPU, beside the simulator
	@tests/gpu/conformance.sh $(BUILD)/wgrun

asan: deps ## the tests with the address and undefined-behaviour sanitizers
	@cmake --preset asan > /dev/null
	@cmake --build build-asan -j $(JOBS)
	@env $$(tests/needs.sh $(CURDIR)/$(BUILD)/needs) ctest --test-dir build-asan -j $(JOBS) --output-on-failure

# What runs in several threads: engines and states, the simulator's own, the driver's and the cache's. Two tests are left
# out, whose kernels race on global memory, and the simulator's threads with them.
tsan: deps ## the tests of threads with the thread sanitizer
	@cmake --preset tsan > /dev/null
	@cmake --build --preset tsan -j $(JOBS)
	@ctest --preset tsan -j $(JOBS)
	@build-tsan/tests/test_gpu

# Every fence, commit, wait, arrival, barrier, count and descriptor of the scripts and of wg.gemm left out, weakened
# or swapped: all must be found, or proved harmless.
mutate: all ## scripts with a fence, wait or barrier left out: is each found?
	@$(BUILD)/wgrun --backend=sim tests/mutation/mutate.lua --all yes --seeds 16

# Kernels of the library before the versions of ptxas in PTXAS, a folder for each, at -O0 to -O3: is the machine code of all of them kept? Needs
# nvdisasm; takes half an hour for eight versions. TEXTS: PTX of others.
PTXAS := ../ptxas
sass: all ## kernels before the versions of ptxas in PTXAS: is the machine code kept?
	@python3 tests/sass/corpus.py $(BUILD)/wgrun $(PTXAS) $(TEXTS)

# Proofs attacked: PROGRAMS kernels of random rings, as many conditions of random arithmetic, and kernels that are wrong at
# particular sizes, of which 95 percent are to be refuted. What is proved of them is compared with launches of all sizes up
# to twice their period.
PROGRAMS := 20000
RINGS := $(BUILD)/wgrun --backend=sim tests/verdicts/rings.lua
verdicts: all ## proofs against launches of all sizes
	@seq 1 100 $(PROGRAMS) | xargs -P $(JOBS) -I FROM sh -c '$(RINGS) --from FROM --to $$((FROM + 99)) --sizes 200 --schedules 4 --budget 1'
	@$(BUILD)/wgrun --backend=sim tests/verdicts/conditions.lua --to $(PROGRAMS)
	@$(RINGS) --mutants yes --to 345 --bar 95
	@cmake --build $(BUILD) --target test_kernel -j $(JOBS)
	@SEEDS="200 4000" $(BUILD)/tests/test_kernel "[.programs]"

# Kernels of other compilers: each mutant is found or harmless, and a script made of a text has the text's findings.
foreign: all ## mutants of kernels of other compilers
	@tests/ptx/mutants.sh $(BUILD)/wgrun $${WGRUN_PTX:-../shared/ptx} all
	@python3 tests/ptx/translate.py $(BUILD)/wgrun --no-sass --other $${WGRUN_PTX:-../shared/ptx}

# The rules of registers beside the law and beside ptxas, over generated programs, and the estimate of registers
# beside what ptxas needs: the tables of docs/ptxas.md.
ptxas-compare: $(BUILD)/CMakeCache.txt ## the rules of registers beside ptxas: tables of docs/ptxas.md
	@cmake --build $(BUILD) --target test_ptxas wgrun -j $(JOBS)
	@$(BUILD)/tests/test_ptxas "[.table]"
	@tests/ptxas/registers.py $(BUILD)/wgrun $(addprefix scripts/,attention.lua gemm.lua gemm_fast.lua hello_wgmma.lua \
	  mma_sync.lua sparse_gemm.lua tune.lua) tests/ptxas/gemms.lua

# Each fuzz target for FUZZ_SECONDS. Inputs that break a law stay in build-fuzz/.
FUZZ_SECONDS := 60
fuzz: deps ## each fuzz target for FUZZ_SECONDS
	@PACKAGES="clang" cmake/install-packages.sh
	@PACKAGES="libclang-rt-$$(clang -dumpversion | cut -d. -f1)-dev" cmake/install-packages.sh # libFuzzer
	@cmake --preset fuzz > /dev/null
	@cmake --build --preset fuzz -j $(JOBS)
	@for program in build-fuzz/tests/fuzz_*; do \
	    target=$${program##*/fuzz_}; \
	    mkdir -p build-fuzz/corpus/$$target; seeds=$(CURDIR)/tests/fuzz/seeds/$$target; [ -d $$seeds ] || seeds=; \
	    (cd build-fuzz && tests/fuzz_$$target -max_total_time=$(FUZZ_SECONDS) -max_len=512 -timeout=5 \
	        -print_final_stats=1 corpus/$$target $$seeds) || exit 1; \
	done

lint: tidy prose ## clang-tidy, clang-format, luacheck, actionlint, prose
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror
	@if command -v luacheck > /dev/null; then git ls-files 'stdlib/*.lua' 'scripts/*.lua' | xargs luacheck --quiet; \
	else echo "lint: no luacheck (Debian's lua-check): Lua files are not looked at"; fi
	@if command -v actionlint > /dev/null; then actionlint; else echo "lint: no actionlint: workflows are not looked at"; fi

# The words that docs/style.md refuses.
prose: ## the words that docs/style.md refuses
	@$(PYTHON) tests/docs/prose.py

# clang-tidy, file by file, in a folder of its own: release builds compile several files at once. FILES names what is
# looked at, such as FILES='engine/check/*.cpp'.
FILES := 'engine/*.cpp' 'bindings/*.cpp' 'tests/*.cpp' ':!tests/embed' ':!tests/fuzz/libfuzzer'
tidy: deps ## clang-tidy of FILES
	@PACKAGES="clang-tidy" cmake/install-packages.sh
	@cmake -S . -B build-tidy -G Ninja -DCMAKE_BUILD_TYPE=Release -DWGRUN_UNITY=OFF > /dev/null
	@git ls-files $(FILES) | nice xargs -P $(JOBS) -n 1 clang-tidy --quiet -p build-tidy

format: ## clang-format of all files
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

deps: ## installs the packages that the build needs
	@cmake/install-packages.sh

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 16

clean: ## removes the build folders
	rm -rf build build-dev build-asan build-tsan build-fuzz build-tidy
