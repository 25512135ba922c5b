#!/usr/bin/env python3
"""Lists what differs between two folders of recordings (record_*.py --out), for instance of two versions of
MuJoCo.

    tests/golden/compare_records.py OLD NEW

One line for each file and quantity: the largest difference, relative to the largest number of the quantity in
that file (or to 1, if all are smaller). Differences below 1e-6 are left out, as the tests' tolerances are.
"""
import pathlib
import sys

import numpy as np

THRESHOLD = 1e-6


def model_arrays(path):
    """{name: numbers} of a record of record_models.py."""
    arrays, name, row = {}, None, []
    for line in path.read_text().splitlines():
        words = line.split()
        if line.startswith("#") or not words:
            continue
        if words[0] == "=":
            arrays[name] += row
        elif words[0] == "texture":
            name = " ".join(words)
            arrays[name] = []
        elif words[0][0].isalpha():
            name = words[0]
            arrays[name] = [] if "x" in line.split(" ", 1)[-1] else [float(w) for w in words[1:]]
        else:
            row = [float(w) for w in words]
            arrays[name] += row
    return arrays


class Numbers:
    """Doubles read from the front, collected by name."""
    def __init__(self, path):
        self.numbers, self.next, self.arrays = np.fromfile(path, "<f8"), 0, {}

    def take(self, name, count):
        taken = self.numbers[self.next:self.next + count]
        self.next += count
        self.arrays.setdefault(name, []).extend(taken)
        return taken


def dynamics_arrays(path):
    file = Numbers(path)
    nq, nv, na, nu, states, _ = map(int, file.take("sizes", 6))
    for _ in range(states):
        for name, count in ("qpos", nq), ("qvel", nv), ("act", na), ("ctrl", nu), ("qacc", nv), ("nefc", 1):
            file.take(name, count)
    file.take("start", nq + nv + na)
    for _ in range(10):
        for name, count in ("ctrl", nu), ("trajectory qpos", nq), ("trajectory qvel", nv):
            file.take(name, count)
    return file.arrays


def sensor_arrays(path):
    file = Numbers(path)
    nq, nv, na, nu, nbody, nsensordata, states = map(int, file.take("sizes", 7))
    for _ in range(states):
        for name, count in (("time", 1), ("qpos", nq), ("qvel", nv), ("act", na), ("ctrl", nu),
                            ("xfrc", 6 * nbody), ("qacc", nv)):
            file.take(name, count)
        contacts = int(file.take("nefc ncon", 2)[1])
        for _ in range(contacts):
            for name, count in (("contact geoms and dim", 3), ("contact dist", 1), ("contact pos", 3),
                                ("contact frame", 9), ("contact force", 6)):
                file.take(name, count)
        for name, count in (("cinert", 10 * nbody), ("cvel", 6 * nbody), ("cacc", 6 * nbody),
                            ("cfrc_ext", 6 * nbody), ("cfrc_int", 6 * nbody), ("subtree_linvel", 3 * nbody),
                            ("subtree_angmom", 3 * nbody), ("qfrc_actuator", nv), ("energy", 2),
                            ("jacobian", 6 * nv), ("sensordata", nsensordata), ("qfrc_inverse", nv)):
            file.take(name, count)
    return file.arrays


def difference(old, new):
    old, new = np.array(old), np.array(new)
    if old.shape != new.shape:
        return f"{len(old)} numbers, then {len(new)}"
    if not old.size:
        return None
    worst = np.abs(old - new)
    at = int(np.argmax(worst))
    relative = worst[at] / max(1.0, np.abs(old).max())
    if relative < THRESHOLD:
        return None
    changed = int((worst > THRESHOLD).sum())
    return f"{relative:.1e} at [{at}]: {old[at]:.9g}, then {new[at]:.9g}; {changed} of {old.size} numbers"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    old_folder, new_folder = map(pathlib.Path, sys.argv[1:])
    for new_file in sorted([*new_folder.rglob("*.txt"), *new_folder.rglob("*.f64")]):
        name = new_file.relative_to(new_folder)
        if not (old_folder / name).exists():
            print(f"{name}: new")
            continue
        read = {"dynamics": dynamics_arrays, "sensors": sensor_arrays}.get(name.parts[0], model_arrays)
        old, new = read(old_folder / name), read(new_file)
        for array in sorted(set(old) | set(new)):
            text = difference(old.get(array, []), new.get(array, []))
            if text:
                print(f"{name}: {array}: {text}")


main()
