#!/usr/bin/env python3
"""Records the convex hulls that MuJoCo makes of meshes in files, for tests/physics/test_hulls.c:
pip install mujoco numpy

    tests/golden/record_hulls.py [--out FOLDER] [NAME...]   (options: recording.py)

Writes tests/golden/models/hull_knob.stl, hull_case.obj and hulls.xml, whose shapes are made here, and
tests/golden/hulls.f64. For each mesh: the mass of its body; the numbers of vertices, triangles and faces of
its hull; the vertices; the vertices of each triangle; and of each flat face how many corners it has, and
which, from the one that MuJoCo begins with.

Writes tests/golden/hull_contacts.f64: for poses where two of the bodies, or one and the floor, lie on each
other or are in each other, qpos, how many contacts there are, and of each distance, position and normal.
"""
import struct

import mujoco
import numpy

import recording

MODELS = recording.HERE / "models"


def knob(random):
    """A rounded disc of 44 corners around, in millimetres: caps that are bent by up to 0.002 mm."""
    rings = []
    for radius, height in (19.0, 4.0), (20.0, 3.0), (20.0, -3.0), (19.0, -4.0):
        angle = 2 * numpy.pi * numpy.arange(44) / 44
        ring = numpy.stack([radius * numpy.cos(angle), radius * numpy.sin(angle), numpy.full(44, height)], 1)
        ring[:, 2] += random.uniform(-0.002, 0.002, 44) * (abs(height) == 4.0)
        rings.append(ring)
    ends = numpy.array([[0.3, 0.1, 4.003], [0.0, 0.2, -4.003]])
    points = numpy.concatenate([*rings, ends]).astype(numpy.float32)
    triangles = []
    for k in range(44):
        after = (k + 1) % 44
        for ring in range(3):
            a, b = 44 * ring + k, 44 * ring + after
            triangles += [(a, a + 44, b), (b, a + 44, b + 44)]
        triangles += [(176, k, after), (177, 132 + after, 132 + k)]
    header = b"hull_knob".ljust(80) + struct.pack("<I", len(triangles))
    return header + b"".join(struct.pack("<12fH", 0, 0, 0, *points[list(t)].ravel(), 0) for t in triangles)


def case(random):
    """A box of bent quads with texture coordinates, a position that no face has, and two in one place."""
    steps = 6
    positions, index, faces = [], {}, []

    def corner(at):
        if at not in index:
            index[at] = len(positions)
            bent = numpy.array(at) * [0.05, 0.03, 0.02] + random.uniform(-2e-5, 2e-5, 3)
            positions.append(bent)
        return index[at] + 1

    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, steps):
            for i in range(steps):
                for j in range(steps):
                    quad = []
                    for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1))[:: 1 if side else -1]:
                        at = [0, 0, 0]
                        at[axis], at[u], at[v] = side, i + du, j + dv
                        quad.append((corner(tuple(x / steps for x in at)), 1 + du + 2 * dv))
                    faces.append(quad)
    positions.append(numpy.array([0.055, 0.015, 0.01]))
    positions.append(positions[0])
    lines = [f"v {p[0]:.7f} {p[1]:.7f} {p[2]:.7f}" for p in positions]
    lines += [f"vt {k % 2} {k // 2}" for k in range(4)]
    lines += ["f " + " ".join(f"{p}/{t}" for p, t in quad) for quad in faces]
    return ("\n".join(lines) + "\n").encode()


def model(random):
    points = random.normal(size=(40, 3))
    points /= numpy.linalg.norm(points, axis=1, keepdims=True) / [0.03, 0.04, 0.05]
    numbers = "  ".join(" ".join(f"{x:.6f}" for x in p) for p in points)
    meshes = ["file='hull_knob.stl' scale='0.001 0.001 0.001'",
              "file='hull_knob.stl' scale='0.001 -0.002 0.003'",
              "file='hull_case.obj' refpos='0.01 0 0' refquat='0.9 0.1 0.2 0.3'", f"vertex='{numbers}'"]
    text = "<mujoco>\n  <asset>\n"
    text += "".join(f"    <mesh name='{i}' {mesh}/>\n" for i, mesh in enumerate(meshes))
    text += "  </asset>\n  <worldbody>\n"
    text += "    <geom type='plane' size='1 1 1'/>\n"
    for i in range(len(meshes)):
        text += f"    <body><freejoint/><geom type='mesh' mesh='{i}'/></body>\n"
    return (text + "  </worldbody>\n</mujoco>\n").encode()


