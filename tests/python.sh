#!/usr/bin/env bash
# Runs the tests of the Python package: python.sh PYTHON PACKAGE_DIR LIBRARY C_COMPILER VENV.
# They run in the virtual environment VENV, which is made and filled from PyPI (tests/requirements.txt) once.
# Without PyPI the environments are not compared with Gymnasium's; where PYTHON has no NumPy, the
# distribution's Python is used.
set -euo pipefail
package=$2 venv=$5
run() {
    ORRERY_LIBRARY=$library CC=$compiler PYTHONDONTWRITEBYTECODE=1 \
        exec "$1" -m unittest discover --start-directory "$package/tests"
}
library=$3 compiler=$4
if [ ! -e "$venv/complete" ]; then
    rm -rf "$venv"
    if "$1" -m venv "$venv" > /dev/null 2>&1 &&
        timeout 240 "$venv/bin/pip" install --quiet --disable-pip-version-check \
            --requirement "$package/tests/requirements.txt"; then
        touch "$venv/complete"
    fi
fi
if [ -e "$venv/complete" ]; then
    run "$venv/bin/python"
fi
echo "left out: environments against Gymnasium's, which PyPI did not give"
for python in "$1" /usr/bin/python3; do
    if "$python" -c 'import numpy' 2> /dev/null; then
        run "$python"
    fi
done
echo "skipped: $1 has no NumPy"
exit 77
