"""Environments of Gymnasium, many at once, over the engine's own loop: make_vec("Ant-v5", num_envs=4096).

A step is one call into the library; no Python code runs per environment. Needs the package gymnasium, and for
its tasks the robot files of gymnasium[mujoco], unless the caller gives others.
"""

import ctypes
import json
import operator
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space

try:
    from gymnasium.vector import AutoresetMode
except ImportError as absent:
    raise ImportError(f"gymnasium {gymnasium.__version__}: expected 1.1 or later") from absent

from orrery import dm_control, gymnasium_infos, gymnasium_tasks, own_tasks
from orrery._handle import Handle, Pointer, made_by
from orrery._library import call, constants, pointer, structs
from orrery.engine import Engine, default_engine
from orrery.scene import Scene
from orrery.surfaces import SurfacesOfTask
from orrery.tasks import Callbacks, Task
from orrery.world import Eyes, World, quantity_numbers

_AUTORESET = {
    AutoresetMode.NEXT_STEP: constants["ORR_AUTORESET_NEXT_STEP"],
    AutoresetMode.SAME_STEP: constants["ORR_AUTORESET_SAME_STEP"],
    AutoresetMode.DISABLED: constants["ORR_AUTORESET_DISABLED"],
}
_MODELS = {
    "Ant-v5": "ant.xml",
    "HalfCheetah-v5": "half_cheetah.xml",
    "Hopper-v5": "hopper.xml",
    "Walker2d-v5": "walker2d_v5.xml",
    "Swimmer-v5": "swimmer.xml",
    "Humanoid-v5": "humanoid.xml",
    "HumanoidStandup-v5": "humanoidstandup.xml",
    "InvertedPendulum-v5": "inverted_pendulum.xml",
    "InvertedDoublePendulum-v5": "inverted_double_pendulum.xml",
    "Reacher-v5": "reacher.xml",
    "Pusher-v5": "pusher_v5.xml",
}


def tasks():
    """The names of the built-in tasks."""
    names = []
    while (name := call.env_task(len(names))) is not None:
        names.append(name.decode())
    return names


def model_path(task):
    """The file of a task's robot in the installed package gymnasium."""
    folder = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
    return folder / _MODELS[task] if task in _MODELS else None


def _cameras(env):
    own = _SceneOfEnvironments(env)
    return own.cameras if own.pointer else World(Scene(env._model, engine=env._engine)).cameras


class _SceneOfEnvironments(World):
    """The world of environments of a scene, which they own; pointer None: not a scene."""

    def __init__(self, env):
        self._handle, self.count = env._handle, env.num_envs
        self._scene = ctypes.c_void_p()

    @property
    def pointer(self):
        env = self._handle.pointer
        world = call.env_world(env, ctypes.byref(self._scene))
        return Pointer(world, env.guard, [env]) if world else None

    def default_camera(self, size):
        return call.scene_default_camera(self._scene, *size)


class _Environments(Handle):
    """The environments of a VectorEnv in the library."""

    def _name(self):
        return "VectorEnv"


class _Pictures:
    """Pictures of the environments by cameras of the model (default: one that sees all): of their world, or
    of their robots in a separate world."""

    def __init__(self, env, cameras, size, device="cpu"):
        self._env, self._on_cuda = env, device == "cuda"
        self._robot = None
        self._world = _SceneOfEnvironments(env)
        scene = self._world
        if not self._world.pointer:
            scene = Scene(env._model, engine=env._engine)
            self._world = World(scene, env.num_envs)
            self._robot = scene.robots[0]
        views = [] if cameras else [scene.default_camera(size)]
        self._eyes = Eyes(self._world, cameras, views, size, device=device)
        self._surfaces = SurfacesOfTask(env, self._eyes)

    def draw(self):
        if self._robot is not None:
            self._move_robot()
        call.eyes_set_looks_sized(
            self._eyes.pointer, None, self._env._draw_looks(), ctypes.sizeof(structs["orr_eyes_look"])
        )
        self._surfaces.update()
        return self._eyes.draw_cuda("rgb") if self._on_cuda else self._eyes.draw("rgb")

    def _move_robot(self):
        qpos, _ = self._env.get_states()
        self._world.set(self._robot, "qpos", qpos)
        for moved in ("mocap_pos", "mocap_quat"):  # targets
            values = self._env.get_quantity(moved)
            if values.size:
                self._world.set(self._robot, moved, values)


