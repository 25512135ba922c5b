#!/usr/bin/env python3
"""Records MuJoCo's contacts of what is about to touch (the flag `speculative`) for
tests/physics/test_speculative.c: pip install mujoco numpy

    tests/golden/record_speculative.py [--out FOLDER] [NAME...]   (options: recording.py)

For each model in tests/golden/speculative a file of little-endian doubles:
    nq nv states
    per state: qpos qvel qacc, contacts, per contact geom1 geom2 distance, position, normal
All is thrown near the origin, and what is no declared pair passes through each other: which corners of a cap
touch depends on rounding.
"""
import mujoco
import numpy as np

import recording

STATES = 16


def direction(random):
    v = random.normal(size=3)
    return v / np.linalg.norm(v)


def throw_pair(data, first, second, random):
    """Two bodies that meet about half-way through the step, spinning or not."""
    along, speed, spin = direction(random), random.uniform(30, 200), random.choice([0, 5, 30, 100])
    apart = along * (speed * 0.01 * random.uniform(0.2, 0.8) + 0.1) + random.normal(size=3) * 0.05
    for body, place, velocity in ((first, 0 * apart, 0.3 * speed * along),
                                  (second, apart, -0.7 * speed * along + random.normal(size=3) * 5)):
        data.qpos[7 * body:7 * body + 7] = [*place, *random.normal(size=4)]
        data.qvel[6 * body:6 * body + 6] = [*velocity, *random.normal(size=3) * spin]


def throw_down(data, body, random):
    data.qpos[7 * body:7 * body + 7] = [0, 0, random.uniform(0.15, 1), *random.normal(size=4)]
    data.qvel[6 * body:6 * body + 6] = [*random.normal(size=2) * 30, -random.uniform(20, 200),
                                        *random.normal(size=3) * random.choice([0, 5, 30, 100])]


def throw_across(data, random):
    data.qpos[:] += random.normal(size=14) * ([0.1, 0.05, 0.05, 0, 0, 0, 0] * 2)
    data.qvel[0], data.qvel[6] = random.uniform(-20, 150), random.uniform(-150, 20)


def record(path):
    model = recording.exact_model(path)
    data, random = mujoco.MjData(model), np.random.default_rng(9)
    numbers = [[model.nq, model.nv, STATES]]
    for _ in range(STATES):
        mujoco.mj_resetData(model, data)
        for i in range(model.npair):
            bodies = [model.geom_bodyid[g[i]] - 1 for g in (model.pair_geom1, model.pair_geom2)]
            if min(bodies) < 0:
                throw_down(data, max(bodies), random)
            else:
                throw_pair(data, min(bodies), max(bodies), random)
        if not model.npair:
            throw_across(data, random)
        mujoco.mj_normalizeQuat(model, data.qpos)
        mujoco.mj_forward(model, data)
        numbers += [data.qpos.copy(), data.qvel.copy(), data.qacc.copy(), [data.ncon]]
        numbers += [[*c.geom, c.dist, *c.pos, *c.frame[:3]] for c in data.contact]
    return np.concatenate([np.ravel(n) for n in numbers]).astype("<f8").tobytes()


def main():
    session = recording.Recording(__doc__)
    for path in sorted((recording.HERE / "speculative").glob("*.xml")):
        session.write(f"speculative/{path.stem}.f64", path, record)
    session.finish()


main()
