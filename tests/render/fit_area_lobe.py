#!/usr/bin/env python3
"""Fits the numbers of area_lobe_of (render/area_light_formula.h), and prints them with their error.

Rectangles of radiance 1 around the mirrored direction: what a GGX surface with the correlated visibility
term reflects of each (F = 1, by quadrature, divided by the same of the whole sky) against the form factor
that the map of the lobe gives it. Recorded with NumPy 1.24.2 and SciPy 1.10.1 (Debian 12): 0.0228 off (root
of the mean square) in the 300 cases of the fit, 0.0266 in 200 others, 0.155 in the mean.
"""

import numpy as np
from scipy.optimize import minimize

UP = np.array([0.0, 0.0, 1.0])


def form_factor(corners):
    """Of a polygon seen from the origin by a surface that faces UP."""
    outline = []
    for a, b in zip(corners, np.roll(corners, -1, 0)):
        if a[2] >= 0:
            outline.append(a)
        if (a[2] >= 0) != (b[2] >= 0):
            outline.append(a + (b - a) * a[2] / (a[2] - b[2]))
    if len(outline) < 3:
        return 0.0
    outline = np.array(outline)
    total = 0.0
    for a, b in zip(outline, np.roll(outline, -1, 0)):
        turn = np.cross(a, b)
        length = np.linalg.norm(turn)
        if length > 1e-14:
            total += np.arctan2(length, a @ b) * turn[2] / length
    return abs(total) / (2 * np.pi)


def reflected(corners, eye, alpha, count=120):
    """By the midpoint rule, count x count points."""
    steps = (np.arange(count) + 0.5) / count
    u, v = np.meshgrid(steps, steps)
    right, up = corners[1] - corners[0], corners[3] - corners[0]
    at = corners[0] + u[..., None] * right + v[..., None] * up
    squared = (at**2).sum(-1)
    light = at / np.sqrt(squared)[..., None]
    normal = np.cross(right, up)
    area = np.linalg.norm(normal)
    solid = area / count**2 * np.abs(light @ (normal / area)) / squared
    half = light + eye
    half /= np.linalg.norm(half, axis=-1)[..., None]
    nl, nv, nh, aa = light[..., 2], eye[2], half[..., 2], alpha**2
    lobe = aa / (np.pi * (nh**2 * (aa - 1) + 1) ** 2)
    both = nl * np.sqrt(nv**2 * (1 - aa) + aa) + nv * np.sqrt(nl**2 * (1 - aa) + aa)
    return (lobe * 0.5 / np.where(nl > 0, both, 1) * nl * solid)[nl > 0].sum()


def reflected_sky(eye, alpha, count=4000):
    """The mean weight of directions drawn by the visible normals (Dupuy and Benyoub 2023)."""
    first, second = (np.arange(count) + 0.5) / count, np.arange(count) * 0.6180339887 % 1
    stretched = np.array([alpha * eye[0], alpha * eye[1], eye[2]])
    stretched /= np.linalg.norm(stretched)
    angle, z = 2 * np.pi * first, (1 - second) * (1 + stretched[2]) - stretched[2]
    ring = np.sqrt(np.maximum(0, 1 - z**2))
    normal = np.stack([ring * np.cos(angle), ring * np.sin(angle), z], 1) + stretched
    normal[:, :2] *= alpha
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    nl, nv, aa = (2 * (normal @ eye)[:, None] * normal - eye)[:, 2], eye[2], alpha**2
    one = 2 * nv / (nv + np.sqrt(aa + (1 - aa) * nv**2))
    both = 2 * nl * nv / (nl * np.sqrt(nv**2 * (1 - aa) + aa) + nv * np.sqrt(nl**2 * (1 - aa) + aa))
    return np.where(nl > 0, both / one, 0).mean()


def cases(seed, count):
    rng = np.random.default_rng(seed)
    made = []
    while len(made) < count:
        down, alpha = np.arccos(rng.uniform(0.12, 1)), rng.uniform(0.15, 1) ** 2
        eye = np.array([np.sin(down), 0, np.cos(down)])
        middle = np.array([-eye[0], 0, eye[2]]) + rng.normal(size=3) * 0.6
        middle[2] = abs(middle[2])
        middle *= rng.uniform(0.5, 2)
        normal = 0.5 * rng.normal(size=3) - middle / np.linalg.norm(middle)
        normal /= np.linalg.norm(normal)
        right = np.cross(normal, rng.normal(size=3))
        right /= np.linalg.norm(right)
        up = np.cross(normal, right)
        right, up = right * rng.uniform(0.1, 1), up * rng.uniform(0.1, 1)
        if normal @ middle < 0:
            corners = middle + np.array([-right - up, right - up, right + up, up - right])
            made.append((eye, alpha, corners, reflected(corners, eye, alpha) / reflected_sky(eye, alpha)))
    return made


def mapped(p, eye, alpha, corners):
    cosine = eye[2]
    wide = 2 * alpha / (1 + p[0] * alpha + p[1] * alpha**2)
    narrow = wide * (cosine + (1 - cosine) * (p[2] * alpha + p[3] * alpha**2))
    lean = min(p[4] * alpha ** p[5], 1)
    along = 2 * cosine * UP - eye
    along += lean * (UP - along)
    along /= np.linalg.norm(along)
    aside = np.cross(UP, eye)
    aside /= np.linalg.norm(aside)
    lobe = np.stack([np.cross(aside, along) / wide, aside / narrow, along])
    return form_factor(corners @ lobe.T)


def error(p, of):
    off = [mapped(p, eye, alpha, corners) - true for eye, alpha, corners, true in of]
    return np.sqrt(np.mean(np.square(off)))


def main():
    train, others = cases(5, 300), cases(6, 200)
    start = np.array([0.5, 0.3, 0.5, 0.2, 1.0, 1.0])
    found = minimize(error, start, (train,), method="Nelder-Mead", options={"maxfev": 700, "xatol": 1e-3}).x
    print("wide, wide, narrow, narrow, lean, lean:", *found.round(3))
    mean = np.mean([case[3] for case in train])
    print(f"{error(found, train):.4f} off, {error(found, others):.4f} in others, {mean:.3f} in the mean")


if __name__ == "__main__":
    main()