class VectorEnv(gymnasium.vector.VectorEnv):
    """Environments of one task as Gymnasium's vector environment.

    task: a name of tasks() or own_tasks.tasks(), "dm_control/" and one of dm_control.tasks(), the path of a
    task file (.json, docs/task-file.md), its content as a dict, or a Task (orrery.tasks) of your own.
    num_envs: number of environments. model: the file of a robot or scene; None: Gymnasium's, or that of the
    task file.
    max_episode_steps: steps after which an episode is truncated; None: the task's number.
    autoreset_mode: gymnasium.vector.AutoresetMode. precision: of the physics, "f32" or "f64".
    copy: observations are copies; False: views of the engine's memory, which the next step overwrites, and
    which torch.from_dlpack(observations) shares.
    render_mode: None, or "rgb_array" for render().
    engine: None: default_engine().
    statistics: infos have "episode" for ended episodes, with "r" (return) and "l" (steps). Use False with
    Gymnasium's wrapper RecordEpisodeStatistics, which refuses such infos.
    task_infos: infos have the entries of Gymnasium's environments, such as "reward_forward" and "x_position",
    each with a mask ("_x_position"); for Gymnasium's tasks only, and slower.
    parameters: parameters of Gymnasium's tasks, by its names, such as ctrl_cost_weight=0.1.

    Observations are float64, num_envs x n; actions float32. infos["diverged"] counts the episodes of each
    environment that ended because its state was no longer finite.
    """

    metadata = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}
    _eyes = _thread = _sent = _handle = _task_infos = None  # where it could not be made, and Python ends it

    def __init__(
        self,
        task,
        num_envs=1,
        model=None,
        max_episode_steps=None,
        autoreset_mode=AutoresetMode.NEXT_STEP,
        precision="f32",
        copy=True,
        render_mode=None,
        width=480,
        height=480,
        engine=None,
        statistics=True,
        task_infos=False,
        **parameters,
    ):
        if isinstance(task, str) and task.startswith("dm_control/"):
            name = task[len("dm_control/") :]
            task, model = dm_control.task(name), model or dm_control.model(name)
        elif isinstance(task, str) and task in own_tasks.tasks():
            task = own_tasks.path(task)
        if parameters or task_infos:
            given = gymnasium_tasks.parameters(task, parameters)
            model = model or model_path(task)
            if task_infos:
                self._task_infos = gymnasium_infos.Infos(task, given)
            task = gymnasium_tasks.task(task, given, model)
            task["observation"] += self._task_infos.terms() if self._task_infos else []
        text = json.dumps(task) if isinstance(task, dict) else None
        own = Callbacks(task) if isinstance(task, Task) else None
        name = own.name if own else task.get("name", "task") if text else os.fspath(task)
        if not (text or own) and name not in tasks() and not name.endswith(".json"):
            known = ", ".join(tasks() + own_tasks.tasks())
            raise ValueError(f"task {name!r}: expected one of {known}, or a .json file")
        if precision not in ("f32", "f64"):
            raise ValueError(f"precision {precision!r}: expected 'f32' or 'f64'")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode {render_mode!r}: expected None or 'rgb_array'")
        model = model if model is not None or text or own else model_path(name)
        if engine is not None and not isinstance(engine, Engine):
            raise TypeError(f"engine {engine!r}: expected an Engine, or None")
        self._engine = engine or default_engine()
        self._copy, self.render_mode, self._size = copy, render_mode, (width, height)
        self._statistics = statistics
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        if not 1 <= operator.index(num_envs) < 2**31:  # the library checks what a C int holds
            raise ValueError(f"{num_envs} environments: expected 1 to 1048576")
        if max_episode_steps is not None and not 1 <= operator.index(max_episode_steps) < 2**31:
            raise ValueError(f"max_episode_steps {max_episode_steps}: expected 1 to {2**31 - 1}, or None")
        desc = structs["orr_env_desc"](
            task=os.fsencode(name),
            task_text=text.encode() if text else None,
            model=os.fsencode(model) if model is not None else None,
            count=num_envs,
            max_steps=max_episode_steps or 0,
            seed=int(np.random.SeedSequence().generate_state(1)[0]),
            autoreset=_AUTORESET[self.autoreset_mode],
            double_precision=precision == "f64",
            callbacks=ctypes.pointer(own.struct) if own else None,
        )
        self._own = own  # the library calls it
        try:
            made = made_by(
                call.env_create_sized, self._engine.pointer, ctypes.byref(desc), ctypes.sizeof(desc)
            )
        finally:
            self._check_own()
        self._handle = _Environments(made, "env_destroy", self._engine)
        info = structs["orr_env_info"]()
        call.env_describe_sized(made, ctypes.byref(info), ctypes.sizeof(info))
        self._info, self.num_envs = info, int(num_envs)
        self.metadata = {
            **self.metadata,
            "autoreset_mode": self.autoreset_mode,
            "render_fps": max(1, round(1 / self.dt)),
        }
        self._model = os.fsdecode(info.model)
        self.spec = None
        self._view_results()
        self._seen = info.observation_count  # the first of an observation's numbers
        if self._task_infos:
            scene = Scene(self._model, engine=self._engine)
            start = World(scene).get(scene.robots[0], "qpos")[0]
            self._seen -= self._task_infos.measure(self, start)
        self._over = np.zeros(self.num_envs, bool)  # what the next step resets
        low = np.ctypeslib.as_array(info.action_low, (info.action_count,)).copy()
        high = np.ctypeslib.as_array(info.action_high, (info.action_count,)).copy()
        self.single_action_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self.single_observation_space = gymnasium.spaces.Box(
            -np.inf, np.inf, (self._seen,), np.float64
        )
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._actions = np.zeros(self.action_space.shape, np.float32)
        self._actions_address = pointer(self._actions, np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def _check_own(self):
        if self._own:
            self._own.check()

    def _view_results(self):
        results = structs["orr_env_results"]()
        call.env_get_results_sized(self._handle.pointer, ctypes.byref(results), ctypes.sizeof(results))
        for name, _ in results._fields_:
            shape = (self.num_envs,)
            if name.endswith("observation"):
                shape += (self._info.observation_count,)
            setattr(self, "_" + name, self._handle.pointer.array(getattr(results, name), shape))

    @property
    def dt(self):
        """Duration of a step [s]."""
        return self._info.seconds

    @property
    def max_episode_steps(self):
        """Steps after which an episode is truncated."""
        return self._info.max_steps

    def _seeds(self, seed):
        if seed is None:
            return None
        if isinstance(seed, (int, np.integer)):
            seed = [int(seed) + i for i in range(self.num_envs)]
        if not isinstance(seed, (list, tuple, np.ndarray)):
            raise TypeError(f"seed {seed!r}: expected an integer, or one for every environment")
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds: expected {self.num_envs}")
        for i, one in enumerate(seed):
            if not isinstance(one, (int, np.integer)):
                raise TypeError(f"seed {one!r} of environment {i}: expected an integer")
            if not 0 <= one < 2**32:
                raise ValueError(f"seed {one} of environment {i}: expected 0 to {2**32 - 1}")
        return np.array(seed, np.uint32)

    def reset(self, *, seed=None, options=None):
        """Starts an episode in all environments, or in those of options["reset_mask"] (bool, num_envs)."""
        self._expect_nothing_sent("reset")
        if not isinstance(options or {}, dict):
            raise TypeError(f"options {options!r}: expected a dict, such as {{'reset_mask': ...}}")
        mask = (options or {}).get("reset_mask")
        if mask is not None:
            if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
                raise TypeError(f"reset_mask: expected a bool array of shape ({self.num_envs},)")
            if not mask.any():
                raise ValueError("reset_mask: expected at least one environment")
        seeds = self._seeds(seed)
        chosen = None if mask is None else np.ascontiguousarray(mask).view(np.uint8)
        call.env_reset(
            self._handle.pointer,
            None if chosen is None else pointer(chosen, np.uint8),
            None if seeds is None else pointer(seeds, np.uint32),
        )
        self._check_own()
        infos = {}
        if self._task_infos:
            begun = np.ones(self.num_envs, bool) if mask is None else mask
            self._over &= ~begun
            gymnasium_infos.add(infos, self._task_infos.of_start(self._hidden(self._observation)), begun)
        return self._observations(), infos

    def _observations(self):
        seen = self._observation[:, : self._seen]
        return seen.copy() if self._copy else seen

    def _hidden(self, observation):
        """The numbers for infos, which follow those of the observation."""
        return observation[:, self._seen :].copy()

    def step(self, actions):
        """Steps all environments; actions: num_envs x n. Returns observations, rewards (float64),
        terminations, truncations (bool) and infos, as Gymnasium's vector environments do."""
        self._expect_nothing_sent("step")
        self._take(actions)
        self._step()
        return self._results()

    def send(self, actions):
        """Starts a step in another thread, and returns at once; recv() returns the results. In between the
        caller must not use the environments or their engine."""
        self._expect_nothing_sent("send")
        self._take(actions)
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1)
        self._sent = self._thread.submit(self._step)

    def recv(self):
        """Waits for the step started by send(), and returns the results of step()."""
        if self._sent is None:
            raise RuntimeError("recv: expected send() before it")
        sent, self._sent = self._sent, None
        sent.result()
        return self._results()

    def _expect_nothing_sent(self, what):
        if self._sent is not None:
            raise RuntimeError(f"{what}: expected recv() after the last send()")

    def _take(self, actions):
        """Copies actions to the memory that the library reads. Its address is looked up once, which makes
        steps faster."""
        self._handle.pointer  # raises where they are closed
        actions = np.asarray(actions)
        if not np.can_cast(actions.dtype, np.float32, "same_kind"):
            raise TypeError(f"actions of {actions.dtype}: expected float32, or what can become it")
        if actions.shape != self._actions.shape:
            raise ValueError(f"actions {actions.shape}: expected {self._actions.shape}")
        with np.errstate(over="ignore"):  # the library refuses what is infinite then
            np.copyto(self._actions, actions, casting="same_kind")

    def _step(self):
        if self._task_infos:
            self._before = self._hidden(self._observation)
        call.env_step(self._handle.pointer, self._actions_address)
        self._check_own()

    def _results(self):
        self._handle.pointer  # raises where another thread, or a task's method, has closed it
        terminated, truncated = self._terminated.astype(bool), self._truncated.astype(bool)
        ended = terminated | truncated
        infos = self._end_infos(ended) if ended.any() else {}
        if self._task_infos:
            self._add_task_infos(infos, terminated, ended)
        return self._observations(), self._reward.copy(), terminated, truncated, infos

    def _add_task_infos(self, infos, terminated, ended):
        of, now = self._task_infos, self._hidden(self._observation)
        begun = ended if self.autoreset_mode == AutoresetMode.SAME_STEP else self._over
        last = now
        if self.autoreset_mode == AutoresetMode.SAME_STEP and ended.any():
            last = np.where(ended[:, None], self._hidden(self._final_observation), now)
        of_step = of.of_step(self._before, last, self._actions, terminated)
        gymnasium_infos.add(infos, of_step, ~begun)
        gymnasium_infos.add(infos, of.of_start(now), begun)
        if "final_info" in infos:
            gymnasium_infos.add(infos["final_info"], of_step, ended)
        self._over = ended & (self.autoreset_mode == AutoresetMode.NEXT_STEP)

    def _end_infos(self, ended):
        of_episodes = {
            "episode": {"r": np.where(ended, self._episode_return, 0.0), "_r": ended,
                        "l": np.where(ended, self._episode_steps, 0), "_l": ended},
            "_episode": ended,
        } if self._statistics else {}  # fmt: skip
        infos = {}
        if self._diverged.any():
            infos["diverged"], infos["_diverged"] = self._diverged.copy(), np.ones(self.num_envs, bool)
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            final = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(ended):
                final[i] = self._final_observation[i, : self._seen].copy()
            infos["final_obs"], infos["_final_obs"] = final, ended
            infos["final_info"], infos["_final_info"] = of_episodes, ended
        else:
            infos.update(of_episodes)
        return infos

    def get_state(self, index):
        """qpos and qvel of one environment."""
        qpos, qvel = np.empty(self._info.qpos_count), np.empty(self._info.qvel_count)
        call.env_get_state(
            self._handle.pointer, index, pointer(qpos, np.float64), pointer(qvel, np.float64)
        )
        return qpos, qvel

    def get_states(self):
        """qpos and qvel of all environments: num_envs x nq, num_envs x nv."""
        qpos = np.empty((self.num_envs, self._info.qpos_count))
        qvel = np.empty((self.num_envs, self._info.qvel_count))
        call.env_get_states(self._handle.pointer, pointer(qpos, np.float64), pointer(qvel, np.float64))
        return qpos, qvel

    def set_state(self, index, qpos, qvel):
        """Sets qpos and qvel of one environment, whose episode continues."""
        qpos, qvel = np.ascontiguousarray(qpos, np.float64), np.ascontiguousarray(qvel, np.float64)
        if qpos.shape != (self._info.qpos_count,) or qvel.shape != (self._info.qvel_count,):
            raise ValueError(
                f"qpos {qpos.shape}, qvel {qvel.shape}: expected ({self._info.qpos_count},), "
                f"({self._info.qvel_count},)"
            )
        call.env_set_state(
            self._handle.pointer, index, pointer(qpos, np.float64), pointer(qvel, np.float64)
        )
        self._check_own()

    def get_quantity(self, quantity):
        """A quantity of all environments in their current states, num_envs x size, by MuJoCo's name ("xpos",
        "act", "mocap_pos" ...)."""
        number, count = self._quantity(quantity), ctypes.c_int()
        call.env_quantity_numbers(self._handle.pointer, number, ctypes.byref(count))
        values = np.empty((self.num_envs, count.value))
        call.env_get_quantity(self._handle.pointer, number, pointer(values, np.float64))
        return values

    def set_quantity(self, quantity, values, mask=None):
        """Sets a quantity such as "mocap_pos" or "act", num_envs x size, in the environments whose mask is
        true (None: in all). Observations change with the next step or set_state()."""
        number, values = self._quantity(quantity), np.ascontiguousarray(values, np.float64)
        if values.shape != (shape := self.get_quantity(quantity).shape):
            raise ValueError(f"{quantity} {values.shape}: expected {shape}")
        chosen = None if mask is None else np.ascontiguousarray(mask, np.uint8)
        if chosen is not None and chosen.shape != (self.num_envs,):
            raise ValueError(f"mask {chosen.shape}: expected ({self.num_envs},)")
        call.env_set_quantity(
            self._handle.pointer,
            number,
            None if chosen is None else pointer(chosen, np.uint8),
            pointer(values, np.float64),
        )

    @staticmethod
    def _quantity(name):
        numbers = quantity_numbers()
        if name not in numbers:
            raise ValueError(f"{name!r}: expected one of {', '.join(numbers)}")
        return numbers[name]

    def _draw_looks(self):
        """The looks of the current episodes in pictures (orr_eyes_look)."""
        looks = (structs["orr_eyes_look"] * self.num_envs)()
        call.env_get_looks_sized(self._handle.pointer, looks, ctypes.sizeof(structs["orr_eyes_look"]))
        return looks

    def render(self):
        """A tuple with a picture of each environment, height x width x 3, uint8, by the model's camera
        "track" or its first."""
        if self.render_mode is None:
            return None
        if self._eyes is None:
            names = _cameras(self)
            chosen = ["track" if "track" in names else names[0]] if names else []
            self._eyes = _Pictures(self, chosen, self._size)
        return tuple(self._eyes.draw()[:, 0].copy())

    def close_extras(self, **_):
        if self._thread is not None:
            self._thread.shutdown()
        self._eyes = self._thread = self._sent = None
        for name, _ in structs["orr_env_results"]._fields_:  # views that the caller has keep the memory
            setattr(self, "_" + name, None)
        if self._handle is not None:
            self._handle.close()

    def __reduce__(self):
        raise TypeError(f"this {type(self).__name__} cannot be copied or pickled: make another")


