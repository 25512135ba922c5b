#!/usr/bin/env bash
# Fails, and names the place, when a tracked source is not as .clang-format wants it:
#     check_format.sh CLANG_FORMAT SOURCE_DIR
set -euo pipefail
cd "$2"
git ls-files -z '*.c' '*.h' '*.cpp' '*.hpp' '*.cu' | xargs -0 "$1" --dry-run --Werror
