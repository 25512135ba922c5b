#!/usr/bin/env python3
"""Records what MuJoCo compiles models into, for tests/physics/test_mjcf.c: pip install mujoco numpy

    tests/golden/record_models.py [--robots FOLDER] [--out FOLDER] [NAME...]   (options: recording.py)

Writes tests/golden/compiled/NAME.txt for tests/golden/models/NAME.xml or NAME.urdf, and robot_NAME.txt
beside it for each robot. Each line is a size or an array of physics/model/model.h: `nq 15`, `body_pos 14x3 0
0 0 ...`, numbers with 9 digits. Rows that repeat the one before are written as `=`. Left out is what
physics/model/model.h has in a form of its own (hulls, vertices of meshes, distance grids, pixels, soft
bodies; colour spaces, which it resolves where MuJoCo keeps "auto").
"""
import glob
import pathlib
import re

import mujoco
import numpy

import recording

for library in glob.glob(str(pathlib.Path(mujoco.__file__).parent / "plugin" / "*sdf*")):
    mujoco.mj_loadPluginLibrary(library)
HEADER = (recording.HERE.parent.parent / "physics" / "model" / "model.h").read_text()
OWN_FORM = re.compile(r"hull|mesh_(vert|face|normal|texcoord)|^(n?tex_?(adr|data)|names|nnames|name_.*|nM|"
                      r"M_.*|geom_fluid|nmesh.+|n?grid.*|(dof|tendon)_drive|plastic0|"
                      r"ndelayed|(actuator|sensor)_delayadr|sensor_(fov|taxeladr)|n?taxel.*|tex_colorspace|"
                      r"n?flex.*|n?cable.*|geom_function.*|n?octree.*|mesh_octree.*)$")


def is_recorded(model, name, source):
    """An older version has not all that the newest has."""
    there = hasattr(model, source) or mujoco.__version__ == recording.NEWEST
    return there and not OWN_FORM.search(name)


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


def compiled(path):
    try:
        return dump(mujoco.MjModel.from_xml_path(str(path))).encode()
    except ValueError as error:  # MuJoCo rejects it too
        print(path.name, error)
        return f"# mujoco {mujoco.__version__}\nrejected\n".encode()


def dump(model):
    out = ["# mujoco " + mujoco.__version__]
    for name in re.findall(r"^    X\((n\w+)\)", HEADER, re.M):
        if is_recorded(model, name, name):
            out.append("%s %d" % (name, getattr(model, name)))
    option = ("timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance gravity wind magnetic "
              "density viscosity o_margin o_solref o_solimp o_friction integrator cone jacobian solver "
              "iterations ls_iterations noslip_iterations ccd_iterations sdf_iterations sdf_initpoints "
              "disableflags enableflags disableactuator").split()
    dump_struct("opt", model.opt, option, out)
    dump_struct("stat", model.stat, "meaninertia meanmass meansize extent center".split(), out)
    for name in re.findall(r"^    X\(\w+, (\w+),", HEADER, re.M):
        source = {"cam_orthographic": "cam_projection"}.get(name, name)
        if not is_recorded(model, name, source):
            continue
        value = getattr(model, source)
        if name == "eq_data":
            value = value[:, :11]  # since 3.17 a twelfth number says whether a weld's pose is that of qpos0
        if name == "tex_height":  # MuJoCo keeps one face where all six are the same
            value = numpy.where((model.tex_type > 0) & (value == model.tex_width), 6 * value, value)
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
    session = recording.Recording(__doc__)
    for path in sorted((recording.HERE / "models").glob("*.[xu][mr]*")):  # .xml .urdf
        if not path.name.startswith("part_"):
            session.write(f"compiled/{path.stem}.txt", path, compiled)
    for path in session.robots():
        session.write(f"compiled/robot_{path.stem}.txt", path, compiled)
    session.finish()


if __name__ == "__main__":
    main()
