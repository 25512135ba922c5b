"""Tasks that ship with the engine (assets/tasks), as task files over scenes of its own.

    env = orrery.make_vec("QuadrupedTerrain", num_envs=256)
"""

import ctypes
import os
from pathlib import Path

from orrery._library import call, library_path


def _files():
    """The task files in the folder of assets, by name."""
    found, file = {}, ctypes.c_char_p()
    while (name := call.env_shipped_task(len(found), ctypes.byref(file))) is not None:
        found[name.decode()] = file.value.decode()
    return found


_FILES = _files()


def tasks():
    """The names of the tasks."""
    return list(_FILES)


def path(name):
    """The path of a task file, in the installed package or beside the library of a source checkout."""
    here = Path(__file__).parent / "assets"
    folder = here if here.is_dir() else Path(library_path()).parent / "assets"
    found = folder / _FILES[name]
    if not found.is_file():
        raise FileNotFoundError(
            f"{os.fspath(found)}: not there; expected it beside the library, where `ninja orrery_assets` "
            "makes it"
        )
    return os.fspath(found)
