"""Objects of the library that Python owns."""

import ctypes
import math
import os
import threading
import weakref

import numpy as np

from orrery._library import call


class Handle:
    """Owns an object of the library, and keeps alive what must outlive it. The object is destroyed when
    neither this Handle (unless it is closed), nor objects made from it, nor arrays of its memory, nor calls
    in other threads need it any more. A closed Handle raises ValueError."""

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
        """Destroys the object now instead of when Python no longer refers to it."""
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
    """A pointer to an object of the library, which lives at least as long as this."""

    def __init__(self, address, guard, keep):
        super().__init__(address)
        self.guard, self._keep = guard, keep

    def array(self, at, shape):
        """The numbers at a pointer of the library as an array, without a copy. The array keeps the object
        alive."""
        if 0 in shape:
            return np.zeros(shape, at._type_)
        block = (at._type_ * math.prod(shape)).from_address(ctypes.addressof(at.contents))
        block.owner = self
        return np.ctypeslib.as_array(block).reshape(shape)


class Guard:
    """Serialises calls to an engine and to all that was made on it. A call may make further calls from
    callbacks."""

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
    """Calls a function of the library whose last parameter receives the new object."""
    made = ctypes.c_void_p()
    function(*arguments, ctypes.byref(made))
    return made
