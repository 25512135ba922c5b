"""By hand: CPU time of MuJoCo's own pictures of the robots of bench_eyes, 64 x 64 pixels, RGB and depth, of
all its threads, without multisampling, least of eight; with and without shadows and reflections:
    MUJOCO_GL=egl python3 bench_mujoco_pictures.py HALF_CHEETAH.XML"""
import sys
import time
from pathlib import Path

import mujoco

SIDE, ROUNDS = 64, 8


def draw(renderer, data):
    renderer.update_scene(data, camera=0)
    renderer.disable_depth_rendering()
    renderer.render()
    renderer.enable_depth_rendering()
    renderer.render()


def measure(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    model.vis.quality.offsamples = 0
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with mujoco.Renderer(model, SIDE, SIDE) as renderer:
        for effects in (True, False):
            renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = effects
            renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = effects
            times = []
            for _ in range(ROUNDS):
                start = time.process_time()
                draw(renderer, data)
                times.append(time.process_time() - start)
            how = "with" if effects else "without"
            print(f"{Path(path).stem}, {how} shadows and reflections: {1e3 * min(times):.2f} ms")


for path in [Path(__file__).with_name("shapes.xml"), *sys.argv[1:]]:
    measure(path)
