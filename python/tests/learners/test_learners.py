"""The adapters with the real packages: three libraries learn, and PettingZoo's own test passes."""

import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import ray
import torch

if "ORRERY_INSTALLED" not in os.environ:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import orrery as orr
from gymnasium.vector import AutoresetMode
from orrery import environments, parallel, rsl_rl, stable_baselines
from pettingzoo.test import parallel_api_test
from rsl_rl.runners import OnPolicyRunner
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

ROOT = Path(__file__).resolve().parents[3]
BIPED = ROOT / "assets" / "robots" / "biped.xml"


def section_of(title):
    """The first code of a section of docs/python.md."""
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    return re.search(rf"^{title}.*?```python\n(.*?)```", text, flags=re.S | re.M).group(1)


class StableBaselines(unittest.TestCase):
    def test_steps_are_those_of_the_environments(self):
        ours = stable_baselines.VecEnv("InvertedPendulum-v5", 5, max_episode_steps=12)
        plain = environments.make_vec(
            "InvertedPendulum-v5", 5, max_episode_steps=12, autoreset_mode=AutoresetMode.SAME_STEP
        )
        ours.seed(7)
        seen, (wanted, _) = ours.reset(), plain.reset(seed=7)
        self.assertEqual((seen.shape, seen.dtype), ((5, 4), np.float32))
        random, ended, cut = np.random.default_rng(0), 0, 0
        for _ in range(60):
            np.testing.assert_array_equal(seen, wanted.astype(np.float32))
            actions = random.uniform(-1, 1, (5, 1)).astype(np.float32)
            seen, rewards, done, infos = ours.step(actions)
            wanted, gained, terminated, truncated, found = plain.step(actions)
            np.testing.assert_array_equal(rewards, gained.astype(np.float32))
            np.testing.assert_array_equal(done, terminated | truncated)
            for i in range(5):
                self.assertEqual("terminal_observation" in infos[i], done[i])
                if done[i]:
                    last = found["final_obs"][i].astype(np.float32)
                    np.testing.assert_array_equal(infos[i]["terminal_observation"], last)
                    self.assertEqual(infos[i]["TimeLimit.truncated"], truncated[i] and not terminated[i])
                    self.assertEqual(infos[i]["episode"]["l"], found["final_info"]["episode"]["l"][i])
                    ended, cut = ended + 1, cut + infos[i]["TimeLimit.truncated"]
        self.assertGreater(ended, cut)
        self.assertGreater(cut, 0)
        self.assertEqual(ours.get_attr("num_envs", indices=[0, 2]), [5, 5])
        ours.close()

    def test_ppo_learns_the_pendulum(self):
        env = stable_baselines.VecEnv("InvertedPendulum-v5", 32)
        env.seed(0)
        model = PPO(
            "MlpPolicy", env, n_steps=64, batch_size=512, n_epochs=8, learning_rate=1e-3, gamma=0.98, seed=0
        )
        before, _ = evaluate_policy(model, env, n_eval_episodes=32)
        model.learn(32 * 64 * 16)
        after, _ = evaluate_policy(model, env, n_eval_episodes=32)
        print(f"mean return of InvertedPendulum: {before:.0f}, and after 32,768 steps of PPO {after:.0f}")
        self.assertGreater(after, 10 * before)
        env.close()


