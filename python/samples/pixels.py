"""Learns from pictures, and blind, beside each other: python3 pixels.py [STEPS [SEED]]

A cart drives under a ball before a splat cloud (assets/tasks/cart.json). The agent of ppo.py sees pictures of
16 x 16 pixels, and where the cart is; the ball is in the pictures alone. The blind one gets black pictures.
An episode is a success when the cart ends within 5 cm of the ball. Two things decide whether it is learnt:
pixels are normalised, each by its own mean and deviation, since most are the same in every picture; and the
discount is low, since what an action is worth shows within a few steps. BENCHMARKS.md has the figures.
"""

import sys
import time

import numpy as np
import ppo
import torch
from gymnasium.spaces import Box
from orrery import environments, own_tasks

SIZE, WITHIN, MARGIN = 16, 0.05, 0.4  # [px], [m]; of the task's reward, 1 - distance / MARGIN
DISCOUNT = 0.9


class Normaliser:
    """Each number less its mean so far, over its deviation so far (Chan et al., for batches)."""

    LEAST, LIMIT = 1e-4, 10.0  # of a variance, (2.5 levels of a byte) squared; of what is returned

    def __init__(self, numbers):
        self.count, self.mean, self.squares, self.learns = 0, np.zeros(numbers), np.zeros(numbers), True

    def __call__(self, rows):
        if self.learns:
            apart, before, self.count = rows.mean(axis=0) - self.mean, self.count, self.count + len(rows)
            self.mean += apart * len(rows) / self.count
            self.squares += rows.var(axis=0) * len(rows) + apart**2 * before * len(rows) / self.count
        deviation = np.sqrt(self.squares / self.count + self.LEAST)
        return ((rows - self.mean) / deviation).clip(-self.LIMIT, self.LIMIT)


class Seen:
    """PixelVectorEnv with observations as one row of numbers: colours of pixels, and state."""

    def __init__(self, blind):
        self.env = environments.PixelVectorEnv(
            own_tasks.path("CartPixels"), ppo.ENVIRONMENTS, size=(2 * SIZE, 2 * SIZE)
        )
        self.num_envs, self.blind, self.returns, self.successes = ppo.ENVIRONMENTS, blind, [], []
        self.single_action_space = self.env.single_action_space
        self.single_observation_space = Box(-np.inf, np.inf, (3 * SIZE * SIZE + 2,))
        self.normalise = Normaliser(3 * SIZE * SIZE + 2)

    def row(self, seen):
        pixels = seen["pixels"][:, 0].reshape(self.num_envs, SIZE, 2, SIZE, 2, 3).mean(axis=(2, 4))
        pixels = pixels.reshape(self.num_envs, -1) * (0.0 if self.blind else 1 / 255)
        return self.normalise(np.concatenate([pixels, seen["state"]], axis=1)).astype(np.float32)

    def reset(self, seed):
        seen, infos = self.env.reset(seed=seed)
        return self.row(seen), infos

    def step(self, actions):
        seen, reward, terminated, truncated, infos = self.env.step(actions)
        self.successes += (reward[truncated] > 1 - WITHIN / MARGIN).tolist()
        return self.row(seen), reward, terminated, truncated, infos


def success_rate(agent, env, episodes=3):
    """Of the agent's most likely actions, over so many episodes of each environment."""
    env.normalise.learns = False
    observation, _ = env.reset(seed=1000)
    env.successes = []
    for _ in range(episodes * 41):  # 40 steps, and one that begins the next episode
        with torch.no_grad():
            actions = agent.mean(torch.from_numpy(observation)).numpy()
        observation, *_ = env.step(actions)
    return float(np.mean(env.successes))


def compare(steps, seed=0):
    """The success rates of the agent that sees and of the blind one."""
    rates = {}
    for name in ("seeing", "blind"):
        env, began = Seen(name == "blind"), time.process_time()
        rates[name] = success_rate(ppo.learn(env, steps, seed, DISCOUNT), env)
        print(f"{name}: success rate {rates[name]:.2f} after {steps} steps, "
              f"{time.process_time() - began:.0f} s of processor time", flush=True)  # fmt: skip
    return rates


if __name__ == "__main__":
    compare(*(int(argument) for argument in sys.argv[1:3] or ["80000"]))
