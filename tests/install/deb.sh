#!/usr/bin/env bash
# Installs a Debian package in a clean system with apt, runs its program there, and removes it:
#     deb.sh PACKAGE.deb VERSION
# Needs root, debootstrap and a Debian mirror (ORR_MIRROR, http://deb.debian.org/debian by default); about 700 MB in the
# folder for temporary files. Run by hand before a release, because it downloads a system: tests/README.md.
set -euo pipefail
package=$(realpath "$1") version=$2
here=$(cd "$(dirname "$0")" && pwd)
mirror=${ORR_MIRROR:-http://deb.debian.org/debian}
[ "$(id -u)" -eq 0 ] || {
    echo "needs root, to run debootstrap and chroot" >&2
    exit 2
}
. /etc/os-release # the package is for the release that it was built on
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root

echo "debootstrap: $VERSION_CODENAME, minimal"
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" > "$scratch/log" || {
    tail -n 20 "$scratch/log"
    exit 1
}
cp "$package" "$root/orrery.deb"
cp "$here/check_program.sh" "$root/check_program.sh"

in_root() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}
echo "apt-get install $(basename "$package")"
in_root apt-get -qq update
in_root apt-get -qq -y --no-install-recommends install ./orrery.deb > "$scratch/log" 2>&1 || {
    tail -n 20 "$scratch/log"
    exit 1
}
in_root dpkg-query -W -f '${Package} ${Version} ${Status}\n' orrery
in_root /check_program.sh /usr "$version"
in_root ldconfig -p | grep -F liborrery.so.0

echo "apt-get remove"
in_root apt-get -qq -y remove orrery > "$scratch/log" 2>&1
left=$(find "$root/usr" -path '*orrery*')
[ -z "$left" ] || {
    echo "left behind: $left" >&2
    exit 1
}
