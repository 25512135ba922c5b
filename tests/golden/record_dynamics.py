#!/usr/bin/env python3
"""Records what MuJoCo computes, for tests/physics/test_dynamics.c.

    pip install mujoco==3.12.0 numpy
    tests/golden/record_dynamics.py ROBOTS [NAME...]    (a folder with Gymnasium's MJCF files; the models of those
                                                         names alone)

For each robot, and each model in tests/golden/dynamics, a file of little-endian doubles in tests/golden/dynamics:
    nq nv na nu states steps
    per state:       qpos qvel act ctrl qacc, nefc
    a trajectory:    qpos qvel act of the start, then per tenth of the steps: ctrl held meanwhile, qpos qvel after

MuJoCo's own iteration limits would show in its answers (the humanoids ask for PGS, which stops at 50 iterations
before it has converged), so all models are recorded with its Newton solver at a tolerance of 1e-15: the minimum that
every solver of the same convex problem must find. Convex geoms likewise collide with a tolerance of 1e-14 m, at which
the expanding polytope has found the depth and nearly its direction.
"""
import pathlib
import sys

import mujoco
import numpy as np

VERSION = "3.12.0"
STATES, STEPS, TENTHS = 100, 100, 10


def record(path, out):
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.tolerance = 1e-15
    model.opt.iterations = 200
    model.opt.ls_iterations = 100
    model.opt.ls_tolerance = 1e-6
    model.opt.ccd_tolerance = 1e-14
    model.opt.ccd_iterations = 120
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
    np.concatenate(numbers).astype("<f8").tofile(out / (path.stem + ".f64"))


def main():
    if mujoco.__version__ != VERSION:
        sys.exit(f"mujoco: expected {VERSION}, not {mujoco.__version__}")
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    here = pathlib.Path(__file__).parent
    out = here / "dynamics"
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.xml")) + sorted(out.glob("*.xml")):
        if len(sys.argv) == 2 or path.stem in sys.argv[2:]:
            record(path, out)


main()
