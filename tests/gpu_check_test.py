#!/usr/bin/env python3
"""Runs tests/gpu_check on a pack whose programs are a script that passes, fails, skips or hangs."""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import gpu_parts

GPU_CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu_check")
# counts its calls; the names say how each program ends
SCRIPT = """#!/bin/sh
echo "$*" >> "${0%/*}/calls"
case $1 in
test_bad) echo "[  ERROR   ] --- 1 != 2"; exit 1 ;;
test_skips) exit 77 ;;
test_other_cpu) echo "ORR_ISA=avx9: expected"; exit 2 ;;
test_hangs) sleep 20 ;;
test_environment) [ "$COLOUR" = red ] && [ -d "$ORR_SOURCE_DIR" ] ;;
orrery) echo '{"cpu": {"best_instruction_set": "avx2"}, "cuda": [], "vulkan": [], "in_use": "CPU only"}' ;;
esac
"""
NAMES = ("test_good", "test_bad", "test_skips", "test_other_cpu", "test_environment", "test_hangs")


def make_pack(folder, hang_seconds, c_library="2.17", emulated=True):
    os.makedirs(os.path.join(folder, "bin"))
    os.makedirs(os.path.join(folder, "source"))
    with open(os.path.join(folder, "bin", "orrery_pack"), "w") as file:  # not executable: uploads lose that
        file.write(SCRIPT)
    tests = [{"name": name, "arguments": [name], "environment": {"COLOUR": "red"}, "skip_code": 77,
              "skip_text": "ORR_ISA=avx9: expected", "timeout": hang_seconds} for name in NAMES]
    with open(os.path.join(folder, "pack.json"), "w") as file:
        json.dump({"build": "fake", "commit": "fake", "emulated": emulated, "c_library": c_library,
                   "tests": tests}, file)
    return folder


def command(folder, *arguments):
    return [sys.executable, GPU_CHECK, "--pack", folder, *arguments]


def check(folder, *arguments):
    done = subprocess.run(command(folder, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env={**os.environ, "TMPDIR": os.path.dirname(folder)})
    return done.returncode, done.stdout, done.stderr


def statuses(folder, part="lanes"):
    with open(os.path.join(folder + "_results", "results.json")) as file:
        return {name: step["status"] for name, step in json.load(file)["parts"][part]["steps"].items()}


def calls(folder):
    with open(os.path.join(folder, "bin", "calls")) as file:
        return file.read().split("\n")


def outcomes_are_distinguished(folder):
    start = time.monotonic()
    code, output, _ = check(make_pack(folder, 1), "--part", "lanes")
    assert code == 1 and time.monotonic() - start < 60, (code, output)
    assert statuses(folder) == {"test_good": "passed", "test_bad": "failed", "test_skips": "skipped",
                                "test_other_cpu": "skipped", "test_environment": "passed",
                                "test_hangs": "timeout"}, statuses(folder)
    assert "| lanes | 2 | 2 | 2 | 0 | 0 |" in output, output
    assert "- **test_bad**: failed with exit code 1\n  `[  ERROR   ] --- 1 != 2`" in output, output
    assert "Not run yet: tests-splats" in output, output


def a_part_that_has_no_time_is_continued(folder):
    make_pack(folder, 1)
    code, _, _ = check(folder, "--part", "lanes", "--part-minutes", "0.01")
    assert code == 3 and set(statuses(folder).values()) == {"no time left"}, statuses(folder)
    check(folder)
    assert statuses(folder)["test_good"] == "passed" and statuses(folder)["test_hangs"] == "timeout"
    assert statuses(folder, "bench-frame")["devices_cpu"] == "passed"
    before = calls(folder).count("test_good")
    check(folder)
    assert calls(folder).count("test_good") == before  # it has a result
    check(folder, "--part", "lan", "--again")
    assert calls(folder).count("test_good") == before + 1
    code, output, _ = check(folder, "--minutes", "0.01")
    assert code == 1 and "no time left for tests-splats" in output and "| lanes | 2 | 2 |" in output, output


def a_step_that_ends_the_machine_is_not_run_again(folder):
    make_pack(folder, 300)
    process = subprocess.Popen(command(folder, "--part", "lanes"), stdout=subprocess.DEVNULL,
                               env={**os.environ, "TMPDIR": os.path.dirname(folder)})
    for _ in range(600):
        time.sleep(0.1)
        if os.path.exists(os.path.join(folder, "bin", "calls")) and "test_hangs" in calls(folder):
            break
    time.sleep(1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    code, output, _ = check(folder)
    assert code == 1 and statuses(folder)["test_hangs"] == "interrupted", statuses(folder)
    assert statuses(folder)["test_good"] == "passed"
    assert "- **test_hangs**: interrupted" in output, output
    assert calls(folder).count("test_hangs") == 1, calls(folder)


def tests_that_skip_for_want_of_a_gpu_are_no_success(folder):
    make_pack(folder, 1, emulated=False)
    code, output, _ = check(folder, "--part", "tests")  # none of its names: nothing fails
    assert code == 1 and "### no NVIDIA GPU" in output, (code, output)


def what_cannot_be_run_is_one_line(folder):
    make_pack(folder, 1, c_library="9.0")
    code, output, errors = check(folder)
    assert code == 2 and errors.count("\n") == 1 and "needs 9.0 or newer" in errors, (code, output, errors)
    code, output, errors = check(folder + "/nothing")
    assert code == 2 and errors.count("\n") == 1 and "no pack of tests/gpu_pack" in errors, errors
    code, output, errors = check(folder, "--part", "dance")
    assert code == 2 and errors.count("\n") == 1 and "--part dance: expected one of" in errors, errors


def tests_on_cuda_are_in_a_part_of_the_gpu(_):
    found = glob.glob(os.path.join(os.path.dirname(GPU_CHECK), "**", "test_*cuda*.c"), recursive=True)
    names = [os.path.splitext(os.path.basename(path))[0] for path in found]
    assert len(names) > 20, names
    missed = [name for name in names if gpu_parts.part_of_test(name) == "lanes"]
    assert not missed, "a loan of a GPU would not run " + ", ".join(missed)


def main():
    for test in (tests_on_cuda_are_in_a_part_of_the_gpu, outcomes_are_distinguished,
                 a_part_that_has_no_time_is_continued, a_step_that_ends_the_machine_is_not_run_again,
                 tests_that_skip_for_want_of_a_gpu_are_no_success, what_cannot_be_run_is_one_line):
        with tempfile.TemporaryDirectory() as folder:
            test(os.path.join(folder, "pack"))
        print("passed: " + test.__name__)


if __name__ == "__main__":
    main()
