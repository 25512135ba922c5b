#!/bin/sh
# Runs the orrery program of an installation below PREFIX, with the assets installed there: check_program.sh
# PREFIX VERSION
set -eu
prefix=$1 version=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
orrery=$prefix/bin/orrery assets=$prefix/share/orrery

"$orrery" --help | head -n 1 | grep -F "orrery $version:"
"$orrery" render "$assets/orrery.json" -o "$scratch/orrery.png" --size 160x90 --device cpu
[ "$(head -c 8 "$scratch/orrery.png" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || {
    echo "render: expected a PNG file" >&2
    exit 1
}
"$orrery" sim "$assets/robots/biped.xml" --steps 100
