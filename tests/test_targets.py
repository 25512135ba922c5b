#!/usr/bin/env python3
"""Prints what the tests of a configured build need, as targets of ninja:
    test_targets.py PRESET BUILD_DIR
Those are the programs and libraries that the commands of the test preset's tests name, the samples and the
assets, and, for the test of the installation, what it installs. Left out are the programs of tests that the
preset leaves out, which saves the time to compile and link them."""
import re
import subprocess
import sys
from pathlib import Path


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: test_targets.py PRESET BUILD_DIR")
    preset, build = sys.argv[1], Path(sys.argv[2]).resolve()
    listed = output_of("ctest", "--preset", preset, "-N")
    run = set(re.findall(r"^ *Test +#\d+: (\S+)", listed, flags=re.M))
    targets = output_of("ninja", "-C", str(build), "-t", "targets", "all")
    known = set(re.findall(r"^(\S+): ", targets, flags=re.M))
    wanted, found = {"samples/all", "assets/all"}, set()
    if "install" in run:
        wanted |= {"orrery_shared", "orrery_static"}
    for file in build.rglob("CTestTestfile.cmake"):
        text = file.read_text(encoding="utf-8")
        for name, command in re.findall(r"^add_test\(\[=\[(.+?)\]=\] (.*)\)$", text, flags=re.M):
            if name in run:
                found.add(name)
                wanted.update(path for path in re.findall(rf'"{re.escape(str(build))}/([^"]+)"', command))
    if not run or found != run:
        sys.exit(f"{build}: expected the commands of these tests: {' '.join(sorted(run - found)) or 'none'}")
    print("\n".join(sorted(wanted & known)))


if __name__ == "__main__":
    main()
