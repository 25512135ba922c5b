"""Environments against the real Gymnasium and MuJoCo, from the reference's state at every step."""

import os
import sys
import unittest
import warnings
from pathlib import Path

import numpy as np

if "ORRERY_INSTALLED" not in os.environ:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import gymnasium
    import gymnasium.envs.mujoco  # noqa: F401, needs mujoco
    from gymnasium.vector import AutoresetMode

    from orrery import environments, own_tasks, tasks
except ImportError as absent:
    raise unittest.SkipTest(f"left out: {absent}") from absent

STEPS = 300
# Gymnasium's humanoids stop a solver (PGS) after 50 iterations, before it has converged; ours converges
UNCONVERGED = ("Humanoid-v5", "HumanoidStandup-v5")


def reference_of(task, converged, **parameters):
    reference = gymnasium.make(task, **parameters)
    option = reference.unwrapped.model.opt
    option.jacobian = 0  # the sparse Newton solver of MuJoCo 4.0.0 is wrong
    if converged and task in UNCONVERGED:
        option.solver, option.iterations = 2, 100
    return reference


def compare(task, precision, num_envs, steps=STEPS, **parameters):
    """The largest errors of qpos, qvel, observation and reward. Rewards of speed depend on where the step
    before left the reference, so they are compared in runs of 10 steps from one state."""
    reference = reference_of(task, precision == "f64", **parameters).unwrapped
    ours = environments.make_vec(task, num_envs, precision=precision, **parameters)
    free = environments.make_vec(task, 1, precision="f64", **parameters)
    random = np.random.default_rng(0)
    errors = np.zeros(4)
    reference.reset(seed=1)
    for step in range(steps):
        if step % 10 == 0:
            reference.reset()
            for env in (ours, free):
                env.reset()
            free.set_state(0, reference.data.qpos, reference.data.qvel)
        ours.set_state(0, reference.data.qpos, reference.data.qvel)
        action = random.uniform(reference.action_space.low, reference.action_space.high).astype(np.float32)
        seen, reward, ended, _, _ = reference.step(action)
        found, _, terminated, _, _ = ours.step(np.tile(action, (num_envs, 1)))
        _, gained, _, _, _ = free.step(action[None])
        qpos, qvel = ours.get_state(0)
        now = (qpos - reference.data.qpos, qvel - reference.data.qvel, found[0] - seen, gained[0] - reward)
        errors = np.maximum(errors, [np.abs(error).max() for error in now])
        if ended != terminated[0]:
            raise AssertionError(f"{task}, step {step}: terminated {terminated[0]}, Gymnasium's {ended}")
        if ended:
            reference.reset()
            for env in (ours, free):
                env.reset()
            free.set_state(0, reference.data.qpos, reference.data.qvel)
    return errors


class Shipped(unittest.TestCase):
    def test_tasks_that_ship_are_stepped_and_seen_by_name(self):
        for name in own_tasks.tasks():
            with self.subTest(name):
                env = environments.make_vec(name, 2, render_mode="rgb_array", width=48, height=32)
                first, _ = env.reset(seed=0)
                for _ in range(3):
                    seen, reward, *_ = env.step(env.action_space.sample())
                self.assertTrue(np.isfinite(seen).all() and np.isfinite(reward).all())
                self.assertTrue((seen != first).any())
                pictures = env.render()
                self.assertEqual((len(pictures), pictures[0].shape), (2, (32, 48, 3)))
                self.assertGreater(pictures[0].std(), 5)  # something is in it
                env.close()

    def test_pictures_of_a_scene_show_its_environments(self):
        env = environments.PixelVectorEnv("CartPixels", 2, size=(32, 32))
        first, _ = env.reset(seed=0)
        for _ in range(20):
            seen, *_ = env.step(np.array([[1.0], [0.0]], np.float32))
        moved = np.abs(seen["pixels"].astype(int) - first["pixels"]).max(axis=(1, 2, 3, 4))
        self.assertGreater(moved[0], 50)  # the cart; that of the other stands still
        self.assertLess(moved[1], 5)


