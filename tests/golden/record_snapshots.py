# Writes snapshots the way instant-ngp does (its keys, its order, halves, gzip), and what NumPy finds when it
# evaluates the same parameters by tiny-cuda-nn's formulas: tests/golden/snapshots, read by
# tests/neural/test_ingp.c.
#     pip install numpy msgpack; python3 record_snapshots.py
# NAME.f64 holds, for each of 64 samples, its place (3 in 0 .. 1); of a nerf also its direction (3, of length
# 1); then the first network's first output; of a nerf also the three outputs of the second, activation not
# included.
import gzip
import os

import msgpack
import numpy as np

SAMPLES = 64
PRIMES = np.array([1, 2654435761, 805459861], np.uint64)


def halves(rng, count, reach):
    return rng.uniform(-reach, reach, count).astype(np.float16)


def grid_levels(config, per_level_scale):
    levels, first = [], 0
    for level in range(config["n_levels"]):
        growth = np.exp2(np.float32(level) * np.log2(np.float32(per_level_scale)))
        scale = growth * config["base_resolution"] - 1
        side = int(np.ceil(scale)) + 1
        entries = min((side**3 + 7) // 8 * 8, 2 ** config["log2_hashmap_size"])
        levels.append((np.float32(scale), side, entries, first))
        first += entries
    return levels, first


def encode_grid(levels, table, places):
    features = []
    for scale, side, entries, first in levels:
        position = (places.astype(np.float32) * scale + np.float32(0.5)).astype(np.float32)
        cell = np.floor(position)
        weight = (position - cell).astype(np.float64)
        total = 0.0
        for corner in range(8):
            offset = np.array([corner >> d & 1 for d in range(3)])
            vertex = (cell + offset).astype(np.uint64)
            if side**3 <= entries:
                index = vertex[:, 0] + side * vertex[:, 1] + side * side * vertex[:, 2]
            else:
                hashed = vertex * PRIMES & 0xFFFFFFFF
                index = hashed[:, 0] ^ hashed[:, 1] ^ hashed[:, 2]
            share = np.prod(np.where(offset, weight, 1 - weight), axis=1)
            total = total + share[:, None] * table[first + (index % entries).astype(int)]
        features.append(total)
    return np.concatenate(features, axis=1)


def encode_frequency(frequencies, places):
    features = []
    for d in range(places.shape[1]):
        for k in range(frequencies):
            features += [np.sin(2.0**k * np.pi * places[:, d]), np.cos(2.0**k * np.pi * places[:, d])]
    return np.stack(features, axis=1)


def encode_harmonics(d):
    x, y, z = d.T
    one = np.ones_like(x)
    r = np.sqrt
    pi = np.pi
    return np.stack([
        one * 0.5 / r(pi),
        -r(3 / (4 * pi)) * y, r(3 / (4 * pi)) * z, -r(3 / (4 * pi)) * x,
        r(15 / (4 * pi)) * x * y, -r(15 / (4 * pi)) * y * z, r(5 / (16 * pi)) * (3 * z * z - 1),
        -r(15 / (4 * pi)) * x * z, r(15 / (16 * pi)) * (x * x - y * y),
        -r(35 / (32 * pi)) * y * (3 * x * x - y * y), r(105 / (4 * pi)) * x * y * z,
        -r(21 / (32 * pi)) * y * (5 * z * z - 1), r(7 / (16 * pi)) * z * (5 * z * z - 3),
        -r(21 / (32 * pi)) * x * (5 * z * z - 1), r(105 / (16 * pi)) * z * (x * x - y * y),
        -r(35 / (32 * pi)) * x * (x * x - 3 * y * y)], axis=1)  # yapf: disable


def pad(features, value):
    return np.pad(features, ((0, 0), (0, -features.shape[1] % 16)), constant_values=value)


class Network:
    # row-major matrices, one row per output, from input to output
    def __init__(self, rng, config, inputs):
        width, hidden = config["n_neurons"], config["n_hidden_layers"]
        sizes = [inputs] + [width] * hidden + [16]
        self.matrices = [halves(rng, (b, a), 2.0 / np.sqrt(a)) for a, b in zip(sizes[:-1], sizes[1:])]

    def __call__(self, x):
        for matrix in self.matrices[:-1]:
            x = np.maximum(x @ matrix.astype(float).T, 0.0)
        return x @ self.matrices[-1].astype(float).T

    def flat(self):
        return [m.ravel() for m in self.matrices]


def snapshot(mode, aabb_scale, parameters):
    box = {"min": [0.5 - 0.5 * aabb_scale] * 3, "max": [0.5 + 0.5 * aabb_scale] * 3}
    identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    binary = np.concatenate(parameters).astype("<f2").tobytes()
    return {
        "aabb": box, "background_color": [0.0, 0.0, 0.0, 1.0], "bounding_radius": 1.0,
        "camera": {"aperture_size": 0.0, "autofocus": False, "autofocus_depth": 1.5,
                   "autofocus_target": [0.5] * 3, "fov_axis": 1, "matrix": [r + [0.5] for r in identity],
                   "relative_focal_length": [1.0, 1.0], "scale": 1.5,
                   "screen_center": [0.5, 0.5], "zoom": 1.0},
        "exposure": 0.0, "loss": 0.001, "mode": mode, "n_params": len(binary) // 2, "params_binary": binary,
        "params_type": "__half", "render_aabb": box, "render_aabb_to_local": identity,
        "sun_dir": [0.6, 0.6, 0.5], "training_step": 1234, "up_dir": [0.0, 1.0, 0.0],
        "version": 1}  # yapf: disable


def add_nerf(into, aabb_scale):
    cascades = int(np.log2(aabb_scale)) + 1
    grid = np.zeros(cascades * 128**3, np.float16)
    grid[:: 4099] = 0.5  # Morton order
    lens = {"is_fisheye": False, "k1": 0.05, "k2": -0.08, "p1": -0.0009, "p2": 0.0001}
    photo = {"focal_length": [1375.5, 1374.5], "lens": lens, "principal_point": [0.5, 0.5],
             "resolution": [1080, 1920], "rolling_shutter": [0.0, 0.0, 0.0, 0.0]}  # yapf: disable
    pose = [[1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.5], [0.0, 0.0, 1.0, -1.0]]
    adam = {"beta1": 0.9, "beta2": 0.99, "epsilon": 1e-08, "first_moment": [0.0] * 3, "iter": 0,
            "learning_rate": 0.0001, "second_moment": [0.0] * 3, "variable": [0.0] * 3}  # yapf: disable
    into["density_grid_size"] = 128
    into["density_grid_binary"] = grid.astype("<f2").tobytes()
    into["nerf"] = {
        "aabb_scale": aabb_scale, "cam_pos_offset": [adam], "cam_rot_offset": [adam], "extra_dims_opt": [],
        "dataset": {"aabb_scale": aabb_scale, "envmap_resolution": [0, 0], "from_mitsuba": False,
                    "is_hdr": False, "metadata": [photo], "n_extra_learnable_dims": 0, "n_images": 1,
                    "offset": [0.25, 0.5, 0.75], "paths": ["images/0001.jpg"], "render_aabb": into["aabb"],
                    "render_aabb_to_local": into["render_aabb_to_local"], "scale": 0.25,
                    "up": [0.0, 1.0, 0.0], "wants_importance_sampling": True,
                    "xforms": [{"start": pose, "end": pose}]},
        "rgb": {"measured_batch_size": 262144, "measured_batch_size_before_compaction": 9876543,
                "rays_per_batch": 8192}}  # yapf: disable


def write(name, config, into, rows):
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "snapshots")
    config = dict(config, snapshot=dict(sorted(into.items())))
    with open(os.path.join(folder, name + ".ingp"), "wb") as file:
        file.write(gzip.compress(msgpack.packb(dict(sorted(config.items()))), mtime=0))
    np.concatenate(rows, axis=1).astype("<f8").tofile(os.path.join(folder, name + ".f64"))


