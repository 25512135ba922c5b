#!/usr/bin/env python3
"""Records what MuJoCo makes of cables, for tests/physics/test_cables.c: pip install mujoco==3.12.0 numpy

    tests/golden/record_cables.py [--out FOLDER] [NAME...]   (options: recording.py)

Later versions of MuJoCo have neither composites nor the plugin mujoco.elasticity.cable. Writes
tests/golden/cables/names.txt, the names of tests/golden/models/cables.xml, a line for each: kind, id, name.
"""
import mujoco

import recording

KINDS = {"body": "nbody", "joint": "njnt", "geom": "ngeom", "site": "nsite", "text": "ntext"}


def names(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    lines = []
    for kind, size in KINDS.items():
        number = getattr(mujoco.mjtObj, "mjOBJ_" + kind.upper())
        for i in range(getattr(model, size)):
            lines.append("%s %d %s" % (kind, i, mujoco.mj_id2name(model, number, i) or ""))
    return ("\n".join(lines) + "\n").encode()


def main():
    session = recording.Recording(__doc__)
    session.write("cables/names.txt", recording.HERE / "models" / "cables.xml", names)
    session.finish()


main()