def of_hull(m, mesh):
    graph = m.mesh_graph[m.mesh_graphadr[mesh]:]
    vertices, triangles = graph[0], graph[1]
    listed = graph[2 + vertices:2 + 2 * vertices]
    number = {int(vertex): k for k, vertex in enumerate(listed)}
    first = 2 + 3 * vertices + 3 * triangles
    corners = graph[first:first + 3 * triangles]
    faces, numbers = [], m.mesh_polynum[mesh]
    for k in range(m.mesh_polyadr[mesh], m.mesh_polyadr[mesh] + numbers):
        at = m.mesh_polyvertadr[k]
        polygon = m.mesh_polyvert[at:at + m.mesh_polyvertnum[k]]
        faces += [[len(polygon)], [number[int(vertex)] for vertex in polygon]]
    points = m.mesh_vert[m.mesh_vertadr[mesh]:][listed]
    return [[m.body_mass[mesh + 1], vertices, triangles, numbers], points,
            [number[int(vertex)] for vertex in corners], *faces]


def contents(path):
    m = mujoco.MjModel.from_xml_path(str(path))
    parts = [part for mesh in range(m.nmesh) for part in of_hull(m, mesh)]
    return numpy.concatenate([numpy.ravel(part).astype(float) for part in parts]).tobytes()


def tilted(random, most):
    turn = numpy.array([1.0, *random.uniform(-most, most, 3)])
    return turn / numpy.linalg.norm(turn)


def contacts(path):
    m = recording.exact(mujoco.MjModel.from_xml_path(str(path)))
    data, random, numbers = mujoco.MjData(m), numpy.random.default_rng(4), []
    while len(numbers) < 96:
        for body in range(m.nbody - 1):
            data.qpos[7 * body:7 * body + 7] = [body, 0, 1, 1, 0, 0, 0]  # apart from each other
        one, two = random.choice(m.nbody - 1, 2, replace=False)
        flat = len(numbers) % 2 == 0
        kind = len(numbers) % 6
        above = random.uniform(0.006, 0.0082)
        at = 7 * one
        data.qpos[at:at + 3] = [0.3 * random.uniform(-0.04, 0.04), 0.3 * random.uniform(-0.04, 0.04), 0.5]
        data.qpos[at + 3:at + 7] = tilted(random, 0.01 if flat else 1.0)
        if kind == 0 or kind == 2:  # the mirrored knob is three times as high
            one, two = 0, 1
            data.qpos[0:3] = [random.uniform(-0.03, 0.03), random.uniform(-0.03, 0.03), 0.5]
            data.qpos[3:7] = tilted(random, 0.01)
            data.qpos[7:10] = [0, 0, 0.5 + 0.008 + above]
            data.qpos[10:14] = tilted(random, 0.01)
        elif len(numbers) % 12 == 4:  # upright on the floor, on a vertex that is inside of a face
            data.qpos[0:3] = [0.01, 0, above - 0.0042]
            data.qpos[3:7] = tilted(random, 5e-5)
        elif kind == 4:  # on the floor
            data.qpos[at + 2] = above - 0.003 if one != 1 else above + 0.005
        else:
            other = 7 * two
            data.qpos[other:other + 3] = data.qpos[at:at + 3] + random.uniform(-0.02, 0.02, 3)
            data.qpos[other + 3:other + 7] = tilted(random, 1.0)
        mujoco.mj_fwdPosition(m, data)
        if data.ncon:
            rows = [[c.dist, *c.pos, *c.frame[:3]] for c in data.contact]
            numbers.append(numpy.concatenate([data.qpos, [data.ncon], *rows]))
    return numpy.concatenate(numbers).tobytes()


def main():
    session = recording.Recording(__doc__)
    random = numpy.random.default_rng(20261129)
    (MODELS / "hull_knob.stl").write_bytes(knob(random))
    (MODELS / "hull_case.obj").write_bytes(case(random))
    (MODELS / "hulls.xml").write_bytes(model(random))
    session.write("hulls.f64", MODELS / "hulls.xml", contents)
    session.write("hull_contacts.f64", MODELS / "hulls.xml", contacts)
    session.finish()


if __name__ == "__main__":
    main()
