"""Engines: threads and devices."""

import ctypes
import os

from orrery._handle import Handle, made_by
from orrery._library import call, constant, structs

_default, _process = None, None
_LEVELS = ("info", "warning", "error")


class Engine(Handle):
    """Worker threads, and the device that draws.

    threads: number of workers; 0: one per core that this process may use.
    device: "auto", "cpu", "vulkan" or "cuda".
    log: a function that is called with a level ("info", "warning", "error") and one line; None: no log.
    pictures: False: only simulation is needed, so visuals of URDF files are not read.

    An engine, with all scenes, worlds and environments made on it, handles one call at a time; threads that
    share an engine wait for each other. Give each thread its own engine to compute at the same time.
    """

    def __init__(self, threads=0, device="auto", log=None, pictures=True):
        desc = structs["orr_engine_desc"](
            threads=threads, device=constant("ORR_DEVICE_", device), no_pictures=not pictures
        )
        if log is not None:
            desc.log = type(desc.log)(lambda _user, level, _code, line: log(_LEVELS[level], line.decode()))
        made = made_by(call.engine_create_sized, ctypes.byref(desc), ctypes.sizeof(desc))
        super().__init__(made, "engine_destroy", desc)  # the desc holds the log's callback

    @property
    def threads(self):
        """The number of worker threads."""
        return call.engine_threads(self.pointer)

    def __repr__(self):
        return f"<orrery.Engine: {call.engine_describe(self.pointer).decode()}>"


def default_engine():
    """The engine of scenes that are made without one. It is created at the first call, also in a child
    process."""
    global _default, _process
    if _default is None or _process != os.getpid():  # a child of fork() has no threads of its parent's
        _default, _process = Engine(), os.getpid()
    return _default
