#!/usr/bin/env python3
"""Records what MuJoCo computes from a state besides its acceleration, for tests/physics/test_sensors.c:
pip install mujoco numpy

    tests/golden/record_sensors.py [--robots FOLDER] [--out FOLDER] [NAME...]   (options: recording.py)

For each robot, the models of tests/golden/dynamics named below and each model in tests/golden/sensors, a file
of little-endian doubles in tests/golden/sensors:
    nq nv na nu nbody nsensordata states
    per state:   time qpos qvel act ctrl xfrc_applied qacc, nefc, ncon
                 per contact: geom1 geom2 dim dist pos frame force (mj_contactForce)
                 cinert cvel cacc cfrc_ext cfrc_int subtree_linvel subtree_angmom qfrc_actuator energy
                 jacp jacr (mj_jac of a point of the last body) sensordata, qfrc_inverse
"""
import glob
import pathlib

import mujoco
import numpy as np

import recording

for library in glob.glob(str(pathlib.Path(mujoco.__file__).parent / "plugin" / "*sdf*")):
    mujoco.mj_loadPluginLibrary(library)

STATES = 12
DYNAMICS = ["contacts_elliptic", "contacts_pyramidal", "contacts_sticky_elliptic",
            "contacts_sticky_pyramidal", "equalities", "orientation_servos"]
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


def record(path):
    model = recording.exact_model(path)
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
    return np.concatenate(numbers).astype("<f8").tobytes()


def main():
    session = recording.Recording(__doc__)
    # Pusher's cylinders touch along lines, on which contact points are not unique; point's sphere touches the
    # floor exactly, so that rounding decides whether there is a contact.
    robots = [path for path in session.robots() if not path.stem.startswith(("pusher", "point"))]
    models = [recording.HERE / "dynamics" / f"{name}.xml" for name in DYNAMICS]
    for path in robots + models + sorted((recording.HERE / "sensors").glob("*.xml")):
        session.write(f"sensors/{path.stem}.f64", path, record)
    session.finish()


main()
