"""Gymnasium's MuJoCo tasks with other parameters than its own defaults, as task files (docs/task-file.md).

The names and meanings of the parameters are those of gymnasium/envs/mujoco/*_v5.py."""

import math
import xml.etree.ElementTree

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
    "HumanoidStandup-v5": {
        "uph_cost_weight": 1.0,  # which Gymnasium takes and does not use
        "ctrl_cost_weight": 0.1,
        "impact_cost_weight": 5e-7,
        "impact_cost_range": (-math.inf, 10.0),
        "reset_noise_scale": 1e-2,
        "exclude_current_positions_from_observation": True,
        "frame_skip": 5,
        **_SPATIAL,
    },
    "Reacher-v5": {"reward_dist_weight": 1.0, "reward_control_weight": 1.0, "frame_skip": 2},
    "Pusher-v5": {
        "reward_near_weight": 0.5,
        "reward_dist_weight": 1.0,
        "reward_control_weight": 0.1,
        "frame_skip": 5,
    },
    "InvertedPendulum-v5": {"reset_noise_scale": 0.01, "frame_skip": 2},
    "InvertedDoublePendulum-v5": {"healthy_reward": 10.0, "reset_noise_scale": 0.1, "frame_skip": 5},
}
# coordinates of the place in the plane, which are not observed
_HIDDEN = {
    "Ant-v5": 2, "HalfCheetah-v5": 1, "Hopper-v5": 1, "Walker2d-v5": 1, "Swimmer-v5": 2, "Humanoid-v5": 2,
    "HumanoidStandup-v5": 2,
}  # fmt: skip
_NORMAL = ("Ant-v5", "HalfCheetah-v5")  # velocities of starts
_CLIPPED = ("Hopper-v5", "Walker2d-v5")  # velocities that are observed
_OBSERVED = {"cinert": {}, "cvel": {}, "qfrc_actuator": {"from": 6}, "cfrc_ext": {}}


def _bounds(range_, inside):
    """Keys of a term that is true outside a range, or inside it."""
    low, high = (float(bound) for bound in range_)
    if inside:
        return {"tolerance": {name: b for name, b in (("low", low), ("high", high)) if math.isfinite(b)}}
    return {name: b for name, b in (("below", low), ("above", high)) if math.isfinite(b)}


def _healthy(task, p, inside):
    """Terms that are true while the robot is healthy, or is not."""
    height = 1 if task in _CLIPPED else 2
    terms = [({"of": "qpos", "from": height, "count": 1}, "healthy_z_range")]
    if "healthy_angle_range" in p:
        terms.append(({"of": "qpos", "from": 2, "count": 1}, "healthy_angle_range"))
    if "healthy_state_range" in p:
        each = {"combine": "product"} if inside else {}
        terms.append(({"of": "qpos", "from": 2, **each}, "healthy_state_range"))
        terms.append(({"of": "qvel", **each}, "healthy_state_range"))
    return [{**term, **_bounds(p[name], inside)} for term, name in terms]


def _contact_cost(p, contact, kind):
    """Costs of contacts. kind: "contact" or "impact"."""
    weight, range_ = p.get(f"{kind}_cost_weight"), p.get(f"{kind}_cost_range", (-math.inf, math.inf))
    if not weight:
        return []
    if range_[0] > 0:
        raise ValueError(f"{kind}_cost_range {range_}: expected a first number of 0 or less")
    most = {"at_most": range_[1] / weight} if math.isfinite(range_[1]) else {}
    return [{**contact, "function": "squares", "weight": -weight, **most}]


def _reward(task, p, contact, model):
    control = {"of": "action", "function": "squares", "weight": -p["ctrl_cost_weight"]}
    if task == "HumanoidStandup-v5":
        height = {"of": "qpos", "from": 2, "count": 1, "weight": 1 / _timestep(model), "offset": 1}
        return [height, control, *_contact_cost(p, contact, "impact")]
    speed = {"of": "qpos", "count": 1, "rate": True}
    if task == "Ant-v5":
        speed = {"of": "xpos", "name": "torso", "axis": "x", "rate": True}
    if task == "Humanoid-v5":
        speed = {"of": "subtree_com", "name": "world", "axis": 0, "rate": True}
    terms = [{**speed, "weight": p["forward_reward_weight"]}, control]
    if "healthy_reward" in p:
        alive = {"of": "constant", "weight": p["healthy_reward"]}
        ends = p["terminate_when_unhealthy"]
        alive.update({"unless_terminated": True} if ends else {"times": _healthy(task, p, True)})
        terms.append(alive)
    return terms + _contact_cost(p, contact, "contact")


def _timestep(model):
    """The time step of a model file [s]."""
    option = xml.etree.ElementTree.parse(model).find("option")
    return float(option.get("timestep", 0.002)) if option is not None else 0.002


def _locomotion(name, p, model):
    """The tasks of walking, swimming and standing up."""
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
    return {
        "start": _noise(p, normal=name in _NORMAL),
        "observation": observation,
        "reward": _reward(name, p, contact, model),
        "terminate": _healthy(name, p, False) if p.get("terminate_when_unhealthy") else [],
    }


