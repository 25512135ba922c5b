#!/usr/bin/env bash
# A fuzz target as a test: fixed_runs.sh PROGRAM FINDS RUNS [-dict=FILE] CORPUS...
# The number of inputs is fixed, so that the test sees the same on slow and fast machines; the seed is the
# day's (ORR_FUZZ_SEED sets another). The line that is printed first repeats the test. An input that breaks
# the parser is kept in FINDS.
set -euo pipefail
program=$1 finds=$2 runs=$3
shift 3
mkdir -p "$finds"
new=$(mktemp -d) # where libFuzzer puts inputs that reach new code; not kept, so that a run can be repeated
trap 'rm -rf "$new"' EXIT
seed=${ORR_FUZZ_SEED:-$(date -u +%Y%m%d)}
echo "ORR_FUZZ_SEED=$seed $0 $program $finds $runs $*"
options=()
if [[ $1 == -dict=* ]]; then
    options=("$1")
    shift
fi
# 10 s for an input and, for inputs of at most 64 KiB, 256 MiB in one piece and 1 GiB in all
"$program" "${options[@]}" -runs="$runs" -seed="$seed" -timeout=10 -max_len=65536 -malloc_limit_mb=256 \
    -rss_limit_mb=1024 -artifact_prefix="$finds/" -print_final_stats=1 "$new" "$@"
