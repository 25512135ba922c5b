#!/usr/bin/env python3
"""Plants the faults of the tables in this folder, one at a time, and sees which of them the tests notice:
    plant.py check                          every text of the tables occurs exactly once in its file
    plant.py run FOLDER [-j JOBS] [--only REGEX] [--again] [--whole] [--seconds SECONDS]
    plant.py table FOLDER                   the results as Markdown
`run` works in FOLDER (some 4 GB): a copy of the checkout, a build folder and results.tsv. A fault that has
a result is left out; --again repeats those that survived. After the tests that the table names, --whole runs
all tests of the room for the faults that survived them; no new fault starts after SECONDS. A row of
results.tsv is valid for the fault's text alone: what the tests learnt since is seen by --again."""
import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
# One instruction set, kernels on the emulated device: what is quickest to compile and runs everything.
CONFIGURATION = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1",
                 "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1", "-DORR_CUDA=EMULATED",
                 "-DORR_INSTRUCTION_SETS=BASELINE", "-DORR_INSTALL=OFF"]
ROOMS = {  # of a file, by the start of its path: the folders of tests/ that are its room's
    "engine/": ["engine", "render"],
    "neural/": ["neural", "engine"],
    "physics/": ["physics", "engine"],
    "render/": ["render", "training", "engine"],
    "shaders/": ["render", "engine"],
    "samples/": ["program"],
}
COLUMNS = ["name", "digest", "result", "test", "seconds"]
TEST_SECONDS = 300  # a fault that makes a program hang is seen by this


class Fault:
    def __init__(self, entry, table):
        expected = {"name", "file", "text", "into", "breaks", "tests"}
        if not expected <= set(entry) <= expected | {"unseen"}:
            sys.exit(f"{table}: {entry.get('name', '?')}: expected the keys {', '.join(sorted(expected))}")
        self.name, self.file, self.text, self.into = (entry[k] for k in ("name", "file", "text", "into"))
        self.breaks, self.tests, self.unseen = entry["breaks"], entry["tests"], entry.get("unseen", "")
        self.room = next((room for room in ROOMS if self.file.startswith(room)), None)
        parts = "\0".join((self.file, self.text, self.into))
        self.digest = hashlib.sha256(parts.encode()).hexdigest()[:12]

    def problem(self):
        path = CHECKOUT / self.file
        if not self.room or not path.is_file():
            return "no such file in a room"
        count = path.read_text().count(self.text)
        if count != 1:
            return f"its text occurs {count} times, expected once"
        return "it changes nothing" if self.text == self.into else None


def read_tables():
    faults = []
    for table in sorted(HERE.glob("*.toml")):
        with open(table, "rb") as file:
            faults += [Fault(entry, table.name) for entry in tomllib.load(file)["fault"]]
    # what is quick comes first: a header is compiled into most files, and fields take long to train
    slow = re.compile("nerf|field|proposal")
    return sorted(faults, key=lambda f: (bool(slow.search(f.tests)), f.file.endswith((".h", ".glsl"))))


def check(faults):
    problems = [f"{f.name}: {f.file}: {f.problem()}" for f in faults if f.problem()]
    names = [f.name for f in faults]
    problems += [f"{name}: the name occurs twice" for name in sorted(set(names)) if names.count(name) > 1]
    print("\n".join(problems + [f"{len(faults)} faults"]))
    return not problems


def copy_checkout(source):
    """Only files that differ are written: the others keep their time, and are not compiled again."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, stdout=subprocess.PIPE, check=True)
    names = [name for name in listing.stdout.decode().split("\0") if name and (CHECKOUT / name).is_file()]
    for name in names:
        data = (CHECKOUT / name).read_bytes()
        copy = source / name
        if not copy.is_file() or copy.read_bytes() != data:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(CHECKOUT / name, copy)
            shutil.copymode(CHECKOUT / name, copy)
    for copy in [path for path in source.rglob("*") if path.is_file()]:
        if str(copy.relative_to(source)) not in set(names):
            copy.unlink()


class Tree:
    def __init__(self, folder, jobs):
        self.source, self.build, self.jobs = folder / "src", folder / "build", str(jobs)
        folder.mkdir(parents=True, exist_ok=True)
        self.log = open(folder / "log.txt", "a")
        self.sound = set()  # tests that have passed without a fault
        copy_checkout(self.source)
        assets = folder / "assets"
        self.make()
        if not assets.exists():  # made without a fault
            shutil.copytree(self.build / "assets", assets)
        os.environ["ORR_ASSETS"] = str(assets)

    def make(self):
        if not (self.call("cmake", "-S", self.source, "-B", self.build, *CONFIGURATION)
                and self.call("ninja", "-C", self.build, "-j", self.jobs)):
            sys.exit(f"{self.log.name}: the checkout does not build")

    def call(self, *command):
        self.log.flush()
        words = [str(word) for word in command]
        return subprocess.run(words, stdout=self.log, stderr=subprocess.STDOUT).returncode == 0

    def tests(self):
        """Of each test: its program's target (none for scripts), and its folder of tests/."""
        listing = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"],
                                 stdout=subprocess.PIPE, check=True)
        tests = {}
        for test in json.loads(listing.stdout)["tests"]:
            properties = {p["name"]: p["value"] for p in test.get("properties", [])}
            folder = Path(properties["WORKING_DIRECTORY"]).name
            program = next((Path(word) for word in test["command"] if str(self.build) in word), None)
            if program and "source" not in properties.get("LABELS", []):
                tests[test["name"]] = (program.name, folder)
        return tests

    def check_sound(self, name, tests):
        """A test that fails anyway sees nothing."""
        if name not in self.sound and self.run_tests([name], tests) != "":
            sys.exit(f"{name} fails without a fault")
        self.sound.add(name)

    def run_tests(self, names, tests):
        """The name of a test that fails, '' when none does, None when a program cannot be built."""
        targets = {tests[n][0] for n in names}
        if any(tests[n][1] == "program" for n in names):
            targets.add("orrery")  # those tests run it
        if not self.call("ninja", "-C", self.build, "-j", self.jobs, *sorted(targets)):
            return None
        failed = self.build / "Testing/Temporary/LastTestsFailed.log"
        failed.unlink(missing_ok=True)
        pattern = "^(" + "|".join(map(re.escape, sorted(names))) + ")$"
        if self.call("ctest", "--test-dir", self.build, "-j", self.jobs, "--timeout", TEST_SECONDS,
                     "--stop-on-failure", "--output-on-failure", "-R", pattern):
            return ""
        return failed.read_text().split("\n")[0].split(":")[-1] if failed.exists() else "?"


