#!/usr/bin/env python3
"""Records what MuJoCo's renderer shows of haze and fog, for tests/engine/light/test_haze.c:
pip install mujoco numpy, and OpenGL without a window, as Mesa's libosmesa6

    MUJOCO_GL=osmesa tests/golden/record_haze.py [--out FOLDER] [NAME...]   (options: recording.py)

For each model in tests/golden/haze, as its camera `eye` sees it, a text beside it: lines of
    fog (0 or 1), x, y [px], red, green, blue [bytes]
for every fourth pixel each way, where no neighbour differs by more than STEP: edges are drawn otherwise.
"""
import mujoco
import numpy as np

import recording

WIDTH, HEIGHT, STEP = 96, 72, 20


def record(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    lines = []
    with mujoco.Renderer(model, HEIGHT, WIDTH) as renderer:
        for fog in range(2):
            renderer.update_scene(data, camera="eye")
            renderer.scene.flags[mujoco.mjtRndFlag.mjRND_FOG] = fog
            picture = renderer.render().astype(int)
            for y in range(1, HEIGHT - 1, 4):
                for x in range(1, WIDTH - 1, 4):
                    around = picture[y - 1:y + 2, x - 1:x + 2].reshape(-1, 3)
                    if np.ptp(around, axis=0).max() <= STEP:
                        lines.append(" ".join(str(v) for v in (fog, x, y, *picture[y, x])))
    return ("\n".join(lines) + "\n").encode()


recorder = recording.Recording(__doc__)
for path in sorted((recording.HERE / "haze").glob("*.xml")):
    recorder.write(f"haze/{path.stem}.txt", path, record)
recorder.finish()
