#!/usr/bin/env bash
# Builds every configuration and runs its tests: run_all.sh [--quick]. The test presets in CMakePresets.json say which
# tests a configuration runs; --quick is the release configuration alone.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

configurations=(release dev tsan cpu-baseline minimal clang)
case ${1:-} in
"") ;;
--quick) configurations=(release) ;;
*)
    echo "usage: run_all.sh [--quick]" >&2
    exit 2
    ;;
esac

passed=0 failed=0 skipped=0 total=0
broken=() # configurations that do not build
mkdir -p build

# kernels are compiled for one architecture here, as one is enough to hold them to nvcc's language
for configuration in "${configurations[@]}"; do
    log=build/$configuration.log
    start=$SECONDS
    if ! { cmake --preset "$configuration" -DORR_WERROR=ON -DORR_CUDA_ARCHITECTURES=90 \
        -DORR_CUDA_PROGRAM_ARCHITECTURES=90 && cmake --build --preset "$configuration"; } > "$log" 2>&1; then
        grep -E -A 8 'error|Error|FAILED' "$log" | head -n 60
        echo "$configuration: does not build; all of it is in $log"
        broken+=("$configuration")
        continue
    fi
    built=$((SECONDS - start))
    ctest --preset "$configuration" > "$log" 2>&1
    outcome=$?
    # everything a failed test said stands between its line and the summary
    [ $outcome -eq 0 ] || cat "$log"
    summary=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+$' "$log" | tail -n 1)
    if [ -z "$summary" ]; then
        echo "$configuration: no tests ran"
        broken+=("$configuration")
        continue
    fi
    echo "$configuration: $summary (build $built s, tests $((SECONDS - start - built)) s)"
    read -r failures tests < <(sed -E 's/.* passed, ([0-9]+) .* out of ([0-9]+)/\1 \2/' <<< "$summary")
    skips=$(grep -c '\*\*\*Skipped' "$log")
    total=$((total + tests)) failed=$((failed + failures)) skipped=$((skipped + skips))
    passed=$((passed + tests - failures - skips))
done

# a configuration that could not be tested counts as one failure
total=$((total + ${#broken[@]})) failed=$((failed + ${#broken[@]}))
percent=$((total > 0 ? (total - failed) * 100 / total : 0))
[ ${#broken[@]} -eq 0 ] || echo "not tested: ${broken[*]}"
[ "$skipped" -eq 0 ] || echo "skipped: $skipped tests whose data or device this machine lacks"
echo "$percent% tests passed, $failed tests failed out of $total"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
