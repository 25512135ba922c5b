"""Threads, processes, copies and closed objects: a program in Python gets an exception, and never a crash."""

import copy
import multiprocessing
import os
import pickle
import sys
import threading
import unittest
from pathlib import Path

import numpy as np

if "ORRERY_INSTALLED" not in os.environ:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import gymnasium
    import gymnasium.envs.mujoco  # noqa: F401, needs mujoco
    from gymnasium.utils.env_checker import check_env
    from gymnasium.wrappers.vector import RecordEpisodeStatistics

    from orrery import environments, tasks
except ImportError as absent:
    raise unittest.SkipTest(f"left out: {absent}") from absent

import orrery as orr

PENDULUM = environments.model_path("InvertedPendulum-v5")


def step_many(env, steps, failures):
    try:
        for _ in range(steps):
            env.step(np.zeros(env.action_space.shape, np.float32))
    except Exception as failure:
        failures.append(failure)


def in_threads(env, count, steps, meanwhile=lambda: None):
    """What threads that step the same environments raised."""
    failures = []
    threads = [threading.Thread(target=step_many, args=(env, steps, failures)) for _ in range(count)]
    for thread in threads:
        thread.start()
    meanwhile()
    for thread in threads:
        thread.join()
    return failures


def step_in_child():
    env = environments.make_vec("Hopper-v5", 2)
    env.reset(seed=0)
    env.step(np.zeros((2, 3)))


class Closing(tasks.Task):
    """Closes its environments while they step, or does what else it is told to."""

    observation_count, act = 4, None

    def reward(self, batch, terminated):
        if self.act:
            self.act()
        return np.zeros(batch.count)

    def observe(self, batch):
        return np.concatenate([batch["qpos"], batch["qvel"]], axis=1)


class Lifetimes(unittest.TestCase):
    def test_threads_that_share_an_engine_wait_for_each_other(self):
        env = environments.make_vec("Hopper-v5", 64)
        env.reset(seed=0)
        self.assertEqual(in_threads(env, 4, 50), [])
        other = environments.make_vec("Hopper-v5", 64)
        other.reset(seed=0)
        step_many(other, 200, [])
        for one, two in zip(env.get_states(), other.get_states()):
            np.testing.assert_array_equal(one, two)

    def test_another_thread_closes(self):
        env = environments.make_vec("Hopper-v5", 256)
        env.reset(seed=0)
        failures = in_threads(env, 2, 2000, env.close)
        self.assertEqual([str(f) for f in failures], ["this VectorEnv is closed"] * 2)

    def test_a_task_closes_its_environments(self):
        task = Closing()
        env = environments.make_vec(task, 4, model=PENDULUM)
        env.reset(seed=0)
        task.act = env.close
        with self.assertRaisesRegex(ValueError, "this VectorEnv is closed"):
            env.step(np.zeros((4, 1)))

    def test_an_interrupt_in_a_task_arrives(self):
        task = Closing()
        env = environments.make_vec(task, 4, model=PENDULUM)
        env.reset(seed=0)

        def interrupt():
            raise KeyboardInterrupt

        task.act = interrupt
        with self.assertRaises(KeyboardInterrupt):
            env.step(np.zeros((4, 1)))

    def test_views_outlive_what_they_are_of(self):
        env = environments.make_vec("Hopper-v5", 4096, copy=False)
        seen, _ = env.reset(seed=0)
        before, row = seen.copy(), seen[7]
        env.close()
        del env
        others = [environments.make_vec("Hopper-v5", 4096) for _ in range(2)]
        np.testing.assert_array_equal(seen, before)
        np.testing.assert_array_equal(row, before[7])
        del others
        with orr.Splats(count=100000) as splats:
            places = splats.position
            places[:] = 3.0
        more = orr.Splats(count=100000)
        self.assertTrue((places == 3.0).all())
        with self.assertRaisesRegex(ValueError, "this Splats is closed"):
            splats.save("/nowhere.ply")
        del more

    def test_parents_may_be_closed_first(self):
        engine = orr.Engine(threads=1)
        scene = orr.Scene(PENDULUM, engine=engine)
        world = orr.World(scene)
        scene.close()
        engine.close()
        world.step(3)
        with self.assertRaisesRegex(ValueError, "this Scene is closed"):
            world.robot_info(None)

    def test_copies_are_refused(self):
        env = environments.make_vec("Hopper-v5", 2)
        for made in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "this VectorEnv cannot be copied or pickled"):
                made(env)
            with self.assertRaisesRegex(TypeError, "this Scene cannot be copied or pickled"):
                made(orr.Scene())
        env.reset(seed=0)  # goes on
        env.step(np.zeros((2, 3)))

    def test_what_could_not_be_made_is_closed(self):
        environments.VectorEnv.__new__(environments.VectorEnv).close()  # older Gymnasiums do in __del__()

    def test_a_child_has_an_engine_of_its_own(self):
        step_in_child()
        child = multiprocessing.get_context("fork").Process(target=step_in_child)
        child.start()
        child.join(60)
        self.assertEqual(child.exitcode, 0)


