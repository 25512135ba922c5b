"""One environment as Gymnasium's Env, for learners that vectorise environments themselves.

    environments.register()
    env = gymnasium.make("orrery/Ant-v5", render_mode="rgb_array")

A VectorEnv with many environments is many times as fast. Needs gymnasium.
"""

import gymnasium
from gymnasium.utils import EzPickle
from gymnasium.vector import AutoresetMode

from orrery.environments import PixelVectorEnv, VectorEnv


class Env(gymnasium.Env, EzPickle):
    """One environment of a task; tasks and options are those of VectorEnv.

    pixels: None, or a dict with options of PixelVectorEnv ("cameras", "size"): observations contain pictures.
    A copied or unpickled environment starts anew with the same arguments, also in another process.
    """

    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, task, pixels=None, **options):
        EzPickle.__init__(self, task, pixels, **options)
        options = {"autoreset_mode": AutoresetMode.DISABLED, "statistics": False, **options}
        if pixels is None:
            self._env = VectorEnv(task, **options)
        else:
            self._env = PixelVectorEnv(task, **pixels, **options)
        self.metadata = {**self.metadata, "render_fps": self._env.metadata["render_fps"]}
        self.render_mode = self._env.render_mode
        self.action_space = self._env.single_action_space
        self.observation_space = self._env.single_observation_space

    @property
    def dt(self):
        """Duration of a step [s]."""
        return self._env.dt

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        observations, infos = self._env.reset(seed=seed)
        return _first(observations), _first(infos)

    def step(self, action):
        """Steps the environment. action: as in action_space."""
        observations, rewards, terminated, truncated, infos = self._env.step([action])
        return (
            _first(observations),
            float(rewards[0]),
            bool(terminated[0]),
            bool(truncated[0]),
            _first(infos),
        )

    def render(self):
        pictures = self._env.render()
        return None if pictures is None else pictures[0]

    def close(self):
        self._env.close()


def _first(values):
    if isinstance(values, dict):
        return {name: _first(value) for name, value in values.items() if not name.startswith("_")}
    return values[0]
