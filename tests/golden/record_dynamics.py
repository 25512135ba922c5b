#!/usr/bin/env python3
"""Records what MuJoCo computes, for tests/physics/test_dynamics.c: pip install mujoco numpy

    tests/golden/record_dynamics.py [--robots FOLDER] [--out FOLDER] [NAME...]   (options: recording.py)

For each robot, and each model in tests/golden/dynamics, a file of little-endian doubles in
tests/golden/dynamics:
    nq nv na nu states steps
    per state:       qpos qvel act ctrl qacc, nefc
    a trajectory:    qpos qvel act of the start, then per tenth of the steps: ctrl meanwhile, qpos qvel after
"""
import mujoco
import numpy as np

import recording

STATES, STEPS, TENTHS = 100, 100, 10


def record(path):
    model = recording.exact_model(path)
    data = mujoco.MjData(model)
    random = np.random.default_rng(7)
    numbers = [np.array([model.nq, model.nv, model.na, model.nu, STATES, STEPS], dtype=float)]
    free = model.njnt > 0 and model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    spread = 0.03 if path.stem.startswith("contacts") else 0.2

    for k in range(STATES):
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, random.normal(size=model.nv) * spread * (0.2 + k % 2), 1.0)
        if free and path.parent.name != "dynamics":
            data.qpos[2] *= random.uniform(0.2, 1.1)  # from buried in the floor to above it
        data.qvel[:] = random.normal(size=model.nv)
        data.act[:] = random.normal(size=model.na) * 0.5
        data.ctrl[:] = random.normal(size=model.nu)
        mujoco.mj_forward(model, data)
        numbers += [data.qpos.copy(), data.qvel.copy(), data.act.copy(), data.ctrl.copy(), data.qacc.copy(),
                    np.array([float(data.nefc)])]

    mujoco.mj_resetData(model, data)
    mujoco.mj_integratePos(model, data.qpos, random.normal(size=model.nv) * 0.01, 1.0)
    data.qvel[:] = random.normal(size=model.nv) * 0.1
    numbers += [data.qpos.copy(), data.qvel.copy(), data.act.copy()]
    for _ in range(TENTHS):
        data.ctrl[:] = random.uniform(-0.3, 0.3, size=model.nu)
        mujoco.mj_step(model, data, STEPS // TENTHS)
        numbers += [data.ctrl.copy(), data.qpos.copy(), data.qvel.copy()]
    return np.concatenate(numbers).astype("<f8").tobytes()


def main():
    session = recording.Recording(__doc__)
    for path in session.robots() + sorted((recording.HERE / "dynamics").glob("*.xml")):
        session.write(f"dynamics/{path.stem}.f64", path, record)
    session.finish()


main()