def _noise(p, normal):
    scale = p["reset_noise_scale"]
    return {"qpos_noise": scale, "qvel_noise": scale, "normal_velocity": normal}


def _between(body, other):
    return {"of": "xpos", "name": body, "minus": {"of": "xpos", "name": other}}


# distances that are rewarded, by what their parameters and infos are called after
NORMS = {
    "Reacher-v5": {"dist": {**_between("fingertip", "target"), "function": "norm"}},
    "Pusher-v5": {
        "near": {**_between("object", "tips_arm"), "function": "norm"},
        "dist": {**_between("object", "goal"), "function": "norm"},
    },
}


def _approach(task, p):
    """Rewards for distances and controls."""
    control = {"of": "action", "function": "squares", "weight": -p["reward_control_weight"]}
    norms = NORMS[task].items()
    return [*({**norm, "weight": -p[f"reward_{name}_weight"]} for name, norm in norms), control]


def _rest(*joints):
    """Initial state: joints at rest."""
    return [{"joint": joint, "velocity": True, "low": 0, "high": 0} for joint in joints]


def _reacher(name, p, model):
    apart, targets = _between("fingertip", "target"), ("target_x", "target_y")
    disc = {"low": [-0.2, -0.2], "high": [0.2, 0.2], "radius": [0, 0.2]}
    return {
        "max_steps": 50,
        "start": {
            "qpos_noise": 0.1,
            "qvel_noise": 5e-3,
            "draw": [{"joint": list(targets), **disc}, *_rest(*targets)],
        },
        "observation": [
            {"of": "qpos", "count": 2, "function": "cos"},
            {"of": "qpos", "count": 2, "function": "sin"},
            {"of": "qpos", "from": 2},
            {"of": "qvel", "count": 2},
            {**apart, "only": [0, 1]},
        ],
        "reward": _approach(name, p),
    }


def _pusher(name, p, model):
    objects, goals = ("obj_slidey", "obj_slidex"), ("goal_slidey", "goal_slidex")
    ring = {"low": [-0.3, -0.2], "high": [0, 0.2], "radius": [0.17, 1]}
    return {
        "max_steps": 100,
        "start": {
            "qvel_noise": 5e-3,
            "draw": [
                {"joint": list(objects), **ring},
                *({"joint": joint, "low": 0, "high": 0} for joint in goals),
                *_rest(*objects, *goals),
            ],
        },
        "observation": [
            {"of": "qpos", "count": 7},
            {"of": "qvel", "count": 7},
            *({"of": "xpos", "name": body} for body in ("tips_arm", "object", "goal")),
        ],
        "reward": _approach(name, p),
    }


def _pendulum(name, p, model):
    return {
        "start": _noise(p, normal=False),
        "observation": [{"of": "qpos"}, {"of": "qvel"}],
        "reward": [{"of": "constant", "unless_terminated": True}],
        "terminate": [{"of": "qpos", "from": 1, "count": 1, "below": -0.2, "above": 0.2}],
    }


def _double_pendulum(name, p, model):
    tip = {"of": "site_xpos", "name": "tip"}
    angles = {"of": "qpos", "from": 1}
    return {
        "start": _noise(p, normal=True),
        "observation": [
            {"of": "qpos", "count": 1},
            {**angles, "function": "sin"},
            {**angles, "function": "cos"},
            {"of": "qvel", "clip": 10},
            {"of": "qfrc_constraint", "count": 1, "clip": 10},
        ],
        "reward": [
            {"of": "constant", "weight": p["healthy_reward"], "unless_terminated": True},
            {**tip, "axis": "x", "function": "squares", "weight": -0.01},
            {**tip, "axis": "z", "function": "squares", "weight": -1},  # with the next: -(z - 2)^2
            {**tip, "axis": "z", "weight": 4, "offset": -4},
            {"of": "qvel", "from": 1, "count": 1, "function": "squares", "weight": -1e-3},
            {"of": "qvel", "from": 2, "count": 1, "function": "squares", "weight": -5e-3},
        ],
        "terminate": [{**tip, "axis": "z", "below": 1}],
    }


_MADE_BY = {
    "Reacher-v5": _reacher,
    "Pusher-v5": _pusher,
    "InvertedPendulum-v5": _pendulum,
    "InvertedDoublePendulum-v5": _double_pendulum,
}


def parameters(name, given):
    """All parameters of a Gymnasium task: the given ones, and defaults."""
    known = _DEFAULTS.get(name) if isinstance(name, str) else None
    if known is None:
        names, tasks = ", ".join(given), ", ".join(_DEFAULTS)
        raise TypeError(f"{names}: expected an option, or a parameter of one of {tasks}")
    for one in given:
        if one not in known:
            raise TypeError(f"{name} has no {one!r}: expected one of {', '.join(known)}")
    return {**known, **given}


def task(name, parameters, model):
    """The task file of a Gymnasium task, as a dict. model: path of the robot."""
    made = _MADE_BY.get(name, _locomotion)(name, parameters, model)
    return {"orrery_task": 1, "name": name, "frame_skip": parameters["frame_skip"], **made}
