#!/usr/bin/env python3
"""Writes the files of Gmsh that flexes/shapes.xml names, by Gmsh itself (4.15.2): pip install gmsh

    tests/golden/record_gmsh.py        (before record_flexes.py, which records what MuJoCo makes of them)

Two shapes in formats 2.2 and 4.1, as text and binary: a patch of triangles and a block of tetrahedra, small
enough to be read by eye. A node of each is in no element: Gmsh leaves it out of format 2.2, and readers of a
<flexcomp> do so. Another in one format: bar.msh, for bar.xml, a bar as Gmsh's own mesher divides it, with the
nodes of one end first.
"""
import pathlib

import gmsh

FOLDER = pathlib.Path(__file__).resolve().parent / "flexes"
TRIANGLE, TETRAHEDRON = 2, 4  # Gmsh's numbers of elements


def patch():
    """3 x 4 points of a curved surface, diagonals in turns; node 6 lies apart."""
    points = [(0.1 * i, 0.07 * j, 0.05 * i * i - 0.03 * j) for i in range(3) for j in range(4)]
    points.insert(5, (1.0, 2.0, 3.0))
    node = [tag for tag in range(1, 14) if tag != 6]
    triangles = []
    for i in range(2):
        for j in range(3):
            a, b, c, d = (node[4 * x + y] for x, y in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)))
            triangles += [a, b, c, a, c, d] if (i + j) % 2 else [a, b, d, b, c, d]
    return 2, TRIANGLE, points, triangles


def block():
    """Two boxes side by side, the middle of each joined to two triangles of each side; node 3 lies apart."""
    points = [(0.2 * x, 0.3 * y, 0.1 * z + 0.02 * x * y) for x in (0, 1, 2) for y in (0, 1) for z in (0, 1)]
    points += [(0.09, 0.16, 0.055), (0.31, 0.14, 0.06)]
    points.insert(2, (-1.0, -2.0, -3.0))
    node = [tag for tag in range(1, 16) if tag != 3]
    sides = (0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)
    tetrahedra = []
    for box in range(2):
        for a, b, c, d in ([4 * box + corner for corner in side] for side in sides):
            for corners in ((a, b, c, 12 + box), (a, c, d, 12 + box)):
                tetrahedra += [node[corner] for corner in corners]
    return 3, TETRAHEDRON, points, tetrahedra


def bar():
    """0.6 x 0.1 x 0.1 m; the nodes with x = 0 first, for pins."""
    gmsh.clear()
    gmsh.model.add("mesher")
    gmsh.model.occ.addBox(0, -0.05, -0.05, 0.6, 0.1, 0.1)
    gmsh.model.occ.synchronize()
    gmsh.option.setNumber("Mesh.MeshSizeMax", 0.06)
    gmsh.model.mesh.generate(3)
    tags, values, _ = gmsh.model.mesh.getNodes()
    points = [tuple(round(float(x), 6) + 0.0 for x in values[3 * i : 3 * i + 3]) for i in range(len(tags))]
    order = sorted(range(len(tags)), key=lambda i: points[i][0] > 0)
    number = {int(tags[i]): place + 1 for place, i in enumerate(order)}
    _, _, corners = gmsh.model.mesh.getElements(3)
    return 3, TETRAHEDRON, [points[i] for i in order], [number[int(tag)] for tag in corners[0]]


def keep(name, dim, kind, points, elements):
    """Makes this the model: one entity, which saves as one block."""
    gmsh.clear()
    gmsh.model.add(name)
    gmsh.model.addDiscreteEntity(dim, 1)
    coordinates = [value for point in points for value in point]
    gmsh.model.mesh.addNodes(dim, 1, range(1, len(points) + 1), coordinates)
    gmsh.model.mesh.addElementsByType(1, kind, [], elements)


def write(name, version, binary):
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.option.setNumber("Mesh.Binary", binary)
    gmsh.write(str(FOLDER / f"{name}.msh"))


gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)
for name, shape in {"patch": patch(), "block": block()}.items():
    keep(name, *shape)
    for version in 2.2, 4.1:
        for binary, form in enumerate(("text", "binary")):
            write(f"{name}_{round(10 * version)}_{form}", version, binary)
keep("bar", *bar())
write("bar", 4.1, 1)
gmsh.finalize()
