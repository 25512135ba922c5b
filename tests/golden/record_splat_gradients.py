#!/usr/bin/env python3
"""Records the gradients of one training step of splats with the formulas of gsplat, another trainer, for
tests/training/test_splat_reference.c: PyTorch (1.13), and gsplat 1.5.3, of which only the PyTorch
implementation of projection and harmonics is loaded, so that no GPU is needed:

    pip install --no-deps gsplat==1.5.3 && tests/golden/record_splat_gradients.py

In double. gsplat projects and shades; the rest is by definition: opacities and scales as they are stored,
blending pixel by pixel over all splats, and 0.8 L1 + 0.2 (1 - SSIM) with zeros outside the picture. PyTorch's
automatic derivatives give the gradients. Per file: width, height, focal lengths, centre; the camera's pose
(right, down, forward, position, as rows of 3 x 4); the loss; then per splat a line for each number that is
stored (position, log scales, rotation xyzw, logit of the opacity, harmonics of degree 3 with red, green and
blue of each): the number and the derivative of the loss by it.
"""
import importlib.util
import math
import pathlib

import torch

OUT = pathlib.Path(__file__).resolve().parent / "splat_gradients"
SPLATS, WIDTH, HEIGHT, FOCAL, CENTRE = 24, 56, 40, (50.0, 46.0), (26.5, 21.25)
ALPHA_MIN, ALPHA_MAX = 1 / 255, 0.99


def formulas():
    """gsplat.cuda._torch_impl without the package around it, which asks for CUDA."""
    folder = pathlib.Path(importlib.util.find_spec("gsplat").origin).parent
    spec = importlib.util.spec_from_file_location("torch_impl", folder / "cuda" / "_torch_impl.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def photo():
    y, x = torch.meshgrid(torch.arange(HEIGHT), torch.arange(WIDTH), indexing="ij")
    planes = [(5 * x + 3 * y + 40 * c) % 160 + 60 * ((x // 8 + y // 8) % 2) for c in range(3)]
    return torch.stack(planes).double() / 255


def pose():
    """Camera to world, of exact numbers."""
    w, x, y, z = 0.8, 0.2, -0.4, 0.4
    rotation = torch.tensor([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                             [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                             [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]).double()
    place = torch.tensor([[0.5], [-0.25], [1.0]]).double()
    return torch.cat([rotation, place], dim=1)


def splats(camera):
    """Before the camera, some beyond the picture's edges, with a few dark and a few bright colours."""
    random = torch.Generator().manual_seed(16)

    def uniform(low, high, *shape):
        return low + (high - low) * torch.rand(*shape, generator=random, dtype=torch.float64)

    depth = uniform(2.0, 5.0, SPLATS, 1)
    side = uniform(-0.62, 0.62, SPLATS, 2) * torch.tensor([WIDTH / FOCAL[0], HEIGHT / FOCAL[1]])
    seen = torch.cat([side * depth, depth], dim=1)
    position = seen @ camera[:, :3].T + camera[:, 3]
    harmonics = uniform(-0.25, 0.25, SPLATS, 48)
    harmonics[:, :3] = uniform(-1.9, 1.6, SPLATS, 3)
    stored = [position, uniform(-3.0, -0.6, SPLATS, 3), uniform(-1.0, 1.0, SPLATS, 4),
              uniform(-2.0, 2.5, SPLATS, 1), harmonics]
    return torch.cat(stored, dim=1).float().double()


def draw(gsplat, camera, stored, antialias):
    position, scale, rotation = stored[:, :3], stored[:, 3:6].exp(), stored[:, [9, 6, 7, 8]]
    opacity, harmonics = torch.sigmoid(stored[:, 10]), stored[:, 11:].reshape(-1, 16, 3)
    view = torch.eye(4).double()
    view[:3, :3] = camera[:, :3].T
    view[:3, 3] = -camera[:, :3].T @ camera[:, 3]
    lens = torch.tensor([[FOCAL[0], 0, CENTRE[0]], [0, FOCAL[1], CENTRE[1]], [0, 0, 1]]).double()
    covariance, _ = gsplat._quat_scale_to_covar_preci(rotation, scale, compute_preci=False)
    _, centres, depths, conics, compensation = gsplat._fully_fused_projection(
        position, covariance, view[None], lens[None], WIDTH, HEIGHT, calc_compensations=antialias)
    shown = gsplat._spherical_harmonics(3, position - camera[:, 3], harmonics)
    colour = torch.clamp(shown + 0.5, min=0)
    if antialias:
        opacity = opacity * compensation[0]
    y, x = torch.meshgrid(torch.arange(HEIGHT) + 0.5, torch.arange(WIDTH) + 0.5, indexing="ij")
    picture, rest = torch.zeros(3, HEIGHT, WIDTH).double(), torch.ones(HEIGHT, WIDTH).double()
    for i in torch.argsort(depths[0]).tolist():
        dx, dy = x - centres[0, i, 0], y - centres[0, i, 1]
        a, b, c = conics[0, i]
        alpha = opacity[i] * torch.exp(-0.5 * (a * dx * dx + c * dy * dy) - b * dx * dy)
        alpha = torch.clamp(alpha, max=ALPHA_MAX)
        alpha = torch.where(alpha < ALPHA_MIN, torch.zeros_like(alpha), alpha)
        picture = picture + (rest * alpha) * colour[i][:, None, None]
        rest = rest * (1 - alpha)
    assert rest.min() > 1e-3, "pixels where blending stops"
    return picture


def blur(planes):
    taps = torch.tensor([math.exp(-0.5 * (i / 1.5)**2) for i in range(-5, 6)]).double()
    window = torch.outer(taps, taps) / taps.sum()**2
    return torch.nn.functional.conv2d(planes[:, None], window[None, None], padding=5)[:, 0]


def loss(picture, truth):
    mean_x, mean_y = blur(picture), blur(truth)
    xx, yy = blur(picture * picture) - mean_x**2, blur(truth * truth) - mean_y**2
    xy = blur(picture * truth) - mean_x * mean_y
    similarity = ((2 * mean_x * mean_y + 1e-4) * (2 * xy + 9e-4) /
                  ((mean_x**2 + mean_y**2 + 1e-4) * (xx + yy + 9e-4)))
    return 0.8 * (picture - truth).abs().mean() + 0.2 * (1 - similarity.mean())


def record(name, antialias):
    gsplat, camera = formulas(), pose()
    stored = splats(camera).requires_grad_()
    value = loss(draw(gsplat, camera, stored, antialias), photo())
    value.backward()
    lines = [[WIDTH, HEIGHT, *FOCAL, *CENTRE], *camera.tolist(), [value.item()]]
    lines += [[a, b] for a, b in zip(stored.flatten().tolist(), stored.grad.flatten().tolist())]
    OUT.mkdir(exist_ok=True)
    text = "\n".join(" ".join("%.9g" % v for v in line) for line in lines)
    (OUT / f"{name}.txt").write_text(text + "\n")
    print(name, value.item())


record("plain", False)
record("antialias", True)
