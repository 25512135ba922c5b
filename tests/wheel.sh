#!/usr/bin/env bash
# Builds the portable wheel, checks what its tag promises, and uses it where there is nothing else: wheel.sh
# PYTHON PACKAGE_DIR BUILD_DIR. To save time it has the baseline of the lanes alone, and is not optimised.
set -euo pipefail
package=$2 build=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset ORRERY_LIBRARY ORRERY_ASSETS PYTHONPATH
if ! "$1" -m venv "$scratch/venv" > /dev/null 2>&1; then
    echo "skipped: $1 makes no virtual environments"
    exit 77
fi
pip=("$scratch/venv/bin/pip" --disable-pip-version-check)
"${pip[@]}" wheel --quiet --no-deps --wheel-dir "$scratch" --config-settings build-dir="$build" \
    --config-settings cmake=-DORR_INSTRUCTION_SETS=BASELINE \
    --config-settings cmake=-DORR_LANE_OPTIMIZATION=-O0 \
    --config-settings cmake=-DCMAKE_C_FLAGS_RELEASE=-O0 "$package"
wheel=$(echo "$scratch"/orrery-*.whl)
name=${wheel##*/}
if ! [[ $name =~ -py3-none-manylinux_([0-9]+)_([0-9]+)_$(uname -m)\.whl$ ]]; then
    echo "$name: expected the tag py3-none-manylinux_X_Y_$(uname -m)" >&2
    exit 1
fi
promised=${BASH_REMATCH[1]}.${BASH_REMATCH[2]}

# No library asks for a newer C library, and what each needs is beside it or in every Linux (PEP 600).
"$1" -m zipfile -e "$wheel" "$scratch/files"
for library in "$scratch"/files/orrery/*.so*; do
    newest=$(readelf -V "$library" | grep -oE 'GLIBC_[0-9.]+' | sed 's/GLIBC_//' | sort -V | tail -n 1)
    if [ "$(printf '%s\n' "$newest" "$promised" | sort -V | tail -n 1)" != "$promised" ]; then
        echo "${library##*/}: needs glibc $newest: expected $promised or older, as the tag says" >&2
        exit 1
    fi
    for needed in $(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
        case $needed in
        ld-linux* | libc.so.6 | libm.so.6 | libdl.so.2 | librt.so.1 | libpthread.so.0 | libgcc_s.so.1) ;;
        libstdc++.so.6 | libz.so.1 | libexpat.so.1) ;;
        *)
            if ! [ -e "$scratch/files/orrery/$needed" ]; then
                echo "${library##*/}: needs $needed: expected it in the wheel" >&2
                exit 1
            fi
            ;;
        esac
    done
done

if ! timeout 120 "${pip[@]}" install --quiet "numpy>=1.22" 2> "$scratch/pip.log"; then
    echo "left out: the wheel in use, for which PyPI gave no NumPy"
    exit 0
fi
"${pip[@]}" install --quiet --no-index "$wheel"
cd "$scratch"
"$scratch/venv/bin/python" - << 'END'
from pathlib import Path

import numpy as np
import orrery as orr

package = Path(orr.__file__).parent
assert "site-packages" in str(package)
scene = orr.Scene(package / "assets" / "robots" / "quadruped.xml")
world = orr.World(scene, count=8)
world.step(100)
heights = world.get(scene.robots[0], "qpos")[:, 2]
assert np.isfinite(heights).all() and (heights > 0.05).all(), heights
picture = orr.render(scene, world=world, size=(64, 48))
assert picture[..., :3].std() > 0.02, picture.std()
splats = orr.Splats(package / "assets" / "tasks" / "shelf.spz")
assert len(splats.position) > 1000
END
echo "$name: made, checked and used"
