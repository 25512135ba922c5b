#!/usr/bin/env python3
"""Records what MuJoCo makes of cables, for tests/physics/test_cables.c: pip install mujoco==3.12.0 numpy

    tests/golden/record_cables.py [--out FOLDER] [NAME...]   (options: recording.py)

Later versions of MuJoCo have neither composites nor the plugin mujoco.elasticity.cable. Writes
tests/golden/cables/names.txt, the names of tests/golden/models/cables.xml, a line for each: kind, id, name;
and for each model in tests/golden/cables, a file of little-endian doubles there:
    nq nv states parts steps
    per state:      qpos qvel qfrc_passive; joints turned by up to several rad
    a trajectory:   qpos qvel of the start, then qpos after each part of the steps
"""
import mujoco
import numpy as np

import recording

STATES, PARTS, STEPS = 60, 10, 400
KINDS = {"body": "nbody", "joint": "njnt", "geom": "ngeom", "site": "nsite", "text": "ntext"}


def names(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    lines = []
    for kind, size in KINDS.items():
        number = getattr(mujoco.mjtObj, "mjOBJ_" + kind.upper())
        for i in range(getattr(model, size)):
            lines.append("%s %d %s" % (kind, i, mujoco.mj_id2name(model, number, i) or ""))
    return ("\n".join(lines) + "\n").encode()


def motion(path):
    model = recording.exact_model(path)
    data = mujoco.MjData(model)
    random = np.random.default_rng(11)
    numbers = [[model.nq, model.nv, STATES, PARTS, STEPS]]
    for k in range(STATES):
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, random.normal(size=model.nv) * (0.03, 0.3, 2.0)[k % 3], 1.0)
        data.qvel[:] = random.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        numbers += [data.qpos.copy(), data.qvel.copy(), data.qfrc_passive.copy()]
    mujoco.mj_resetData(model, data)
    mujoco.mj_integratePos(model, data.qpos, random.normal(size=model.nv) * 0.1, 1.0)
    data.qvel[:] = random.normal(size=model.nv) * 0.1
    numbers += [data.qpos.copy(), data.qvel.copy()]
    for _ in range(PARTS):
        mujoco.mj_step(model, data, STEPS // PARTS)
        numbers.append(data.qpos.copy())
    return np.concatenate(numbers).astype("<f8").tobytes()


def main():
    session = recording.Recording(__doc__)
    for path in sorted((recording.HERE / "cables").glob("*.xml")):
        session.write(f"cables/{path.stem}.f64", path, motion)
    session.write("cables/names.txt", recording.HERE / "models" / "cables.xml", names)
    session.finish()


main()
