#!/usr/bin/env bash
# A library exports the functions of orrery.h, all of them and nothing else: check_exports.sh LIBRARY HEADER.
# Of a shared library what it exports dynamically counts, of a static one every name that is not local.
set -euo pipefail
library=$1 header=$2
case $library in
*.a) names=(-g) ;;
*) names=(-D) ;;
esac
exported=$(nm "${names[@]}" --defined-only "$library" | awk 'NF == 3 {print $NF}' | sort)
declared=$(tr '\n' ' ' < "$header" | grep -oP 'ORR_API [^;{]*?\Korr_\w+(?= *\()' | sort)
diff <(echo "$declared") <(echo "$exported") > /dev/null && exit 0
echo "declared with ORR_API (<) and exported by $(basename "$library") (>):"
diff <(echo "$declared") <(echo "$exported") || exit 1
