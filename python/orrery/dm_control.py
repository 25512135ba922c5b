"""The benchmarking tasks of dm_control's suite, and its walking quadruped, as task files.

    env = orrery.make_vec("dm_control/cheetah-run", num_envs=1024)

Observations are dm_control's, concatenated in its order; rewards are its own, with the same tolerance
function (Tassa et al. 2018, arXiv:1801.00690). Initial states have the same distributions, with two
exceptions: free bodies have uniform rotations (dm_control draws quaternions with positive components), and
the manipulator's ball starts neither in the hand nor at the target. The models are those of the installed
package dm_control; targets that it moves between episodes are mocap bodies.

    python3 -m orrery.dm_control cheetah-run FOLDER      writes the task file and its model for other programs
"""

import copy
import importlib.util
import json
import sys
import tempfile
import xml.etree.ElementTree as ET
from math import cos, inf, pi, radians
from pathlib import Path

_folder = None  # of models that are changed; it lives as long as the program


def _suite():
    spec = importlib.util.find_spec("dm_control")
    if spec is None:
        raise ImportError("dm_control is not installed; its robots are needed: pip install dm_control")
    return Path(next(iter(spec.submodule_search_locations))) / "suite"


# ---- terms ----


def _of(quantity, name=None, **keys):
    return {"of": quantity, **({} if name is None else {"name": name}), **keys}


def _within(low=-inf, high=inf, margin=0.0, value=None, sigmoid=None):
    """A tolerance: 1 from low to high, decreasing over a margin."""
    tolerance = {}
    if low > -inf:
        tolerance["low"] = low
    if high < inf:
        tolerance["high"] = high
    if margin > 0:
        tolerance["margin"] = margin
    if value is not None:
        tolerance["value_at_margin"] = value
    if sigmoid is not None:
        tolerance["sigmoid"] = sigmoid
    return {"tolerance": tolerance}


def _scaled(term, weight, offset):
    """offset + weight x term."""
    return {**term, "weight": weight, "offset": offset}


def _product(first, *others):
    return {**first, "times": list(others)}


def _small_control():
    """(4 + mean of a quadratic tolerance of the controls) / 5"""
    term = _of("action", combine="mean", **_within(0, 0, 1, 0.0, "quadratic"))
    return _scaled(term, 0.2, 0.8)


def _distance(quantity, a, b, **keys):
    other = keys.pop("minus", quantity)
    return _of(quantity, a, minus=_of(other, b), function="norm", **keys)


_QPOS, _QVEL = _of("qpos"), _of("qvel")
_STATE = [_QPOS, _QVEL]


def _uniform(joint, low, high):
    return {"joint": joint, "low": low, "high": high}


def _task(skip, seconds, observation, reward, start, timestep):
    return {
        "orrery_task": 1,
        "frame_skip": skip,
        "max_steps": round(seconds / (skip * timestep)),
        "up_to_date": True,
        "start": start,
        "observation": observation,
        "reward": reward,
    }


# ---- tasks: how each is made of a name after the domain's ----


def _acrobot(task):
    vertical = ["upper_arm", "lower_arm"]
    observation = [_of("xmat", vertical, axis="xz"), _of("xmat", vertical, axis="zz"), _QVEL]
    margin = 0.0 if task == "swingup_sparse" else 1.0
    reward = {**_distance("site_xpos", "target", "tip"), **_within(0, 0.2, margin)}
    start = {"draw": [_uniform(joint, -pi, pi) for joint in ("shoulder", "elbow")]}
    return _task(1, 10, observation, [reward], start, 0.01)


def _ball_in_cup(task):
    to_target = _of("site_xpos", "target", minus=_of("xpos", "ball"), only=[0, 2], function="abs")
    reward = {**to_target, "combine": "product", **_within(0, 0.025)}
    start = {
        "draw": [_uniform("ball_x", -0.2, 0.2), _uniform("ball_z", 0.2, 0.5)],
        "no_contacts": {},
    }
    return _task(10, 20, _STATE, [reward], start, 0.002)


