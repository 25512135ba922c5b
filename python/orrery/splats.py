"""Splat clouds as arrays, and their files."""

import ctypes
import os

from orrery._handle import Handle, made_by
from orrery._library import call, structs


class Splats(Handle):
    """A cloud of Gaussian splats.

    path: .ply, .compressed.ply, .splat, .spz, .sog or .ksplat; or count and sh_degree (0 .. 3) of an empty
    one.
    The arrays are views of the engine's memory, float32, readable and writable:

    position    n x 3, scene units
    log_scale   n x 3, natural logarithm of the standard deviation
    rotation    n x 4, unit quaternions w, x, y, z
    opacity     n, logits
    colour      n x 3, harmonic of degree 0: display colour = 0.5 + 0.28209479 colour
    harmonics   n x ((sh_degree + 1)^2 - 1) x 3, of higher degrees
    """

    def __init__(self, path=None, count=0, sh_degree=0):
        if path is None:
            made = made_by(call.splats_create, count, sh_degree)
        else:
            made = made_by(call.splats_load, os.fsencode(path))
        super().__init__(made, "splats_destroy")
        self._view()

    @classmethod
    def _of(cls, made):
        """The cloud of an existing handle."""
        self = cls.__new__(cls)
        Handle.__init__(self, made, "splats_destroy")
        self._view()
        return self

    def _view(self):
        view = structs["orr_splats_view"]()
        call.splats_data_sized(self.pointer, ctypes.byref(view), ctypes.sizeof(view))
        self.sh_degree, self.antialiased = view.sh_degree, view.antialiased
        n, higher = view.count, (view.sh_degree + 1) ** 2 - 1
        shapes = {
            "position": (n, 3), "log_scale": (n, 3), "rotation": (n, 4), "opacity": (n,), "colour": (n, 3),
            "harmonics": (n, higher, 3),
        }  # fmt: skip
        for name, shape in shapes.items():
            setattr(self, name, self.pointer.array(getattr(view, name), shape))

    def __len__(self):
        return len(self.position)

    def crop(self, centre, size, rotation=(1, 0, 0, 0), falloff=0.0, outside=False, rim=0.0):
        """Keeps the splats with centres inside a box, or outside it. Afterwards the arrays are other objects.

        size: lengths of its edges. falloff: width of the border in which each splat is divided between inside
        and outside. rim: closes the hole that the box leaves, from splats within this distance of it; only
        with `outside`; 0: the hole stays.
        """
        region = structs["orr_region"](falloff=falloff, outside=outside, rim=rim)
        region.centre[:], region.size[:], region.rotation[:] = centre, size, rotation
        call.splats_crop_sized(self.pointer, ctypes.byref(region), ctypes.sizeof(region))
        self._view()

    def save(self, path):
        """Writes .ply, .compressed.ply, .splat or .spz, whole or not at all."""
        call.splats_save(self.pointer, os.fsencode(path))
