#!/usr/bin/env python3
"""Records what MuJoCo compiles models into, for tests/physics/test_mjcf.c.

mujoco==3.12.0   (the version of the fact sheet and of physics/model/model.h)

    python3 -m venv VENV && VENV/bin/pip install mujoco==3.12.0
    VENV/bin/python tests/golden/record_models.py [FOLDER WITH THE GYMNASIUM ROBOTS]

Writes tests/golden/NAME.txt for tests/golden/models/NAME.xml or NAME.urdf, and robot_NAME.txt for each robot. Each line is a size or an
array of physics/model/model.h: `nq 15`, `body_pos 14x3 0 0 0 ...`, numbers with 9 digits. Rows that repeat the one before are
written as `=`. Left out is what physics/model/model.h has in a form of its own (hulls, vertices of meshes, pixels).
"""
import pathlib
import re
import sys

import mujoco
import numpy

VERSION = "3.12.0"
HERE = pathlib.Path(__file__).parent
HEADER = (HERE.parent.parent / "physics" / "model.h").read_text()
OWN_FORM = re.compile(r"hull|mesh_(vert|face|normal|texcoord)|^(n?tex_?(adr|data)|names|nnames|name_.*|nM|M_.*|geom_fluid|nmesh.+|(dof|tendon)_drive)$")


def number(value):
    text = "%.9g" % float(value)
    return "0" if text == "-0" else text


def row_text(row):
    return " ".join(number(v) for v in row) if len(row) else "-"


def dump_array(name, array, out):
    array = numpy.asarray(array)
    rows = array.reshape(array.shape[0], -1) if array.size else numpy.zeros((array.shape[0], 0))
    if rows.size == 0:
        return
    out.append("%s %dx%d" % (name, rows.shape[0], rows.shape[1]))
    last = None
    for row in rows:
        text = row_text(row)
        out.append("=" if text == last else text)
        last = text


def dump_struct(name, struct, fields, out):
    for field in fields:
        value = numpy.atleast_1d(getattr(struct, field))
        dump_array(name + "." + field, value.reshape(1, -1), out)


def dump(model):
    out = ["# mujoco " + mujoco.__version__]
    for name in re.findall(r"^    X\((n\w+)\)", HEADER, re.M):
        if not OWN_FORM.search(name):
            out.append("%s %d" % (name, getattr(model, name)))
    option = ("timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance gravity wind magnetic density viscosity "
              "o_margin o_solref o_solimp o_friction integrator cone jacobian solver iterations ls_iterations "
              "noslip_iterations ccd_iterations disableflags enableflags disableactuator").split()
    dump_struct("opt", model.opt, option, out)
    dump_struct("stat", model.stat, "meaninertia meanmass meansize extent center".split(), out)
    for name in re.findall(r"^    X\(\w+, (\w+),", HEADER, re.M):
        if OWN_FORM.search(name):
            continue
        source = {"cam_orthographic": "cam_projection"}.get(name, name)
        value = getattr(model, source)
        if name == "mat_texid":
            value = value[:, int(mujoco.mjtTextureRole.mjTEXROLE_RGB)]
        if name == "text_data":
            value = numpy.frombuffer(bytes(value), dtype=numpy.uint8)
        if value.shape[:1] != (0,):
            dump_array(name, value, out)
    for i in range(model.ntex):  # all pixels would be too many
        start, size = model.tex_adr[i], model.tex_height[i] * model.tex_width[i] * model.tex_nchannel[i]
        pixels = model.tex_data[start:start + size].astype(float)
        out.append("texture %d" % i)
        out.append(row_text([pixels.mean(), pixels.std()]))
    return "\n".join(out) + "\n"


def main():
    if mujoco.__version__ != VERSION:
        sys.exit("expected mujoco " + VERSION)
    for path in sorted((HERE / "models").glob("*.[xu][mr]*")):  # .xml .urdf
        if not path.name.startswith("part_"):
            (HERE / (path.stem + ".txt")).write_text(dump(mujoco.MjModel.from_xml_path(str(path))))
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.xml")) if len(sys.argv) > 1 else []:
        try:
            text = dump(mujoco.MjModel.from_xml_path(str(path)))
        except ValueError as error:  # MuJoCo rejects it too
            text = "# mujoco " + VERSION + "\nrejected\n"
            print(path.name, error)
        (HERE / ("robot_" + path.stem + ".txt")).write_text(text)


main()
