#!/usr/bin/env python3
"""Records MuJoCo's plugins mujoco.sdf for tests/physics/test_functions.c: pip install mujoco numpy

    tests/golden/record_functions.py [--out FOLDER]   (options: recording.py)

A file of little-endian doubles for each of these:
    functions/meshes.f64     of each mesh of models/functions.xml: vertices, triangles, then sums of the
                             vertices' numbers and of the triangles' indices, weighted by 1 + i mod 97
    functions/contacts.f64   kinds of pairs; per pose: the kind, qpos of the second body, contacts, and per
                             contact distance, position, normal. The kinds are those of functions/pairs.xml
    functions/NAME.f64       the states (qpos, qvel) of functions/NAME.xml 0, 0.1 ... 1 s from its start
"""
import glob
import pathlib

import mujoco
import numpy as np

import recording

FOLDER = recording.HERE / "functions"
POSES = 8
for library in glob.glob(str(pathlib.Path(mujoco.__file__).parent / "plugin" / "*sdf*")):
    mujoco.mj_loadPluginLibrary(library)


def model_of(path):
    return mujoco.MjModel.from_xml_path(str(path))


def bytes_of(numbers):
    return np.concatenate([np.ravel(n) for n in numbers]).astype("<f8").tobytes()


def weighted(array):
    flat = np.asarray(array, dtype=float).ravel()
    return (flat * (1 + np.arange(flat.size) % 97)).sum()


def meshes(path):
    m, numbers = model_of(path), []
    for i in range(m.nmesh):
        v, f = m.mesh_vertadr[i], m.mesh_faceadr[i]
        numbers += [m.mesh_vertnum[i], m.mesh_facenum[i], weighted(m.mesh_vert[v:v + m.mesh_vertnum[i]]),
                    weighted(m.mesh_face[f:f + m.mesh_facenum[i]])]
    return bytes_of([numbers])


# Body i of pairs.xml has one geom; pair k of its <contact> is of a body that stays and of one that moves.
def contacts(path):
    m = model_of(path)
    d, random, numbers = mujoco.MjData(m), np.random.default_rng(5), [[m.npair]]
    for k in range(m.npair):
        body = m.geom_bodyid[m.pair_geom2[k]]
        at, found = m.jnt_qposadr[m.body_jntadr[body]], 0
        centre = m.geom_pos[m.pair_geom1[k]] + m.body_pos[m.geom_bodyid[m.pair_geom1[k]]]
        while found < POSES:
            mujoco.mj_resetData(m, d)
            d.qpos[at:at + 3] = centre + random.uniform(-1, 1, 3)
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
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    numbers = [d.qpos.copy(), d.qvel.copy()]
    for _ in range(10):
        mujoco.mj_step(m, d, round(0.1 / m.opt.timestep))
        numbers += [d.qpos.copy(), d.qvel.copy()]
    return bytes_of(numbers)


session = recording.Recording(__doc__)
session.write("functions/meshes.f64", recording.HERE / "models" / "functions.xml", meshes)
session.write("functions/contacts.f64", FOLDER / "pairs.xml", contacts)
for name in "nutbolt", "bowl", "gears":
    session.write(f"functions/{name}.f64", FOLDER / f"{name}.xml", states)
session.finish()
