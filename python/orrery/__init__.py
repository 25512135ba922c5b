"""Orrery: captured worlds, meshes and simulated bodies in one scene, from Python.

A scene is what exists, a world what changes in it, in any number of copies. Arrays are NumPy's; units and
axes are those of orrery.h: scene units (metres for robots), radians, quaternions w, x, y, z.
"""

from orrery._library import FileError, Interrupted, MemoryFull, OrreryError, Unsupported, ValueRefused, call
from orrery.collider import Collider
from orrery.engine import Engine, default_engine
from orrery.policy import Policy, PolicyTrainer
from orrery.reference import Reference
from orrery.registration import register
from orrery.scene import Layer, Scene, insert_file, look_at, transform
from orrery.splats import Splats
from orrery.tactile import tactile_pictures
from orrery.training import MaterialTrainer, Trainer, train
from orrery.world import Eyes, Hit, Renderer, World, render

__version__ = call.version().decode()
__all__ = [
    "Collider",
    "Engine",
    "Eyes",
    "FileError",
    "Hit",
    "Interrupted",
    "Layer",
    "MaterialTrainer",
    "MemoryFull",
    "OrreryError",
    "Policy",
    "PolicyTrainer",
    "Reference",
    "Renderer",
    "Scene",
    "Splats",
    "Trainer",
    "Unsupported",
    "ValueRefused",
    "World",
    "default_engine",
    "insert_file",
    "look_at",
    "register",
    "render",
    "tactile_pictures",
    "train",
    "transform",
]


def __getattr__(name):
    """make_vec, VectorEnv and so on come with orrery.environments, which needs gymnasium."""
    if name in ("make_vec", "VectorEnv", "PixelVectorEnv"):
        from orrery import environments

        return getattr(environments, name)
    raise AttributeError(f"module 'orrery' has no attribute {name!r}")
