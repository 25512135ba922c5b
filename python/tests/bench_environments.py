"""Steps of environments per second of CPU time and core, beside Gymnasium's own and EnvPool's (where the
package is installed)."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402

import orrery  # noqa: E402
from orrery import environments  # noqa: E402

try:
    import envpool
except ImportError:
    envpool = None

SECONDS = 4.0
POOL = 64  # environments of EnvPool, whose rate hardly depends on it


def rate(env, count, actions=None):
    actions = actions or [env.action_space.sample() for _ in range(8)]
    env.reset()
    for action in actions:
        env.step(action)
    steps, begin = 0, time.process_time()
    while time.process_time() - begin < SECONDS:
        env.step(actions[steps % 8])
        steps += 1
    return steps * count / (time.process_time() - begin)


def main():
    engine = orrery.Engine(threads=1, device="cpu")
    for task in ("Ant-v5", "HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Humanoid-v5"):
        ours = rate(environments.make_vec(task, 1024, engine=engine), 1024)
        theirs = rate(gymnasium.make_vec(task, num_envs=1, vectorization_mode="sync"), 1)
        line = f"{task:16} {ours:10.0f} {theirs:8.0f} {ours / theirs:6.1f}"
        if envpool:
            pool = envpool.make(task, env_type="gymnasium", num_envs=POOL, num_threads=1)
            actions = [np.stack([pool.action_space.sample() for _ in range(POOL)]) for _ in range(8)]
            theirs = rate(pool, POOL, [action.astype(np.float64) for action in actions])
            line += f" {theirs:8.0f} {ours / theirs:6.1f}"
        print(line, flush=True)


main()
