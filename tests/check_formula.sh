#!/usr/bin/env bash
# Compiles one formula header with one compiler, all warnings errors:
#     check_formula.sh MACHINE COMPILER SOURCE_DIR HEADER
# MACHINE: gcc, clang (lanes with masks that are vectors and that are bits, single floats and doubles), nvcc
# or glslc.
set -euo pipefail
machine=$1 compiler=$2 source=$3 header=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

c_flags=(-x c -std=c17 -O1 -I"$source" -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
    -c -o "$scratch/formula.o")
avx512=(-mavx2 -mfma -mbmi -mbmi2 -mavx512f -mavx512bw -mavx512dq -mavx512vl)

compile_c() {
    echo "$machine $*"
    echo "#include \"$header\"" | "$compiler" "${c_flags[@]}" "$@" -
}

case $machine in
gcc | clang)
    if [ "$machine" = gcc ]; then
        c_flags+=(-Wno-psabi)
    fi
    compile_c
    if [ "$(uname -m)" = x86_64 ]; then
        compile_c "${avx512[@]}"
    fi
    compile_c -DORR_SCALAR
    compile_c -DORR_SCALAR -DORR_SCALAR_DOUBLE
    ;;
nvcc)
    # a kernel that includes it, so that device code is generated
    printf '#include "%s"\n__global__ void empty(void) {}\n' "$header" > "$scratch/formula.cu"
    "$compiler" -std=c++17 -arch=sm_75 -Werror all-warnings -I"$source" \
        -ptx "$scratch/formula.cu" -o "$scratch/formula.ptx"
    ;;
glslc)
    printf '#version 450\n#extension GL_GOOGLE_include_directive : require\n#include "%s"\nvoid main() {}\n' \
        "$header" > "$scratch/formula.comp"
    "$compiler" -Werror -fshader-stage=compute --target-env=vulkan1.3 -I "$source" "$scratch/formula.comp" \
        -o "$scratch/formula.spv"
    spirv-val --target-env vulkan1.3 "$scratch/formula.spv"
    ;;
*)
    echo "unknown machine $machine" >&2
    exit 1
    ;;
esac
