"""Several robots of one scene as agents, by PettingZoo's parallel interface.

Needs pettingzoo and gymnasium.
"""

import gymnasium
import numpy as np
import pettingzoo

from orrery.world import World


class ParallelEnv(pettingzoo.ParallelEnv):
    """Robots of one scene that learn together or against each other, in one physics simulation.

    scene: an orrery.Scene; its robots are the agents, named by their layers. reward: a function of the
    environment and the name of an agent, which returns its reward after a step. ended: likewise, true if the
    episode ends for all agents; None: never. frame_skip: time steps per step. max_cycles: number of steps
    after which an episode is truncated. noise: standard deviation of the initial joint positions, in m and
    rad.

    Actions are controls, within the ranges of the actuators (-1 to 1 without a range). An agent observes its
    own qpos and qvel, then those of the other agents in the order of the scene: float64.
    """

    metadata = {"name": "orrery_parallel_v0", "render_modes": []}

    def __init__(self, scene, reward, ended=None, frame_skip=5, max_cycles=1000, noise=0.0):
        self.world = World(scene)
        self.robots = {robot.name: robot for robot in scene.robots}
        if len(self.robots) < 1 or len(self.robots) != len(scene.robots):
            raise ValueError(
                f"robots {[r.name for r in scene.robots]}: expected one or more, of different names"
            )
        self._reward, self._ended = reward, ended
        self._frame_skip, self._max_cycles, self._noise = frame_skip, max_cycles, noise
        self.possible_agents = list(self.robots)
        self.agents = []
        self.render_mode = None
        self._random, self._steps = np.random.default_rng(), 0
        self._observations = {
            name: gymnasium.spaces.Box(-np.inf, np.inf, self._observe(name).shape, np.float64)
            for name in self.robots
        }
        self._actions = {name: self._controls(robot) for name, robot in self.robots.items()}

    def _controls(self, robot):
        actuators = self.world.elements(robot, "actuator")
        low = [a.low if a.limited else -1.0 for a in actuators for _ in range(a.count)]
        high = [a.high if a.limited else 1.0 for a in actuators for _ in range(a.count)]
        return gymnasium.spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)

    def observation_space(self, agent):
        return self._observations[agent]

    def action_space(self, agent):
        return self._actions[agent]

    def _observe(self, agent):
        order = [agent] + [name for name in self.robots if name != agent]
        parts = [self.world.get(self.robots[n], q)[0] for n in order for q in ("qpos", "qvel")]
        return np.concatenate(parts)

    def _observe_all(self):
        return {name: self._observe(name) for name in self.agents}

    def reset(self, seed=None, options=None):
        """Starts an episode; returns observations and infos of all agents."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.world.reset()
        for robot in self.robots.values():
            qpos = self.world.get(robot, "qpos")
            for joint in self.world.elements(robot, "joint"):
                if joint.count == 1:  # neither free nor ball
                    qpos[:, joint.first] += self._random.normal(0.0, self._noise)
            self.world.set(robot, "qpos", qpos)
        self.agents = list(self.possible_agents)
        self._steps = 0
        return self._observe_all(), {name: {} for name in self.agents}

    def step(self, actions):
        """Steps the physics with the agents' actions; returns observations, rewards, terminations,
        truncations and infos of each agent."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        for name, action in actions.items():
            space = self._actions[name]
            self.world.set(self.robots[name], "ctrl", np.clip(action, space.low, space.high))
        self.world.step(self._frame_skip)
        self._steps += 1
        ended = bool(self._ended and self._ended(self))
        truncated = self._steps >= self._max_cycles and not ended
        agents = self.agents
        found = self._observe_all()
        rewards = {name: float(self._reward(self, name)) for name in agents}
        if ended or truncated:
            self.agents = []
        return (
            found,
            rewards,
            dict.fromkeys(agents, ended),
            dict.fromkeys(agents, truncated),
            {name: {} for name in agents},
        )

    def close(self):
        self.world.close()
