#!/usr/bin/env python3
"""Records what MuJoCo's sensors with delays and intervals, and touch grids, give in each step, for
tests/physics/test_sensors.c:
pip install mujoco numpy

    tests/golden/record_delays.py [--out FOLDER] [NAME...]   (options: recording.py)

For each model in tests/golden/delays, a file of little-endian doubles there:
    nq nv nu nsensordata steps
    the start:       qpos qvel
    per step:        ctrl meanwhile, qpos after, sensordata of the step's beginning, sensordata of its end
"""
import copy

import mujoco
import numpy as np

import recording

STEPS = 100


def record(path):
    model = recording.exact_model(path)
    data = mujoco.MjData(model)
    random = np.random.default_rng(5)
    data.qvel[:] = random.normal(size=model.nv)
    numbers = [[model.nq, model.nv, model.nu, model.nsensordata, STEPS], data.qpos.copy(), data.qvel.copy()]
    for _ in range(STEPS):
        data.ctrl[:] = random.uniform(-1, 1, size=model.nu)
        mujoco.mj_step(model, data)
        after = copy.copy(data)
        mujoco.mj_forward(model, after)
        numbers += [data.ctrl.copy(), data.qpos.copy(), data.sensordata.copy(), after.sensordata.copy()]
    return np.concatenate(numbers).astype("<f8").tobytes()


def main():
    session = recording.Recording(__doc__)
    for path in sorted((recording.HERE / "delays").glob("*.xml")):
        session.write(f"delays/{path.stem}.f64", path, record)
    session.finish()


main()
