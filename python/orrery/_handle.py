"""Objects of the library that Python owns."""

import ctypes
import math
import os
import threading
import weakref

import numpy as np

from orrery._library import call


class Handle:
    """Holds an object of the library and what must outlive it. It is destroyed when nothing needs it any
    more: not this object, unless it is closed; nothing that was made from it; no array of its memory; no call
    that runs in another thread. A closed Handle raises ValueError."""

    def __init__(self, made, destroy, *keep):
        parents = [k.pointer if isinstance(k, Handle) else k for k in keep]
        guards = [p.guard for p in parents if isinstance(p, Pointer)]
        self._pointer = Pointer(made.value, guards[0] if guards else Guard(), parents)
        finalizer = weakref.finalize(
            self._pointer, _destroy, made.value, destroy, self._pointer.guard, parents
        )
        finalizer.atexit = False  # the process ends with all of it

    @property
    def pointer(self):
        if self._pointer is None:
            raise ValueError(f"this {self._name()} is closed")
        return self._pointer

    def close(self):
        """Gives it back now, and not when Python finds that it is not needed."""
        self._pointer = None

    def _name(self):
        return type(self).__name__

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        raise TypeError(f"this {self._name()} cannot be copied or pickled: make another")


class Pointer(ctypes.c_void_p):
    """What the library calls an object of its own. The object lives at least as long as this."""

    def __init__(self, address, guard, keep):
        super().__init__(address)
        self.guard, self._keep = guard, keep

    def array(self, at, shape):
        """The library's numbers at a pointer of it, as an array that is no copy and keeps the object."""
        if 0 in shape:
            return np.zeros(shape, at._type_)
        block = (at._type_ * math.prod(shape)).from_address(ctypes.addressof(at.contents))
        block.owner = self
        return np.ctypeslib.as_array(block).reshape(shape)


class Guard:
    """Lets one call at a time into an engine and what is made on it: threads wait for each other. A call may
    make further ones, by callbacks."""

    def __init__(self):
        self._lock, self._process = threading.RLock(), os.getpid()

    def __enter__(self):
        if self._process != os.getpid():  # a thread of the parent may have held it at the fork
            self._lock, self._process = threading.RLock(), os.getpid()
        self._lock.acquire()

    def __exit__(self, *_):
        self._lock.release()


def _destroy(address, destroy, guard, keep):
    with guard:
        getattr(call, destroy)(address)
    del keep  # the parents, until now


def made_by(function, *arguments):
    """Calls a function of the library whose last parameter is the handle that it makes."""
    made = ctypes.c_void_p()
    function(*arguments, ctypes.byref(made))
    return made
