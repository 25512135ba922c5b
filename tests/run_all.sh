#!/usr/bin/env bash
# Builds every configuration and runs its tests: run_all.sh [--quick]. The test presets in CMakePresets.json
# choose the tests of a configuration; --quick is the release configuration alone. What skips must be listed
# in allowed_skips.txt.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

configurations=(release dev tsan minimal)
case ${1:-} in
"") ;;
--quick) configurations=(release) ;;
*)
    echo "usage: run_all.sh [--quick]" >&2
    exit 2
    ;;
esac

passed=0 failed=0 total=0
declare -A skipped # by reason
left_out=0         # parts of tests that need files of the shared data which are absent
broken=() # configurations that do not build
mkdir -p build

# slowest CTEST_OUTPUT: the five tests that took longest
slowest() {
    sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.*[ *].* ([0-9.]+) sec.*/\2 \1/p' "$1" |
        sort -rn | head -n 5 | awk '{ printf "%s%s %.0f s", separator, $2, $1; separator = ", " }'
}

# list_skips CTEST_OUTPUT LAST_TEST_LOG: a line for each program that skipped as a whole, and a line
# PROGRAM/TEST for each test that skipped inside a program. A "skipped:" line without cmocka's own counts as
# PROGRAM/?.
list_skips() {
    awk '
        FILENAME == ARGV[1] {
            if (/\*\*\*Skipped/ && match($0, /: [^ ]+/)) {
                name = substr($0, RSTART + 2, RLENGTH - 2)
                whole[name] = 1
                print name
            }
            next
        }
        /^[0-9]+\/[0-9]+ Test: / { program = $3; listed = said = 0; next }
        program in whole { next }
        /^\[  SKIPPED \] [0-9]+ test\(s\)/ { listed = 1 } # the names follow once more
        listed { next }
        /^\[  SKIPPED \] / { print program "/" $4; said = 0; next }
        said { print program "/?"; said = 0 }
        /^skipped: / { said = 1 }
        /^<end of output>/ && said { print program "/?"; said = 0 }
    ' "$1" "$2"
}

# is_allowed CONFIGURATION SKIP: allowed_skips.txt has a line for it; sets $reason
is_allowed() {
    local configurations skips
    while read -r configurations skips reason; do
        [[ $configurations == "" || $configurations == \#* || $reason == "" ]] && continue
        [[ $1 =~ ^($configurations)$ && $2 =~ ^($skips)$ ]] && return
    done < tests/allowed_skips.txt
    return 1
}

# build CONFIGURATION: all of release; of the others what their tests need
build() {
    local targets=all
    [ "$1" = release ] || targets=$(tests/test_targets.py "$1" "build/$1") || return
    # shellcheck disable=SC2086 # targets are words
    cmake --build --preset "$1" --target $targets
}

# Kernels are compiled for the GPU that is here. Without one they become PTX, hardly optimised, and no more:
# that holds them to nvcc's language, and leaves out ptxas, which takes longer than the rest of nvcc.
gpus=$(cmake/gpu_architectures.sh)
options=()
if [ -z "$gpus" ]; then
    gpus=90-virtual
    options+=(-DORR_CUDA_FAST_COMPILE=ON)
fi
# Lane programs are optimised as a release's for the instruction set that this CPU chooses; those for others
# hardly, in a third of the time.
options+=(-DORR_LANE_OPTIMIZATION_OTHER=-O1)
for configuration in "${configurations[@]}"; do
    # assets and shaders take a minute to make, with a sanitizer minutes, and their bits are release's subject
    generated=
    [[ ! $configuration =~ ^(dev|minimal)$ ]] || generated=$PWD/build/release
    # what a test that fails prints needs names of lines, and no more
    flags=()
    [ "$configuration" != release ] || flags=(-DCMAKE_{C,CXX}_FLAGS_RELWITHDEBINFO="-O2 -g1")
    log=build/$configuration.log
    start=$SECONDS
    if ! { cmake --preset "$configuration" -DORR_WERROR=ON -DORR_CUDA_ARCHITECTURES="$gpus" \
        -DORR_CUDA_PROGRAM_ARCHITECTURES="$gpus" -DORR_GENERATED_FROM="$generated" "${options[@]}" \
        "${flags[@]}" &&
        build "$configuration"; } > "$log" 2>&1; then
        grep -E -A 8 'error|Error|FAILED' "$log" | head -n 60
        echo "$configuration: does not build; all of it is in $log"
        broken+=("$configuration")
        continue
    fi
    built=$((SECONDS - start))
    ctest --preset "$configuration" > "$log" 2>&1
    outcome=$?
    # what a failed test printed is between its line and the summary
    [ $outcome -eq 0 ] || cat "$log"
    summary=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+$' "$log" | tail -n 1)
    if [ -z "$summary" ]; then
        echo "$configuration: no tests ran"
        broken+=("$configuration")
        continue
    fi
    echo "$configuration: $summary (build $built s, tests $((SECONDS - start - built)) s)"
    echo "$configuration: slowest: $(slowest "$log")"
    read -r failures tests < <(sed -E 's/.* passed, ([0-9]+) .* out of ([0-9]+)/\1 \2/' <<< "$summary")
    skips=$(grep -c '\*\*\*Skipped' "$log")
    refused=0
    while read -r skip; do
        if is_allowed "$configuration" "$skip"; then
            skipped[$reason]=$((${skipped[$reason]:-0} + 1))
        else
            echo "$configuration: $skip skipped, which tests/allowed_skips.txt does not allow"
            refused=$((refused + 1))
        fi
    done < <(list_skips "$log" "build/$configuration/Testing/Temporary/LastTest.log")
    left_out=$((left_out + $(grep -c '^left out: ' "build/$configuration/Testing/Temporary/LastTest.log")))
    # a skip that is not allowed counts as one more test, which failed
    total=$((total + tests + refused)) failed=$((failed + failures + refused))
    passed=$((passed + tests - failures - skips))
done

# a configuration that could not be tested counts as one failure
total=$((total + ${#broken[@]})) failed=$((failed + ${#broken[@]}))
percent=$((total > 0 ? (total - failed) * 100 / total : 0))
[ ${#broken[@]} -eq 0 ] || echo "not tested: ${broken[*]}"
for reason in "${!skipped[@]}"; do
    echo "skipped, as tests/allowed_skips.txt permits: ${skipped[$reason]} tests: $reason"
done
[ $left_out -eq 0 ] || echo "left out: $left_out parts of tests, of files that ../shared/data lacks here"
echo "time: $((SECONDS / 60)) min $((SECONDS % 60)) s"
echo "$percent% tests passed, $failed tests failed out of $total"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