class Sending(unittest.TestCase):
    def test_a_step_that_is_sent_is_the_step(self):
        waiting, sending = (environments.make_vec("Hopper-v5", 16) for _ in range(2))
        waiting.reset(seed=3), sending.reset(seed=3)
        random = np.random.default_rng(0)
        for _ in range(50):
            actions = random.uniform(-1, 1, (16, 3)).astype(np.float32)
            expected = waiting.step(actions)
            sending.send(actions)
            actions[:] = np.nan  # they have been taken
            found = sending.recv()
            for a, b in zip(found[:4], expected[:4]):
                np.testing.assert_array_equal(a, b)
        with self.assertRaisesRegex(RuntimeError, "expected send"):
            sending.recv()
        sending.send(np.zeros((16, 3)))
        with self.assertRaisesRegex(RuntimeError, "expected recv"):
            sending.send(np.zeros((16, 3)))
        for refused in (lambda: sending.step(np.zeros((16, 3))), sending.reset):
            with self.assertRaisesRegex(RuntimeError, "expected recv"):
                refused()
        with self.assertRaisesRegex(ValueError, "actions"):
            waiting.send(np.zeros((16, 4)))
        sending.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            sending.send(np.zeros((16, 3)))


class Pendulum(tasks.Task):
    """InvertedPendulum-v5."""

    name, frame_skip, observation_count = "pendulum", 2, 4

    def start(self, batch, qpos, qvel):
        noise = -0.01 + 0.02 * batch.random(0, 4)
        return qpos + noise[:, :2], qvel + noise[:, 2:]

    def terminate(self, batch):
        return np.abs(batch["qpos"][:, 1]) > 0.2

    def reward(self, batch, terminated):
        return np.where(terminated, 0.0, 1.0)

    def observe(self, batch):
        return np.concatenate([batch["qpos"], batch["qvel"]], axis=1)


class Heavy(Pendulum):
    """The same with a cart of another mass in each episode, which it observes."""

    parameters, observation_count = ("body_mass",), 1

    def randomise(self, batch, parameter, values):
        return values * (1 + batch.random(100, 1))

    def observe(self, batch):
        return batch["qvel"][:, :1] - batch.before["qvel"][:, :1]


class OwnTasks(unittest.TestCase):
    def test_a_task_in_numpy_is_the_task_that_it_describes(self):
        model = environments.model_path("InvertedPendulum-v5")
        own = environments.make_vec(Pendulum(), 70, model=model)
        same = environments.make_vec("InvertedPendulum-v5", 70)
        random = np.random.default_rng(0)
        np.testing.assert_array_equal(own.reset(seed=5)[0], same.reset(seed=5)[0])
        for _ in range(80):
            actions = random.uniform(-3, 3, (70, 1)).astype(np.float32)
            for a, b in zip(own.step(actions)[:4], same.step(actions)[:4]):
                np.testing.assert_array_equal(a, b)

    def test_a_task_randomises_parameters(self):
        model = environments.model_path("InvertedPendulum-v5")
        env = environments.make_vec(Heavy(), 200, model=model, precision="f64")
        env.reset(seed=1)
        for i in range(200):
            env.set_state(i, np.zeros(2), np.zeros(2))
        speeds = env.step(np.full((200, 1), 0.1))[0][:, 0]
        self.assertTrue((speeds > 0).all())
        self.assertGreater(speeds.max() / speeds.min(), 1.8)  # masses are 1 to 2 times the model's
        self.assertLess(speeds.max() / speeds.min(), 2.01)

    def test_what_a_task_raises_is_raised(self):
        class Wrong(Pendulum):
            def observe(self, batch):
                return np.zeros((batch.count, 3))

        class Missing(Pendulum):
            quantities = ("qpos", "wheels")

        model = environments.model_path("InvertedPendulum-v5")
        with self.assertRaisesRegex(ValueError, r"array \(2, 3\): expected \(2, 4\)"):
            environments.make_vec(Wrong(), 2, model=model)
        with self.assertRaisesRegex(ValueError, "quantity 'wheels': expected one of"):
            environments.make_vec(Missing(), 2, model=model)


