#!/usr/bin/env python3
"""Records what MuJoCo makes of soft bodies that nodes move, for tests/physics/soft/test_flex_nodes.c and
tests/engine/test_flex_surface.c: pip install mujoco==4.0.0 numpy

    tests/golden/record_flex_nodes.py [--out FOLDER] [NAME...]   (options: recording.py)

Writes for each model in tests/golden/flex_nodes NAME.txt, the names of its bodies in their order, a line for
each, and NAME.f64, a file of little-endian doubles:
    nq nv nbody states parts steps
    per body:       mass, pos (3), inertia (3)
    per state:      qpos qvel qfrc_spring qfrc_damper; nodes are moved by up to a third of a cell
    a trajectory:   qpos qvel of the start, then qpos after each part of the steps
NAME_points.f64:
    nq nv vertices states
    per state:      qpos qvel flexvert_xpos (vertices x 3), velocities of the vertices (likewise)
and for those of SAVED saved/NAME.xml, as MuJoCo writes the model: nodes are bodies, the soft body a <flex>.
"""
import pathlib
import tempfile

import mujoco
import numpy as np

import recording

STATES, PARTS, STEPS = 12, 10, 500
POINT_STATES = 3
SAVED = "beam", "block"


def names(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    return "".join(model.body(i).name + "\n" for i in range(model.nbody)).encode()


def motion(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    random = np.random.default_rng(5)
    size = (2 * model.flex_size[0] / model.flex_cellnum[0]).min()
    numbers = [[model.nq, model.nv, model.nbody, STATES, PARTS, STEPS]]
    for i in range(model.nbody):
        numbers += [[model.body_mass[i]], model.body_pos[i], model.body_inertia[i]]
    for k in range(STATES):
        mujoco.mj_resetData(model, data)
        data.qpos[:] = random.normal(size=model.nq) * size * (0.003, 0.03, 0.12)[k % 3]
        data.qvel[:] = random.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        numbers += [data.qpos.copy(), data.qvel.copy(), data.qfrc_spring.copy(), data.qfrc_damper.copy()]
    mujoco.mj_resetData(model, data)
    data.qpos[:] = random.normal(size=model.nq) * size * 0.02
    data.qvel[:] = random.normal(size=model.nv) * 0.2
    for node, body in enumerate(model.flex_nodebodyid):  # it turns
        dof = model.body_dofadr[body]
        if dof >= 0 and model.body_jntnum[body] == 3:
            at = model.flex_node0[node] - model.flex_node0.mean(axis=0)
            data.qvel[dof : dof + 3] += np.cross((1.0, -2.0, 3.0), at)
    numbers += [data.qpos.copy(), data.qvel.copy()]
    for _ in range(PARTS):
        mujoco.mj_step(model, data, STEPS // PARTS)
        numbers.append(data.qpos.copy())
    assert np.isfinite(data.qpos).all() and abs(data.time - STEPS * model.opt.timestep) < 1e-9
    return np.concatenate(numbers).astype("<f8").tobytes()


def points(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    random = np.random.default_rng(6)
    size = (2 * model.flex_size[0] / model.flex_cellnum[0]).min()
    numbers = [[model.nq, model.nv, model.nflexvert, POINT_STATES]]
    for _ in range(POINT_STATES):
        qpos, qvel = random.normal(size=model.nq) * 0.12 * size, random.normal(size=model.nv)
        at = []
        for coordinates in (qpos, qpos + qvel):  # points are linear in the slides of nodes
            data.qpos[:] = coordinates
            mujoco.mj_forward(model, data)
            at.append(data.flexvert_xpos.ravel().copy())
        numbers += [qpos, qvel, at[0], at[1] - at[0]]
    return np.concatenate(numbers).astype("<f8").tobytes()


def saved(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "saved.xml"
        mujoco.mj_saveLastXML(str(out), model)
        return out.read_bytes()


def main():
    session = recording.Recording(__doc__)
    for path in sorted((recording.HERE / "flex_nodes").glob("*.xml")):
        session.write(f"flex_nodes/{path.stem}.f64", path, motion)
        session.write(f"flex_nodes/{path.stem}.txt", path, names)
        session.write(f"flex_nodes/{path.stem}_points.f64", path, points)
        if path.stem in SAVED:
            session.write(f"flex_nodes/saved/{path.stem}.xml", path, saved)
    session.finish()


main()
