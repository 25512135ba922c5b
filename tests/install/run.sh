#!/usr/bin/env bash
# Installs a build to a scratch prefix, and builds and runs programs that find it there: run.sh BUILD_DIR
# C_COMPILER
set -euo pipefail
build=$1 cc=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

cmake --install "$build" --prefix "$prefix" > "$scratch/install.log"

echo "CMake: find_package(orrery), shared and static"
cmake -S "$here" -B "$scratch/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" \
    > "$scratch/configure.log" ||
    { cat "$scratch/configure.log"; exit 1; }
cmake --build "$scratch/build"
for kind in shared static; do
    "$scratch/build/with_$kind"
    "$scratch/build/names_$kind"
    grep -q 'ORR_HAVE_VULKAN 1' "$build/generated/orr_features.h" || continue
    code=0
    "$scratch/build/vulkan_$kind" || code=$?
    case $code in
    0) "$scratch/build/names_$kind" vulkan ;;
    77) echo "skipped: drawing with Vulkan" ;;
    *) exit "$code" ;;
    esac
done

export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name orrery.pc)")
flags=(-std=c11 -Wall -Wextra -Wpedantic -Werror)
echo "pkg-config: shared"
# shellcheck disable=SC2046 # pkg-config's answer is words
"$cc" "${flags[@]}" "$here/main.c" -o "$scratch/shared" $(pkg-config --cflags --libs orrery)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir orrery) "$scratch/shared"
echo "pkg-config: static"
# the archive by name, because -lorrery would take the shared library beside it
# shellcheck disable=SC2046
"$cc" "${flags[@]}" "$here/main.c" -o "$scratch/static" $(pkg-config --cflags orrery) \
    $(pkg-config --static --libs orrery | sed 's/-lorrery\b/-l:liborrery.a/')
"$scratch/static"
samples=$here/../../samples
assets=$prefix/share/orrery
if [ -f "$assets/orrery.spz" ]; then
    echo "the short programs of samples/, on the installed assets"
    cat > "$scratch/cameras.json" << 'JSON'
{"w": 64, "h": 48, "fl_x": 60, "frames": [
    {"transform_matrix": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 4], [0, 0, 0, 1]]},
    {"transform_matrix": [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 4], [0, 0, 0, 1]]}]}
JSON
    run_sample() {
        local name=$1
        shift
        # shellcheck disable=SC2046
        "$cc" "${flags[@]}" "$samples/$name.c" -o "$scratch/$name" $(pkg-config --cflags --libs orrery) -lm
        LD_LIBRARY_PATH=$(pkg-config --variable=libdir orrery) "$scratch/$name" "$@"
    }
    run_sample hello_splats "$assets/orrery.spz" "$scratch/hello.ppm"
    run_sample batch_render "$assets/orrery.spz" "$scratch/cameras.json" "$scratch/view_%d.npy"
    run_sample robot "$assets/robots/arm_hand.xml" 0.05
    run_sample ants "$assets/walk.json" 64 20 | tee "$scratch/ants.txt"
    grep -q '64 environments of walk: .* observations, 12 actions' "$scratch/ants.txt"
    run_sample rl "$assets/walk.json" 8192 "$scratch/walk.policy" | tee "$scratch/rl.txt"
    grep -q 'simulation .* s, inference .* s, update .* s' "$scratch/rl.txt"
    grep -q 'an episode without noise: return [-0-9.]*$' "$scratch/rl.txt"
    [ -s "$scratch/walk.policy" ] || { echo "no walk.policy"; exit 1; }
    for picture in hello.ppm view_0.npy view_1.npy; do
        bright=$(tail -c +200 "$scratch/$picture" | tr -d '\0' | wc -c)
        [ "$bright" -gt 100 ] || { echo "$picture is black"; exit 1; }
    done
    if cmp -s "$scratch/view_0.npy" "$scratch/view_1.npy"; then
        echo "two cameras give one picture"
        exit 1
    fi
    run_sample pick "$assets/robots/biped.xml" 640 360 | tee "$scratch/pick.txt"
    grep -q 'layer biped.xml, body .*, geom .*, depth ' "$scratch/pick.txt"
    run_sample stream_to_video "$assets/robots/biped.xml" "$scratch/turn_%d.png" 2
    if cmp -s "$scratch/turn_0.png" "$scratch/turn_1.png"; then
        echo "two views give one picture"
        exit 1
    fi
    if grep -q 'ORR_HAVE_VIDEO 1' "$build/generated/orr_features.h"; then
        run_sample stream_to_video "$assets/robots/biped.xml" "$scratch/turn.mp4" 5
        [ -s "$scratch/turn.mp4" ] || { echo "there is no video"; exit 1; }
    fi
fi
grep -q '^  Expat: MIT$' "$prefix/share/doc/orrery/copyright"
if [ -x "$prefix/bin/orrery" ]; then
    echo "the installed program"
    "$prefix/bin/orrery" --help > /dev/null
    "$prefix/bin/orrery" --version | grep -q '^  Expat: MIT$'
fi
