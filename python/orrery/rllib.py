"""The environments for Ray RLlib's new API stack, stepped by workers on one machine or many:

    PPOConfig().environment("Ant-v5").env_runners(env_runner_cls=rllib.EnvRunner, num_env_runners=2,
                                                  num_envs_per_env_runner=256)

Needs ray[rllib] (tested: 2.49), PyTorch, and gymnasium 1.1 or later; the package orrery on each machine.
"""

from gymnasium.wrappers.vector import DictInfoToList
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

from orrery.environments import VectorEnv


class EnvRunner(SingleAgentEnvRunner):
    """A worker that steps all of its environments, one orrery.environments.VectorEnv, in one call.

    In the config of the algorithm, env is a task as for VectorEnv, env_config its options (except num_envs),
    and num_envs_per_env_runner the number of environments.
    """

    def make_env(self):
        if self.env is not None:
            self.env.close()
        self.num_envs = self.config.num_envs_per_env_runner
        options = dict(self.config.env_config)
        self.env = DictInfoToList(VectorEnv(self.config.env, self.num_envs, **options))
        self._needs_initial_reset = True
