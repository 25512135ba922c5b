"""Colliders: signed distance grids of clouds, meshes and fields."""

import ctypes
import os

import numpy as np

from orrery._handle import Handle, made_by
from orrery._library import call, constant, numbers, pointer, structs

_SIDES = ("auto", "outside", "inside")


class Collider(Handle):
    """A sparse signed distance grid in the space of the layer that it was made from (Layer.make_collider):
    distances are negative inside solid matter.

    path: a .collider file, of `orrery convert`, save() or beside the file of a layer with physics."""

    def __init__(self, path):
        super().__init__(made_by(call.collider_load, os.fsencode(path)), "collider_destroy")

    @classmethod
    def _of_layer(cls, layer, cell, opacity, gap, island, side, up, eyes):
        eyes = np.ascontiguousarray(eyes, np.float32).reshape(-1, 3)
        desc = structs["orr_collider_desc"](
            cell=cell,
            opacity=opacity,
            gap=gap,
            island=island,
            side=constant("ORR_COLLIDER_", side),
            up=numbers(up, 3, "up"),
            eyes=pointer(eyes, np.float32),
            eye_count=len(eyes),
        )
        chosen = any((cell, opacity, gap, island, side != "auto", any(up), len(eyes)))
        made = made_by(
            call.scene_make_collider_sized,
            layer.scene.pointer,
            layer._id,
            ctypes.byref(desc) if chosen else None,
            ctypes.sizeof(desc),
        )
        self = cls.__new__(cls)
        Handle.__init__(self, made, "collider_destroy")
        return self

    @property
    def info(self):
        """A dict: "cell", the edge of a cell; "bounds", the smallest and the largest coordinates of the grid;
        "bricks" of 8 x 8 x 8 cells; "haze" and "islands": splats and small pieces that were left out, 0 in a
        collider from a file; "side", which is free: "inside", "outside" or "auto", where that is unknown."""
        info = structs["orr_collider_info"]()
        call.collider_describe_sized(self.pointer, ctypes.byref(info), ctypes.sizeof(info))
        found = {name: getattr(info, name) for name in ("cell", "bricks", "haze", "islands")}
        return found | {"bounds": (np.array(info.low), np.array(info.high)), "side": _SIDES[info.side]}

    def distance(self, points, gradients=False):
        """Signed distances of points (... x 3) to the surface, float64, in units of the layer; with
        gradients=True also their gradients (... x 3), which point away from solid matter."""
        points = np.ascontiguousarray(points, np.float64)
        if points.ndim == 0 or points.shape[-1] != 3:
            raise ValueError(f"points {points.shape}: expected ... x 3")
        distances = np.zeros(points.shape[:-1])
        slopes = np.zeros(points.shape) if gradients else None
        call.collider_distance(
            self.pointer,
            pointer(points, np.float64),
            distances.size,
            pointer(distances, np.float64),
            None if slopes is None else pointer(slopes, np.float64),
        )
        return (distances, slopes) if gradients else distances

    def save(self, path):
        """Writes .collider, or the surface as .ply, .obj or .glb, whole or not at all."""
        call.collider_save(self.pointer, os.fsencode(path))
