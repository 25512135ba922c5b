#!/usr/bin/env bash
# Fails, and names the place, when a tracked source is not as .clang-format wants it: check_format.sh SOURCE_DIR
set -euo pipefail
cd "$1"
format=$(command -v clang-format-14 || command -v clang-format)
git ls-files -z '*.c' '*.h' '*.cpp' '*.hpp' '*.cu' | xargs -0 "$format" --dry-run --Werror
