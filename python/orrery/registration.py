"""Photos and videos become captures."""

import ctypes
import os

from orrery._handle import made_by
from orrery._library import call, structs
from orrery.engine import default_engine

_UPS = ("cameras", "exif", "mean")


def register(source, output, masks=None, distance=None, progress=None, engine=None, **options):
    """Finds the cameras of photos, or of the frames of a video, with COLMAP, and writes the capture `output`.

    source: a folder of photos, a video, or a folder with a COLMAP model. distance: (photo, photo, metres)
    between the cameras of two photos. progress: a function that is called with a stage, the number of its
    parts that are done and their total; it returns False to stop. options: frames, features, feature_side,
    sequential, undistort of orr_registration_desc. Returns a report as a dict; its "left_out" has the names
    of the photos without a pose."""
    for name in options:
        if name not in ("frames", "features", "feature_side", "sequential", "undistort"):
            raise TypeError(f"{name!r}: expected an option of orr_registration_desc")
    engine = engine or default_engine()
    desc = structs["orr_registration_desc"](
        source=os.fsencode(source),
        output=os.fsencode(output),
        masks=os.fsencode(masks) if masks is not None else None,
        **options,
    )
    if distance is not None:
        desc.scale_from, desc.scale_to = (os.fsencode(name) for name in distance[:2])
        desc.scale_metres = distance[2]
    if progress is not None:
        desc.progress = type(desc.progress)(
            lambda _user, stage, done, total: progress(stage.decode(), done, total) is not False
        )
    made = made_by(
        call.registration_create_sized, engine.pointer, ctypes.byref(desc), ctypes.sizeof(desc)
    )
    try:
        info = structs["orr_registration_info"]()
        call.registration_describe_sized(made, ctypes.byref(info), ctypes.sizeof(info))
        report = {name: getattr(info, name) for name, _ in info._fields_}
        report["up"], report["left_out"] = _UPS[info.up], []
        while name := call.registration_left_out(made, len(report["left_out"])):
            report["left_out"].append(os.fsdecode(name))
        return report
    finally:
        call.registration_destroy(made)
