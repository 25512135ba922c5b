"""Tasks that ship with the engine (assets/tasks), as task files over scenes of its own.

    env = orrery.make_vec("QuadrupedTerrain", num_envs=256)
"""

import ctypes
import os
from pathlib import Path

from orrery._library import call, library_path


def _files():
    """Each task's file in the folder of the assets, by name."""
    found, file = {}, ctypes.c_char_p()
    while (name := call.env_shipped_task(len(found), ctypes.byref(file))) is not None:
        found[name.decode()] = file.value.decode()
    return found


_FILES = _files()


def tasks():
    """Their names."""
    return list(_FILES)


def path(name):
    """The task file of a name, in the installed package or beside the library that a checkout builds."""
    here = Path(__file__).parent / "assets"
    folder = here if here.is_dir() else Path(library_path()).parent / "assets"
    found = folder / _FILES[name]
    if not found.is_file():
        raise FileNotFoundError(
            f"{os.fspath(found)}: not there; expected it beside the library, where `ninja orrery_assets` "
            "makes it"
        )
    return os.fspath(found)
