#!/usr/bin/env python3
"""Compares what MuJoCo's schema knows with what our importer says about it.

    pip install mujoco
    tests/golden/check_schema.py build/release/samples/orrery

Puts every attribute of every element of the schema into a small model of its own and lists what the importer
answers: `known` (it reads the attribute, whatever it says about its value), `refused` (it names it and says
that it is not supported), and what must not be: `unknown` (the importer has never heard of it). Elements that
are refused as a whole are listed once. Exits with 1 when anything is unknown, or when an attribute that
MuJoCo does not know is accepted.
"""
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

import mujoco

# elements that the importer refuses by name, with all that stands in them
REFUSED = {"plugin", "flexcomp", "flex", "flexvert", "flexstrain", "deformable"}


def schema():
    """(path of elements, attributes) of mj_printSchema: three spaces per level, '(world)body' means both."""
    found, stack, attributes = [], [], None
    for line in mujoco.mj_printSchema(False, False).splitlines():
        head = line[:27]
        name = re.match(r"( *)([\w()]+) \([!?*R]\)", head)
        if name:
            depth = len(name.group(1)) // 3
            stack = stack[:depth] + [name.group(2)]
            attributes = []
            found.append((tuple(stack), attributes))
        if attributes is not None:
            attributes += line[len(name.group(0)) if name else 0:].split()
    return found


def document(path, text):
    path = ["worldbody" if p == "(world)body" else p for p in path]
    if path[:2] == ["mujoco", "worldbody"] and \
            (len(path) == 2 or path[2] in ("inertial", "joint", "freejoint")):
        path = ["mujoco", "worldbody", "body"] + path[2:]
    opening = "".join("<%s>" % p for p in path[:-1])
    closing = "".join("</%s>" % p for p in reversed(path[:-1]))
    return "%s<%s %s/>%s" % (opening, path[-1], text, closing)


def ask(job):
    program, path, attribute = job
    text = document(path, '%s="1"' % attribute if attribute else "")
    if path == ("mujoco",):
        text = '<mujoco %s="1"/>' % attribute
    with tempfile.NamedTemporaryFile("w", suffix=".xml", delete=False) as file:
        file.write(text)
    answer = subprocess.run([program, "info", file.name], capture_output=True, text=True)
    os.unlink(file.name)
    words = answer.stderr + answer.stdout
    if "unknown attribute '%s'" % attribute in words or "unknown element" in words:
        return job, "unknown"
    if "is not supported" in words:
        return job, "refused"
    return job, "known"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    jobs = []
    for path, attributes in schema():
        whole = REFUSED.intersection(path)
        names = [None] if whole else attributes + ["no_such_attribute"]
        names += [] if whole else [a for a in ("name", "class") if a not in attributes]
        jobs += [(sys.argv[1], path, a) for a in names]
    answers = collections.defaultdict(list)
    expected = {(path, a) for path, attributes in schema() for a in attributes}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (_, path, attribute), answer in pool.map(ask, jobs):
            if attribute and (path, attribute) not in expected:
                answer = "accepted though MuJoCo does not know it" if answer == "known" else None
            if answer:
                answers[answer, path].append(attribute or "(all of it)")
    wrong = 0
    for (answer, path), names in sorted(answers.items()):
        if answer != "known":
            print("%s: %s: %s" % (answer, "/".join(path[1:]), " ".join(names)))
            wrong += answer != "refused"
    known = sum(len(names) for (answer, _), names in answers.items() if answer == "known")
    print("%d attributes of %d elements known" % (known, len({p for (a, p) in answers if a == "known"})))
    sys.exit(1 if wrong else 0)


main()