class Tasks(unittest.TestCase):
    def test_every_task_is_gymnasiums(self):
        self.assertEqual(len(environments.tasks()), 11)
        for task in environments.tasks():
            with self.subTest(task):
                qpos, qvel, seen, reward = compare(task, "f64", 1)
                print(f"{task} f64: {qpos:.1e} {qvel:.1e} {seen:.1e} {reward:.1e}")
                self.assertLess(qpos, 1e-8)
                self.assertLess(qvel, 1e-8)
                self.assertLess(seen, 1e-8)
                self.assertLess(reward, 1e-5)  # Gymnasium squares actions in float32
                qpos, qvel, seen, reward = compare(task, "f32", 9)
                print(f"{task} f32: {qpos:.1e} {qvel:.1e} {seen:.1e}")
                self.assertLess(qpos, 1e-4)
                self.assertLess(qvel, 1e-2)

    def test_parameters_are_gymnasiums(self):
        walks = {"forward_reward_weight": 2.0, "ctrl_cost_weight": 0.3, "reset_noise_scale": 0.02}
        ends = {"healthy_reward": 3.0, "healthy_z_range": (0.5, 0.75)}
        stays = {"terminate_when_unhealthy": False, "exclude_current_positions_from_observation": False}
        ranges = {"healthy_angle_range": (-0.02, 0.015), "healthy_z_range": (1.0, 1.252)}
        spatial = {"include_cvel_in_observation": False, "include_cfrc_ext_in_observation": False}
        places = {"exclude_current_positions_from_observation": False}
        stands = {"ctrl_cost_weight": 0.3, "impact_cost_weight": 1e-4, "impact_cost_range": (-2.0, 3.0)}
        controls = {"reward_control_weight": 0.3, "frame_skip": 4}
        for task, parameters in (
            ("Ant-v5", {**walks, "contact_cost_weight": 0.2, "contact_force_range": (-0.1, 0.1)}),
            ("Ant-v5", {**ends, **stays, "include_cfrc_ext_in_observation": False, "frame_skip": 3}),
            ("HalfCheetah-v5", {**walks, "exclude_current_positions_from_observation": False}),
            ("Hopper-v5", {**ranges, **stays, "healthy_state_range": (-0.5, 0.6)}),
            ("Walker2d-v5", {**walks, **ranges}),
            ("Swimmer-v5", {**walks, "exclude_current_positions_from_observation": False}),
            ("Humanoid-v5", {**walks, **spatial, "contact_cost_weight": 1e-3, "contact_cost_range": (0, 2)}),
            ("HumanoidStandup-v5", {**stands, **spatial, **places}),
            ("Reacher-v5", {"reward_dist_weight": 3.0, "reward_control_weight": 0.2, "frame_skip": 3}),
            ("Pusher-v5", {"reward_near_weight": 2.0, "reward_dist_weight": 3.0, **controls}),
            ("InvertedPendulum-v5", {"reset_noise_scale": 0.05, "frame_skip": 3}),
            ("InvertedDoublePendulum-v5", {"healthy_reward": 3.0, "reset_noise_scale": 0.05}),
        ):
            with self.subTest(task, **parameters):
                qpos, qvel, seen, reward = compare(task, "f64", 1, 60, **parameters)
                self.assertLess(max(qpos, qvel, seen), 1e-8)
                self.assertLess(reward, 1e-5)
                theirs, ours = (
                    gymnasium.make(task, **parameters),
                    environments.make_vec(task, 2, **parameters),
                )
                self.assertEqual(theirs.observation_space.shape, ours.single_observation_space.shape)
        for task in environments.tasks():  # starts are those of the task as it is
            plain, other = (environments.make_vec(task, 9, **p) for p in ({}, {"frame_skip": 7}))
            seen, same = plain.reset(seed=2)[0], other.reset(seed=2)[0]
            np.testing.assert_allclose(same, seen, rtol=0, atol=1e-6, err_msg=task)
        environments.register()
        weights = {"reward_dist_weight": 0.0, "reward_control_weight": 5.0}
        single = gymnasium.make("orrery/Reacher-v5", **weights)
        many = gymnasium.make_vec("orrery/Reacher-v5", 3, **weights)
        single.reset(seed=1), many.reset(seed=1)
        self.assertAlmostEqual(single.step(np.array([1, 0.5], np.float32))[1], -6.25, places=6)
        np.testing.assert_allclose(many.step(np.full((3, 2), 0.5, np.float32))[1], -2.5, atol=1e-6)
        for task, wrong, text in (
            ("Ant-v5", {"ctrl_weight": 1}, "Ant-v5 has no 'ctrl_weight': expected one of forward_reward_w"),
            ({"orrery_task": 1}, {"task_infos": True}, "expected an option, or a parameter of one of Ant"),
            ("Ant-v5", {"engine": 5}, "engine 5: expected an Engine, or None"),
            ("Reacher-v5", {"weight": 1}, "Reacher-v5 has no 'weight': expected one of reward_dist_weight"),
            ({"orrery_task": 1}, {"colour": 1}, "colour: expected an option, or a parameter of one of Ant"),
        ):
            with self.assertRaisesRegex(TypeError, text):
                environments.make_vec(task, 2, **wrong)

    def test_infos_are_gymnasiums(self):
        """All keys, masks and values; of what a step resets, whose start is random, that of our own state."""
        weights = {"ctrl_cost_weight": 0.3, "terminate_when_unhealthy": False, "healthy_z_range": (0.9, 1.24)}
        changed = [("Hopper-v5", AutoresetMode.NEXT_STEP, {**weights, "healthy_angle_range": (-0.01, 0.02)})]
        modes = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)
        both = [(task, modes[i % 2], {}) for i, task in enumerate(environments.tasks())]
        both += [("Hopper-v5", mode, {}) for mode in modes]
        for task, mode, parameters in both + changed:
            with self.subTest(task, mode=mode, **parameters):
                self.compare_infos(task, mode, parameters)
        plain, told = (environments.make_vec("Ant-v5", 2, task_infos=t) for t in (False, True))
        self.assertEqual(plain.single_observation_space, told.single_observation_space)
        self.assertEqual(plain.reset(seed=1)[1], {})
        single = gymnasium.make("Ant-v5").reset(seed=1)[1]
        environments.register()
        ours = gymnasium.make("orrery/Ant-v5", task_infos=True).reset(seed=1)[1]
        self.assertEqual(set(single), set(ours))

    def compare_infos(self, task, mode, parameters):
        making = {"max_episode_steps": 6, **parameters}
        theirs = gymnasium.vector.SyncVectorEnv(
            [lambda: reference_of(task, True, **making)] * 3, autoreset_mode=mode
        )
        ours = environments.make_vec(
            task, 3, precision="f64", autoreset_mode=mode, task_infos=True, statistics=False, **making
        )
        random = np.random.default_rng(0)
        (_, told), (_, found) = theirs.reset(seed=0), ours.reset(seed=0)
        self.assertEqual(set(found), set(told))
        begun, ended, resets = np.ones(3, bool), np.zeros(3, bool), 0
        for _ in range(15):
            for i in np.flatnonzero(begun):
                data = theirs.envs[i].unwrapped.data
                ours.set_state(i, data.qpos, data.qvel)
            actions = random.uniform(theirs.action_space.low, theirs.action_space.high).astype(np.float32)
            over = ended
            _, _, *ends, told = theirs.step(actions)
            _, _, *our_ends, found = ours.step(actions)
            ended = ends[0] | ends[1]
            np.testing.assert_array_equal(our_ends[0], ends[0])
            np.testing.assert_array_equal(our_ends[0] | our_ends[1], ended)
            begun = ended if mode == AutoresetMode.SAME_STEP else over
            resets += ended.sum()
            self.same_infos(found, told, ~begun)
            if "final_info" in told:
                self.same_infos(found["final_info"], told["final_info"], ended)
            if "x_position" in found:
                np.testing.assert_array_equal(found["x_position"][begun], ours.get_states()[0][begun, 0])
        self.assertGreater(resets, 3)

    def same_infos(self, found, told, compared):
        left = ("final_obs", "_final_obs", "final_info", "_final_info")
        self.assertEqual(set(found) - set(left), set(told) - set(left))
        for key in set(told) - set(left):
            if key.startswith("_"):
                np.testing.assert_array_equal(found[key], told[key], err_msg=key)
            else:
                self.assertEqual(found[key].shape, told[key].shape, key)
                np.testing.assert_allclose(
                    found[key][compared], told[key][compared], rtol=1e-6, atol=1e-6, err_msg=key
                )

    def test_spaces_are_gymnasiums(self):
        for task in environments.tasks():
            theirs, ours = gymnasium.make(task), environments.make_vec(task, 2)
            self.assertEqual(theirs.observation_space.shape, ours.single_observation_space.shape)
            self.assertEqual(theirs.action_space, ours.single_action_space)
            self.assertEqual(theirs.spec.max_episode_steps, ours._info.max_steps)
            self.assertAlmostEqual(theirs.unwrapped.dt, ours.dt)


