#!/usr/bin/env bash
# Makes the Debian package of a build, unpacks it, runs its program, and checks that it depends on every
# package whose libraries it links: package.sh BUILD_DIR VERSION. Exit code 77: the tools that make packages
# are not installed.
set -euo pipefail
build=$1 version=$2
here=$(cd "$(dirname "$0")" && pwd)
for tool in dpkg-deb dpkg-shlibdeps file; do
    command -v $tool > /dev/null || {
        echo "skipped: needs $tool"
        exit 77
    }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

(cd "$build" && cpack -G DEB -B "$scratch" > "$scratch/log") || {
    cat "$scratch/log"
    exit 1
}
package=$(echo "$scratch"/*.deb)
expected=orrery_${version}_$(dpkg --print-architecture).deb
[ "$(basename "$package")" = "$expected" ] || {
    echo "expected $expected, found $(basename "$package")" >&2
    exit 1
}
dpkg-deb -x "$package" "$scratch/root"
"$here/check_program.sh" "$scratch/root/usr" "$version"

missing=0
depends=$(dpkg-deb -f "$package" Depends)
echo "depends on $depends"
mapfile -t binaries < <(find "$scratch/root/usr" -path '*/bin/orrery' -o -name 'liborrery.so.*' -type f)
[ ${#binaries[@]} -eq 2 ] || {
    echo "expected a program and a shared library in the package, found: ${binaries[*]}" >&2
    exit 1
}
for binary in "${binaries[@]}"; do
    for library in $(objdump -p "$binary" | awk '$1 == "NEEDED" {print $2}'); do
        path=$(ldd "$binary" | awk -v library="$library" '$1 == library {print $3}')
        case $library in ld-linux*) path=/lib64/$library ;; esac
        # a library below /usr/lib may be known to dpkg as one below /lib
        path=$(realpath "$path")
        owner=$(dpkg -S "$path" "${path#/usr}" 2> /dev/null | cut -d : -f 1 | head -n 1 || true)
        [[ ", $depends," == *", $owner "* || ", $depends," == *", $owner,"* ]] || {
            echo "$(basename "$binary") links $library of '${owner:-no package}', which is not in Depends"
            missing=1
        }
    done
done
exit $missing
