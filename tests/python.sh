#!/usr/bin/env bash
# Runs the tests of the Python package against a library: python.sh PYTHON PACKAGE_DIR LIBRARY C_COMPILER.
# Where PYTHON has no NumPy, the distribution's Python runs them.
set -euo pipefail
for python in "$1" /usr/bin/python3; do
    if "$python" -c 'import numpy' 2> /dev/null; then
        ORRERY_LIBRARY=$3 CC=$4 PYTHONDONTWRITEBYTECODE=1 \
            exec "$python" -m unittest discover --start-directory "$2/tests"
    fi
done
echo "skipped: $1 has no NumPy"
exit 77
