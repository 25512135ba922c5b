#!/usr/bin/env python3
"""PSNR once more, by another program: photos of spheres are ray traced here, through a lens that distorts,
`orrery train nerf` and `train splats --lens keep` learn them, `orrery render` draws the cameras of the
capture, and NumPy compares what it wrote with the photos that were held out.

The recipe, for any capture: pictures by `orrery render MODEL --cameras CAPTURE --background 1,1,1 -o
%04d.png`, one per frame in the file's order (a COLMAP model's by name), or of one by `--camera INDEX`;
photos over white as display values, rgb alpha + 1 - alpha (clouds of opaque photos: all over black, and of a
lens that distorts with --lens keep); held out are every 8th of the photos that are
there, from the first on (`train --json` names them under `held out`); the mean over photos of -10 log10(mean
square difference).

    recompute_psnr.py ORRERY CAPTURE...        exit code 77 where NumPy or Pillow is missing

CAPTURE: folders with a transforms.json, which are copied and measured too.
"""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image
except ImportError as absent:
    SYSTEM = "/usr/bin/python3"  # has the packages of ./bootstrap, which another interpreter in PATH may lack
    if os.path.exists(SYSTEM) and not os.path.samefile(SYSTEM, sys.executable):
        os.execv(SYSTEM, [SYSTEM, *sys.argv])
    print("skipped:", absent)
    sys.exit(77)

PHOTOS, HOLDOUT, WIDTH, HEIGHT, FOCAL = 16, 8, 64, 48, 70.0
DISTORTION = (0.06, -0.03, 0.002, -0.001)  # k1 k2 p1 p2
# The model holds the grid of what is empty in halves, which moves its border a little: that is all that may
# differ.
TOLERANCE = {"nerf": 0.1, "splats": 0.01}  # dB
LEARNT = {"nerf": 10.0, "splats": 20.0}  # dB; white paper has 6
SPHERES = (((0.0, 0.0, 0.0), 0.6, (0.9, 0.2, 0.1)), ((0.7, 0.2, 0.2), 0.3, (0.1, 0.7, 0.3)),
           ((-0.5, 0.6, 0.3), 0.35, (0.2, 0.3, 0.9)))  # yapf: disable


def look_from(eye):
    """Camera to world, OpenGL axes."""
    back = eye / np.linalg.norm(eye)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    matrix = np.eye(4)
    matrix[:3, :4] = np.stack([right, np.cross(back, right), back, eye], axis=1)
    return matrix


def undistort(x, y):
    k1, k2, p1, p2 = DISTORTION
    u, v = x, y
    for _ in range(30):
        r2 = u * u + v * v
        stretch = 1 + k1 * r2 + k2 * r2 * r2
        u, v = ((x - 2 * p1 * u * v - p2 * (r2 + 2 * u * u)) / stretch,
                (y - p1 * (r2 + 2 * v * v) - 2 * p2 * u * v) / stretch)  # yapf: disable
    return u, v


