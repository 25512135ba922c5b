#!/usr/bin/env python3
"""Records the contacts that MuJoCo makes of soft bodies that nodes move, for
tests/physics/soft/test_flex_contacts.c: pip install mujoco==4.0.0 numpy

    tests/golden/record_flex_contacts.py [--out FOLDER] [NAME...]   (options: recording.py)

Writes for each model in tests/golden/flex_contacts NAME.f64, a file of little-endian doubles:
    nq nv nsensordata states parts steps
    per state:      qpos qvel contacts, then of each contact: geom, vertex or -1 - element, condim, dist,
                    pos (3), frame (9), force (6: mj_contactForce); then qfrc_constraint qacc sensordata
    a trajectory:   qpos qvel of the start, then qpos after each part of the steps
Velocities are large where contacts slide, small where they stick. qfrc_constraint is J^T times the forces,
each of which depends on its rows of J, their regularisers and reference accelerations.
"""
import mujoco
import numpy as np

import recording

STATES, PARTS, STEPS = 4, 10, 200


def lowered(model, data, random, k):
    """A state in contact: nodes are moved at random, and all of them below 0, where geoms end."""
    mujoco.mj_resetData(model, data)
    size = (2 * model.flex_size[0] / model.flex_cellnum[0]).min()
    data.qpos[:] = random.normal(size=model.nq) * size * 0.03
    for joint in np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        free = slice(model.jnt_qposadr[joint], model.jnt_qposadr[joint] + 7)
        data.qpos[free] = model.qpos0[free]
    data.qvel[:] = random.normal(size=model.nv) * (0.02, 1.0)[k % 2]
    mujoco.mj_forward(model, data)
    lowest = data.flexvert_xpos[:, 2].min() - model.flex_radius[0]
    for body in set(model.flex_nodebodyid):
        joint = model.body_jntadr[body]
        if model.body_jntnum[body] == 3 and model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE:
            axes, at = data.xmat[body].reshape(3, 3), model.jnt_qposadr[joint]
            data.qpos[at : at + 3] += axes.T @ (0, 0, -lowest - 0.01 * (1 + k % 3))
    mujoco.mj_forward(model, data)


def states(model, data, random):
    numbers = []
    for k in range(STATES):
        lowered(model, data, random, k)
        assert data.ncon and data.ne == data.nf == 0
        numbers += [data.qpos.copy(), data.qvel.copy(), [data.ncon]]
        for i, c in enumerate(data.contact):
            force = np.zeros(6)
            mujoco.mj_contactForce(model, data, i, force)
            assert c.geom[0] >= 0 and c.flex[1] >= 0 and (c.vert[1] >= 0) != (c.elem[1] >= 0)
            where = c.vert[1] if c.vert[1] >= 0 else -1 - c.elem[1]
            numbers += [[c.geom[0], where, c.dim, c.dist], c.pos.copy(), c.frame.copy(), force]
        numbers += [data.qfrc_constraint.copy(), data.qacc.copy(), data.sensordata.copy()]
    return numbers


def contacts(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    random = np.random.default_rng(7)
    numbers = [[model.nq, model.nv, model.nsensordata, STATES, PARTS, STEPS]]
    numbers += states(model, data, random)
    mujoco.mj_resetData(model, data)
    data.qvel[:] = random.normal(size=model.nv) * 0.1
    numbers += [data.qpos.copy(), data.qvel.copy()]
    touched = 0
    for _ in range(PARTS):
        for _ in range(STEPS // PARTS):
            mujoco.mj_step(model, data)
            touched += data.ncon > 0
        numbers.append(data.qpos.copy())
    assert np.isfinite(data.qpos).all() and touched > STEPS // 2, touched
    return np.concatenate([np.ravel(n) for n in numbers]).astype("<f8").tobytes()


def main():
    session = recording.Recording(__doc__)
    for path in sorted((recording.HERE / "flex_contacts").glob("*.xml")):
        session.write(f"flex_contacts/{path.stem}.f64", path, contacts)
    session.finish()


main()
