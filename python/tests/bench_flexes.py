#!/usr/bin/env python3
"""Soft bodies of MJCF (<flexcomp>) in Orrery and in MuJoCo, on this machine, in one run; a Markdown table.

    pip install mujoco numpy
    python/tests/bench_flexes.py tests/golden/flexes/*.xml     (models of flexes of one size)

Both simulate SECONDS from the start, on one thread, in CPU time; rounds of the two alternate, and each keeps
its best. MuJoCo takes the model's time step, or a longer one (--timestep) where it stays finite. "Off" is how
far the farthest point is from where MuJoCo has it with the model's own step, in percent of the body's longest
side.
"""

import argparse
import time

import mujoco
import numpy as np

import orrery


def run_mujoco(path, seconds, timestep):
    model = mujoco.MjModel.from_xml_path(path)
    model.opt.timestep = timestep or model.opt.timestep
    data = mujoco.MjData(model)
    start = time.process_time()
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
    used = time.process_time() - start
    finite = abs(data.time - seconds) < model.opt.timestep  # it begins anew where it diverges
    return used, data.flexvert_xpos.copy() if finite else None


def run_orrery(engine, path, seconds):
    with orrery.Scene(path, engine=engine) as scene, orrery.World(scene) as world:
        flexes = [layer for layer in scene.layers if "/" in layer.name]
        at_rest = world.get_soft(flexes[0])[0]
        start = time.process_time()
        world.advance(seconds)
        used = time.process_time() - start
        points = np.concatenate([world.get_soft(flex)[0] for flex in flexes])
        return used, points, np.ptp(at_rest, axis=0).max()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timestep", type=float, help="of MuJoCo [s]; default: the model's")
    parser.add_argument("models", nargs="+", metavar="MODEL.xml")
    o = parser.parse_args()
    engine = orrery.Engine(threads=1)
    print(
        "| model | points | off | Orrery, ms of CPU per second | MuJoCo | ratio |\n|---|---|---|---|---|---|"
    )
    for path in o.models:
        _, expected = run_mujoco(path, o.seconds, None)
        own, theirs, finite = [], [], True
        for _ in range(o.rounds):
            used, points, size = run_orrery(engine, path, o.seconds)
            own.append(1e3 * used / o.seconds)
            used, reached = run_mujoco(path, o.seconds, o.timestep)
            theirs.append(1e3 * used / o.seconds)
            finite = finite and reached is not None
        off = "%.1f %%" % (100.0 * np.linalg.norm(points - expected, axis=1).max() / size)
        rival, ratio = (
            ("%.0f" % min(theirs), "%.1f" % (min(theirs) / min(own))) if finite else ("diverges", "")
        )
        print(
            f"| {path.split('/')[-1]} | {len(points)} | {off} | {min(own):.1f} | {rival} | {ratio} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