def _cartpole(task):
    cart = _of("qpos", "slider")
    upright = _of("xmat", "pole_1", axis="zz")
    observation = [cart, upright, _of("xmat", "pole_1", axis="xz"), _QVEL]
    if task.endswith("sparse"):
        reward = _product({**cart, **_within(-0.25, 0.25)}, {**upright, **_within(0.995, 1)})
    else:
        reward = _product(
            _scaled(upright, 0.5, 0.5),
            _small_control(),
            _scaled(_of("qvel", **{"from": 1}, combine="least", **_within(0, 0, 5)), 0.5, 0.5),
            _scaled({**cart, **_within(0, 0, 2)}, 0.5, 0.5),
        )
    if task.startswith("swingup"):
        draw = [{"joint": "slider", "normal": [0, 0.01]}, {"joint": "hinge_1", "normal": [pi, 0.01]}]
    else:
        draw = [_uniform("slider", -0.1, 0.1), _uniform("hinge_1", -0.034, 0.034)]
    start = {"draw": draw, "qvel_noise": 0.01, "normal_velocity": True}
    return _task(1, 10, observation, [reward], start, 0.01)


def _cheetah(task):
    speed = _of("sensordata", "torso_subtreelinvel", count=1)
    joints = {
        "bthigh": (-30, 60),
        "bshin": (-50, 50),
        "bfoot": (-230, 50),
        "fthigh": (-57, 0.4),
        "fshin": (-70, 50),
        "ffoot": (-28, 28),
    }
    draw = [_uniform(joint, radians(low), radians(high)) for joint, (low, high) in joints.items()]
    reward = {**speed, **_within(10, inf, 10, 0.0, "linear")}
    return _task(1, 10, [_of("qpos", **{"from": 1}), _QVEL], [reward], {"draw": draw, "settle": 200}, 0.01)


def _finger(task):
    spinner = _of("sensordata", "spinner")
    target = _of("sensordata", "target", minus=spinner, only=[0, 2])
    size = {"turn_easy": 0.07, "turn_hard": 0.03}.get(task)
    observation = [
        _of("sensordata", ["proximal", "distal"]),
        _of("sensordata", "tip", minus=spinner, only=[0, 2]),
        _of("sensordata", ["proximal_velocity", "distal_velocity", "hinge_velocity"]),
        _of("sensordata", ["touchtop", "touchbottom"], function="log1p"),
    ]
    start = {"joints": "random", "no_contacts": {"attempts": 1000}}
    if task == "spin":
        reward = {**_of("sensordata", "hinge_velocity"), **_within(-inf, -15)}
    else:
        apart = _of("sensordata", "target", minus=_of("sensordata", "tip"), only=[0, 2], function="norm")
        observation += [target, {**apart, "offset": -size}]
        reward = {**apart, **_within(0, size)}
        start["draw"] = [{"mocap": "target", "axes": "xz", "center": [0.2, 0.4], "radius": [0.13, 0.13]}]
    return _task(2, 20, observation, [reward], start, 0.01)


def _fish(task):
    fins = ["finright_roll", "finright_pitch", "finleft_roll", "finleft_pitch"]
    joints = ["tail1", "tail_twist", "tail2", *fins]
    upright = _of("xmat", "torso", axis="zz")
    mouth = _of("geom_xpos", "mouth")
    to_target = _of("geom_xpos", "target", minus=mouth, frame=_of("geom_xmat", "mouth"))
    draw = [{"joint": "root", "rotation": True}] + [_uniform(joint, -0.2, 0.2) for joint in joints]
    if task == "upright":
        observation, reward = [_of("qpos", joints), upright, _QVEL], [{**upright, **_within(1, 1, 1)}]
    else:
        observation = [_of("qpos", joints), upright, to_target, _QVEL]
        radii = 0.005 + 0.04
        near = {**to_target, "function": "norm", **_within(0, radii, 2 * radii), "weight": 7 / 8}
        reward = [near, _scaled(upright, 1 / 16, 1 / 16)]
        draw += [
            {"mocap": "target", "axes": "xyz", "low": [-0.4, -0.4, 0.1], "high": [0.4, 0.4, 0.3]},
        ]
    return _task(10, 40, observation, reward, {"draw": draw}, 0.004)


def _hopper(task):
    height = _of("xipos", "torso", axis="z", minus=_of("xipos", "foot", axis="z"))
    standing = {**height, **_within(0.6, 2)}
    speed = _of("sensordata", "torso_subtreelinvel", count=1, **_within(2, inf, 1, 0.5, "linear"))
    observation = [
        _of("qpos", **{"from": 1}),
        _QVEL,
        _of("sensordata", ["touch_toe", "touch_heel"], function="log1p"),
    ]
    reward = _product(standing, speed if task == "hop" else _small_control())
    return _task(4, 20, observation, [reward], {"joints": "random"}, 0.005)


