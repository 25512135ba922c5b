"""Gymnasium's MuJoCo tasks with other parameters than its own defaults, as task files (docs/task-file.md).

The names and meanings of the parameters are those of gymnasium/envs/mujoco/*_v5.py."""

import math

_HOPPER = {
    "forward_reward_weight": 1.0,
    "ctrl_cost_weight": 1e-3,
    "healthy_reward": 1.0,
    "terminate_when_unhealthy": True,
    "healthy_z_range": (0.7, math.inf),
    "healthy_angle_range": (-0.2, 0.2),
    "reset_noise_scale": 5e-3,
    "exclude_current_positions_from_observation": True,
    "frame_skip": 4,
}
_SPATIAL = {
    "include_cinert_in_observation": True,
    "include_cvel_in_observation": True,
    "include_qfrc_actuator_in_observation": True,
    "include_cfrc_ext_in_observation": True,
}
_DEFAULTS = {
    "Ant-v5": {
        "forward_reward_weight": 1.0,
        "ctrl_cost_weight": 0.5,
        "contact_cost_weight": 5e-4,
        "healthy_reward": 1.0,
        "terminate_when_unhealthy": True,
        "healthy_z_range": (0.2, 1.0),
        "contact_force_range": (-1.0, 1.0),
        "reset_noise_scale": 0.1,
        "exclude_current_positions_from_observation": True,
        "include_cfrc_ext_in_observation": True,
        "frame_skip": 5,
    },
    "HalfCheetah-v5": {
        "forward_reward_weight": 1.0,
        "ctrl_cost_weight": 0.1,
        "reset_noise_scale": 0.1,
        "exclude_current_positions_from_observation": True,
        "frame_skip": 5,
    },
    "Hopper-v5": {**_HOPPER, "healthy_state_range": (-100.0, 100.0)},
    "Walker2d-v5": {**_HOPPER, "healthy_z_range": (0.8, 2.0), "healthy_angle_range": (-1.0, 1.0)},
    "Swimmer-v5": {
        "forward_reward_weight": 1.0,
        "ctrl_cost_weight": 1e-4,
        "reset_noise_scale": 0.1,
        "exclude_current_positions_from_observation": True,
        "frame_skip": 4,
    },
    "Humanoid-v5": {
        "forward_reward_weight": 1.25,
        "ctrl_cost_weight": 0.1,
        "contact_cost_weight": 5e-7,
        "contact_cost_range": (-math.inf, 10.0),
        "healthy_reward": 5.0,
        "terminate_when_unhealthy": True,
        "healthy_z_range": (1.0, 2.0),
        "reset_noise_scale": 1e-2,
        "exclude_current_positions_from_observation": True,
        "frame_skip": 5,
        **_SPATIAL,
    },
}
# coordinates of the place in the plane, which are not observed
_HIDDEN = {
    "Ant-v5": 2, "HalfCheetah-v5": 1, "Hopper-v5": 1, "Walker2d-v5": 1, "Swimmer-v5": 2, "Humanoid-v5": 2,
}  # fmt: skip
_NORMAL = ("Ant-v5", "HalfCheetah-v5")  # velocities of starts
_CLIPPED = ("Hopper-v5", "Walker2d-v5")  # velocities that are observed
_OBSERVED = {"cinert": {}, "cvel": {}, "qfrc_actuator": {"from": 6}, "cfrc_ext": {}}


def _bounds(range_, inside):
    """Keys of a term for what is outside of a range, or inside of it."""
    low, high = (float(bound) for bound in range_)
    if inside:
        return {"tolerance": {name: b for name, b in (("low", low), ("high", high)) if math.isfinite(b)}}
    return {name: b for name, b in (("below", low), ("above", high)) if math.isfinite(b)}


def _healthy(task, p, inside):
    """Terms for which the robot is healthy, or is not."""
    height = 1 if task in _CLIPPED else 2
    terms = [({"of": "qpos", "from": height, "count": 1}, "healthy_z_range")]
    if "healthy_angle_range" in p:
        terms.append(({"of": "qpos", "from": 2, "count": 1}, "healthy_angle_range"))
    if "healthy_state_range" in p:
        each = {"combine": "product"} if inside else {}
        terms.append(({"of": "qpos", "from": 2, **each}, "healthy_state_range"))
        terms.append(({"of": "qvel", **each}, "healthy_state_range"))
    return [{**term, **_bounds(p[name], inside)} for term, name in terms]


def _reward(task, p, contact):
    speed = {"of": "qpos", "count": 1, "rate": True}
    if task == "Ant-v5":
        speed = {"of": "xpos", "name": "torso", "axis": "x", "rate": True}
    if task == "Humanoid-v5":
        speed = {"of": "subtree_com", "name": "world", "axis": 0, "rate": True}
    terms = [
        {**speed, "weight": p["forward_reward_weight"]},
        {"of": "action", "function": "squares", "weight": -p["ctrl_cost_weight"]},
    ]
    if "healthy_reward" in p:
        alive = {"of": "constant", "weight": p["healthy_reward"]}
        ends = p["terminate_when_unhealthy"]
        alive.update({"unless_terminated": True} if ends else {"times": _healthy(task, p, True)})
        terms.append(alive)
    if p.get("contact_cost_weight"):
        cost = {**contact, "function": "squares", "weight": -p["contact_cost_weight"]}
        most = p.get("contact_cost_range", (-math.inf, math.inf))[1]
        if math.isfinite(most):
            cost["at_most"] = most / p["contact_cost_weight"]
        terms.append(cost)
    return terms


def task(name, parameters):
    """The task file, as a dict, of a task of Gymnasium's; parameters that are not given are its defaults."""
    known = _DEFAULTS.get(name) if isinstance(name, str) else None
    if known is None:
        given, tasks = ", ".join(parameters), ", ".join(_DEFAULTS)
        raise TypeError(f"{given}: expected an option, or a parameter of one of {tasks}")
    for given in parameters:
        if given not in known:
            raise TypeError(f"{name} has no {given!r}: expected one of {', '.join(known)}")
    p = {**known, **parameters}
    contact = {"of": "cfrc_ext"}
    if "contact_force_range" in p:
        low, high = p["contact_force_range"]
        if low != -high:
            raise ValueError(f"contact_force_range {(low, high)}: expected the same on both sides of 0")
        contact["clip"] = float(high)
    first = _HIDDEN[name] if p["exclude_current_positions_from_observation"] else 0
    velocity = {"of": "qvel", **({"clip": 10} if name in _CLIPPED else {})}
    observation = [{"of": "qpos", "from": first}, velocity]
    for part, keys in _OBSERVED.items():
        if p.get(f"include_{part}_in_observation"):
            observation.append(contact if part == "cfrc_ext" else {"of": part, **keys})
    made = {
        "orrery_task": 1,
        "name": name,
        "frame_skip": p["frame_skip"],
        "start": {
            "qpos_noise": p["reset_noise_scale"],
            "qvel_noise": p["reset_noise_scale"],
            "normal_velocity": name in _NORMAL,
        },
        "observation": observation,
        "reward": _reward(name, p, contact),
    }
    if p.get("terminate_when_unhealthy"):
        made["terminate"] = _healthy(name, p, False)
    return made
