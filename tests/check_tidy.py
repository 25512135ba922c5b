#!/usr/bin/env python3
"""Runs clang-tidy, with the checks of .clang-tidy, over the C files of a build:
    check_tidy.py CLANG_TIDY BUILD_DIR [FILE...]
BUILD_DIR has a compile_commands.json; without FILEs, all of its C files but those of tests, which would take
half as long again, are checked, each once (one that is compiled for several instruction sets is the same
text). Prints each finding once; the exit code is 1 when there are any."""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


def read_commands(build, files):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    wanted = {os.path.realpath(name) for name in files}
    tests = os.path.dirname(os.path.realpath(__file__)) + os.sep
    first = {}
    for command in commands:
        name = os.path.realpath(os.path.join(command["directory"], command["file"]))
        if name.endswith(".c") and (name in wanted if wanted else not name.startswith(tests)):
            first.setdefault(name, command)
    return first


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: check_tidy.py CLANG_TIDY BUILD_DIR [FILE...]")
    clang_tidy, build = sys.argv[1:3]
    commands = read_commands(build, sys.argv[3:])
    if not commands:
        sys.exit(f"{build}/compile_commands.json: expected these C files")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(list(commands.values()), file)

        def check(names):
            # gcc's warning options are unknown to clang
            run = [clang_tidy, "--quiet", "-p", folder, "--extra-arg=-Wno-unknown-warning-option", *names]
            return subprocess.run(run, capture_output=True, text=True, check=False)

        # 16 files for each process: to start one for each file takes a quarter of the time
        names = list(commands)
        parts = [names[i : i + 16] for i in range(0, len(names), 16)]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            results = list(pool.map(check, parts))
    findings = dict.fromkeys(result.stdout.strip() for result in results if result.returncode)
    print("\n".join(findings) or f"clang-tidy: nothing in {len(commands)} files")
    for result in results: # clang-tidy itself failed
        if result.returncode and not result.stdout:
            print(result.stderr)
    return 1 if any(result.returncode for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
