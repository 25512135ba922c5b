#!/usr/bin/env bash
# Runs the tests of the Python package: python.sh PYTHON PACKAGE_DIR LIBRARY C_COMPILER VENV.
# They run in the virtual environment VENV, which is filled from PyPI (tests/requirements.txt) once, and in
# which the package is installed as a wheel. Without PyPI the environments are not compared with Gymnasium's,
# and the package is used where it is; where PYTHON has no NumPy, by the distribution's Python.
set -euo pipefail
package=$2 venv=$5
export ORRERY_LIBRARY=$3 CC=$4 PYTHONDONTWRITEBYTECODE=1
run() {
    exec "$1" -m unittest discover --start-directory "$package/tests"
}
if [ ! -e "$venv/complete" ]; then
    rm -rf "$venv"
    if "$1" -m venv "$venv" > /dev/null 2>&1 &&
        timeout 240 "$venv/bin/pip" install --quiet --disable-pip-version-check \
            --requirement "$package/tests/requirements.txt"; then
        touch "$venv/complete"
    fi
fi
if [ -e "$venv/complete" ]; then
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$package"
    unset ORRERY_LIBRARY
    ORRERY_INSTALLED=1 run "$venv/bin/python"
fi
echo "left out: environments against Gymnasium's, which PyPI did not give"
for python in "$1" /usr/bin/python3; do
    if "$python" -c 'import numpy' 2> /dev/null; then
        run "$python"
    fi
done
echo "skipped: $1 has no NumPy"
exit 77
