"""The shared library, and calls into it that raise Python's exceptions."""

import ctypes
import os
import re
from pathlib import Path

import numpy as np

from orrery._header import Header

_HERE = Path(__file__).parent
_REPOSITORY = _HERE.parent.parent


def _find(environment, packaged, *others):
    """The library named by the environment, else the one of the package, else those of a source checkout."""
    named = os.environ.get(environment)
    for path in [Path(named)] if named else [_HERE / packaged, *others]:
        if path.is_file():
            return path
    raise ImportError(
        f"{packaged} is not in {_HERE}; expected an installed package, or its path in {environment}"
    )


_header_path = _find("ORRERY_HEADER", "orrery.h", _REPOSITORY / "engine" / "orrery.h")
_library_path = _find("ORRERY_LIBRARY", "liborrery.so", _REPOSITORY / "build" / "release" / "liborrery.so")
header = Header(_header_path.read_text(encoding="utf-8"))
structs = header.structs
constants = header.constants
_library = ctypes.CDLL(str(_library_path))


def library_path():
    """The path of the shared library."""
    return _library_path


class OrreryError(RuntimeError):
    """An error of the engine. `code` is an orr_code of orrery.h."""

    code = 0


class FileError(OrreryError, OSError):
    """A file that could not be opened, read or written."""


class ValueRefused(OrreryError, ValueError):
    """A value out of range, or a file with invalid content."""


class MemoryFull(OrreryError, MemoryError):
    """Out of memory, on the host or on a device."""


class Unsupported(OrreryError, NotImplementedError):
    """Understood, but not available in this build or on this machine."""


class Interrupted(OrreryError):
    """Stopped on request."""


_EXCEPTIONS = {
    "FILE": FileError, "FORMAT": ValueRefused, "ARGUMENT": ValueRefused, "MEMORY": MemoryFull,
    "UNSUPPORTED": Unsupported, "INTERRUPTED": Interrupted,
}  # fmt: skip
_by_number = {constants["ORR_ERROR_" + name]: kind for name, kind in _EXCEPTIONS.items()}
_error_pointer = ctypes.POINTER(structs["orr_error"])


def _prepare(name, result, arguments):
    function = getattr(_library, name)
    function.restype, function.argtypes = result, arguments
    if not arguments:
        return function
    if arguments[-1] is not _error_pointer:
        return _one_at_a_time(function)

    def checked(*given):
        error = structs["orr_error"]()
        try:
            number = function(*given, ctypes.byref(error))
        except ctypes.ArgumentError as refused:
            raise _type_error(name, arguments, given, refused) from None
        if number != 0:
            kind = _by_number.get(number, OrreryError)
            failure = kind(error.message.decode("utf-8", "replace") or f"error {number}")
            failure.code = error.code
            raise failure

    return _one_at_a_time(checked)


def _type_error(name, arguments, given, refused):
    """The message of ctypes for a value of the wrong type, with the value and the type."""
    match = re.match(r"argument (\d+):", str(refused))
    place = int(match[1]) - 1 if match else len(given)
    if place >= len(given):
        return TypeError(f"{name}: {refused}")
    kind = arguments[place].__name__.removeprefix("c_")
    return TypeError(f"{given[place]!r}: expected {kind}, as argument {place + 1} of {name}")


def _one_at_a_time(function):
    """The function, in which a thread waits while another one uses the engine of its first argument."""

    def guarded(*given):
        guard = getattr(given[0], "guard", None)
        if guard is None:
            return function(*given)
        with guard:
            return function(*given)

    return guarded


class _Calls:
    """The functions of the library by name, without "orr_": call.scene_load(...). Those that can fail take no
    orr_error and raise exceptions. A function that the library lacks raises AttributeError on access."""

    def __getattr__(self, name):
        if "orr_" + name not in header.functions:
            raise AttributeError(f"orrery.h declares no orr_{name}")
        function = _prepare("orr_" + name, *header.functions["orr_" + name])
        setattr(self, name, function)
        return function


call = _Calls()


def constant(prefix, name):
    """The value of a name such as "cpu" in the enum whose members begin with `prefix`."""
    number = constants.get(prefix + str(name).upper())
    if number is None:
        names = ", ".join(key[len(prefix) :].lower() for key in constants if key.startswith(prefix))
        raise ValueError(f"{name!r}: expected one of {names}")
    return number


def pointer(array, dtype, written=False):
    """The address of a contiguous array, for a parameter of the library, which may write to it."""
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise TypeError(f"array of {array.dtype}: expected contiguous {np.dtype(dtype)}")
    if written and not array.flags.writeable:
        raise ValueError(f"array of {array.dtype}: expected one that may be written to, it is read-only")
    kind = np.ctypeslib.as_ctypes_type(np.dtype(dtype))
    return array.ctypes.data_as(ctypes.POINTER(kind))


def spread(name, values, shape, dtype):
    """Values of a dtype, repeated to a shape."""
    values = np.asarray(values, dtype)
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        raise ValueError(f"{name} {values.shape}: expected a shape that broadcasts to {shape}") from None


def numbers(values, count, name, kind=ctypes.c_float):
    """A ctypes array of `count` numbers; float by default."""
    values = [float(v) for v in values]
    if len(values) != count:
        raise ValueError(f"{name}: {len(values)} numbers, expected {count}")
    return (kind * count)(*values)