def _humanoid(task):
    velocity = _of("sensordata", "torso_subtreelinvel")
    limbs = [side + limb for side in ("left_", "right_") for limb in ("hand", "foot")]
    frame = _of("xmat", "torso")
    observation = [
        _of("qpos", **{"from": 7}),
        _of("xpos", "head", axis="z"),
        _of("xpos", limbs, minus=_of("xpos", "torso"), frame=frame),
        _of("xmat", "torso", only=[6, 7, 8]),
        velocity,
        _QVEL,
    ]
    standing = {**_of("xpos", "head", axis="z"), **_within(1.4, inf, 1.4 / 4)}
    upright = {**_of("xmat", "torso", axis="zz"), **_within(0.9, inf, 1.9, 0.0, "linear")}
    horizontal = {**velocity, "only": [0, 1]}
    if task == "stand":
        move = {**horizontal, "combine": "mean", **_within(0, 0, 2)}
    else:
        speed = {"walk": 1, "run": 10}[task]
        move = {**horizontal, "function": "norm", **_within(speed, inf, speed, 0.0, "linear")}
        move = _scaled(move, 5 / 6, 1 / 6)
    reward = _product(standing, upright, _small_control(), move)
    start = {"joints": "random", "no_contacts": {"attempts": 100000}}
    return _task(5, 25, observation, [reward], start, 0.005)


def _manipulator(task):
    arm = ["arm_root", "arm_shoulder", "arm_elbow", "arm_wrist", "finger", "fingertip", "thumb", "thumbtip"]
    angles = [_of("qpos", joint, function=function) for joint in arm for function in ("sin", "cos")]
    touch = ["palm_touch", "finger_touch", "thumb_touch", "fingertip_touch", "thumbtip_touch"]
    ball = ["ball_x", "ball_z", "ball_y"]

    def pose(body):
        return [_of("xpos", body, only=[0, 2]), _of("xquat", body, only=[0, 2])]

    observation = angles + [_of("qvel", arm), _of("sensordata", touch, function="log1p")]
    observation += pose("hand") + pose("ball") + [_of("qvel", ball)] + pose("target_ball")
    reward = {**_distance("site_xpos", "ball", "target_ball"), **_within(0, 0.01, 0.02)}
    draw = [
        {"mocap": "target_ball", "axes": "xz", "low": [-0.4, 0.1], "high": [0.4, 0.4]},
        {"mocap": "target_ball", "about": "y", "low": -pi, "high": pi},
        _uniform("ball_x", -0.5, 0.5),
        _uniform("ball_z", 0, 0.7),
        _uniform("ball_y", 0, 2 * pi),
        {**_uniform("ball_x", -5, 5), "velocity": True},
    ]
    draw.append({"joint": "finger", "same_as": "thumb"})
    start = {"joints": "random", "draw": draw, "no_contacts": {"attempts": 100000}}
    return _task(10, 10, observation, [reward], start, 0.001)


def _pendulum(task):
    observation = [_of("xmat", "pole", axis="zz"), _of("xmat", "pole", axis="xz"), _QVEL]
    reward = {**_of("xmat", "pole", axis="zz"), **_within(cos(radians(8)), 1)}
    return _task(1, 20, observation, [reward], {"draw": [_uniform("hinge", -pi, pi)]}, 0.02)


def _point_mass(task):
    near = {**_distance("geom_xpos", "target", "pointmass"), **_within(0, 0.015, 0.015)}
    return _task(1, 20, _STATE, [_product(near, _small_control())], {"joints": "random"}, 0.02)


def _quadruped(task):
    speed = {"walk": 0.5, "run": 5}[task]
    legs = ["front_left", "front_right", "back_right", "back_left"]
    joints = [f"{joint}_{leg}" for leg in legs for joint in ("yaw", "pitch", "knee", "ankle")]
    upright = _of("xmat", "torso", axis="zz")
    forces = [f"{sensor}_toe_{leg}" for sensor in ("force", "torque") for leg in legs]
    observation = [
        _of("qpos", joints),
        _of("qvel", joints),
        _of("act"),
        _of("sensordata", "velocimeter"),
        upright,
        _of("sensordata", ["imu_accel", "imu_gyro"]),
        _of("sensordata", forces, function="asinh"),
    ]
    reward = _product(
        {**upright, **_within(1, inf, 2, 0.0, "linear")},
        _of("sensordata", "velocimeter", count=1, **_within(speed, inf, speed, 0.5, "linear")),
    )
    start = {
        "draw": [{"joint": "root", "rotation": True}],
        "no_contacts": {"attempts": 10000, "lift": 0.01},
    }
    return _task(4, 20, observation, [reward], start, 0.005)


