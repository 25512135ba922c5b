#!/usr/bin/env bash
# Whole states and pictures, as hashes: bits.sh PROGRAM ASSETS TABLE COMPILER [--record]
# On every machine the results of 1 and of 8 threads must be the same to the last bit. Where compiler and C
# library are those that TABLE names, they must also be those of the table (tests/golden/bits.txt), for each
# instruction set that is recorded there. bf16 and amx are AVX-512 with networks in bf16 products, by vectors
# and by tiles; avx512 has them in fp32. --record writes the table: after a change that is meant to change
# bits, in the release configuration.
set -uo pipefail
program=$(realpath "$1") assets=$(realpath "$2") table=$(realpath "$3") record=${5:-}
compiler="$4, $(getconf GNU_LIBC_VERSION)"
golden=$(dirname "$table")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    echo "$1" >&2
    failures=$((failures + 1))
}

# orrery ARGUMENTS...: the program on the CPU with $threads threads; its output only when it fails
orrery() {
    local command=$1
    shift
    "$program" "$command" "$@" --device cpu --threads "$threads" > log 2>&1 || cat log >&2
}

# what is hashed: parts, one function each, which write what they make to files called out*
physics() {
    local model
    for model in "$assets"/robots/{biped,quadruped} "$golden"/dynamics/{contacts_pile,muscles,fluid}; do
        orrery sim "$model.xml" --steps 40 --worlds 20 --quantities qpos,qvel,act,sensordata,cfrc_ext \
            --record "out_${model##*/}.npy"
    done
}
physics_f64() {
    orrery sim "$assets/robots/biped.xml" --steps 40 --worlds 2 --precision f64 --record out.npy
}
splats() {
    orrery render "$assets/orrery.spz" -o out.npy --depth out_depth.npy --size 320x180
    orrery render "$assets/orrery.spz" -o out_antialiased.npy --size 160x90 --antialias
}
meshes() {
    orrery render "$assets/orrery.glb" -o out.npy --depth out_depth.npy --size 320x180
}
scene() {
    orrery render "$assets/orrery.json" -o out.npy --depth out_depth.npy --size 160x90
}
radiance_field() {
    orrery render "$golden/snapshots/nerf.ingp" -o out.npy --depth out_depth.npy --size 48x32
}
distance_field() {
    orrery render "$golden/snapshots/sdf.ingp" -o out.npy --depth out_depth.npy --size 48x32
}
train_image() {
    orrery render "$assets/orrery.glb" -o picture.png --size 48x32
    orrery train image picture.png --steps 10 --batch 4096 --config small.json --seed 1 -o out.msgpack
}
train_nerf() {
    orrery train nerf "$assets/capture" --holdout 0 --steps 6 --batch 512 --config small.json --seed 1 \
        -o out.msgpack
}
networks=(radiance_field distance_field train_image train_nerf)
all=(physics physics_f64 splats meshes scene "${networks[@]}")
echo '{"encoding": {"log2_hashmap_size": 12}}' > small.json

# hash PART: one line for all that it wrote
hash_part() {
    rm -f out*
    "$1"
    ls out* > /dev/null 2>&1 && sha256sum out* | sha256sum | cut -c1-16
}

found=() # lines of the table
for isa in baseline avx2 avx512 bf16 amx; do
    export ORR_ISA=$isa ORR_MLP=fp32
    parts=("${all[@]}")
    if [[ $isa =~ ^(bf16|amx)$ ]]; then
        ORR_ISA=avx512 ORR_MLP=$isa
        parts=("${networks[@]}")
    fi
    if ! "$program" render "$golden/snapshots/sdf.ingp" -o probe.npy --size 8x8 --device cpu > log 2>&1; then
        echo "$isa: not here: $(tail -n 1 log)"
        mapfile -t kept < <(grep "^$isa " "$table") # of another machine
        found+=("${kept[@]}")
        continue
    fi
    compared="the runs with each other"
    if grep -q "^# $compiler$" "$table" && grep -q "^$isa " "$table"; then
        compared="with the table"
    fi
    echo "$isa: compared: $compared ($compiler)"
    for part in "${parts[@]}"; do
        threads=1
        hash=$(hash_part "$part") || { fail "$isa $part: nothing was written"; continue; }
        threads=8
        [ "$(hash_part "$part")" = "$hash" ] || fail "$isa $part: $threads threads give other bits"
        found+=("$isa $part $hash")
        if [ "$compared" = "with the table" ] && [ -z "$record" ]; then
            grep -qx "$isa $part $hash" "$table" ||
                fail "$isa $part: $hash, expected $(grep "^$isa $part " "$table" || echo "a recorded one")"
        fi
    done
done
if [ "$record" = --record ]; then
    {
        echo "# Hashes of what tests/program/bits.sh makes, by instruction set; those that are missing"
        echo "# were not recorded. They hold for the compiler and C library of the next line."
        echo "# $compiler"
        printf '%s\n' "${found[@]}"
    } > "$table"
fi
[ $failures -eq 0 ]