def photograph(camera):
    """height x width x 4 bytes, straight alpha."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    x, y = undistort((x - 0.5 * WIDTH) / FOCAL, (y - 0.5 * HEIGHT) / FOCAL)
    rays = np.stack([x, -y, -np.ones_like(x)], axis=-1) @ camera[:3, :3].T
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    picture, nearest = np.zeros((HEIGHT, WIDTH, 4)), np.full((HEIGHT, WIDTH), np.inf)
    for centre, radius, colour in SPHERES:
        off = camera[:3, 3] - centre
        along = rays @ off
        square = along * along - off @ off + radius * radius
        distance = -along - np.sqrt(np.maximum(square, 0))
        hit = (square > 0) & (distance < nearest)
        normal = (off + distance[..., None] * rays) / radius
        light = 0.3 + 0.7 * np.maximum(normal @ [0.4, 0.3, 0.866], 0)
        picture[hit] = np.concatenate([light[..., None] * colour, np.ones((HEIGHT, WIDTH, 1))], axis=-1)[hit]
        nearest[hit] = distance[hit]
    return np.round(np.clip(picture, 0, 1) * 255).astype(np.uint8)


def write_photos(folder, cameras):
    os.makedirs(os.path.join(folder, "images"))
    names = ["images/photo %02d.png" % i for i in range(PHOTOS)]
    for i, (name, camera) in enumerate(zip(names, cameras)):
        picture = photograph(camera)
        if i % 3 == 0:  # some photos are opaque
            over = picture[..., 3:] / 255.0
            picture = np.round(picture[..., :3] * over + 255 * (1 - over)).astype(np.uint8)
        Image.fromarray(picture).save(os.path.join(folder, name))
    return names


def write_transforms(folder, cameras):
    names = write_photos(folder, cameras)
    frames = [{"file_path": name[:-4], "transform_matrix": m.tolist()} for name, m in zip(names, cameras)]
    frames.insert(3, {"file_path": "images/absent", "transform_matrix": cameras[0].tolist()})
    k1, k2, p1, p2 = DISTORTION
    with open(os.path.join(folder, "transforms.json"), "w") as file:
        json.dump({"fl_x": FOCAL, "w": WIDTH, "h": HEIGHT, "k1": k1, "k2": k2, "p1": p1, "p2": p2,
                   "aabb_scale": 1, "frames": frames}, file)  # yapf: disable
    return [None if i == 3 else names[i - (i > 3)] for i in range(PHOTOS + 1)]


def write_colmap(folder, cameras):
    names = write_photos(folder, cameras)
    sparse = os.path.join(folder, "sparse", "0")
    os.makedirs(sparse)
    with open(os.path.join(sparse, "cameras.txt"), "w") as file:
        lens = [FOCAL, FOCAL, 0.5 * WIDTH, 0.5 * HEIGHT, *DISTORTION]
        print("# comment\n1 OPENCV", WIDTH, HEIGHT, *lens, file=file)
    with open(os.path.join(sparse, "images.txt"), "w") as file:
        for i in reversed(range(PHOTOS)):  # out of order
            rotation = (cameras[i][:3, :3] * [1, -1, -1]).T
            place = -rotation @ cameras[i][:3, 3]
            w = 0.5 * math.sqrt(max(1 + np.trace(rotation), 1e-12))
            skew = rotation - rotation.T
            axis = np.array([skew[2, 1], skew[0, 2], skew[1, 0]]) / (4 * w)
            print(i + 1, w, *axis, *place, 1, os.path.basename(names[i]), "\n", file=file)
    return names


def copy_capture(source, folder):
    shutil.copytree(source, folder)
    with open(os.path.join(folder, "transforms.json")) as file:
        files = [frame["file_path"] for frame in json.load(file)["frames"]]
    names = [name if name.endswith(".png") else name + ".png" for name in files]
    return [name if os.path.exists(os.path.join(folder, name)) else None for name in names]


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("%s\nexit code %d\n%s" % (" ".join(command), done.returncode, done.stderr))
    return done.stdout


def psnr(photo, picture):
    photo, picture = (np.asarray(Image.open(p).convert("RGBA")) / 255.0 for p in (photo, picture))
    over_white = [p[..., :3] * p[..., 3:] + 1 - p[..., 3:] for p in (photo, picture)]
    return -10 * math.log10(np.mean((over_white[0] - over_white[1])**2))


def learn(orrery, kind, folder):
    """The model, and what the training said of itself."""
    if kind == "splats":
        model = os.path.join(folder, "model.ply")
        options = ["--splats", "2000", "--lens", "keep", "--steps", "200", "--device", "cpu"]
    else:
        model, config = os.path.join(folder, "model.ingp"), os.path.join(folder, "small.json")
        with open(config, "w") as file:
            file.write('{"encoding": {"log2_hashmap_size": 13} /* of 2^13 entries a level */}')
        options = ["--steps", "100", "--batch", "4096", "--config", config]
    said = run(orrery, "train", kind, folder, "-o", model, "--holdout", str(HOLDOUT), "--json", *options)
    return model, json.loads(said)


def is_opaque(path):
    picture = Image.open(path)
    return "A" not in picture.getbands() or np.asarray(picture.getchannel("A")).min() == 255


def check(orrery, kind, folder, names):
    """names: per frame, in the order in which they are drawn; None: absent."""
    model, said = learn(orrery, kind, folder)
    there = [(name, frame) for frame, name in enumerate(names) if name]
    opaque = kind == "splats" and all(is_opaque(os.path.join(folder, name)) for name, _ in there)
    for _, frame in there[::HOLDOUT]:
        run(orrery, "render", model, "--cameras", folder, "--camera", str(frame), "--background",
            "0,0,0" if opaque else "1,1,1", "--device", "cpu", "-o",
            os.path.join(folder, "%04d.png" % frame))  # yapf: disable
    found = [(name, psnr(os.path.join(folder, name), os.path.join(folder, "%04d.png" % frame)))
             for name, frame in there[::HOLDOUT]]  # yapf: disable
    mean = sum(value for _, value in found) / len(found)
    print("%s, %s: trained %.4f dB, recomputed %.4f dB" %
          (kind, os.path.basename(folder), said["PSNR"], mean))  # yapf: disable
    good = abs(said["PSNR"] - mean) < TOLERANCE[kind] and len(said["held out"]) == len(found)
    for (name, value), entry in zip(found, said["held out"]):
        good = good and entry["file"].endswith(name) and abs(entry["PSNR"] - value) < TOLERANCE[kind]
    return good and mean > LEARNT[kind]


def main():
    angles = [(2.4 * i, 0.3 + 0.9 * (0.618 * i % 1)) for i in range(PHOTOS)]
    cameras = [look_from(3.0 * np.array([math.cos(t) * math.cos(e), math.sin(t) * math.cos(e), math.sin(e)]))
               for t, e in angles]  # yapf: disable
    with tempfile.TemporaryDirectory() as work:
        good = True
        for kind, write in (("transforms", write_transforms), ("colmap", write_colmap)):
            folder = os.path.join(work, kind)
            names = write(folder, cameras)
            for what in ("nerf", "splats"):
                good = check(sys.argv[1], what, folder, names) and good
        for source in sys.argv[2:]:
            folder = os.path.join(work, os.path.basename(source))
            names = copy_capture(source, folder)
            for what in ("nerf", "splats"):
                good = check(sys.argv[1], what, folder, names) and good
    sys.exit(0 if good else 1)


main()
