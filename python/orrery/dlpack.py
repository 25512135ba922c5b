"""Numbers in GPU memory as DLPack capsules, which PyTorch, CuPy and JAX use without a copy.

Arrays in host memory are NumPy arrays, which export DLPack themselves.
"""

import ctypes

_CUDA = 2  # of devices
_SIGNED, _UNSIGNED, _FLOAT = 0, 1, 2  # of kinds of numbers


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_alive = {}  # by address: what a consumer holds, and the world that owns its numbers


@_Deleter
def _delete(address):
    _alive.pop(address, None)


_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_python = ctypes.pythonapi
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(
    ("PyCapsule_New", _python)
)
_is = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _python))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _python)
)


@_Destructor
def _drop(capsule):
    for name in (b"dltensor", b"dltensor_versioned"):  # a consumer that has taken it renames it
        if _is(capsule, name):
            _delete(_pointer(capsule, name))


class DeviceArray:
    """Numbers in the memory of a device: float32, float64, uint8 if bits is 8, or signed integers. strides:
    in numbers. device: DLPack's type and index. owner: the object that owns the memory, kept alive by
    consumers of a capsule."""

    def __init__(self, address, shape, strides, bits, device, owner, signed=False):
        self.address, self.shape, self.strides, self.bits = address, tuple(shape), tuple(strides), bits
        self._kind = _SIGNED if signed else _UNSIGNED if bits == 8 else _FLOAT
        self._device, self._owner = device, owner

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """stream: ignored, because the numbers are complete. Copies and other devices are refused."""
        if copy:
            raise BufferError("copy=True: expected None or False, numbers stay in the device's memory")
        if dl_device is not None and tuple(dl_device) != self._device:
            raise BufferError(f"dl_device {tuple(dl_device)}: expected {self._device}")
        versioned = max_version is not None and max_version[0] >= 1
        dimensions = ctypes.c_int64 * len(self.shape)
        shape, strides = dimensions(*self.shape), dimensions(*self.strides)
        tensor = _Tensor(self.address, *self._device, len(shape), self._kind, self.bits, 1, shape, strides, 0)
        if versioned:
            managed = _Versioned(1, 0, None, _delete, 0, tensor)
        else:
            managed = _Managed(tensor, None, _delete)
        address = ctypes.addressof(managed)
        _alive[address] = managed, shape, strides, self._owner
        return _new(address, b"dltensor_versioned" if versioned else b"dltensor", _drop)


def cuda_array(view, world):
    """An orr_cuda_view of a world: blocks x size x 32."""
    bits = 32 if view.kind else 64
    shape = (world.count + 31) // 32, view.count, 32
    return DeviceArray(
        view.numbers, shape, (view.block_bytes // (bits // 8), 32, 1), bits, (_CUDA, view.device), world
    )


def cuda_pictures(pictures, name, shape, owner):
    """A plane of an orr_eyes_cuda_pictures, of that shape, without gaps."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    plane = getattr(pictures, name)
    bits = 8 * ctypes.sizeof(plane.contents)
    address = ctypes.cast(plane, ctypes.c_void_p).value
    signed = isinstance(plane.contents, ctypes.c_int32)
    return DeviceArray(address, shape, strides, bits, (_CUDA, pictures.device), owner, signed)
