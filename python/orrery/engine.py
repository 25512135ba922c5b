"""Threads and devices."""

import ctypes

from orrery._handle import Handle, made_by
from orrery._library import call, constant, structs

_default = None
_LEVELS = ("info", "warning", "error")


class Engine(Handle):
    """Worker threads and what draws.

    threads: workers; 0: one per core that this process may use.
    device: "auto", "cpu", "vulkan" or "cuda".
    log: called with a level ("info", "warning", "error") and one line; None: no log.

    One engine, with all scenes, worlds and environments made on it, takes one call at a time: use an engine
    for each thread.
    """

    def __init__(self, threads=0, device="auto", log=None):
        desc = structs["orr_engine_desc"](threads=threads, device=constant("ORR_DEVICE_", device))
        if log is not None:
            desc.log = type(desc.log)(lambda _user, level, _code, line: log(_LEVELS[level], line.decode()))
        made = made_by(call.engine_create_sized, ctypes.byref(desc), ctypes.sizeof(desc))
        super().__init__(made, "engine_destroy", desc)  # the desc holds the log's callback

    @property
    def threads(self):
        """The number of workers."""
        return call.engine_threads(self.pointer)

    def __repr__(self):
        return f"<orrery.Engine: {call.engine_describe(self.pointer).decode()}>"


def default_engine():
    """The engine that scenes share which are given none; made at the first call."""
    global _default
    if _default is None:
        _default = Engine()
    return _default