class ByGymnasium(unittest.TestCase):
    def test_its_wrappers_count_episodes(self):
        environments.register()
        made = gymnasium.make_vec("orrery/Hopper-v5", num_envs=4)
        own = environments.make_vec("Hopper-v5", 4)
        env = RecordEpisodeStatistics(made)
        env.reset(seed=0)
        own.reset(seed=0)
        returns, random = [], np.random.default_rng(0)
        for _ in range(60):
            actions = random.uniform(-1, 1, (4, 3)).astype(np.float32)
            env.step(actions)
            infos = own.step(actions)[4]
            if "episode" in infos:
                returns += infos["episode"]["r"][infos["_episode"]].tolist()
        self.assertGreater(len(returns), 3)
        np.testing.assert_allclose(env.return_queue, returns)
        self.assertEqual(made.metadata["render_fps"], 125)

    def test_a_single_environment(self):
        environments.register()
        env = gymnasium.make("orrery/Hopper-v5", render_mode="rgb_array", width=32, height=24)
        check_env(env.unwrapped)
        many = environments.make_vec("Hopper-v5", 1)
        np.testing.assert_array_equal(env.reset(seed=5)[0], many.reset(seed=5)[0][0])
        action = np.full(3, 0.5, np.float32)
        seen, reward, terminated, truncated, _ = env.step(action)
        seen_of_many, reward_of_many, *_ = many.step(action[None])
        np.testing.assert_array_equal(seen, seen_of_many[0])
        self.assertEqual((reward, terminated, truncated), (reward_of_many[0], False, False))
        self.assertEqual(env.render().shape, (24, 32, 3))
        for other in (copy.deepcopy(env.unwrapped), pickle.loads(pickle.dumps(env.unwrapped))):
            np.testing.assert_array_equal(other.reset(seed=5)[0], many.reset(seed=5)[0][0])
        pixels = gymnasium.make("orrery/Hopper-v5", pixels={"size": (16, 12)})
        check_env(pixels.unwrapped, skip_render_check=True)
        for env in (env, pixels):
            env.close()

    def test_processes_make_their_own(self):
        environments.register()
        many = environments.make_vec("Hopper-v5", 2)
        first, _ = many.reset(seed=0)
        env = gymnasium.make_vec("orrery/Hopper-v5", num_envs=2, vectorization_mode="async")
        np.testing.assert_array_equal(env.reset(seed=0)[0], first)
        env.close()

    def test_cameras_are_named(self):
        with self.assertRaisesRegex(ValueError, "no camera 'side': expected one of track"):
            environments.PixelVectorEnv("Hopper-v5", cameras="side")
        env = environments.PixelVectorEnv("Hopper-v5", 2, cameras="track", size=(16, 16))
        self.assertEqual(env.reset(seed=0)[0]["pixels"].shape, (2, 1, 16, 16, 3))


if __name__ == "__main__":
    unittest.main()
