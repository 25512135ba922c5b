"""PPO (arXiv 1707.06347) in one file, with PyTorch, over vector environments: python3 ppo.py [TASK] [STEPS]

Observations reach PyTorch without a copy, rollouts are tensors of steps x environments, and NEXT_STEP is the
autoreset mode: the transition from an episode's last observation to the next one's first is left out.
"""

import sys

import numpy as np
import torch
from orrery import environments
from torch import nn

ENVIRONMENTS, HORIZON, EPOCHS, MINIBATCHES = 64, 32, 4, 4
GAMMA, LAMBDA, CLIP, RATE = 0.99, 0.95, 0.2, 2e-3


def network(inputs, outputs, last):
    layers = nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    for layer in layers[::2]:
        nn.init.orthogonal_(layer.weight, last if layer is layers[-1] else 2**0.5)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


class Agent(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.mean, self.value = network(observations, actions, 0.01), network(observations, 1, 1.0)
        self.log_std = nn.Parameter(torch.zeros(actions))

    def policy(self, observation):
        return torch.distributions.Normal(self.mean(observation), self.log_std.exp())


def rollout(env, agent, observation, fresh, discount):
    """HORIZON steps: what was seen, done, its log probability and value, the advantage; `fresh` says of which
    environments the last step ended the episode, so that their next one begins another."""
    seen, done, logs, values, rewards, ends, counts = [], [], [], [], [], [], []
    for _ in range(HORIZON):
        with torch.no_grad():
            policy = agent.policy(observation)
            action = policy.sample()
            seen.append(observation)
            done.append(action)
            logs.append(policy.log_prob(action).sum(1))
            values.append(agent.value(observation)[:, 0])
        found, reward, terminated, truncated, infos = env.step(action.numpy())
        counts.append(torch.from_numpy(~fresh))
        rewards.append(torch.from_numpy(reward).float())
        ends.append(torch.from_numpy(terminated | truncated | fresh))
        if "episode" in infos:
            env.returns += infos["episode"]["r"][infos["_episode"]].tolist()
        fresh = terminated | truncated
        observation = torch.from_dlpack(found).float()
    with torch.no_grad():
        following, sum_ = agent.value(observation)[:, 0], torch.zeros(env.num_envs)
    advantages = []
    for step in reversed(range(HORIZON)):
        open_ = (~ends[step]).float()
        error = rewards[step] + discount * following * open_ - values[step]
        sum_ = error + discount * LAMBDA * open_ * sum_
        following = values[step]
        advantages.append(sum_)
    batch = [torch.cat(rows) for rows in (seen, done, logs, values, advantages[::-1], counts)]
    return [rows[batch[-1]] for rows in batch[:-1]], observation, fresh


def update(agent, optimiser, batch, generator):
    seen, done, logs, values, advantages = batch
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(seen), generator=generator).chunk(MINIBATCHES):
            policy, gain = agent.policy(seen[rows]), advantages[rows]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            ratio = (policy.log_prob(done[rows]).sum(1) - logs[rows]).exp()
            surrogate = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            target = values[rows] + advantages[rows]
            loss = 0.5 * (agent.value(seen[rows])[:, 0] - target).square().mean() - surrogate
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimiser.step()


def train(task, steps, seed=0):
    """Learns a task; returns the returns of all episodes, in the order in which they ended."""
    env = environments.make_vec(task, ENVIRONMENTS)
    env.returns = []
    learn(env, steps, seed)
    env.close()
    return env.returns


def learn(env, steps, seed=0, discount=GAMMA):
    """Learns in ENVIRONMENTS environments, whose `returns` grow by those of episodes; returns the agent."""
    torch.manual_seed(seed)
    agent = Agent(env.single_observation_space.shape[0], env.single_action_space.shape[0])
    optimiser, generator = torch.optim.Adam(agent.parameters(), RATE), torch.Generator().manual_seed(seed)
    observation = torch.from_dlpack(env.reset(seed=seed)[0]).float()
    fresh, updates = np.zeros(ENVIRONMENTS, bool), max(1, steps // (ENVIRONMENTS * HORIZON))
    for i in range(updates):
        optimiser.param_groups[0]["lr"] = RATE * (1 - i / updates)
        batch, observation, fresh = rollout(env, agent, observation, fresh, discount)
        update(agent, optimiser, batch, generator)
    return agent


if __name__ == "__main__":
    task = sys.argv[1] if len(sys.argv) > 1 else "InvertedPendulum-v5"
    found = train(task, int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
    print(f"{task}: mean return of the first 50 episodes {np.mean(found[:50]):.1f}, of the last 50 "
          f"{np.mean(found[-50:]):.1f}")  # fmt: skip
