"""Training: photos and other data become splat clouds and neural fields."""

import ctypes
import os

import numpy as np

from orrery._handle import Handle, made_by
from orrery._library import Interrupted, OrreryError, call, constant, structs
from orrery.engine import default_engine
from orrery.scene import Layer, transform
from orrery.splats import Splats


class Trainer(Handle):
    """Trains a splat cloud or a field.

    kind: "splats" or "nerf" (photos with poses: a transforms.json, its folder, or a COLMAP model), "sdf" (a
    mesh), "image" (a picture) or "volume" (a three-dimensional .npy, or "cloud").
    data: the path of the training data.
    resume: a file that save() wrote, from which the training continues bit for bit.
    options: members of orr_train_desc of orrery.h: seed; holdout (8; -1: none; "test": the photos of
    transforms_test.json beside the data's file, or of test_filenames in it); splats (largest number; 150,000,
    more in a plan of more than 180 seconds); sh_degree, antialias, config, batch, exposures, bilateral_grid,
    refine_poses, depth_weight, prune, fast_scatter; sampling ("occupancy", "proposal"), masks ("ignore",
    "empty"), lenses ("undistort", "keep"), strategy ("adc", "mcmc"), device ("cpu", "cuda").

    Close it after the scenes that show it.
    """

    def __init__(self, kind, data, resume=None, engine=None, **options):
        self.engine = engine or default_engine()
        self.kind = kind
        names = {
            "sampling": "ORR_SAMPLING_",
            "masks": "ORR_MASKS_",
            "lenses": "ORR_LENSES_",
            "strategy": "ORR_STRATEGY_",
            "device": "ORR_DEVICE_",
        }
        if options.get("holdout") == "test":
            options["holdout"] = -2
        members = {name for name, _ in structs["orr_train_desc"]._fields_} - {"kind", "data", "resume"}
        for name, value in options.items():
            if name not in members:
                raise TypeError(f"{name!r}: expected one of {', '.join(sorted(members))}")
            if name in names:
                options[name] = constant(names[name], value)
        if options.get("config") is not None:
            options["config"] = os.fsencode(options["config"])
        desc = structs["orr_train_desc"](
            kind=constant("ORR_TRAINER_", kind),
            data=os.fsencode(data),
            resume=os.fsencode(resume) if resume is not None else None,
            **options,
        )
        made = made_by(
            call.trainer_create_sized, self.engine.pointer, ctypes.byref(desc), ctypes.sizeof(desc)
        )
        super().__init__(made, "trainer_destroy", self.engine)

    def plan(self, steps=0, seconds=0.0):
        """Sets the end of the training: a number of steps since the very beginning, or of seconds from now
        on; 0: no limit. Schedules of splats follow the plan; 30,000 steps by default."""
        call.trainer_plan(self.pointer, steps, seconds)

    def step(self, steps=1, seconds=0.0):
        """Trains for up to `steps` steps in about `seconds` seconds, at least one step; one of them may be 0:
        no limit. Returns early when the plan is over."""
        call.trainer_step(self.pointer, steps, 1e3 * seconds)

    @property
    def info(self):
        """The state of the training: an orr_train_info of orrery.h, with steps, count, progress (0 .. 1),
        loss, psnr [dB], ssim and iou (of the last measure()), steps_per_second, seconds, seconds_left, and
        mismatch: held-out photos indicate that photos do not belong to their cameras."""
        info = structs["orr_train_info"]()
        call.trainer_describe_sized(self.pointer, ctypes.byref(info), ctypes.sizeof(info))
        return info

    def measure(self):
        """Measures the quality quickly, and returns the psnr [dB], or for an sdf the iou."""
        call.trainer_measure(self.pointer)
        info = self.info
        return info.iou if self.kind == "sdf" else info.psnr

    def picture(self):
        """The picture that the last measure() compared: height x width x 4, float32, premultiplied."""
        picture = structs["orr_train_picture"]()
        call.trainer_picture_sized(self.pointer, ctypes.byref(picture), ctypes.sizeof(picture))
        return np.ctypeslib.as_array(picture.rgba, (picture.height, picture.width, 4)).copy()

    def evaluate(self):
        """Compares with all test data. Returns for photos a list of {"file", "psnr", "ssim",
        "constant_psnr"}, the last against the photo's mean colour, and otherwise one dictionary with the
        figures of the kind."""
        found = []
        info = self.info
        photos = info.train_count > 0
        for i in range(info.held_out_count if photos else 1):
            q = structs["orr_train_quality"]()
            call.trainer_evaluate_sized(self.pointer, i, 0.0, ctypes.byref(q), ctypes.sizeof(q))
            names = ["psnr", "ssim", "constant_psnr"] if photos else ["psnr"]
            if self.kind == "sdf":
                names = ["iou", "normal_degrees", "smooth_normal_degrees", "surface_error"]
            figures = {name: getattr(q, name) for name in names}
            found.append({"file": os.fsdecode(q.file), **figures} if photos else figures)
        return found if photos else found[0]

    def cancel(self):
        """Ends step() or evaluate() in another thread with Interrupted, after the current part of its
        work."""
        call.trainer_cancel(self.pointer)

    def save(self, path, resumable=True):
        """Writes a field (.ingp) or a cloud (.ply, .spz, .sog ...), with what resume needs: for a cloud in
        PATH.training."""
        call.trainer_save(self.pointer, os.fsencode(path), resumable)

    def save_plot(self, path, title=None):
        """Writes a picture (.png) of loss and quality over time."""
        call.trainer_save_plot(self.pointer, None if title is None else title.encode(), os.fsencode(path))

    def splats(self):
        """The current cloud, as a Splats object."""
        return Splats._of(made_by(call.trainer_splats, self.pointer))

    def show(self, scene, name=None, position=(0, 0, 0), rotation=(1, 0, 0, 0), scale=1.0):
        """Adds the model in training to a scene of the same engine, and returns its layer; a scene without
        cameras also gets those of the photos. refresh() shows what was learned since."""
        handle, at = structs["orr_layer"](), transform(position, rotation, scale)
        call.scene_add_trainer(
            scene.pointer,
            None if name is None else os.fsencode(name),
            self.pointer,
            ctypes.byref(at),
            ctypes.byref(handle),
        )
        scene._shown.append(self)
        return Layer(scene, handle)

    def refresh(self, layer):
        """Makes a layer of show() show everything that was learned so far."""
        call.scene_refresh_trainer(layer.scene.pointer, layer._id, self.pointer)


