"""The environments for Stable-Baselines3: PPO("MlpPolicy", stable_baselines.VecEnv("Ant-v5", num_envs=64)).

Needs stable-baselines3 2.3 or later, and gymnasium.
"""

import time

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv as BaseVecEnv

from orrery.environments import VectorEnv


class VecEnv(BaseVecEnv):
    """Environments of one task as a VecEnv of Stable-Baselines3.

    task, num_envs and options: as for orrery.environments.VectorEnv, except autoreset_mode, which is that of
    Stable-Baselines3: when an episode ends, the observation is the first of the next one, and
    infos[i]["terminal_observation"] the last of the old one. Observations are float32. infos[i]["episode"]
    has "r" (return), "l" (steps) and "t" (seconds since the start), as with its Monitor, which is not needed.
    """

    def __init__(self, task, num_envs=1, **options):
        self.env = VectorEnv(task, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, copy=False, **options)
        box = self.env.single_observation_space
        observations = type(box)(-np.inf, np.inf, box.shape, np.float32)
        self._actions, self._began = None, time.time()
        super().__init__(num_envs, observations, self.env.single_action_space)

    def reset(self):
        """Starts an episode in all environments, with the seeds of seed() if it was called. Returns num_envs
        x n."""
        seeds = self._seeds
        observations, infos = self.env.reset(seed=None if any(s is None for s in seeds) else seeds)
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return observations.astype(np.float32)

    def step_async(self, actions):
        self._actions = actions

    def step_wait(self):
        """Returns observations, rewards (float32), dones and infos of the step started by step_async()."""
        observations, rewards, terminated, truncated, found = self.env.step(self._actions)
        infos = [{} for _ in range(self.num_envs)]
        done = terminated | truncated
        for i in np.flatnonzero(done):
            episode = found["final_info"]["episode"]
            infos[i] = {
                "terminal_observation": found["final_obs"][i].astype(np.float32),
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "episode": {
                    "r": float(episode["r"][i]),
                    "l": int(episode["l"][i]),
                    "t": round(time.time() - self._began, 6),
                },
            }
        return observations.astype(np.float32), rewards.astype(np.float32), done, infos

    def close(self):
        self.env.close()

    def get_images(self):
        """Pictures of the environments (render_mode="rgb_array")."""
        return list(self.env.render() or [None] * self.num_envs)

    # All environments are one object: what is asked of one is that of all.

    def get_attr(self, attr_name, indices=None):
        return [getattr(self.env, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name, value, indices=None):
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"{attr_name}: expected all environments, they are one object")
        setattr(self.env, attr_name, value)

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        method = getattr(self.env, method_name)
        return [method(*method_args, **method_kwargs) for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class, indices=None):
        # infos hold the episodes that a Monitor would add
        return [issubclass(wrapper_class, Monitor) for _ in self._get_indices(indices)]
