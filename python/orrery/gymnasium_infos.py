"""The infos of Gymnasium's MuJoCo tasks for all environments: parts of rewards, positions and velocities.

They are computed from numbers that follow the observations in the task file, and so belong to the same state
as observations and rewards, also before a reset. Keys and values are those of
gymnasium/envs/mujoco/*_v5.py."""

import numpy as np

from orrery.gymnasium_tasks import NORMS

_PLANAR = ("HalfCheetah-v5", "Hopper-v5", "Walker2d-v5")
_HUMANOIDS = ("Humanoid-v5", "HumanoidStandup-v5")


class Infos:
    """name, parameters: of the task; all parameters."""

    def __init__(self, name, parameters):
        self.name, self._p = name, parameters
        self._terms = {"qpos": {"of": "qpos"}, "qvel": {"of": "qvel"}, **NORMS.get(name, {})}
        if name == "Ant-v5":
            self._terms["place"] = {"of": "xpos", "name": "torso", "only": [0, 1]}
            most = float(parameters["contact_force_range"][1])
            self._terms["forces"] = {"of": "cfrc_ext", "clip": most, "function": "squares"}
        if name in _HUMANOIDS:
            self._terms["place"] = {"of": "subtree_com", "name": "world", "only": [0, 1]}
            self._terms["forces"] = {"of": "cfrc_ext", "function": "squares"}
            self._terms["tendon_length"] = {"of": "ten_length"}
            self._terms["tendon_velocity"] = {"of": "ten_velocity"}
        if name == "InvertedDoublePendulum-v5":
            self._terms["tip"] = {"of": "site_xpos", "name": "tip"}

    def terms(self):
        """Terms of observations, which follow those for the learner."""
        return list(self._terms.values())

    def measure(self, env, start):
        """The number of values of terms(). start: qpos of the model."""
        self._dt, self._start, self._time_step = env.dt, start, env.dt / self._p["frame_skip"]
        tendons = env.get_quantity("ten_length").shape[1]
        widths = {"qpos": env._info.qpos_count, "qvel": env._info.qvel_count, "place": 2, "tip": 3,
                  "tendon_length": tendons, "tendon_velocity": tendons}  # fmt: skip
        self._ends = np.cumsum([widths.get(name, 1) for name in self._terms])
        return int(self._ends[-1])

    def _named(self, numbers):
        return dict(zip(self._terms, np.split(numbers, self._ends[:-1], axis=1)))

    def of_start(self, numbers):
        """Infos of the start of episodes. numbers: values of terms(), num_envs x count."""
        return self._places(self._named(numbers))

    def of_step(self, before, numbers, actions, terminated):
        """Infos of a step. before: the values before the step."""
        now, p, name = self._named(numbers), self._p, self.name
        squares = np.square(actions, dtype=np.float64).sum(axis=1)
        found = self._places(now)
        if name in NORMS:  # reacher and pusher
            for norm in NORMS[name]:
                found[f"reward_{norm}"] = -now[norm][:, 0] * p[f"reward_{norm}_weight"]
            found["reward_ctrl"] = -squares * p["reward_control_weight"]
        elif name == "InvertedPendulum-v5":
            found["reward_survive"] = np.where(terminated, 0, 1)
        elif name == "InvertedDoublePendulum-v5":
            (x, _, z), v = now["tip"].T, now["qvel"]
            found["reward_survive"] = np.where(terminated, 0.0, p["healthy_reward"])
            found["distance_penalty"] = -(0.01 * x**2 + (z - 2) ** 2)
            found["velocity_penalty"] = -(1e-3 * v[:, 1] ** 2 + 5e-3 * v[:, 2] ** 2)
        elif name == "HumanoidStandup-v5":
            found["reward_linup"] = now["qpos"][:, 2] / self._time_step
            found["reward_quadctrl"] = -squares * p["ctrl_cost_weight"]
            found["reward_impact"] = self._forces(now, "impact")
        else:
            found.update(self._speeds(self._named(before), now))
            found["reward_forward"] = found["x_velocity"] * p["forward_reward_weight"]
            found["reward_ctrl"] = -squares * p["ctrl_cost_weight"]
            if "forces" in now:
                found["reward_contact"] = self._forces(now, "contact")
            if "healthy_reward" in p:
                found["reward_survive"] = np.where(self._healthy(now), p["healthy_reward"], 0.0)
        return found

    def _places(self, now):
        q, name = now["qpos"], self.name
        if name in NORMS or "Pendulum" in name:
            return {}
        found = {"x_position": q[:, 0]}
        if name not in _PLANAR:
            found["y_position"] = q[:, 1]
        if name in ("Ant-v5", "Swimmer-v5", "Humanoid-v5"):
            found["distance_from_origin"] = np.hypot(q[:, 0], q[:, 1])
        height = {"Hopper-v5": 1, "Walker2d-v5": 1, "HumanoidStandup-v5": 2}.get(name)
        if height is not None:
            found["z_distance_from_origin"] = q[:, height] - self._start[height]
        if name in _HUMANOIDS:
            found.update({key: now[key] for key in ("tendon_length", "tendon_velocity")})
        return found

    def _speeds(self, before, now):
        place = "place" if "place" in now else "qpos"
        speed = (now[place] - before[place]) / self._dt
        found = {"x_velocity": speed[:, 0]}
        if self.name not in _PLANAR:
            found["y_velocity"] = speed[:, 1]
        return found

    def _forces(self, now, kind):
        range_ = self._p.get(f"{kind}_cost_range", (-np.inf, np.inf))
        return -np.clip(self._p[f"{kind}_cost_weight"] * now["forces"][:, 0], *range_)

    def _healthy(self, now):
        q, p = now["qpos"], self._p
        low, high = p["healthy_z_range"]
        if self.name == "Ant-v5":
            finite = np.isfinite(q).all(axis=1) & np.isfinite(now["qvel"]).all(axis=1)
            return finite & (low <= q[:, 2]) & (q[:, 2] <= high)
        z = q[:, 2 if self.name == "Humanoid-v5" else 1]
        healthy = (low < z) & (z < high)
        if "healthy_angle_range" in p:
            low, high = p["healthy_angle_range"]
            healthy &= (low < q[:, 2]) & (q[:, 2] < high)
        if "healthy_state_range" in p:
            low, high = p["healthy_state_range"]
            state = np.concatenate([q[:, 2:], now["qvel"]], axis=1)
            healthy &= ((low < state) & (state < high)).all(axis=1)
        return healthy


def add(infos, values, mask):
    """Adds values of the environments in the mask, as Gymnasium's vector environments do: 0 for the others,
    and a mask under "_" + key."""
    for key, value in values.items():
        chosen = mask.reshape(-1, *[1] * (value.ndim - 1))
        if key in infos:
            infos[key] = np.where(chosen, value, infos[key])
            infos["_" + key] = infos["_" + key] | mask
        elif mask.any():
            infos[key], infos["_" + key] = np.where(chosen, value, np.zeros_like(value)), mask.copy()
