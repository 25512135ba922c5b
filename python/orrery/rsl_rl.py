"""The environments for rsl_rl: OnPolicyRunner(rsl_rl.VecEnv("Ant-v5", num_envs=4096), config).

Needs rsl-rl-lib 2.1 or later, PyTorch, and gymnasium; from rsl-rl-lib 3.0 on tensordict too.
"""

import torch
from gymnasium.vector import AutoresetMode
from rsl_rl.env import VecEnv as BaseVecEnv

from orrery.environments import VectorEnv

_HAS_GROUPS = "reset" not in BaseVecEnv.__abstractmethods__  # what 3.0 left out of the interface
if _HAS_GROUPS:
    from tensordict import TensorDict


class VecEnv(BaseVecEnv):
    """Environments of one task as a VecEnv of rsl_rl.

    task, num_envs and options: as for orrery.environments.VectorEnv, except autoreset_mode: when an episode
    ends, the observation is the first of the next one. device: of the tensors; the environments use the
    device of the engine.

    Actions are clipped to the action space. Observations are float32, num_envs x n; from rsl-rl-lib 3.0 on, a
    TensorDict with the group "policy". extras["time_outs"] is 1.0 where an episode was truncated.
    """

    def __init__(self, task, num_envs=1, device="cpu", **options):
        self.env = VectorEnv(task, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, copy=False, **options)
        space = self.env.single_action_space
        self.num_envs, self.num_actions = num_envs, space.shape[0]
        self.max_episode_length = self.env.max_episode_steps
        self.device, self.cfg = torch.device(device), {"task": str(task), "num_envs": num_envs, **options}
        self._low, self._high = (torch.from_numpy(bound).to(self.device) for bound in (space.low, space.high))
        self.episode_length_buf = torch.zeros(num_envs, dtype=torch.long, device=self.device)
        self._observations = None
        self.reset()

    def seed(self, seed=-1):
        """Starts episodes with the seeds seed, seed + 1, ...; -1: continues the current ones. Returns the
        seed."""
        self.reset(seed=None if seed == -1 else seed)
        return seed

    def reset(self, seed=None):
        """Starts an episode in all environments; returns the result of get_observations()."""
        observations, _ = self.env.reset(seed=seed)
        self.episode_length_buf = torch.zeros_like(self.episode_length_buf)
        self._keep(observations)
        return self.get_observations()

    def _keep(self, observations):
        self._observations = torch.from_numpy(observations).to(self.device, torch.float32)

    def get_observations(self):
        """The current observations; before rsl-rl-lib 3.0 a tuple with extras."""
        if _HAS_GROUPS:
            return TensorDict({"policy": self._observations}, batch_size=[self.num_envs])
        return self._observations, {"observations": {}}

    def step(self, actions):
        """Steps all environments. Returns observations, rewards (float32), dones (int64) and extras."""
        actions = torch.clamp(actions.detach().to(self.device), self._low, self._high)
        observations, rewards, terminated, truncated, _ = self.env.step(actions.cpu().numpy())
        done = terminated | truncated
        self.episode_length_buf = self.episode_length_buf + 1
        # a learner may set the lengths, so that not all episodes end at once
        late = (self.episode_length_buf >= self.max_episode_length).cpu().numpy() & ~done
        if late.any():
            observations, _ = self.env.reset(options={"reset_mask": late})
        self._keep(observations)
        dones = torch.from_numpy(done | late).to(self.device, torch.long)
        self.episode_length_buf = self.episode_length_buf.masked_fill(dones > 0, 0)
        cut = (truncated & ~terminated) | late
        extras = {"time_outs": torch.from_numpy(cut).to(self.device, torch.float32)}
        rewards = torch.from_numpy(rewards).to(self.device, torch.float32)
        if _HAS_GROUPS:
            return self.get_observations(), rewards, dones, extras
        return self._observations, rewards, dones, {"observations": {}, **extras}

    def close(self):
        self.env.close()