class MaterialTrainer(Handle):
    """Trains a small network to reproduce a material of a mesh (.glb, .gltf) with its layers and textures.

    mesh: path of the mesh; material: index in its file. width: 16 neurons, which draw faster, or 32; size:
    upper limit of the sides of its texture in texels; steps: number of steps over which the learning rate
    falls. 0: the defaults of orr_material_train_desc: 32, 512, 3000.
    """

    def __init__(self, mesh, material=0, width=0, size=0, steps=0, seed=0, engine=None):
        self.engine = engine or default_engine()
        desc = structs["orr_material_train_desc"](
            mesh=os.fsencode(mesh), material=material, width=width, size=size, steps=steps, seed=seed
        )
        made = made_by(
            call.material_trainer_create_sized, self.engine.pointer, ctypes.byref(desc), ctypes.sizeof(desc)
        )
        super().__init__(made, "material_trainer_destroy", self.engine)

    def step(self):
        """One step, of 8192 pairs of directions. Returns the mean error of the cube root of reflectance times
        cosine."""
        mean = ctypes.c_double()
        call.material_trainer_step(self.pointer, ctypes.byref(mean))
        return mean.value

    def save(self, path):
        """Writes the material as it is now, a .material file, for Layer.set_material and scene files."""
        call.material_trainer_save(self.pointer, os.fsencode(path))


def train(kind, data, output, steps=0, seconds=0.0, progress=None, resume=None, engine=None, **options):
    """Trains for a number of steps or seconds, saves the result to output, and returns the Trainer.

    progress: a function that is called about every second with Trainer.info, measured just before. If it
    returns False or raises, the training ends and is saved. Other parameters: those of Trainer. Without steps
    and seconds: 60 seconds. An output that cannot be written is refused before the training; if writing fails
    at its end, the error has the Trainer as `trainer`, which can be saved elsewhere."""
    trainer = Trainer(kind, data, resume=resume, engine=engine, **options)
    call.trainer_check_path(constant("ORR_TRAINER_", kind), os.fsencode(output), True)
    trainer.plan(steps, seconds or (0.0 if steps else 60.0))
    try:
        while trainer.info.progress < 1.0:
            trainer.step(0, 1.0)
            trainer.measure()
            if progress is not None and progress(trainer.info) is False:
                break
    except (KeyboardInterrupt, Interrupted):
        pass
    except BaseException:
        _save_to(trainer, output)
        raise
    _save_to(trainer, output)
    return trainer


def _save_to(trainer, output):
    try:
        trainer.save(output)
    except OrreryError as error:
        error.trainer = trainer
        raise