def same_tasks():
    """Gymnasium's tasks as task files."""
    state = [{"of": "qpos", "from": 2}, {"of": "qvel"}]
    control = {"of": "action", "function": "squares"}
    shake = {"qpos_noise": 0.1, "qvel_noise": 0.1, "normal_velocity": True}
    contact = {"of": "cfrc_ext", "clip": 1}
    ant = {
        "frame_skip": 5,
        "start": shake,
        "observation": state + [contact],
        "reward": [
            {"of": "xpos", "name": "torso", "axis": "x", "rate": True},
            {"of": "constant", "unless_terminated": True},
            {**control, "weight": -0.5},
            {**contact, "function": "squares", "weight": -5e-4},
        ],
        "terminate": [{"of": "qpos", "from": 2, "count": 1, "below": 0.2, "above": 1}],
    }
    spatial = [
        {"of": "cinert"},
        {"of": "cvel"},
        {"of": "qfrc_actuator", "from": 6},
        {"of": "cfrc_ext"},
    ]
    humanoid = {
        "frame_skip": 5,
        "start": {"qpos_noise": 0.01, "qvel_noise": 0.01},
        "observation": state + spatial,
        "reward": [
            {"of": "subtree_com", "name": "world", "axis": 0, "rate": True, "weight": 1.25},
            {"of": "constant", "unless_terminated": True, "weight": 5},
            {**control, "weight": -0.1},
            {"of": "cfrc_ext", "function": "squares", "at_most": 10 / 5e-7, "weight": -5e-7},
        ],
        "terminate": [{"of": "qpos", "from": 2, "count": 1, "below": 1, "above": 2}],
    }
    hopper = {
        "frame_skip": 4,
        "start": {"qpos_noise": 5e-3, "qvel_noise": 5e-3},
        "observation": [{"of": "qpos", "from": 1}, {"of": "qvel", "clip": 10}],
        "reward": [
            {"of": "qpos", "count": 1, "rate": True},
            {"of": "constant", "unless_terminated": True},
            {**control, "weight": -1e-3},
        ],
        "terminate": [
            {"of": "qpos", "from": 1, "count": 1, "below": 0.7},
            {"of": "qpos", "from": 2, "count": 1, "below": -0.2, "above": 0.2},
            {"of": "qpos", "from": 2, "below": -100, "above": 100},
            {"of": "qvel", "below": -100, "above": 100},
        ],
    }
    return {"Ant-v5": ant, "Humanoid-v5": humanoid, "Hopper-v5": hopper}