class RslRl(unittest.TestCase):
    def test_steps_are_those_of_the_environments(self):
        ours = rsl_rl.VecEnv("InvertedPendulum-v5", 5, max_episode_steps=12)
        plain = environments.make_vec(
            "InvertedPendulum-v5", 5, max_episode_steps=12, autoreset_mode=AutoresetMode.SAME_STEP
        )
        (seen, _), (wanted, _) = ours.reset(seed=7), plain.reset(seed=7)
        self.assertEqual(ours.seed(7), 7)
        random, ended, cut = np.random.default_rng(0), 0, 0
        length = np.zeros(5, int)
        for _ in range(60):
            np.testing.assert_array_equal(seen.numpy(), wanted.astype(np.float32))
            actions = random.uniform(-1, 1, (5, 1)).astype(np.float32)
            actions[4] *= 6  # clipped to 3 N
            seen, rewards, dones, extras = ours.step(torch.from_numpy(actions))
            wanted, gained, terminated, truncated, _ = plain.step(np.clip(actions, -3, 3))
            np.testing.assert_array_equal(rewards.numpy(), gained.astype(np.float32))
            np.testing.assert_array_equal(dones.numpy(), terminated | truncated)
            np.testing.assert_array_equal(extras["time_outs"].numpy(), truncated & ~terminated)
            length = np.where(terminated | truncated, 0, length + 1)
            np.testing.assert_array_equal(ours.episode_length_buf.numpy(), length)
            ended, cut = ended + dones.sum(), cut + extras["time_outs"].sum()
        self.assertGreater(ended, cut)
        self.assertGreater(cut, 0)

    def test_lengths_that_are_set_end_episodes(self):
        env = rsl_rl.VecEnv("InvertedPendulum-v5", 3, max_episode_steps=20)
        env.episode_length_buf = torch.tensor([0, 17, 10])
        for step in range(1, 12):
            before, _ = env.get_observations()
            seen, _, dones, extras = env.step(torch.zeros(3, 1))
            self.assertEqual(dones.tolist(), [0, int(step == 3), int(step == 10)])
            self.assertEqual(extras["time_outs"].tolist(), dones.tolist())
            self.assertEqual(env.episode_length_buf[1], step + 17 if step < 3 else step - 3)

    def test_ppo_learns_the_pendulum(self):
        env = rsl_rl.VecEnv("InvertedPendulum-v5", 64)
        env.seed(0)
        torch.manual_seed(0)
        layers = {"actor_hidden_dims": [64, 64], "critic_hidden_dims": [64, 64], "activation": "elu"}
        config = {
            "algorithm": {"class_name": "PPO", "gamma": 0.98, "learning_rate": 1e-3, "schedule": "adaptive",
                          "desired_kl": 0.01, "num_learning_epochs": 5, "num_mini_batches": 4},
            "policy": {"class_name": "ActorCritic", **layers},
            "num_steps_per_env": 32, "save_interval": 1000, "empirical_normalization": False,
        }  # fmt: skip
        runner = OnPolicyRunner(env, config, device="cpu")
        runner.disable_logs = True  # or it wants a folder and TensorBoard

        def steps():
            """The mean length of episodes, of 300 steps at most."""
            policy, (seen, _) = runner.get_inference_policy(), env.reset()
            length, alive = torch.zeros(64), torch.ones(64, dtype=torch.bool)
            for _ in range(300):
                length += alive
                with torch.inference_mode():
                    seen, _, dones, _ = env.step(policy(seen))
                alive &= dones == 0
            return length.mean().item()

        before = steps()
        runner.learn(30, init_at_random_ep_len=True)
        after = steps()
        print(f"mean steps of InvertedPendulum: {before:.0f}, and after 61,440 steps of rsl_rl {after:.0f}")
        self.assertGreater(after, 4 * before)


class Rllib(unittest.TestCase):
    def test_the_recipe_learns_the_pendulum_with_two_workers(self):
        os.environ["RAY_worker_niceness"] = "0"  # 15 by default, beside which every other test goes first
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
        self.addCleanup(ray.shutdown)
        names = {}
        exec(compile(section_of("### Ray RLlib"), "docs/python.md", "exec"), names)
        algorithm, before = names["algorithm"], names["before"]
        self.addCleanup(algorithm.stop)
        after = [algorithm.train()["env_runners"]["episode_return_mean"] for _ in range(4)][-1]
        print(f"mean return of InvertedPendulum: {before:.0f}, and after 10,240 steps of RLlib {after:.0f}")
        self.assertGreater(after, 4 * before)
        workers = algorithm.env_runner_group.foreach_env_runner(
            lambda runner: (runner.num_envs, runner.env.unwrapped.max_episode_steps), local_env_runner=False
        )
        self.assertEqual(workers, [(16, 500)] * 2)


