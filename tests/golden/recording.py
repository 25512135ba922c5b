"""Shared by the scripts that record MuJoCo: their arguments, which version records which file, where the
models are.

    record_*.py [--robots FOLDER] [--out FOLDER] [NAME...]

    --robots FOLDER  also Gymnasium's MJCF files, of which this repository has the recordings alone
    --out FOLDER     record every file with the installed version, into FOLDER; compare_records.py compares
                     two such folders
    NAME...          the models of these names only

Without --out a script writes into tests/golden, and only the files that NEWEST or `versions.txt` assigns to
the installed version of MuJoCo: run it once with each.
"""
import argparse
import pathlib

import mujoco

NEWEST = "4.0.0"
HERE = pathlib.Path(__file__).resolve().parent
ASSETS = HERE.parent.parent / "assets"
ROBOTS = "robots/arm_hand", "robots/biped", "robots/quadruped"


def older_versions():
    """{file: version} of the files that are not of the newest version: FILE VERSION, then the reason."""
    text = (HERE / "versions.txt").read_text()
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {line[0]: line[1] for line in lines if line}


class Recording:
    def __init__(self, description):
        parser = argparse.ArgumentParser(description=description,
                                         formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--robots", type=pathlib.Path)
        parser.add_argument("--out", type=pathlib.Path)
        parser.add_argument("names", metavar="NAME", nargs="*")
        self.options = parser.parse_args()
        self.older = older_versions()
        self.written = 0

    def robots(self):
        """Robots of this repository, and Gymnasium's."""
        gymnasium = sorted(self.options.robots.glob("*.xml")) if self.options.robots else []
        return [ASSETS / f"{name}.xml" for name in ROBOTS] + gymnasium

    def write(self, name, model_path, contents):
        """Writes the bytes contents(model_path) to the file `name` in tests/golden, if it is to be."""
        if self.options.names and model_path.stem not in self.options.names:
            return
        if not self.options.out and self.older.get(name, NEWEST) != mujoco.__version__:
            return
        file = (self.options.out or HERE) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(contents(model_path))
        self.written += 1

    def finish(self):
        print(f"mujoco {mujoco.__version__}: {self.written} files recorded")


def exact(model):
    """The model, with options that bring MuJoCo to the answer that does not depend on its limits.

    Iteration limits would show in the results (the humanoids choose PGS, which stops at 50 iterations before
    it has converged), so all models are recorded with the Newton solver at a tolerance of 1e-15: the minimum
    that every solver of the same convex problem must find. Convex geoms likewise collide with a tolerance of
    1e-14 m, at which the expanding polytope has found the depth and nearly its direction. The constraint
    Jacobian is dense: the sparse Newton factor of MuJoCo 4.0.0 is wrong (its issue 3767).
    """
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    model.opt.tolerance = 1e-15
    model.opt.iterations = 200
    model.opt.ls_iterations = 100
    model.opt.ls_tolerance = 1e-6
    model.opt.ccd_tolerance = 1e-14
    model.opt.ccd_iterations = 120
    return model


def exact_model(path):
    return exact(mujoco.MjModel.from_xml_path(str(path)))
