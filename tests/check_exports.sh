#!/usr/bin/env bash
# The shared library exports the functions of orrery.h, all of them and nothing else: check_exports.sh LIBRARY
# HEADER
set -euo pipefail
library=$1 header=$2
exported=$(nm -D --defined-only "$library" | awk '{print $NF}' | sort)
declared=$(tr '\n' ' ' < "$header" | grep -oP 'ORR_API [^;{]*?\Korr_\w+(?= *\()' | sort)
diff <(echo "$declared") <(echo "$exported") > /dev/null && exit 0
echo "declared with ORR_API (<) and exported by $(basename "$library") (>):"
diff <(echo "$declared") <(echo "$exported") || exit 1
