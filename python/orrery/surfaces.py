"""Surfaces that look different in each copy of a world (Eyes.vary_surfaces, Eyes.set_surfaces)."""

import ctypes
import os

import numpy as np

from orrery._library import call, constant, constants, pointer, spread, structs

FINISHES = ("emission", "specular", "shininess", "metallic", "roughness", "reflectance")


def _target(target):
    layer, what = target if isinstance(target, tuple) else (None, target)
    if hasattr(what, "_id"):  # all of a layer
        layer, what = what, None
    made = structs["orr_eyes_target"]()
    if layer is not None:
        made.layer = layer._id
    if isinstance(what, str) and what.startswith(("geom:", "material:")):
        kind, name = what.split(":", 1)
        setattr(made, kind, name.encode())
    elif isinstance(what, int):
        made.part = what + 1
    elif what is not None:
        raise ValueError(f"target {what!r}: expected 'geom:NAME', 'material:NAME', a layer, or a tuple")
    return made


def _texture(texture, kept):
    made = structs["orr_eyes_texture"]()
    if isinstance(texture, str) and texture.startswith("texture:"):
        made.name = texture.split(":", 1)[1].encode()
    elif isinstance(texture, (str, os.PathLike)):
        made.path = os.fsencode(texture)
    else:
        pixels = np.asarray(texture)
        if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
            raise ValueError(f"texture {pixels.dtype} {pixels.shape}: expected uint8, height x width x 3")
        pixels = np.ascontiguousarray(pixels)
        kept.append(pixels)
        made.rgb, made.height, made.width = pointer(pixels, np.uint8), *pixels.shape[:2]
    return made


def vary(eyes, targets, textures, pattern_side):
    kept = []
    desc = structs["orr_eyes_surfaces_desc"](
        targets=(structs["orr_eyes_target"] * len(targets))(*map(_target, targets)),
        target_count=len(targets),
        textures=(structs["orr_eyes_texture"] * len(textures))(*(_texture(t, kept) for t in textures)),
        texture_count=len(textures),
        pattern_side=pattern_side,
    )
    call.eyes_vary_surfaces_sized(eyes.pointer, ctypes.byref(desc), ctypes.sizeof(desc))


def _patterns(patterns):
    """The values of pattern names, in an array of any shape."""
    numbers = [constant("ORR_PATTERN_", str(name)) for name in np.ravel(patterns)]
    return np.reshape(numbers, np.shape(patterns))


def fill(shape, pattern, picture, cells, seed, colours, colour, finish):
    """copies x targets of orr_eyes_surface."""
    surfaces = np.zeros(shape, np.dtype(structs["orr_eyes_surface"]))
    surfaces["pattern"] = spread("pattern", _patterns(pattern), shape, np.int32)
    surfaces["picture"] = spread("picture", picture, shape, np.int32)
    surfaces["cells"] = spread("cells", cells, shape, np.int32)
    surfaces["seed"] = spread("seed", seed, shape, np.uint32)
    surfaces["colours"] = spread("colours", colours, shape + (2, 3), np.float32)
    if colour is not None:
        surfaces["colour"] = spread("colour", colour, shape + (3,), np.float32)
        surfaces["changes"] |= constants["ORR_SURFACE_COLOUR"]
    for name, values in finish.items():
        if name not in FINISHES:
            raise TypeError(f"{name!r}: expected one of {', '.join(FINISHES)}")
        surfaces[name] = spread(name, values, shape, np.float32)
        surfaces["changes"] |= constants["ORR_SURFACE_" + name.upper()]
    return surfaces


def put(eyes, surfaces, mask):
    """Passes copies x targets of orr_eyes_surface to the library."""
    kind = structs["orr_eyes_surface"]
    call.eyes_set_surfaces_sized(
        eyes.pointer, mask, ctypes.cast(surfaces.ctypes.data, ctypes.POINTER(kind)), ctypes.sizeof(kind)
    )


class SurfacesOfTask:
    """The surface variations of a task file in the current episodes, for Eyes of its environments."""

    def __init__(self, env, eyes):
        self._env, self._eyes = env, eyes
        desc = structs["orr_eyes_surfaces_desc"]()
        call.env_get_surfaces_desc_sized(env._handle.pointer, ctypes.byref(desc), ctypes.sizeof(desc))
        self._drawn = np.zeros((env.num_envs, desc.target_count), np.dtype(structs["orr_eyes_surface"]))
        if desc.target_count > 0:
            call.eyes_vary_surfaces_sized(eyes.pointer, ctypes.byref(desc), ctypes.sizeof(desc))

    def update(self):
        if self._drawn.size > 0:
            kind = structs["orr_eyes_surface"]
            at = ctypes.cast(self._drawn.ctypes.data, ctypes.POINTER(kind))
            call.env_get_surfaces_sized(self._env._handle.pointer, at, ctypes.sizeof(kind))
            put(self._eyes, self._drawn, None)
