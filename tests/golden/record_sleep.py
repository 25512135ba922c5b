#!/usr/bin/env python3
"""Records which trees MuJoCo puts to sleep and wakes, for tests/physics/test_sleep.c.

    pip install mujoco numpy

    tests/golden/record_sleep.py [--out FOLDER] [NAME...]   (options: recording.py)

For each model in tests/golden/sleep a file of little-endian doubles there:
    nq nv ntree steps events every
    tree_sleep_policy (ntree), dof_length (nv)
    per event:  the step before which a number is set, which quantity (QUANTITIES), its index, the number
    per step:   tree_asleep after it (ntree): of those that sleep the lowest tree that sleeps with them
    per `every` steps, the first one included: qpos after it
"""
import mujoco
import numpy as np

import recording

EVERY = 10
QUANTITIES = ["qpos", "qvel", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "ctrl"]

# NAME: (steps, events: (step, quantity, index, number))
SCENES = {
    "stack": (1000, [(0, "qvel", 18, 2.0), (0, "qvel", 22, 2.0 / 0.15)]),
    "piles": (600, []),
    "many": (400, [(0, "qvel", 216, 1.5), (0, "qvel", 220, 1.5 / 0.05)]),
    "creep": (60, [(20, "qvel", 6, 5e-4)]),
    "init": (500, []),
    "actuator": (900, [(200, "ctrl", 0, 5.0), (700, "ctrl", 0, -2.0)]),
    "equality": (
        900,
        [
            (100, "eq_active", 0, 1.0),
            (250, "eq_active", 0, 0.0),
            (300, "eq_active", 1, 1.0),
            (450, "eq_active", 1, 0.0),
            (500, "eq_active", 2, 1.0),
            (550, "eq_active", 2, 0.0),
            (600, "eq_active", 4, 1.0),
            (650, "eq_active", 4, 0.0),
            (700, "eq_active", 3, 1.0),
            (750, "mocap_pos", 0, 5.1),
        ],
    ),
    "tendon": (2000, [(0, "qvel", 1, 0.5)]),
    "mocap": (450, [(60 + k, "mocap_pos", 0, -1 + 0.004 * k) for k in range(240)]),
    "sticky": (
        600,
        [(300, "qvel", 0, 0.3), (400, "qvel", 30, -0.5), (450, "xfrc_applied", 6 * 2 + 2, -60.0)],
    ),
    "touch": (
        1500,
        [
            (0, "qvel", 14, 0.3),
            (0, "qvel", 16, 0.2),
            (400, "qpos", 0, 0.001),
            (600, "qvel", 7, 0.01),
            (700, "xfrc_applied", 6 * 2 + 1, 0.5),
            (750, "xfrc_applied", 6 * 2 + 1, 0.0),
            (900, "qfrc_applied", 8, 0.01),
            (950, "qfrc_applied", 8, 0.0),
            (1200, "qvel", 16, 0.1),
        ],
    ),
}


def lowest(asleep):
    """Cycles of trees that sleep together, as the lowest of each."""
    found = asleep.astype(float)
    for tree in np.flatnonzero(asleep >= 0):
        at, least = int(asleep[tree]), int(tree)
        while at != tree:
            least, at = min(least, at), int(asleep[at])
        found[tree] = least
    return found


def record(path):
    model = recording.exact_model(path)
    data = mujoco.MjData(model)
    steps, events = SCENES[path.stem]
    numbers = [np.array([model.nq, model.nv, model.ntree, steps, len(events), EVERY], dtype=float)]
    numbers += [model.tree_sleep_policy.astype(float), model.dof_length]
    numbers += [np.array([s, QUANTITIES.index(q), i, x], dtype=float) for s, q, i, x in events]
    asleep, qpos = [lowest(data.tree_asleep)], []
    for step in range(steps):
        for s, quantity, index, number in events:
            if s == step:
                getattr(data, quantity).reshape(-1)[index] = number
        mujoco.mj_step(model, data)
        asleep.append(lowest(data.tree_asleep))
        if step % EVERY == 0:
            qpos.append(data.qpos.copy())
    numbers += asleep + qpos
    return np.concatenate(numbers).astype("<f8").tobytes()


def main():
    session = recording.Recording(__doc__)
    for path in sorted((recording.HERE / "sleep").glob("*.xml")):
        session.write(f"sleep/{path.stem}.f64", path, record)
    session.finish()


main()
