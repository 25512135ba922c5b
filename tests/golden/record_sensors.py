#!/usr/bin/env python3
"""Records what MuJoCo computes from a state besides its acceleration, for tests/physics/test_sensors.c.

    pip install mujoco==3.12.0 numpy
    tests/golden/record_sensors.py ROBOTS        (a folder with Gymnasium's MJCF files)

For each robot, the models of tests/golden/dynamics named below and each model in tests/golden/sensors, a file of
little-endian doubles in tests/golden/sensors:
    nq nv na nu nbody nsensordata states
    per state:   time qpos qvel act ctrl xfrc_applied qacc, nefc, ncon
                 per contact: geom1 geom2 dim dist pos frame force (mj_contactForce)
                 cinert cvel cacc cfrc_ext cfrc_int subtree_linvel subtree_angmom qfrc_actuator energy
                 jacp jacr (mj_jac of a point of the last body) sensordata, qfrc_inverse

As in record_dynamics.py the solver is Newton's at a tolerance of 1e-15, and convex geoms collide with one of 1e-14 m.
"""
import pathlib
import sys

import mujoco
import numpy as np

VERSION = "3.12.0"
STATES = 12
DYNAMICS = ["contacts_elliptic", "contacts_pyramidal", "equalities"]
POINT = np.array([0.1, -0.2, 0.3])  # in the frame of the last body


def contact(model, data, i):
    c, force = data.contact[i], np.zeros(6)
    mujoco.mj_contactForce(model, data, i, force)
    return [[c.geom[0], c.geom[1], c.dim, c.dist], c.pos, c.frame, force]


def jacobian(model, data):
    jacp, jacr = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    last = model.nbody - 1
    point = data.xpos[last] + data.xmat[last].reshape(3, 3) @ POINT
    mujoco.mj_jac(model, data, jacp, jacr, point, last)
    return [jacp.ravel(), jacr.ravel()]


def record(path, out):
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.tolerance = 1e-15
    model.opt.iterations = 200
    model.opt.ls_iterations = 100
    model.opt.ls_tolerance = 1e-6
    model.opt.ccd_tolerance = 1e-14
    model.opt.ccd_iterations = 120
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    random = np.random.default_rng(11)
    numbers = [[model.nq, model.nv, model.na, model.nu, model.nbody, model.nsensordata, STATES]]
    free = model.njnt > 0 and model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    robot = path.parent.name not in ("dynamics", "sensors")
    spread = 0.03 if path.stem.startswith("contacts") else 0.2

    for k in range(STATES):
        mujoco.mj_resetData(model, data)
        data.time = 0.01 * k
        mujoco.mj_integratePos(model, data.qpos, random.normal(size=model.nv) * spread * (0.2 + k % 2), 1.0)
        if free and robot:
            data.qpos[2] *= random.uniform(0.2, 1.1)  # from buried in the floor to above it
        data.qvel[:] = random.normal(size=model.nv)
        data.act[:] = random.normal(size=model.na) * 0.5
        data.ctrl[:] = random.normal(size=model.nu)
        data.xfrc_applied[1:] = random.normal(size=(model.nbody - 1, 6)) * (k % 3)
        mujoco.mj_forward(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        mujoco.mj_subtreeVel(model, data)
        state = [[data.time], data.qpos, data.qvel, data.act, data.ctrl, data.xfrc_applied, data.qacc,
                 [data.nefc, data.ncon]]
        for i in range(data.ncon):
            state += contact(model, data, i)
        state += [data.cinert, data.cvel, data.cacc, data.cfrc_ext, data.cfrc_int, data.subtree_linvel,
                  data.subtree_angmom, data.qfrc_actuator, data.energy]
        state += jacobian(model, data) + [data.sensordata]
        numbers += [np.array(n, dtype=float).ravel() for n in state]
        mujoco.mj_inverse(model, data)  # writes over some of the above
        numbers.append(data.qfrc_inverse.copy())
    np.concatenate(numbers).astype("<f8").tofile(out / (path.stem + ".f64"))


def main():
    if mujoco.__version__ != VERSION:
        sys.exit(f"mujoco: expected {VERSION}, not {mujoco.__version__}")
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    here = pathlib.Path(__file__).parent
    out = here / "sensors"
    # pusher needs contacts that the dynamics do not have yet; point's sphere touches the floor exactly, so that rounding
    # decides whether there is a contact
    robots = [p for p in sorted(pathlib.Path(sys.argv[1]).glob("*.xml")) if not p.stem.startswith(("pusher", "point"))]
    models = [here / "dynamics" / f"{name}.xml" for name in DYNAMICS] + sorted(out.glob("*.xml"))
    for path in robots + models:
        record(path, out)


main()