class TaskFiles(unittest.TestCase):
    def test_files_are_the_tasks_that_they_describe(self):
        for task, text in same_tasks().items():
            with self.subTest(task):
                ours = environments.make_vec(task, 16, precision="f64")
                model = environments.model_path(task)
                files = environments.make_vec({"orrery_task": 1, **text}, 16, model=model, precision="f64")
                random = np.random.default_rng(0)
                (seen, _), (same, _) = ours.reset(seed=5), files.reset(seed=5)
                for _ in range(60):
                    np.testing.assert_allclose(same, seen, rtol=0, atol=1e-12)
                    action = random.uniform(ours.action_space.low, ours.action_space.high).astype(
                        np.float32
                    )
                    seen, reward, ended, _, _ = ours.step(action)
                    same, gained, over, _, _ = files.step(action)
                    np.testing.assert_array_equal(over, ended)
                    np.testing.assert_allclose(gained, reward, rtol=0, atol=1e-9)

    def test_mistakes_are_named(self):
        with self.assertRaisesRegex(ValueError, "task 'none': expected one of Ant-v5"):
            environments.make_vec("none")
        with self.assertRaisesRegex(Exception, "task: observation: expected at least one term"):
            environments.make_vec(
                {"orrery_task": 1, "observation": [], "reward": []}, model=environments.model_path("Ant-v5")
            )