class Script(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.append(str(ROOT / "python" / "samples"))

    def test_a_cart_learns_from_pictures_what_a_blind_one_cannot(self):
        import pixels

        rates = pixels.compare(20_480)
        self.assertGreater(rates["seeing"], 0.5)
        self.assertLess(rates["blind"], 0.25)  # 5 cm of 40 cm is 0.13

    def test_ppo_in_one_file_learns_the_pendulum(self):
        import ppo

        returns = ppo.train("InvertedPendulum-v5", 60_000)
        before, after = np.mean(returns[:50]), np.mean(returns[-50:])
        print(f"mean return of InvertedPendulum: {before:.0f}, and after 60,000 steps of ppo.py {after:.0f}")
        self.assertGreater(after, 4 * before)


class Memory(unittest.TestCase):
    def test_pytorch_shares_the_observations(self):
        env = environments.make_vec("Hopper-v5", 4, copy=False)
        observations, _ = env.reset(seed=0)
        tensor = torch.from_dlpack(observations)
        before = tensor.clone()
        seen, _, _, _, _ = env.step(np.ones((4, 3)))
        self.assertEqual(tensor.data_ptr(), seen.ctypes.data)
        self.assertTrue((tensor != before).any())
        np.testing.assert_array_equal(tensor.numpy(), seen)


class Parallel(unittest.TestCase):
    def env(self, **options):
        """Two bipeds that face each other; each is rewarded for its speed towards the other's side."""
        left = {"file": str(BIPED), "name": "left", "position": [-0.5, 0, 0]}
        right = {"file": str(BIPED), "name": "right", "position": [0.5, 0, 0], "rotation": [0, 0, 0, 1]}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "two.json"
            path.write_text(json.dumps({"orrery": 1, "layers": [left, right]}), encoding="utf-8")
            scene = orr.Scene(path)

        def reward(env, agent):
            return env.world.get(env.robots[agent], "qvel")[0, 0]

        return parallel.ParallelEnv(scene, reward, frame_skip=4, **options)

    def test_pettingzoos_own_test_passes(self):
        parallel_api_test(self.env(max_cycles=50, noise=0.01), num_cycles=200)

    def test_agents_share_one_physics(self):
        env = self.env(max_cycles=30)
        first, _ = env.reset(seed=3)
        self.assertEqual(len(env.agents), 2)
        a, b = env.agents
        self.assertEqual(first[a].shape, env.observation_space(a).shape)
        still = {name: np.zeros(env.action_space(name).shape) for name in (a, b)}
        pushed = {**still, a: env.action_space(a).high}
        found, rewards, ended, cut, _ = env.step(pushed)
        own, other = np.split(found[a], 2)
        np.testing.assert_array_equal(np.concatenate([other, own]), found[b])
        self.assertEqual(rewards[a], env.world.get(env.robots[a], "qvel")[0, 0])
        self.assertFalse(any(ended.values()) or any(cut.values()))
        again, _ = env.reset(seed=3)
        np.testing.assert_array_equal(first[a], again[a])
        for step in range(30):
            _, _, ended, cut, _ = env.step(still)
        self.assertTrue(all(cut.values()) and not env.agents)


class Tutorial(unittest.TestCase):
    def test_the_section_runs(self):
        code = section_of("## With Stable-Baselines3")
        with tempfile.TemporaryDirectory() as folder:
            names = {"ASSETS": ROOT / "assets", "FOLDER": Path(folder)}
            exec(compile(code, "docs/python.md", "exec"), names)
        self.assertEqual(names["observations"]["left"].shape, (74,))


if __name__ == "__main__":
    unittest.main()
