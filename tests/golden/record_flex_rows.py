#!/usr/bin/env python3
"""Records what MuJoCo makes of cells of soft bodies that are rows of the solver: elasticity under the
integrator discrete, and strain equalities; for tests/physics/soft/test_flex_rows.c:
pip install mujoco==4.0.0 numpy

    tests/golden/record_flex_rows.py [--out FOLDER] [NAME...]   (options: recording.py)

Writes for each model in tests/golden/flex_rows NAME.f64, a file of little-endian doubles:
    nq nv states parts steps
    per state:      qpos qvel qacc; nodes are moved by up to a tenth of a cell
    a trajectory:   qpos qvel of the start, then qpos after each part of the steps
and for those of SAVED saved/NAME.xml, as MuJoCo writes the model: its cells are held by <flexstrain>.
"""
import pathlib
import tempfile

import mujoco
import numpy as np

import recording

STATES, PARTS, STEPS = 6, 5, 200
SAVED = ("strain",)


def motion(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    random = np.random.default_rng(7)
    size = (2 * model.flex_size[0] / model.flex_cellnum[0]).min()
    numbers = [[model.nq, model.nv, STATES, PARTS, STEPS]]
    for k in range(STATES):
        mujoco.mj_resetData(model, data)
        data.qpos[:] = random.normal(size=model.nq) * size * (0.003, 0.03, 0.1)[k % 3]
        data.qvel[:] = random.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        numbers += [data.qpos.copy(), data.qvel.copy(), data.qacc.copy()]
    mujoco.mj_resetData(model, data)
    data.qpos[:] = random.normal(size=model.nq) * size * 0.02
    data.qvel[:] = random.normal(size=model.nv) * 0.2
    numbers += [data.qpos.copy(), data.qvel.copy()]
    for _ in range(PARTS):
        mujoco.mj_step(model, data, STEPS // PARTS)
        numbers.append(data.qpos.copy())
    assert np.isfinite(data.qpos).all() and abs(data.time - STEPS * model.opt.timestep) < 1e-9
    return np.concatenate(numbers).astype("<f8").tobytes()


def saved(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "saved.xml"
        mujoco.mj_saveLastXML(str(out), model)
        return out.read_bytes()


def main():
    session = recording.Recording(__doc__)
    for path in sorted((recording.HERE / "flex_rows").glob("*.xml")):
        session.write(f"flex_rows/{path.stem}.f64", path, motion)
        if path.stem in SAVED:
            session.write(f"flex_rows/saved/{path.stem}.xml", path, saved)
    session.finish()


main()
