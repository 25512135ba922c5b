#!/usr/bin/env python3
"""Records MuJoCo's soft bodies, for tests/engine/test_flexes.c: pip install mujoco numpy

    tests/golden/record_flexes.py [--out FOLDER] [NAME...]   (options: recording.py)

Writes flexes/shapes.txt for flexes/shapes.xml, what each <flexcomp> is made into:

    flex NAME DIM POINTS ELEMENTS MASS     MASS: of all points, those with pins left out [kg]
    X Y Z PINNED                           a line for each point [m], in the frame of the world
    A B C D                                a line for each element: DIM + 1 points

and flexes/NAME.txt for the other models: where the points of their soft body are after 1 s, X Y Z a line.
"""

import mujoco
import numpy

import recording


def shapes(path):
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    out = [f"# mujoco {mujoco.__version__}"]
    element_at = 0
    for i in range(m.nflex):
        first, count = m.flex_vertadr[i], m.flex_vertnum[i]
        bodies = m.flex_vertbodyid[first : first + count]
        corners = m.flex_dim[i] + 1
        elements = m.flex_elem[element_at : element_at + corners * m.flex_elemnum[i]].reshape(-1, corners)
        element_at += elements.size
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_FLEX, i)
        free = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_BODY, b).startswith(name + "_") for b in bodies]
        out.append(
            f"flex {name} {m.flex_dim[i]} {count} {len(elements)} {m.body_mass[bodies[free]].sum():.9g}"
        )
        for point, moves in zip(d.flexvert_xpos[first : first + count], free):
            out.append("%.9g %.9g %.9g %d" % (*point, not moves))
        out += [" ".join(str(v) for v in element) for element in elements]
    return ("\n".join(out) + "\n").encode()


def moved(path):
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    for _ in range(round(1.0 / m.opt.timestep)):
        mujoco.mj_step(m, d)
    assert abs(d.time - 1.0) < 1e-6, f"{path.name}: expected a run that stays finite"
    lines = ["%.6f %.6f %.6f" % tuple(p) for p in numpy.round(d.flexvert_xpos, 6)]
    return "\n".join([f"# mujoco {mujoco.__version__}"] + lines + [""]).encode()


recorded = recording.Recording(__doc__)
for model in sorted((recording.HERE / "flexes").glob("*.xml")):
    recorded.write(f"flexes/{model.stem}.txt", model, shapes if model.stem == "shapes" else moved)
recorded.finish()