def plant(tree, fault, groups, tests):
    """groups: lists of tests; the next is built and run where all of the last have passed."""
    path = tree.source / fault.file
    whole = path.read_text()
    path.write_text(whole.replace(fault.text, fault.into))
    try:
        for names in groups:
            killer = tree.run_tests(names, tests)
            if killer != "":
                return killer
        return ""
    finally:
        path.write_text(whole)


def read_results(path):
    results = {}
    if path.exists():
        for line in path.read_text().splitlines()[1:]:
            row = dict(zip(COLUMNS, line.split("\t")))
            results[row["name"], row["digest"]] = row
    return results


def run(faults, options):
    folder = Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.tsv"
    tree, results = Tree(folder, options.jobs), read_results(path)
    tests, begin = tree.tests(), time.time()
    if not path.exists():
        path.write_text("\t".join(COLUMNS) + "\n")
    for whole in ([False, True] if options.whole else [False]):
        for fault in faults:
            before = results.get((fault.name, fault.digest), {}).get("result")
            repeat = options.again and before and "survived" in before
            wanted = before == "survived" if whole else before is None or repeat
            if not wanted or not re.search(options.only, fault.name) or fault.problem():
                continue
            if time.time() - begin > options.seconds:
                return
            parts = fault.tests.split("|")
            groups = [[name for name in tests if re.search(f"^{part}", name)] for part in parts]
            if not all(groups):
                sys.exit(f"{fault.name}: {fault.tests}: a test that does not exist")
            if whole:
                likely = sum(groups, [])
                groups = [[n for n in tests if tests[n][1] in ROOMS[fault.room] and n not in likely]]
            start = time.time()
            killer = plant(tree, fault, groups, tests)
            if killer in tests:
                tree.check_sound(killer, tests)
            result = ("not built" if killer is None else "killed" if killer
                      else "survived the room" if whole else "survived")
            row = dict(zip(COLUMNS, (fault.name, fault.digest, result, killer or "-",
                                     f"{time.time() - start:.0f}")))
            results[fault.name, fault.digest] = row
            with open(path, "a") as file:
                file.write("\t".join(row.values()) + "\n")
            print(f"{fault.name}: {result} {killer or ''} ({row['seconds']} s)", flush=True)


def print_table(faults, folder):
    results = read_results(Path(folder) / "results.tsv")
    rows = [(fault, results.get((fault.name, fault.digest))) for fault in faults]
    print("| room | planted | run | killed |\n|---|---|---|---|")
    for room in [*ROOMS, ""]:
        here = [row for fault, row in rows if fault.file.startswith(room)]
        done = [row for row in here if row and row["result"] != "not built"]
        killed = sum(row["result"] == "killed" for row in done)
        print(f"| {room or 'all'} | {len(here)} | {len(done)} | {killed} |")
    print("\n| fault | breaks | seen by |\n|---|---|---|")
    for fault, row in rows:
        seen = "not run" if not row else row["test"] if row["result"] == "killed" else row["result"]
        if row and "survived" in row["result"] and fault.unseen:
            seen += ": " + fault.unseen
        print(f"| {fault.name} | {fault.breaks} | {seen} |")


def main():
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    runner = commands.add_parser("run")
    runner.add_argument("folder")
    runner.add_argument("-j", dest="jobs", type=int, default=2)
    runner.add_argument("--only", default="")
    runner.add_argument("--again", action="store_true")
    runner.add_argument("--whole", action="store_true")
    runner.add_argument("--seconds", type=float, default=1e9)
    commands.add_parser("table").add_argument("folder")
    options = parser.parse_args()
    faults = read_tables()
    if options.command == "check":
        sys.exit(0 if check(faults) else 1)
    if options.command == "table":
        print_table(faults, options.folder)
    else:
        run(faults, options)


if __name__ == "__main__":
    main()
