"""Tasks of your own: what is observed, rewarded, ends and begins an episode, as methods over NumPy arrays of
all environments at once."""

import ctypes

import numpy as np

from orrery._library import call, constant, pointer, structs
from orrery.world import quantity_numbers


class Batch:
    """What the methods of a Task receive, for all environments. Arrays are views, valid during the call.

    batch["qpos"]: a quantity of Task.quantities, num_envs x its size; batch.before["qpos"]: its value before
    this step. softs: num_envs x soft bodies of the scene x 6, centres of mass and their velocities [m, m/s],
    or None. mask (bool): the environments that the call concerns. actions: num_envs x n, or None outside of a
    step. steps: of the current episode. seconds: of a step. seeds, episodes: see random().
    """

    def __init__(self, task, given):
        self._names, count = task.quantities, given.count
        self._offsets = given.offsets[: len(self._names)] + [given.number_count]

        def array(pointer, *shape):
            return np.ctypeslib.as_array(pointer, (count, *shape)) if pointer else None

        self._numbers = array(given.numbers, given.number_count)
        self.before = _Numbers(self, array(given.before, given.number_count))
        self.softs = array(given.softs, given.soft_count, 6) if given.soft_count else None
        self.mask = array(given.mask).astype(bool)
        self.actions = array(given.actions, given.action_count)
        self.steps, self.seeds, self.episodes = array(given.steps), array(given.seeds), array(given.episodes)
        self.seconds, self.count = given.seconds, count
        self.shapes = given.observation_count, given.qpos_count, given.qvel_count

    def _columns(self, numbers, name):
        i = self._names.index(name)
        return numbers[:, self._offsets[i] : self._offsets[i + 1]]

    def __getitem__(self, name):
        return self._columns(self._numbers, name)

    def random(self, first, count):
        """num_envs x count random numbers, uniform in [0, 1): numbers `first` and following of the seed and
        episode of each environment; they do not depend on other environments."""
        numbers = np.zeros((self.count, count))
        for i in np.flatnonzero(self.mask):
            call.env_uniform(
                int(self.seeds[i]), int(self.episodes[i]), first, count, pointer(numbers[i], np.float64)
            )
        return numbers


class _Numbers:
    def __init__(self, batch, numbers):
        self._batch, self._numbers = batch, numbers

    def __getitem__(self, name):
        return self._batch._columns(self._numbers, name)


class Task:
    """Base class of a task: VectorEnv(MyTask(), num_envs, model="robot.xml").

    name. frame_skip: time steps of the model per step. observation_count: size of an observation. quantities:
    what the methods read, by MuJoCo's names ("qpos", "xpos", "sensordata" ...). parameters: what randomise()
    sets ("body_mass", "gravity" ..., as World.set_parameter).

    Methods return arrays for all environments, of which the library uses the rows of batch.mask. An exception
    in a method is raised by the call that needed the method.
    """

    name = "task"
    frame_skip = 1
    observation_count = 1
    quantities = ("qpos", "qvel")
    parameters = ()

    def randomise(self, batch, parameter, values):
        """Returns a parameter of the model for the next episode; values: those of the model, num_envs x
        size."""
        return values

    def start(self, batch, qpos, qvel):
        """Returns the start of an episode: qpos, qvel; given: qpos0 of the model and zeros, num_envs x nq and
        nv."""
        return qpos, qvel

    def terminate(self, batch):
        """Returns whether the step ended the episode: bool, num_envs."""
        return np.zeros(batch.count, bool)

    def reward(self, batch, terminated):
        """Returns the rewards of the step: num_envs."""
        return np.zeros(batch.count)

    def observe(self, batch):
        """Returns the observations: num_envs x observation_count."""
        raise NotImplementedError


class Callbacks:
    """A Task as the C functions of orr_env_callbacks, for as long as the object lives."""

    def __init__(self, task):
        self.error = None  # what a method has raised
        self._task, self.name = task, task.name
        numbers = quantity_numbers()
        for name in task.quantities:
            if name not in numbers:
                raise ValueError(f"quantity {name!r}: expected one of {', '.join(numbers)}")
        quantities = [numbers[name] for name in task.quantities]
        parameters = [constant("ORR_PARAMETER_", name) for name in task.parameters]
        self._lists = (
            (ctypes.c_int * max(len(quantities), 1))(*quantities),
            (ctypes.c_int * max(len(parameters), 1))(*parameters),
        )
        kind = structs["orr_env_callbacks"]
        self.struct = kind(
            size=ctypes.sizeof(kind),
            frame_skip=task.frame_skip,
            observation_count=task.observation_count,
            quantities=self._lists[0],
            quantity_count=len(quantities),
            parameters=self._lists[1],
            parameter_count=len(parameters),
        )
        fields = dict(kind._fields_)
        for name in ("randomise", "start", "terminate", "reward", "observe"):
            setattr(self.struct, name, fields[name](self._guarded(getattr(self, "_" + name))))

    def _guarded(self, method):
        def function(_, batch, *arguments):
            try:
                if self.error is None:
                    method(Batch(self._task, batch.contents), *arguments)
            except BaseException as error:  # Ctrl-C too: ctypes cannot pass it through C
                self.error = error

        return function

    def check(self):
        """Raises what a method has raised since the last check."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    def _randomise(self, batch, index, size, values):
        name = self._task.parameters[index]
        rows = np.ctypeslib.as_array(values, (batch.count, size))
        _put(batch, rows, self._task.randomise(batch, name, rows.copy()))

    def _start(self, batch, qpos, qvel):
        _, nq, nv = batch.shapes
        rows = [np.ctypeslib.as_array(p, (batch.count, n)) for p, n in ((qpos, nq), (qvel, nv))]
        for row, new in zip(rows, self._task.start(batch, *(row.copy() for row in rows))):
            _put(batch, row, new)

    def _terminate(self, batch, terminated):
        rows = np.ctypeslib.as_array(terminated, (batch.count,))
        _put(batch, rows, np.asarray(self._task.terminate(batch), bool))

    def _reward(self, batch, terminated, reward):
        ended = np.ctypeslib.as_array(terminated, (batch.count,)).astype(bool)
        _put(batch, np.ctypeslib.as_array(reward, (batch.count,)), self._task.reward(batch, ended))

    def _observe(self, batch, observation):
        rows = np.ctypeslib.as_array(observation, (batch.count, batch.shapes[0]))
        _put(batch, rows, self._task.observe(batch))


def _put(batch, rows, values):
    values = np.asarray(values)
    if values.shape != rows.shape:
        raise ValueError(f"a task gave an array {values.shape}: expected {rows.shape}")
    rows[batch.mask] = values[batch.mask]
