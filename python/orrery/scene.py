"""What exists: layers, cameras, light."""

import ctypes
import math
import os

import numpy as np

from orrery._handle import Handle, made_by
from orrery._library import ValueRefused, call, constant, constants, numbers, pointer, structs
from orrery.collider import Collider
from orrery.engine import default_engine

_KINDS = {1: "splats", 2: "mesh", 3: "field", 4: "robot"}


def transform(position=(0, 0, 0), rotation=(1, 0, 0, 0), scale=1.0):
    """x -> scale * rotation(x) + position; the rotation is a quaternion w, x, y, z."""
    return structs["orr_transform"](
        numbers(position, 3, "position"), numbers(rotation, 4, "rotation"), scale
    )


def look_at(eye, target, up=(0, 0, 1), field_of_view=50.0, size=(640, 480)):
    """A perspective camera. field_of_view: vertical angle in degrees; size: width and height in pixels."""
    return call.camera_look_at(
        numbers(eye, 3, "eye"),
        numbers(target, 3, "target"),
        numbers(up, 3, "up"),
        math.radians(field_of_view),
        *size,
    )


class Layer:
    """A splat cloud, a mesh, a field or a robot in a scene."""

    def __init__(self, scene, handle):
        self.scene, self._id = scene, handle

    def _info(self):
        info = structs["orr_layer_info"]()
        call.scene_layer_info_sized(self.scene.pointer, self._id, ctypes.byref(info), ctypes.sizeof(info))
        return info

    @property
    def name(self):
        return self._info().name.decode()

    @property
    def kind(self):
        """"splats", "mesh", "field" or "robot"."""
        return _KINDS[self._info().kind]

    @property
    def bounds(self):
        """The smallest and the largest coordinates, as two arrays of 3, in the layer's own space."""
        info = self._info()
        return np.array(info.low), np.array(info.high)

    def set_physics(self, mass=0.0, friction=1.0, shape="auto", cell=0.0, parts=0, pin=(), **soft):
        """Makes a mesh, cloud or field a physical body, as `physics` of a scene file does.

        mass [kg]; 0: the body is fixed. friction: sliding friction, 0 or more; of two things that touch the
        larger one counts. shape: "hull" (the convex hull), "sdf" (a signed distance grid, for fixed bodies),
        "decompose" (up to `parts` convex hulls) or "boxes" (up to `parts` boxes); "auto": sdf for a fixed
        body, hull for a moving mesh, else decompose. cell: edge of a cell of the grid [scene units]; 0: 1/256
        of the longest side, for parts 1/128. parts: 1 to 64; 0: 16.

        soft=True: a soft body; `mass` must be 0. resolution: cells along the longest side, 2 to 64; 0: 12.
        density [kg/m^3]; 0: 300. young: Young's modulus [Pa]; 0: 5e4, for cloth 1e6. poisson: Poisson's
        ratio, below 0.5; 0: 0.4, for cloth 0.3. damping: time by which strain lags [s]; 0: 0.005. cloth:
        thickness [m] of cloth made of the mesh's triangles; 0: a solid. iterations: per step, 1 to 200; 0:
        12. pressure: of the gas in closed cloth, above that of the surroundings [Pa]; ambient: pressure of
        the surroundings [Pa], for a constant amount of gas; 0: the pressure is constant. yield_stress [Pa]:
        stress beyond which a solid stays deformed; 0: never. flow: rate at which stress above it decays
        [1/s]; 0: at once. pin: up to 8 balls (x, y, z, radius) in the layer's space, in which vertices are
        held in place."""
        if len(pin) > constants["ORR_BODY_PINS_MAX"]:
            raise ValueError(f"{len(pin)} pins: expected up to {constants['ORR_BODY_PINS_MAX']}")
        known = ("soft", "resolution", "density", "young", "poisson", "damping", "cloth", "iterations")
        known += ("pressure", "ambient", "yield_stress", "flow")
        for name in soft:
            if name not in known:
                raise TypeError(f"{name!r}: expected one of {', '.join(known)}")
        shapes = {name: name for name in ("auto", "hull", "decompose", "boxes", "grid")} | {"sdf": "grid"}
        if shape not in shapes:
            raise ValueError(f"shape {shape!r}: expected one of auto, hull, sdf, decompose, boxes")
        if friction < 0.0:
            raise ValueError(f"friction {friction}: expected 0 or more")
        desc = structs["orr_body_desc"](
            mass=mass,
            friction=friction or -1.0,  # 0 is the default there
            cell=cell,
            parts=parts,
            shape=constant("ORR_BODY_", shapes[shape]),
            pins=len(pin),
            **soft,
        )
        for i, ball in enumerate(pin):
            desc.pin[i][:] = numbers(ball, 4, "pin")
        call.scene_set_physics_sized(self.scene.pointer, self._id, ctypes.byref(desc), ctypes.sizeof(desc))

    def make_collider(
        self, cell=0.0, opacity=0.0, gap=0.0, island=0.0, side="auto", up=(0, 0, 0), eyes=()
    ):
        """Makes a Collider of a cloud, mesh or field, in seconds. Without arguments it is that of the layer's
        body, or the one that it would have, kept beside the layer's file.

        Lengths are in units of the layer. cell: edge of a cell; 0: 1/256 of the longest side. Of clouds and
        radiance fields: opacity from which a cell is solid (0: 0.3, 0.5); gap: gaps of surfaces up to this
        width are closed (0: 4 cells); side: "inside" (of a room), "outside" or "auto"; eyes: n x 3, positions
        in free space, which decide about "auto". up: of clouds, free space is above surfaces with free space
        on both sides (0, 0, 0: the scene's). island: pieces smaller than this share of the largest are left
        out; 0: 0.005."""
        return Collider._of_layer(self, cell, opacity, gap, island, side, up, eyes)

    def bind(self, robot, body):
        """Makes a cloud, mesh or field move with a body of a robot, given by its name: from now on the
        transform of the layer is relative to the body's frame."""
        call.scene_bind(self.scene.pointer, self._id, robot._id, body.encode())

    def set_material(self, path, material=0):
        """Draws a material of a mesh, given by its index in the file, with the network of a .material file
        (MaterialTrainer). path None: restores the material of the file."""
        path = None if path is None else os.fsencode(path)
        call.scene_set_material(self.scene.pointer, self._id, material, path)

    def set_glass(self, material=0, on=True, **glass):
        """Turns a material into glass. material: of a mesh its index in the file, of a robot the index or the
        name of a material of the model. on False: restores the material of the file.

        Members of `glass`, as in orr_glass_desc: transmission (1: all light passes), ior (1.5), thickness
        [mesh units], roughness (0: clear, 1: frosted), attenuation_distance [scene units],
        attenuation_colour, colour. Light is refracted if rays are on (Scene.set_rays), and in path-traced
        pictures."""
        if isinstance(material, str):
            kind = constants["ORR_ROBOT_OBJECT_MATERIAL"]
            name, material = material, call.scene_robot_find(
                self.scene.pointer, self._id, kind, material.encode()
            )
            if material < 0:
                raise ValueError(f"{self.name}: there is no material {name!r}")
        for name in ("attenuation_colour", "colour"):
            if name in glass:
                glass[name] = numbers(glass[name], 3, name)
        desc = structs["orr_glass_desc"](**glass) if on else None
        size = ctypes.sizeof(structs["orr_glass_desc"])
        given = ctypes.byref(desc) if desc is not None else None
        call.scene_set_glass_sized(self.scene.pointer, self._id, material, given, size)

    def set_shadow_casting(self, casting):
        """When a cloud casts shadows: "moving" (the default): while it is bound to a body, is soft or has a
        mass; "always"; "never"."""
        casting = constant("ORR_SHADOW_CASTING_", casting)
        call.scene_set_shadow_casting(self.scene.pointer, self._id, casting)

    @property
    def soft_mesh(self):
        """The mesh of a soft layer, as a dict: "mass" [kg]: n; "rest" [m]: n x 3, in the layer's space times
        its scale; indices of vertices: "tets": m x 4, "triangles" (cloth): k x 3, "edges" (ropes): j x 2."""
        info = structs["orr_soft_info"]()
        call.scene_soft_info_sized(self.scene.pointer, self._id, ctypes.byref(info), ctypes.sizeof(info))
        n = info.vertex_count
        shapes = {
            "mass": (n,),
            "rest": (n, 3),
            "tets": (info.tet_count, 4),
            "triangles": (info.triangle_count, 3),
            "edges": (info.edge_count, 2),
        }
        return {
            name: (
                np.ctypeslib.as_array(getattr(info, name), shape).copy()
                if shape[0]
                else np.zeros(shape, np.int32)
            )
            for name, shape in shapes.items()
        }

    def remove(self):
        """Removes the layer from its scene, also while worlds run: what stays keeps its state."""
        call.scene_remove(self.scene.pointer, self._id)

    def __repr__(self):
        try:
            return f"<orrery.Layer {self.name!r}: {self.kind}>"
        except ValueRefused:
            return "<orrery.Layer that was removed>"


