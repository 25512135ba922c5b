"""Policies: networks from observations of a task to actions, and their training."""

import ctypes
import os

import numpy as np

from orrery import own_tasks
from orrery._handle import Handle, made_by
from orrery._library import call, pointer, structs
from orrery.engine import default_engine


def _info(policy):
    info = structs["orr_policy_info"]()
    call.policy_describe_sized(policy, ctypes.byref(info), ctypes.sizeof(info))
    text = info.task_text.decode() if info.task_text is not None else None
    counts = ("observation_count", "action_count", "parameter_count", "steps")
    return {"task": info.task.decode(), "task_text": text} | {name: getattr(info, name) for name in counts}


def _act(policy, observations):
    info = _info(policy)
    observations = np.ascontiguousarray(observations, np.float64)
    expected = info["observation_count"]
    if observations.ndim not in (1, 2) or observations.shape[-1] != expected:
        raise ValueError(f"observations {observations.shape}: expected (count x) {expected}")
    rows = observations.reshape(-1, expected)
    actions = np.zeros((len(rows), info["action_count"]), np.float32)
    call.policy_act(policy, pointer(rows, np.float64), len(rows), pointer(actions, np.float32))
    return actions.reshape(*observations.shape[:-1], info["action_count"])


class Policy(Handle):
    """A trained policy, from a .policy file (`orrery train policy`, PolicyTrainer.save)."""

    def __init__(self, path):
        super().__init__(made_by(call.policy_load, os.fsencode(path)), "policy_destroy")

    @property
    def info(self):
        """A dict: "task", the name of the task; "task_text", its text for tasks from a file (json.loads(text)
        is a task for make_vec), otherwise None; "observation_count", "action_count", "parameter_count" and
        "steps", the steps of environments that it was trained on."""
        return _info(self.pointer)

    def act(self, observations):
        """The most likely actions (count x action_count, float32) for observations (count x
        observation_count), as make_vec returns and takes them; one observation gives one action."""
        return _act(self.pointer, observations)

    def save(self, path):
        """Writes a .policy file, without the state of its training."""
        call.policy_save(self.pointer, os.fsencode(path))


class PolicyTrainer(Handle):
    """Trains a policy by proximal policy optimisation, in one process without Python code in its loop.

    task: a name of environments.tasks() or own_tasks.tasks(), or the path of a task file. model: the file of
    the robot or scene; None: that of the task file. count: number of environments, a multiple of 64; 0: 128.
    horizon: steps of each of them between two updates; 0: 64. width: of the two hidden layers, 16, 32, 64 or
    128; 0: 64. resume: a file that save() wrote, from which the training continues bit for bit."""

    def __init__(
        self, task, model=None, count=0, horizon=0, width=0, seed=0, resume=None, engine=None
    ):
        self.engine = engine or default_engine()
        task = own_tasks.path(task) if task in own_tasks.tasks() else task
        desc = structs["orr_policy_train_desc"](
            task=os.fsencode(task),
            model=os.fsencode(model) if model is not None else None,
            count=count,
            horizon=horizon,
            width=width,
            seed=seed,
            resume=os.fsencode(resume) if resume is not None else None,
        )
        made = made_by(
            call.policy_trainer_create_sized, self.engine.pointer, ctypes.byref(desc), ctypes.sizeof(desc)
        )
        super().__init__(made, "policy_trainer_destroy", self.engine)

    def step(self, updates=1):
        """Trains: `updates` times a rollout of count x horizon steps and an update. Returns `info`."""
        for _ in range(updates):
            call.policy_trainer_step(self.pointer)
        return self.info

    @property
    def info(self):
        """The state of the training: an orr_policy_progress of orrery.h, with steps and episodes so far, and
        mean_return of the last 100 episodes."""
        info = structs["orr_policy_progress"]()
        call.policy_trainer_describe_sized(self.pointer, ctypes.byref(info), ctypes.sizeof(info))
        return info

    def act(self, observations):
        """As Policy.act, of the policy as it is now."""
        return _act(call.policy_trainer_policy(self.pointer), observations)

    def save(self, path):
        """Writes the policy with the state of its training: a .policy file for Policy and `resume`."""
        call.policy_trainer_save(self.pointer, os.fsencode(path))
