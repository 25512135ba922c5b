#!/usr/bin/env python3
"""Records the meshes that MuJoCo makes from numbers, for tests/physics/test_mesh_builtin.c:
pip install mujoco numpy

    tests/golden/record_meshes.py [--out FOLDER] [NAME...]   (options: recording.py)

Writes tests/golden/builtin_meshes.f64 for tests/golden/models/builtin_meshes.xml. For each mesh of the model:
the numbers of its vertices and triangles, its vertices, the normal of each vertex that a corner of a triangle
has (the last one where they differ; zeros: none has it), and the vertices of its triangles.
"""
import mujoco
import numpy

import recording


def of_mesh(model, mesh):
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    face, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    normals = numpy.zeros((count, 3))
    corners = model.mesh_face[face:face + faces]
    of_corners = model.mesh_normaladr[mesh] + model.mesh_facenormal[face:face + faces]
    normals[corners] = model.mesh_normal[of_corners]
    return [[count, faces], model.mesh_vert[first:first + count], normals, corners]


def contents(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    parts = [part for mesh in range(model.nmesh) for part in of_mesh(model, mesh)]
    return numpy.concatenate([numpy.ravel(part).astype(float) for part in parts]).tobytes()


def main():
    session = recording.Recording(__doc__)
    session.write("builtin_meshes.f64", recording.HERE / "models" / "builtin_meshes.xml", contents)
    session.finish()


if __name__ == "__main__":
    main()
