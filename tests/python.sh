#!/usr/bin/env bash
# Runs the tests of the Python package: python.sh PYTHON PACKAGE_DIR LIBRARY C_COMPILER VENV [learners].
# They run in the virtual environment VENV, which is filled from PyPI (requirements.txt beside them) once, and
# in which the package is installed as a wheel. Without PyPI the environments are not compared with
# Gymnasium's, and the package is used where it is; where PYTHON has no NumPy, by the distribution's Python.
# learners: the adapters alone, with Stable-Baselines3 and PettingZoo from PyPI and PyTorch from Debian.
set -euo pipefail
package=$2 venv=$5 tests=$2/tests
export ORRERY_LIBRARY=$3 CC=$4
# Modules that are imported are compiled, once, beside the environment: not into the source tree, and not, as
# pip would, all of those that are installed.
export PYTHONPYCACHEPREFIX=$venv.cache
unset PYTHONDONTWRITEBYTECODE
run() {
    exec "$1" -m unittest discover --start-directory "$tests"
}
install() {
    timeout 240 "$venv/bin/pip" install --quiet --no-compile --disable-pip-version-check "$@"
}
# Is the environment filled with what these files say? Where not, it is empty afterwards.
is_filled() {
    cat "$@" | cmp --silent - "$venv/complete" && return
    rm -rf "$venv"
    return 1
}
run_installed() {
    install --no-deps --force-reinstall "$package"
    unset ORRERY_LIBRARY
    ORRERY_INSTALLED=1 run "$venv/bin/python"
}
if [ "${6:-}" = learners ]; then
    tests=$tests/learners
    if ! /usr/bin/python3 -c 'import torch' 2> /dev/null; then
        echo "skipped: python3-torch is not installed"
        exit 77
    fi
    if ! is_filled "$tests"/requirements*.txt; then
        /usr/bin/python3 -m venv --system-site-packages "$venv"
        # pip says which versions were not meant for each other; the tests say whether they work
        if install --requirement "$tests/requirements-numpy1.txt" &&
            install --no-deps --requirement "$tests/requirements.txt"; then
            cat "$tests"/requirements*.txt > "$venv/complete"
        fi
    fi
    [ -e "$venv/complete" ] && run_installed
    echo "left out: learners, which PyPI did not give"
    exit 0
fi
if ! is_filled "$tests/requirements.txt"; then
    if "$1" -m venv "$venv" > /dev/null 2>&1 && install --requirement "$tests/requirements.txt"; then
        cp "$tests/requirements.txt" "$venv/complete"
    fi
fi
[ -e "$venv/complete" ] && run_installed
echo "left out: environments against Gymnasium's, which PyPI did not give"
for python in "$1" /usr/bin/python3; do
    if "$python" -c 'import numpy' 2> /dev/null; then
        run "$python"
    fi
done
echo "skipped: $1 has no NumPy"
exit 77