def insert_file(room, object_file, path, name=None, position=(0, 0, 0), rotation=(1, 0, 0, 0), scale=1.0):
    """Writes the scene file `path`: the contents of `room`, with another file as an additional layer."""
    at = transform(position, rotation, scale)
    call.scene_file_insert(
        os.fsencode(room),
        os.fsencode(object_file),
        os.fsencode(name) if name is not None else None,
        ctypes.byref(at),
        os.fsencode(path),
    )


class Scene(Handle):
    """Layers, cameras, background and light.

    path: a splat cloud, a mesh, a trained field, a robot (MJCF, URDF) or a scene file; None: empty.
    """

    def __init__(self, path=None, engine=None):
        self.engine = engine or default_engine()
        if path is None:
            made = made_by(call.scene_create, self.engine.pointer)
        else:
            made = made_by(call.scene_load, self.engine.pointer, os.fsencode(path))
        self._shown = []  # trainers, which outlive the scene
        super().__init__(made, "scene_destroy", self.engine, self._shown)

    def add(self, path, position=(0, 0, 0), rotation=(1, 0, 0, 0), scale=1.0):
        """Adds a file as a layer, and returns the layer."""
        handle, at = structs["orr_layer"](), transform(position, rotation, scale)
        call.scene_add_file(self.pointer, os.fsencode(path), ctypes.byref(at), ctypes.byref(handle))
        return Layer(self, handle)

    def add_mesh(
        self,
        name,
        vertices,
        triangles,
        colour=(1, 1, 1, 1),
        position=(0, 0, 0),
        rotation=(1, 0, 0, 0),
        scale=1.0,
    ):
        """Adds a mesh. vertices: n x 3; triangles: m x 3 indices, counter-clockwise.

        colour: linear r, g, b, a."""
        vertices = np.ascontiguousarray(vertices, np.float32)
        triangles = np.ascontiguousarray(triangles, np.uint32)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or triangles.ndim != 2 or triangles.shape[1] != 3:
            raise ValueError(
                f"vertices {vertices.shape}, triangles {triangles.shape}: expected n x 3 and m x 3"
            )
        desc = structs["orr_mesh_desc"](
            vertex_count=len(vertices),
            index_count=triangles.size,
            positions=pointer(vertices, np.float32),
            indices=pointer(triangles, np.uint32),
            base_colour=numbers(colour, 4, "colour"),
        )
        handle, at = structs["orr_layer"](), transform(position, rotation, scale)
        call.scene_add_mesh_sized(
            self.pointer,
            os.fsencode(name),
            ctypes.byref(desc),
            ctypes.sizeof(desc),
            ctypes.byref(at),
            ctypes.byref(handle),
        )
        return Layer(self, handle)

    def add_collider(
        self,
        name,
        collider,
        colour=(1, 1, 1, 1),
        position=(0, 0, 0),
        rotation=(1, 0, 0, 0),
        scale=1.0,
    ):
        """Adds the surface of a Collider as a mesh to look at. colour: linear r, g, b, a."""
        handle, at = structs["orr_layer"](), transform(position, rotation, scale)
        call.scene_add_collider(
            self.pointer,
            os.fsencode(name),
            collider.pointer,
            numbers(colour, 4, "colour"),
            ctypes.byref(at),
            ctypes.byref(handle),
        )
        return Layer(self, handle)

    def add_splats(self, name, splats, position=(0, 0, 0), rotation=(1, 0, 0, 0), scale=1.0):
        """Adds a copy of a Splats object."""
        handle, at = structs["orr_layer"](), transform(position, rotation, scale)
        call.scene_add_splats(
            self.pointer, os.fsencode(name), splats.pointer, ctypes.byref(at), ctypes.byref(handle)
        )
        return Layer(self, handle)

    def set_environment(self, picture, rotation=0.0, strength=1.0):
        """Sets an environment map, which replaces the default sun and ambient light.

        picture: a path (.hdr, .exr), or an array of height x 2 height x 3 with linear radiance; None: no
        environment. rotation [degrees]: about the up axis, counter-clockwise seen from above."""
        if picture is None:
            call.scene_set_environment_sized(self.pointer, None, 0)
            return
        desc = structs["orr_environment_desc"](rotation=rotation, strength=strength)
        if isinstance(picture, (str, os.PathLike)):
            desc.path = os.fsencode(picture)
        else:
            picture = np.ascontiguousarray(picture, np.float32)
            if picture.ndim != 3 or picture.shape[2] != 3:
                raise ValueError(f"picture {picture.shape}: expected height x width x 3")
            desc.rgb = pointer(picture, np.float32)
            desc.height, desc.width = picture.shape[:2]
        call.scene_set_environment_sized(self.pointer, ctypes.byref(desc), ctypes.sizeof(desc))

    def add_light(
        self,
        kind,
        position=(0, 0, 0),
        direction=(0, 0, 0),
        colour=(1, 1, 1),
        intensity=math.pi,
        range=0.0,
        inner=0.0,
        outer=45.0,
        shadows=True,
        radius=0.0,
        size=(0, 0),
        across=(0, 0, 0),
        clouds=False,
    ):
        """Adds a light, which replaces the default sun and the lights of robot models.

        kind: "directional", "point", "spot" or "area" (a rectangle). direction: that in which it shines.
        intensity: irradiance (directional) or radiant intensity; pi makes a white surface radiance 1, at
        distance 1; of a rectangle, pi times its radiance. range: distance at which the light ends; 0: no end.
        inner, outer [degrees]: half angles between which a spot fades. radius: size of the light, which
        softens its shadows, for a directional light in degrees; 0: hard shadows. size, across: edge lengths
        of a rectangle and the direction of the first edge; 0: any direction. clouds: the light also lights
        fields, and the clouds of the scene."""
        desc = structs["orr_light_desc"](
            kind=constant("ORR_LIGHT_KIND_", kind),
            position=numbers(position, 3, "position"),
            direction=numbers(direction, 3, "direction"),
            colour=numbers(colour, 3, "colour"),
            intensity=intensity,
            range=range,
            inner=inner,
            outer=outer,
            no_shadows=not shadows,
            radius=radius,
            size=numbers(size, 2, "size"),
            across=numbers(across, 3, "across"),
            clouds=clouds,
        )
        call.scene_add_light_sized(self.pointer, ctypes.byref(desc), ctypes.sizeof(desc))

    def set_sun(self, direction, colour=(0.8, 0.8, 0.8), ambient=(0.2, 0.2, 0.2), umbra=0.0, radius=0.0):
        """Sets a sun, in addition to lights and an environment; it replaces the lights of robot models.

        direction: towards the sun. colour: linear radiance of a white surface that faces the sun; ambient:
        the same in its shadow. umbra: factor on clouds and fields in the full shadow of a mesh; 0: unchanged
        (at first 0.4).
        radius [degrees]: half the angle that the sun covers; 0: shadows with hard edges."""
        desc = structs["orr_sun_desc"](
            direction=numbers(direction, 3, "direction"),
            colour=numbers(colour, 3, "colour"),
            ambient=numbers(ambient, 3, "ambient"),
            umbra=umbra,
            radius=radius,
        )
        call.scene_set_sun_sized(self.pointer, ctypes.byref(desc), ctypes.sizeof(desc))

    def estimate_sun(self):
        """Estimates the sun under which the clouds and radiance fields of the scene were captured. Returns
        the arguments of set_sun, or None if no sun explains their brightness."""
        found = structs["orr_sun_estimate"]()
        call.scene_estimate_sun_sized(self.pointer, ctypes.byref(found), ctypes.sizeof(found))
        if not found.found:
            return None
        sun = found.sun
        return {
            "direction": tuple(sun.direction),
            "colour": tuple(sun.colour),
            "ambient": tuple(sun.ambient),
            "umbra": sun.umbra,
            "radius": sun.radius,
        }

    def clear_lights(self):
        """Removes all lights: those that were added, and those of the scene file."""
        call.scene_clear_lights(self.pointer)

    def set_probes(self, on=True):
        """Chooses whether meshes and robots are lit by what is around them."""
        call.scene_set_probes(self.pointer, on)

    def set_rays(self, on=True):
        """Chooses whether rays are traced for reflections on smooth surfaces and refraction in glass."""
        call.scene_set_rays(self.pointer, on)

    @property
    def layers(self):
        """All layers, in the order in which they were added."""
        count = call.scene_layer_count(self.pointer)
        return [Layer(self, call.scene_layer(self.pointer, i)) for i in range(count)]

    @property
    def robots(self):
        """The layers that are robots."""
        return [layer for layer in self.layers if layer.kind == "robot"]

    @property
    def cameras(self):
        """The cameras of the scene file; for those of robots see World.camera."""
        count = call.scene_camera_count(self.pointer)
        return [call.scene_camera(self.pointer, i).contents for i in range(count)]

    def default_camera(self, size=(640, 480)):
        """A camera that sees every layer."""
        width, height = size
        return call.scene_default_camera(self.pointer, width, height)