class PixelVectorEnv(VectorEnv):
    """A VectorEnv whose observations contain pictures: {"pixels": uint8, num_envs x cameras x height x width
    x 3, "state": the observations of the task}.

    cameras: names of cameras of the model; None: its first, or one that sees all of it. size: width, height
    [px]. device: draws the pictures, "cpu" or "cuda". With "cuda", "pixels" is an array in GPU memory for
    torch.from_dlpack, which the next step overwrites after the work in CUDA's default stream; tasks that vary
    surfaces are refused. Pictures show the same state as observations, after a reset if the step resets. The
    autoreset mode SAME_STEP, which also needs pictures before the reset, is refused.
    """

    def __init__(self, task, num_envs=1, cameras=None, size=(64, 64), device="cpu", **options):
        super().__init__(task, num_envs, **options)
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            raise ValueError("autoreset_mode SAME_STEP: expected NEXT_STEP or DISABLED with pixels")
        names = _cameras(self)
        cameras = names[:1] if cameras is None else [cameras] if isinstance(cameras, str) else list(cameras)
        self._pixels = _Pictures(self, cameras, size, device)
        self._shared = device == "cuda" or not self._copy
        shape = (max(len(cameras), 1), size[1], size[0], 3)
        spaces = gymnasium.spaces
        self.single_observation_space = spaces.Dict(
            pixels=spaces.Box(0, 255, shape, np.uint8), state=self.single_observation_space
        )
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def _observations(self):
        pixels = self._pixels.draw()
        return {"pixels": pixels if self._shared else pixels.copy(), "state": super()._observations()}

    def close_extras(self, **options):
        self._pixels = None
        super().close_extras(**options)


def make_vec(task, num_envs=1, **options):
    """VectorEnv(task, num_envs, ...), such as "Ant-v5" or "dm_control/cheetah-run"."""
    return VectorEnv(task, num_envs, **options)


def register():
    """Registers the tasks as "orrery/Ant-v5", "orrery/dm_control-cheetah-run" and so on, for
    gymnasium.make_vec (a VectorEnv without statistics) and gymnasium.make (a single.Env)."""
    for task in tasks() + own_tasks.tasks() + ["dm_control/" + name for name in dm_control.tasks()]:
        name = "orrery/" + task.replace("/", "-")
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="orrery.single:Env",
                vector_entry_point="orrery.environments:_make_registered",
                kwargs={"task": task},
            )


def _make_registered(task, num_envs=1, **options):
    return VectorEnv(task, num_envs, **{"statistics": False, **options})
