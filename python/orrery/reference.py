"""Path-traced pictures."""

import ctypes

from orrery._handle import Handle, made_by
from orrery._library import call, structs
from orrery.world import World, picture_planes, view_of


class Reference(Handle):
    """A picture of one copy of a world by path tracing, on the CPU: shadows and light between surfaces,
    without bias. Its error falls with the square root of the number of samples.

    It shows the world as it is now, which may change afterwards; the scene must not. world, index: the copy;
    None: the scene as it was built. background: r, g, b; None: the scene's, or transparent. The same seed
    gives the same bits."""

    def __init__(self, scene, camera, world=None, index=0, seed=0, background=None):
        world = World(scene) if world is None else world
        view = view_of(camera, index, background)
        made = made_by(
            call.reference_create_sized,
            scene.pointer,
            world.pointer,
            ctypes.byref(view),
            ctypes.sizeof(view),
            seed,
        )
        self._shape = (camera.height, camera.width)
        super().__init__(made, "reference_destroy", scene)

    def advance(self, samples=1):
        """Adds samples to each pixel. One takes about a second for 1280 x 720 on two cores."""
        call.reference_advance(self.pointer, samples)

    @property
    def info(self):
        """An orr_reference_info of orrery.h: samples of each pixel so far; error, the root mean square over
        the pixels of the standard error of luminance, infinite before the second sample; rays; triangles;
        left_out, triangles without area."""
        info = structs["orr_reference_info"]()
        call.reference_describe_sized(self.pointer, ctypes.byref(info), ctypes.sizeof(info))
        return info

    def picture(self, linear=False, out=None, depth=None):
        """The mean of the samples so far: height x width x 4, float32, premultiplied, display-referred as
        Renderer.draw. linear: linear radiance, without an upper bound. out, depth: arrays to write to."""
        picture, out = picture_planes(self._shape, out, depth)
        call.reference_picture_sized(self.pointer, linear, ctypes.byref(picture), ctypes.sizeof(picture))
        return out
