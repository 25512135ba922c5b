"""dm_control's tasks against the real package, from the reference's state at every step."""

import os
import sys
import unittest
from pathlib import Path

import numpy as np

if "ORRERY_INSTALLED" not in os.environ:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

os.environ.setdefault("MUJOCO_GL", "disable")
try:
    import mujoco
    from dm_control.mujoco.wrapper.mjbindings import sizes

    from orrery import dm_control, environments
except ImportError as absent:
    raise unittest.SkipTest(f"left out: {absent}") from absent

STEPS, EPISODE = 40, 20  # dm_control begins an episode every so many
SETTLED = 1e-8  # f64: of positions, velocities, observations and rewards
F32 = (1e-4, 1e-2)  # of positions and velocities
# Share of steps within F32 at least, where bodies are jammed between others: the solver in f32 is not exact
# there
JAMMED = {"hopper-stand": 0.8, "hopper-hop": 0.8, "finger-turn_easy": 0.98, "finger-turn_hard": 0.98}


def drop_absent_fields():
    """dm_control 1.0.50 lists arrays that MuJoCo 4.0.0 does not have; none of them is of a task here."""
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    for struct, instance in (("mjmodel", model), ("mjdata", mujoco.MjData(model))):
        for name in list(sizes.array_sizes[struct]):
            if not hasattr(instance, name):
                del sizes.array_sizes[struct][name]


def load(name, seed=1):
    from dm_control import suite

    reference = suite.load(*name.split("-"), task_kwargs={"random": seed})
    reference.physics.model.opt.jacobian = 0  # the sparse Newton solver of MuJoCo 4.0.0 is wrong
    reference.physics.model.opt.tolerance = 0  # otherwise MuJoCo's stops early, at up to 4e-5 m/s
    return reference


def flat(observation):
    return np.concatenate([np.ravel(part) for part in observation.values()])


def set_target(env, name, reference):
    """Puts the target where the reference has it."""
    model, count = reference.physics.named.model, env.num_envs
    domain = name.split("-")[0]
    if domain == "manipulator":
        env.set_quantity("mocap_quat", np.tile(model.body_quat["target_ball"], (count, 1)))
    at = {"reacher": "geom", "swimmer": "geom", "fish": "geom", "finger": "site", "manipulator": "body"}
    if domain in at and env.get_quantity("mocap_pos").size:
        where = getattr(model, at[domain] + "_pos")["target_ball" if domain == "manipulator" else "target"]
        env.set_quantity("mocap_pos", np.tile(where, (count, 1)))


def set_state(env, data):
    """Sets environment 0 to the reference's state, and all others' activations and warm starts too."""
    for quantity in ("act", "qacc_warmstart"):
        values = getattr(data, quantity)
        if values.size:
            env.set_quantity(quantity, np.tile(values, (env.num_envs, 1)))
    env.set_state(0, data.qpos, data.qvel)


def errors_of(name, reference, envs):
    """Of every step, for each of envs, steps x 4: errors of qpos, qvel, observation and reward."""
    random, spec, data = np.random.default_rng(0), reference.action_spec(), reference.physics.data
    errors = np.zeros((len(envs), STEPS, 4))
    for step in range(STEPS):
        if step % EPISODE == 0:
            reference.reset()
            for env in envs:
                env.reset()
                set_target(env, name, reference)
        for env in envs:
            set_state(env, data)
        action = random.uniform(spec.minimum, spec.maximum).astype(np.float32)
        seen = reference.step(action)
        for env, error in zip(envs, errors):
            found, reward, *_ = env.step(np.tile(action, (env.num_envs, 1)))
            qpos, qvel = env.get_state(0)
            seen_numbers = flat(seen.observation)
            off = (qpos - data.qpos, qvel - data.qvel, found[0] - seen_numbers, reward[0] - seen.reward)
            error[step] = [np.abs(part).max() for part in off]
    return errors


class Tasks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        drop_absent_fields()

    def test_every_task_is_dm_controls(self):
        from dm_control import suite

        benchmarking = {"-".join(pair) for pair in suite.BENCHMARKING}
        self.assertEqual(benchmarking | {"quadruped-walk", "quadruped-run"}, set(dm_control.tasks()))
        for name in dm_control.tasks():
            with self.subTest(name):
                reference = load(name)
                double, single = self.compare(name, reference)
                f64, f32 = (" ".join(f"{e:.1e}" for e in errors.max(0)) for errors in (double, single))
                print(f"{name} f64: {f64}, f32: {f32}")
                self.assertLess(double.max(), SETTLED)
                within = (single[:, 0] < F32[0]) & (single[:, 1] < F32[1]) & (single[:, 3] < 1e-4)
                self.assertGreaterEqual(within.mean(), JAMMED.get(name, 1.0))

    def compare(self, name, reference):
        envs = [
            environments.make_vec("dm_control/" + name, count, precision=precision)
            for count, precision in ((1, "f64"), (9, "f32"))
        ]
        spec = reference.action_spec()
        np.testing.assert_allclose(envs[0].single_action_space.low, spec.minimum)
        np.testing.assert_allclose(envs[0].single_action_space.high, spec.maximum)
        self.assertEqual(envs[0]._info.max_steps, round(reference._step_limit))
        self.assertAlmostEqual(envs[0].dt, reference.control_timestep())
        return errors_of(name, reference, envs)

    def test_starts_are_distributed_as_dm_controls(self):
        for name in ("ball_in_cup-catch", "cartpole-swingup", "cheetah-run", "reacher-easy", "walker-walk"):
            with self.subTest(name):
                reference, theirs = load(name), []
                env = environments.make_vec("dm_control/" + name, 1000, precision="f64")
                for _ in range(60):
                    reference.reset()
                    theirs.append(np.concatenate([reference.physics.data.qpos, reference.physics.data.qvel]))
                theirs, ours = np.array(theirs), np.concatenate(env.get_states(), axis=1)
                fixed = ours.std(0) < 1e-12
                np.testing.assert_allclose(theirs[0, fixed], ours[0, fixed], atol=1e-12)
                theirs, ours = theirs[:, ~fixed], ours[:, ~fixed]
                # of 60: five deviations of the mean, and about as many of the deviation of uniform numbers
                self.assertLess((np.abs(theirs.mean(0) - ours.mean(0)) / ours.std(0)).max(), 5 / np.sqrt(60))
                self.assertLess(np.abs(theirs.std(0) / ours.std(0) - 1).max(), 0.5)

    def test_files_are_written_for_other_programs(self):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = dm_control.write("reacher-easy", folder)
            env = environments.make_vec(str(path), 2)
            same = environments.make_vec("dm_control/reacher-easy", 2)
            np.testing.assert_array_equal(env.reset(seed=4)[0], same.reset(seed=4)[0])
            target = env.get_quantity("mocap_pos")
            self.assertTrue((np.hypot(target[:, 0], target[:, 1]) < 0.2).all())
            self.assertFalse((target[0] == target[1]).all())

    def test_unknown_tasks_are_refused(self):
        with self.assertRaisesRegex(ValueError, "'cheetah-fly': expected one of acrobot-swingup"):
            environments.make_vec("dm_control/cheetah-fly")


if __name__ == "__main__":
    unittest.main()