class Vector(unittest.TestCase):
    def test_autoreset_modes(self):
        for mode in AutoresetMode:
            env = environments.make_vec("Hopper-v5", 3, max_episode_steps=2, autoreset_mode=mode)
            self.assertEqual(env.metadata["autoreset_mode"], mode)
            first, _ = env.reset(seed=5)
            none = np.zeros(env.action_space.shape, np.float32)
            env.step(none)
            seen, _, _, truncated, infos = env.step(none)
            self.assertTrue(truncated.all())
            if mode == AutoresetMode.SAME_STEP:
                self.assertTrue(infos["_final_obs"].all())
                self.assertGreater(np.abs(infos["final_obs"][0] - seen[0]).max(), 1e-3)
                np.testing.assert_array_equal(infos["final_info"]["episode"]["l"], 2)
            elif mode == AutoresetMode.NEXT_STEP:
                np.testing.assert_array_equal(infos["episode"]["l"], 2)
                _, reward, _, truncated, _ = env.step(none)
                self.assertTrue((reward == 0).all() and not truncated.any())
            else:
                with self.assertRaisesRegex(ValueError, "episode has ended"):
                    env.step(none)
            again, _ = env.reset(seed=5)
            np.testing.assert_array_equal(first, again)
            env.close()
            env.close()

    def test_arguments_are_checked(self):
        env = environments.make_vec("Hopper-v5", 3)
        with self.assertRaisesRegex(ValueError, "expected one of Ant-v5"):
            environments.make_vec("Chess-v0")
        with self.assertRaises(ValueError):
            env.step(np.zeros((2, 3)))
        with self.assertRaisesRegex(ValueError, "finite"):
            env.step(np.full((3, 3), np.nan))
        for wrong, kind, text in (
            ([1, 2], ValueError, "2 seeds: expected 3"),
            ([1, 2.5, 3], TypeError, "seed 2.5 of environment 1: expected an integer"),
            ([1, 2, None], TypeError, "seed None of environment 2: expected an integer"),
            (-4, ValueError, "seed -4 of environment 0: expected 0 to 4294967295"),
            (2**32 - 2, ValueError, "seed 4294967296 of environment 2: expected 0 to 4294967295"),
            ("abc", TypeError, "seed 'abc': expected an integer"),
            (1.5, TypeError, "seed 1.5: expected an integer"),
        ):
            with self.assertRaisesRegex(kind, text):
                env.reset(seed=wrong)
        with self.assertRaisesRegex(TypeError, "options 5: expected a dict"):
            env.reset(options=5)
        for steps in (0, -3, 2**40):
            with self.assertRaisesRegex(ValueError, "max_episode_steps"):
                environments.make_vec("Hopper-v5", 2, max_episode_steps=steps)
        with self.assertRaisesRegex(ValueError, "qpos: number 1 of environment 2 is nan: expected a finite"):
            env.set_state(2, [0, np.nan, 0, 0, 0, 0], np.zeros(6))
        with self.assertRaisesRegex(TypeError, "argument 2 of orr_env_set_state"):
            env.set_state(0.5, np.zeros(6), np.zeros(6))
        with warnings.catch_warnings():  # one line, and not a warning of NumPy's too
            warnings.simplefilter("error")
            with self.assertRaisesRegex(ValueError, "action 0 of environment 0 is inf"):
                env.step(np.full((3, 3), 1e300))
        with self.assertRaises(TypeError):
            env.reset(options={"reset_mask": [True, False, False]})
        with self.assertRaises(ValueError):
            env.reset(options={"reset_mask": np.zeros(3, bool)})
        for wrong in (np.zeros((3, 3), complex), np.full((3, 3), "x"), [[None] * 3] * 3):
            with self.assertRaisesRegex(TypeError, "actions of .*: expected float32"):
                env.step(wrong)
        with self.assertRaisesRegex(ValueError, "action 1 of environment 2 is nan"):
            env.step(np.where(np.arange(9).reshape(3, 3) == 7, np.nan, 0.0))
        frozen = np.zeros((3, 3), np.float32)
        frozen.flags.writeable = False
        env.step(frozen)
        env.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            env.step(np.zeros((3, 3)))

    def test_views_and_copies(self):
        env = environments.make_vec("Hopper-v5", 2, copy=False)
        seen, _ = env.reset(seed=1)
        before = seen.copy()
        env.step(np.ones((2, 3)))
        self.assertGreater(np.abs(seen - before).max(), 0.0)

    def test_gymnasium_makes_them(self):
        environments.register()
        env = gymnasium.make_vec("orrery/HalfCheetah-v5", num_envs=4)
        seen, _ = env.reset(seed=3)
        self.assertEqual(seen.shape, (4, 17))
        self.assertTrue(env.observation_space.contains(seen))
        seen, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        self.assertEqual((reward.dtype, terminated.dtype, truncated.dtype), (np.float64, bool, bool))

    def test_pixels_are_observed(self):
        env = environments.PixelVectorEnv("Hopper-v5", 3, size=(48, 32))
        observation, _ = env.reset(seed=1)
        self.assertTrue(env.observation_space.contains(observation))
        self.assertEqual(observation["pixels"].shape, (3, 1, 32, 48, 3))
        for _ in range(5):
            after, *_ = env.step(env.action_space.sample())
        self.assertTrue((after["pixels"] != observation["pixels"]).any(axis=(1, 2, 3, 4)).all())
        state = environments.make_vec("Hopper-v5", 3)
        np.testing.assert_array_equal(state.reset(seed=1)[0], observation["state"])
        with self.assertRaisesRegex(ValueError, "SAME_STEP"):
            environments.PixelVectorEnv("Hopper-v5", autoreset_mode=AutoresetMode.SAME_STEP)

    def test_pixels_stay_on_cuda(self):
        try:
            env = environments.PixelVectorEnv("Hopper-v5", 3, size=(12, 8), device="cuda")
        except RuntimeError:  # an OrreryError
            self.skipTest("no CUDA device")
        observation, _ = env.reset(seed=1)
        pixels = observation["pixels"]
        self.assertEqual((pixels.shape, pixels.bits, pixels.__dlpack_device__()[0]), ((3, 1, 8, 12, 3), 8, 2))
        after, *_ = env.step(env.action_space.sample())
        self.assertEqual(after["pixels"].address, pixels.address)
        look = {"of": "geom_surface", "pattern": ["flat"], "colours": [[0, 0.2, 0], [0, 1, 0]]}
        task = {"orrery_task": 1, "observation": [{"of": "qpos"}], "reward": [], "randomise": [look]}
        model = environments.model_path("InvertedPendulum-v5")
        with self.assertRaisesRegex(NotImplementedError, "surfaces that vary"):
            environments.PixelVectorEnv(task, 3, model=model, size=(12, 8), device="cuda")

    def test_pictures_have_the_surfaces_that_a_task_draws(self):
        look = {"of": "geom_surface", "pattern": ["flat", "checker"], "colours": [[0, 0.2, 0], [0, 1, 0]]}
        task = {"orrery_task": 1, "max_steps": 2, "observation": [{"of": "qpos"}], "reward": []}
        model, pictures = environments.model_path("InvertedPendulum-v5"), []
        for randomise in ([], [look]):
            made = dict(task, randomise=randomise)
            env = environments.make_vec(made, 3, model=model, render_mode="rgb_array", width=32, height=32)
            env.reset(seed=1)
            pictures.append(np.array(env.render()))
            env.step(np.zeros((3, 1), np.float32))
            pictures.append(np.array(env.render()))
            env.reset(seed=2)
            pictures.append(np.array(env.render()))
            env.close()
        plain, varied, later = pictures[0], pictures[3], pictures[5]
        for i in range(3):
            self.assertTrue((plain[i] != varied[i]).any() and (varied[i] != varied[i - 1]).any())
        self.assertTrue((varied != later).any())
        changed = varied[(plain != varied).any(-1)]  # of the geoms: red and blue are in no colour
        self.assertGreater(np.mean(changed[:, 1] > changed[:, [0, 2]].max(1)), 0.9)

    def test_render_shows_each_environment(self):
        env = environments.make_vec("Hopper-v5", 2, render_mode="rgb_array", width=64, height=48)
        env.reset(seed=1)
        pictures = env.render()
        self.assertEqual((len(pictures), pictures[0].shape, pictures[0].dtype), (2, (48, 64, 3), np.uint8))
        self.assertGreater(pictures[0].std(), 5.0)


if __name__ == "__main__":
    unittest.main()