def _reacher(task):
    size = {"easy": 0.05, "hard": 0.015}[task]
    to_target = _of("geom_xpos", "target", minus=_of("geom_xpos", "finger"), only=[0, 1])
    reward = {**to_target, "function": "norm", **_within(0, size + 0.01)}
    ring = {"mocap": "target", "axes": "xy", "center": [0, 0], "radius": [0.05, 0.2]}
    return _task(1, 20, [_QPOS, to_target, _QVEL], [reward], {"joints": "random", "draw": [ring]}, 0.02)


def _swimmer(task):
    bodies = int(task[len("swimmer") :])
    sensors = [("head_vel", "head_gyro")] + [(f"velocimeter_{i}", f"gyro_{i}") for i in range(bodies - 1)]
    velocities = [_of("sensordata", list(pair), only=[0, 1, 5]) for pair in sensors]
    nose, frame = _of("geom_xpos", "nose"), _of("xmat", "head")
    to_target = _of("geom_xpos", "target", minus=nose, frame=frame, only=[0, 1])
    observation = [_of("qpos", **{"from": 3}), to_target, *velocities]
    near = {**to_target, "function": "norm", **_within(0, 0.1, 0.5, None, "long_tail")}
    draw = [
        {"mocap": "target", "axes": "xy", "low": [-2, -2], "high": [2, 2]},
        {"mocap": "target", "axes": "xy", "low": [-0.3, -0.3], "high": [0.3, 0.3], "chance": 0.2},
    ]
    return _task(15, 30, observation, [near], {"joints": "random", "draw": draw}, 0.002)


def _walker(task):
    bodies = ["torso"] + [side + limb for side in ("right_", "left_") for limb in ("thigh", "leg", "foot")]
    orientations = [_of("xmat", body, axis=axis) for body in bodies for axis in ("xx", "xz")]
    height = _of("xpos", "torso", axis="z")
    observation = [*orientations, height, _QVEL]
    terms = [
        {**height, **_within(1.2, inf, 0.6), "weight": 0.75},
        _scaled(_of("xmat", "torso", axis="zz"), 0.125, 0.125),
    ]
    if task != "stand":
        speed = {"walk": 1, "run": 8}[task]
        moves = _within(speed, inf, speed / 2, 0.5, "linear")
        move = _of("sensordata", "torso_subtreelinvel", count=1, **moves)
        terms = [_product(term, _scaled(move, 5 / 6, 1 / 6)) for term in terms]
    return _task(10, 25, observation, terms, {"joints": "random"}, 0.0025)


_DOMAINS = {
    "acrobot": (_acrobot, ["swingup", "swingup_sparse"]),
    "ball_in_cup": (_ball_in_cup, ["catch"]),
    "cartpole": (_cartpole, ["balance", "balance_sparse", "swingup", "swingup_sparse"]),
    "cheetah": (_cheetah, ["run"]),
    "finger": (_finger, ["spin", "turn_easy", "turn_hard"]),
    "fish": (_fish, ["upright", "swim"]),
    "hopper": (_hopper, ["stand", "hop"]),
    "humanoid": (_humanoid, ["stand", "walk", "run"]),
    "manipulator": (_manipulator, ["bring_ball"]),
    "pendulum": (_pendulum, ["swingup"]),
    "point_mass": (_point_mass, ["easy"]),
    "quadruped": (_quadruped, ["walk", "run"]),
    "reacher": (_reacher, ["easy", "hard"]),
    "swimmer": (_swimmer, ["swimmer6", "swimmer15"]),
    "walker": (_walker, ["stand", "walk", "run"]),
}


def tasks():
    """The names of the tasks, "cheetah-run" and so on."""
    return [f"{domain}-{task}" for domain, (_, names) in _DOMAINS.items() for task in names]


def _split(name):
    domain, _, task = name.partition("-")
    if domain not in _DOMAINS or task not in _DOMAINS[domain][1]:
        raise ValueError(f"task {name!r}: expected one of {', '.join(tasks())}")
    return domain, task