def network_config(width, hidden):
    return {"otype": "FullyFusedMLP", "activation": "ReLU", "output_activation": "None", "n_neurons": width,
            "n_hidden_layers": hidden}  # yapf: disable


def optimizer_config():
    adam = {"otype": "Adam", "learning_rate": 1e-2, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-15,
            "l2_reg": 1e-6}  # yapf: disable
    decay = {"otype": "ExponentialDecay", "decay_start": 20000, "decay_interval": 10000, "decay_base": 0.33,
             "nested": adam}  # yapf: disable
    return {"otype": "Ema", "decay": 0.95, "nested": decay}


def record_nerf(rng):
    aabb_scale = 2
    config = {
        "encoding": {"otype": "HashGrid", "n_levels": 3, "n_features_per_level": 2, "log2_hashmap_size": 9,
                     "base_resolution": 4},
        "network": network_config(16, 1), "rgb_network": network_config(32, 2),
        "dir_encoding": {"otype": "Composite", "nested": [
            {"n_dims_to_encode": 3, "otype": "SphericalHarmonics", "degree": 4}, {"otype": "Identity"}]},
        "loss": {"otype": "Huber"}, "optimizer": optimizer_config(),
        "distortion_map": {"resolution": [32, 32]},
        "envmap": {"loss": {"otype": "RelativeL2"}}}  # yapf: disable
    # the file gives no per_level_scale: its finest level has 2048 vertices for each unit of space
    levels, entries = grid_levels(config["encoding"], np.exp(np.log(np.float32(2048 * aabb_scale / 4)) / 2))
    table = halves(rng, (entries, 2), 1.0)
    density, colour = Network(rng, config["network"], 16), Network(rng, config["rgb_network"], 32)
    places = rng.integers(0, 65, (SAMPLES, 3)) / 64.0
    directions = rng.normal(size=(SAMPLES, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    hidden = density(pad(encode_grid(levels, table, places), 0.0))
    output = colour(np.concatenate([hidden, encode_harmonics(directions)], axis=1))
    into = snapshot("nerf", aabb_scale, density.flat() + colour.flat() + [table.ravel()])
    add_nerf(into, aabb_scale)
    write("nerf", config, into, [places, directions, hidden[:, :1], output[:, :3]])


# 3 x 2 x 5 features, padded to 32 with ones
def record_sdf(rng):
    config = {"encoding": {"otype": "Frequency", "n_frequencies": 5}, "network": network_config(32, 2),
              "loss": {"otype": "MAPE"}, "optimizer": optimizer_config()}  # yapf: disable
    network = Network(rng, config["network"], 32)
    places = rng.uniform(0, 1, (SAMPLES, 3))
    output = network(pad(encode_frequency(5, places), 1.0))
    write("sdf", config, snapshot("sdf", 1, network.flat()), [places, output[:, :1]])


record_nerf(np.random.default_rng(3))
record_sdf(np.random.default_rng(4))
