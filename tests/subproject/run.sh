#!/usr/bin/env bash
# Builds and runs a project that adds the engine with add_subdirectory: run.sh C_COMPILER
set -euo pipefail
cc=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# to save time: one instruction set (in the project's own file), and nothing optimised
cmake -G Ninja -S "$here" -B "$scratch" -DCMAKE_C_COMPILER="$cc" -DORR_CUDA=OFF -DORR_LANE_OPTIMIZATION=-O0 \
    > "$scratch/configure.log" ||
    { cat "$scratch/configure.log"; exit 1; }
cmake --build "$scratch" --parallel 2 > "$scratch/build.log" || { cat "$scratch/build.log"; exit 1; }
"$scratch/host"
"$scratch/host_static"
cmake --install "$scratch" --prefix "$scratch/prefix" > "$scratch/install.log"
if [ -n "$(find "$scratch/prefix" -type f 2> /dev/null)" ]; then
    echo "the engine installed files of its own:"
    find "$scratch/prefix" -type f
    exit 1
fi
