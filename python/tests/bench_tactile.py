"""Tactile images per second on one thread: a ball and a box on a pad, in 4096 copies."""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import orrery as orr  # noqa: E402

COPIES, REPEATS = 4096, 5
ROBOT = """<mujoco><option gravity="0 0 0"/><worldbody><geom name="pad" type="box" size=".02 .025 .01"/>
<body pos="0 0 .029"><freejoint/><geom %s/></body></worldbody></mujoco>"""
SHAPES = {"ball": 'size=".02"', "box": 'type="box" size=".01 .008 .02"'}


def best(work):
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def measure(scene, rows, columns):
    """Images per second, and the share of taxels that are pressed."""
    world, robot = orr.World(scene, COPIES, precision="f32"), scene.robots[0]
    places = world.get(robot, "qpos")
    places[:, :2] += np.random.default_rng(0).uniform(-0.01, 0.01, (COPIES, 2))
    world.set(robot, "qpos", places)
    forces = np.zeros((COPIES, rows, columns, 3), np.float32)
    heights = np.zeros((COPIES, rows, columns), np.float32)
    felt = best(lambda: world.tactile(robot, "pad", rows, columns, forces=forces, heights=heights))
    return COPIES / felt, (forces[..., 0] > 0).mean()


def main():
    engine = orr.Engine(threads=1)
    print("shape, taxels, images/s, share of taxels pressed")
    for name, shape in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.xml"
            path.write_text(ROBOT % shape)
            scene = orr.Scene(path, engine=engine)
        for rows, columns in ((20, 25), (10, 10)):
            images, pressed = measure(scene, rows, columns)
            print(f"{name}, {rows} x {columns}, {images:.0f}, {pressed:.2f}")


main()
