#!/usr/bin/env python3
"""Records MuJoCo's geoms of the type sdf with an octree of a mesh for tests/physics/test_octrees.c:
pip install mujoco numpy

    tests/golden/record_octrees.py [--out FOLDER]   (options: recording.py)

A file of little-endian doubles for each of these:
    octrees/trees.f64     of each mesh of octrees/pairs.xml: nodes, those of each depth 0 ... 6, the box of
                          the root, points, and per point its place and distance, some outside of the box
    octrees/contacts.f64  kinds of pairs; per pose: the kind, qpos of the second body, contacts, and per
                          contact distance, position, normal. The kinds are those of octrees/pairs.xml
    octrees/peg.f64       the states (qpos) of octrees/peg.xml at 0, 0.1 ... 1 s
"""
import mujoco
import numpy as np

import recording

FOLDER = recording.HERE / "octrees"
POSES, POINTS = 6, 200


def model_of(path):
    return mujoco.MjModel.from_xml_path(str(path))


def bytes_of(numbers):
    return np.concatenate([np.ravel(n) for n in numbers]).astype("<f8").tobytes()


def distance(m, first, p):
    """Trilinear in the leaf of the point; outside of the root of the point 1e-6 m within its sides, and the
    distance from the root besides, as MuJoCo's contacts show."""
    box = m.oct_aabb[first]
    nearest = np.clip(p, box[:3] - box[3:], box[:3] + box[3:])
    inside = nearest - 1e-6 * np.sign(p - nearest)
    node = first
    while m.oct_child[node, 0] >= 0:
        far = inside >= m.oct_aabb[node, :3]
        node = first + m.oct_child[node, far[0] + 2 * far[1] + 4 * far[2]]
    box = m.oct_aabb[node]
    share = (inside - box[:3] + box[3:]) / (2 * box[3:])
    weights = [np.prod([share[k] if i >> k & 1 else 1 - share[k] for k in range(3)]) for i in range(8)]
    return np.dot(weights, m.oct_coeff[node]) + np.linalg.norm(p - nearest)


def trees(path):
    m, random, numbers = model_of(path), np.random.default_rng(6), []
    for i in range(m.nmesh):
        first, count = m.mesh_octadr[i], m.mesh_octnum[i]
        depths = np.bincount(m.oct_depth[first:first + count], minlength=7)
        numbers += [[count], depths, m.oct_aabb[first], [POINTS]]
        for _ in range(POINTS):
            p = m.oct_aabb[first, :3] + 1.3 * random.uniform(-1, 1, 3) * m.oct_aabb[first, 3:]
            numbers += [p, [distance(m, first, p)]]
    return bytes_of(numbers)


# Body i of pairs.xml has one geom; pair k of its <contact> is of a body that stays and of one that moves.
def contacts(path):
    m = model_of(path)
    d, random, numbers = mujoco.MjData(m), np.random.default_rng(5), [[m.npair]]
    for k in range(m.npair):
        body = m.geom_bodyid[m.pair_geom2[k]]
        at, found = m.jnt_qposadr[m.body_jntadr[body]], 0
        centre = m.body_pos[m.geom_bodyid[m.pair_geom1[k]]]
        while found < POSES:
            mujoco.mj_resetData(m, d)
            d.qpos[at:at + 3] = centre + random.uniform(-.8, .8, 3)
            d.qpos[at + 3:at + 7] = random.normal(size=4)
            d.qpos[at + 3:at + 7] /= np.linalg.norm(d.qpos[at + 3:at + 7])
            mujoco.mj_fwdPosition(m, d)
            if 0 < d.ncon < 50:
                found += 1
                numbers += [[k], d.qpos[at:at + 7].copy(), [d.ncon]]
                numbers += [np.concatenate([[c.dist], c.pos, c.frame[:3]]) for c in d.contact]
    return bytes_of(numbers)


def states(path):
    m = model_of(path)
    d = mujoco.MjData(m)
    numbers = [d.qpos.copy()]
    for _ in range(10):
        mujoco.mj_step(m, d, round(0.1 / m.opt.timestep))
        numbers += [d.qpos.copy()]
    return bytes_of(numbers)


session = recording.Recording(__doc__)
session.write("octrees/trees.f64", FOLDER / "pairs.xml", trees)
session.write("octrees/contacts.f64", FOLDER / "pairs.xml", contacts)
session.write("octrees/peg.f64", FOLDER / "peg.xml", states)
session.finish()