def task(name):
    """The content of a task file (docs/task-file.md) as a dict."""
    domain, which = _split(name)
    return {"name": f"dm_control/{name}", **_DOMAINS[domain][0](which)}


# ---- models ----


def _to_mocap(world, tag):
    """Puts the element "target" of the world on a mocap body."""
    target = next(e for e in world.findall(tag) if e.get("name") == "target")
    world.remove(target)
    body = ET.SubElement(world, "body", name="target", mocap="true", pos=target.get("pos"))
    target.attrib.pop("pos")
    body.append(target)


def _swimmer_chain(root, count):
    """The swimmer's segments behind its head, as dm_control adds them."""
    parent, sensor = root.find("worldbody/body"), root.find("sensor")
    actuator = ET.SubElement(root, "actuator")
    for i in range(count - 1):
        child = ET.SubElement(parent, "body", name=f"segment_{i}", pos="0 .1 0")
        ET.SubElement(child, "geom", {"class": "visual", "name": f"visual_{i}"})
        ET.SubElement(child, "geom", {"class": "inertial", "name": f"inertial_{i}"})
        ET.SubElement(child, "site", name=f"site_{i}")
        ET.SubElement(child, "joint", name=f"joint_{i}", range=f"{-360.0 / count} {360.0 / count}")
        ET.SubElement(actuator, "motor", name=f"motor_{i}", joint=f"joint_{i}")
        ET.SubElement(sensor, "velocimeter", name=f"velocimeter_{i}", site=f"site_{i}")
        ET.SubElement(sensor, "gyro", name=f"gyro_{i}", site=f"site_{i}")
        parent = child


def _drop(root, names):
    for parent in list(root.iter()):
        for child in list(parent):
            if child.get("name") in names:
                parent.remove(child)


def _change(root, domain, which):
    """Changes the model of a domain into that of a task."""
    world = root.find("worldbody")
    if domain == "swimmer":
        _swimmer_chain(root, int(which[len("swimmer") :]))
    if domain in ("swimmer", "reacher", "fish"):
        _to_mocap(world, "geom")
    if domain == "reacher":
        target = next(g for g in world.iter("geom") if g.get("name") == "target")
        target.set("size", {"easy": ".05", "hard": ".015"}[which])
    if domain == "finger":
        _to_mocap(world, "site")
        if which == "spin":
            next(j for j in world.iter("joint") if j.get("name") == "hinge").set("damping", ".03")
    if domain == "manipulator":
        _drop(root, {"cup", "peg", "target_peg", "slot"})
        next(b for b in world.findall("body") if b.get("name") == "target_ball").set("mocap", "true")
    if domain == "quadruped":
        _drop(root, {"wall_px", "wall_py", "wall_nx", "wall_ny", "ball", "target", "terrain"})
        sensor = root.find("sensor")
        for rangefinder in sensor.findall("rangefinder"):
            sensor.remove(rangefinder)
        floor = next(g for g in world.iter("geom") if g.get("name") == "floor")
        floor.set("size", {"walk": "10 10 .5", "run": "100 100 .5"}[which])


def model(name, folder=None):
    """The path of a task's model: the package's file, or a changed copy in `folder` (default: a temporary
    one)."""
    global _folder
    domain, which = _split(name)
    source = _suite() / f"{domain}.xml"
    tree = ET.parse(source)
    before = copy.deepcopy(tree.getroot())
    _change(tree.getroot(), domain, which)
    if folder is None and ET.tostring(before) == ET.tostring(tree.getroot()):
        return source
    for include in tree.getroot().iter("include"):
        include.set("file", str((source.parent / include.get("file")).resolve()))
    if folder is None:
        _folder = _folder or tempfile.TemporaryDirectory(prefix="orrery_dm_control_")
        folder = _folder.name
    path = Path(folder) / f"{name}.xml"
    tree.write(path)
    return path


def write(name, folder):
    """Writes the task file and its model into a folder, and returns the task file's path."""
    path = Path(folder) / f"{name}.json"
    path.write_text(json.dumps({**task(name), "model": model(name, folder).name}, indent=4))
    return path


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"python3 -m orrery.dm_control TASK FOLDER; tasks: {', '.join(tasks())}")
    print(write(sys.argv[1], sys.argv[2]))
