#!/usr/bin/env bash
# Compiles formula headers with one compiler, all warnings errors:
#     check_formula.sh MACHINE COMPILER SOURCE_DIR HEADER...
# MACHINE: gcc, clang (lanes with masks that are vectors and that are bits, single floats and doubles), nvcc
# or glslc. All headers go into one source, since compilers take longer to start and to read intrinsics than
# to read a formula; gcc compiles each by itself, too, so that none leans on what others include.
set -euo pipefail
machine=$1 compiler=$2 source=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

include() { # HEADER...
    printf '#include "%s"\n' "$@"
}

c_flags=(-x c -std=c17 -O1 -I"$source" -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
    -c -o "$scratch/formula.o")
avx512=(-mavx2 -mfma -mbmi -mbmi2 -mavx512f -mavx512bw -mavx512dq -mavx512vl)

compile_c() {
    echo "$machine $*"
    "$compiler" "${c_flags[@]}" "$@" -
}

case $machine in
gcc | clang)
    if [ "$machine" = gcc ]; then
        c_flags+=(-Wno-psabi)
        for header in "$@"; do
            include "$header" | "$compiler" "${c_flags[@]}" -
        done
    fi
    include "$@" | compile_c
    if [ "$(uname -m)" = x86_64 ]; then
        include "$@" | compile_c "${avx512[@]}"
    fi
    include "$@" | compile_c -DORR_SCALAR
    include "$@" | compile_c -DORR_SCALAR -DORR_SCALAR_DOUBLE
    ;;
nvcc)
    # a kernel that includes them, so that device code is generated
    { include "$@"; echo '__global__ void empty(void) {}'; } > "$scratch/formula.cu"
    "$compiler" -std=c++17 -arch=sm_75 -Werror all-warnings -I"$source" \
        -ptx "$scratch/formula.cu" -o "$scratch/formula.ptx"
    ;;
glslc)
    { printf '#version 450\n#extension GL_GOOGLE_include_directive : require\n'
      include "$@"
      echo 'void main() {}'; } > "$scratch/formula.comp"
    "$compiler" -Werror -fshader-stage=compute --target-env=vulkan1.3 -I "$source" "$scratch/formula.comp" \
        -o "$scratch/formula.spv"
    spirv-val --target-env vulkan1.3 "$scratch/formula.spv"
    ;;
*)
    echo "unknown machine $machine" >&2
    exit 1
    ;;
esac
