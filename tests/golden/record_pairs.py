#!/usr/bin/env python3
"""Records the contacts that MuJoCo finds between two geoms at random poses, for
tests/physics/test_collision.c: pip install mujoco numpy

    tests/golden/record_pairs.py [--out FOLDER]   (options: recording.py)

A file of little-endian doubles, tests/golden/pairs.f64:
    rows columns of a height field, its four sizes, its samples
    per pose:   type1 type2 margin; of each geom size (3), position (3), rotation (9, row-major)
                contacts, per contact: distance, position, normal from the first geom to the second
Boxes in height fields without a margin are left out: MuJoCo's search stops early (docs/robots.md). Then
follow twelve poses of boxes that are closer than the margin at a corner, where MuJoCo has no contact, and
twelve of capsules with an end beside an edge of a box, where MuJoCo counts one contact twice.
"""
import pathlib

import mujoco
import numpy as np

import recording

POSES = 12
ROWS, COLUMNS = 9, 11
GEOMS = {"sphere": "0.12", "capsule": "0.08 0.15", "ellipsoid": "0.1 0.2 0.15", "cylinder": "0.12 0.15",
         "box": "0.2 0.15 0.1"}
PAIRS = [("hfield", other) for other in GEOMS] + [
    ("sphere", "ellipsoid"), ("sphere", "box"), ("capsule", "ellipsoid"), ("capsule", "box"),
    ("ellipsoid", "ellipsoid"), ("ellipsoid", "cylinder"), ("ellipsoid", "box"), ("box", "box"),
    ("capsule", "cylinder"), ("cylinder", "cylinder"), ("cylinder", "box")]


def geom(kind):
    extra = 'hfield="h"' if kind == "hfield" else f'size="{GEOMS[kind]}"'
    return f'<geom type="{kind}" {extra}'


def contact(c):
    return [c.dist, *c.pos, *c.frame[:3]]


def whole_cap(model, data):
    """Does a cylinder stand on its whole cap? Of the sixteen corners any four at right angles are as good."""
    for i in range(2):
        if model.geom_type[i] == mujoco.mjtGeom.mjGEOM_CYLINDER and data.ncon == 4:
            at = (data.contact.pos - data.geom_xpos[i]) @ data.geom_xmat[i].reshape(3, 3)
            if np.ptp(np.linalg.norm(at[:, :2], axis=1)) < 5e-3:
                return True
    return False


def near_without_contact(model, data, margin):
    return data.ncon == 0 and 0.0 < mujoco.mj_geomDistance(model, data, 0, 1, margin, None) < 0.8 * margin


def has_twins(model, data):
    """Is one contact of a capsule counted twice, at an end from which it leads away from an edge?"""
    if data.ncon != 2 or np.abs(data.contact.pos[0] - data.contact.pos[1]).max() > 1e-12:
        return False
    turn = data.geom_xmat[1].reshape(3, 3)
    axis = data.geom_xmat[0].reshape(3, 3)[:, 2] @ turn
    middle = (data.geom_xpos[0] - data.geom_xpos[1]) @ turn
    for away in (axis, -axis):
        end = middle - away * model.geom_size[0, 1]
        out = np.abs(end) > model.geom_size[1]
        if out.sum() == 2 and (away * end > 0.0)[out].all():
            return True
    return False


def record_pair(kinds, margin, samples, random, apart=False, twins=False):
    model = recording.exact(mujoco.MjModel.from_xml_string(f"""<mujoco>
        <asset><hfield name="h" nrow="{ROWS}" ncol="{COLUMNS}" size="1 0.8 0.3 0.2"/></asset><worldbody>
        <body mocap="true">{geom(kinds[0])} margin="{margin}"/></body>
        <body><freejoint/>{geom(kinds[1])}/></body></worldbody></mujoco>"""))
    model.hfield_data[:] = samples.ravel()
    data, numbers = mujoco.MjData(model), []
    while len(numbers) < POSES:
        data.qpos[:] = random.normal(size=7) * 0.2
        if kinds[0] == "hfield":
            data.qpos[:3] = random.uniform([-0.7, -0.6, -0.1], [0.7, 0.6, 0.4])
        else:
            data.mocap_quat[0] = random.normal(size=4)
        if len(numbers) % 3 == 0:  # nearly parallel
            data.mocap_quat[0], data.qpos[3:] = [1, 0, 0, 0], [1, *random.normal(size=3) * 1e-2]
        data.qpos[3:] /= np.linalg.norm(data.qpos[3:])
        mujoco.mj_fwdPosition(model, data)
        if apart:
            if not near_without_contact(model, data, margin):
                continue
        elif twins and not has_twins(model, data):
            continue
        elif data.ncon in (0, 50) or whole_cap(model, data):
            continue
        numbers.append(np.concatenate(
            [model.geom_type, [margin]]
            + [x for i in range(2) for x in (model.geom_size[i], data.geom_xpos[i], data.geom_xmat[i])]
            + [[data.ncon]] + [contact(c) for c in data.contact]))
    return numbers


def record(_):
    random = np.random.default_rng(3)
    samples = random.uniform(size=(ROWS, COLUMNS)).astype(np.float32)
    numbers = [[ROWS, COLUMNS, 1.0, 0.8, 0.3, 0.2], samples.ravel()]
    for kinds in PAIRS:
        for margin in (0.0, 0.02):
            if kinds != ("hfield", "box") or margin > 0.0:
                numbers += record_pair(kinds, margin, samples, random)
    numbers += record_pair(("box", "box"), 0.05, samples, random, apart=True)
    numbers += record_pair(("capsule", "box"), 0.02, samples, random, twins=True)
    return np.concatenate(numbers).astype("<f8").tobytes()


session = recording.Recording(__doc__)
session.write("pairs.f64", pathlib.Path("pairs"), record)
session.finish()
