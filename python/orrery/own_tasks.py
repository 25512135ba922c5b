"""Tasks that ship with the engine (assets/tasks), as task files over scenes of its own.

    env = orrery.make_vec("QuadrupedTerrain", num_envs=256)
"""

import os
from pathlib import Path

from orrery._library import library_path

_FILES = {
    "QuadrupedTerrain": "terrain.json",
    "SoftLift": "soft_lift.json",
    "SurgicalReach": "surgical_reach.json",
    "SurgicalTrack": "surgical_track.json",
    "PegInsertion": "peg_insertion.json",
    "ShelfReach": "shelf.json",
    "CartPixels": "cart.json",
}


def tasks():
    """Their names."""
    return list(_FILES)


def path(name):
    """The task file of a name, in the installed package or beside the library that a checkout builds."""
    here = Path(__file__).parent / "assets"
    folder = here if here.is_dir() else Path(library_path()).parent / "assets"
    found = folder / "tasks" / _FILES[name]
    if not found.is_file():
        raise FileNotFoundError(
            f"{os.fspath(found)}: not there; expected it beside the library, where `ninja orrery_assets` "
            "makes it"
        )
    return os.fspath(found)
