"""Pictures of the gel of a tactile sensor."""

import ctypes

import numpy as np

from orrery._library import call, pointer, structs
from orrery.engine import default_engine


def _float32(values, name, shape):
    array = np.ascontiguousarray(values, np.float32)
    if array.shape != shape:
        raise ValueError(f"{name} {array.shape}: expected {shape}")
    return array


def tactile_pictures(heights, pixel, table=None, background=None, engine=None):
    """Pictures by the camera behind the gel of a tactile sensor, from heights (World.tactile), by Taxim's
    table of colours as in TacSL: uint8, the shape of heights x 3.

    heights: (count x) rows x columns [m], 3 to 1024 of each. pixel: distance between heights [m].
    table: bins x bins x 3 x 6: for each steepness, direction and channel the factors of x^2, y^2, x y, x, y
    and 1 (x: column, y: row); of Taxim's polycalib.npz it is np.stack([z["grad_r"], z["grad_g"],
    z["grad_b"]], 2). None: a matte gel under a red, a green and a blue lamp. background: rows x columns x 3,
    0 to 255, the picture of a flat gel; None: 128. engine: provides the threads; None: default_engine()."""
    heights = np.ascontiguousarray(heights, np.float32)
    if heights.ndim not in (2, 3):
        raise ValueError(f"heights {heights.shape}: expected (count x) rows x columns")
    rows, columns = heights.shape[-2:]
    colours = structs["orr_tactile_colours"](rows=rows, columns=columns, pixel=pixel)
    if table is not None:
        bins = len(table)
        table = _float32(table, "table", (bins, bins, 3, 6))
        colours.bins, colours.table = bins, pointer(table, np.float32)
    if background is not None:
        background = _float32(background, "background", (rows, columns, 3))
        colours.background = pointer(background, np.float32)
    rgb = np.empty((*heights.shape, 3), np.uint8)
    call.tactile_pictures_sized(
        (engine or default_engine()).pointer,
        ctypes.byref(colours),
        ctypes.sizeof(colours),
        1 if heights.ndim == 2 else len(heights),
        pointer(heights, np.float32),
        pointer(rgb, np.uint8),
    )
    return rgb
