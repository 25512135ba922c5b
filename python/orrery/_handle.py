"""Objects of the library that Python owns."""

import ctypes
import weakref

from orrery._library import call


class Handle:
    """Holds a pointer of the library and what must outlive it. It is destroyed when the last reference to the
    object goes, or by close(); a closed object raises ValueError."""

    def __init__(self, pointer, destroy, *keep):
        self._pointer, self._keep = pointer, keep
        self._finalizer = weakref.finalize(self, _destroy, pointer, destroy, keep)
        self._finalizer.atexit = False  # the process ends with all of it

    @property
    def pointer(self):
        if not self._finalizer.alive:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._pointer

    def close(self):
        """Destroys it now; what was made from it must be closed before."""
        self._finalizer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _destroy(pointer, destroy, keep):
    del keep
    getattr(call, destroy)(pointer)


def made_by(function, *arguments):
    """Calls a function of the library whose last parameter is the handle that it makes."""
    made = ctypes.c_void_p()
    function(*arguments, ctypes.byref(made))
    return made
