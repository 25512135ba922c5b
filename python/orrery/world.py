"""What changes: states of robots and transforms of layers, in any number of copies."""

import ctypes
import os

import numpy as np

from orrery import surfaces
from orrery._handle import Handle, made_by
from orrery._library import call, constant, constants, numbers, pointer, spread, structs
from orrery.dlpack import cuda_array, cuda_pictures
from orrery.scene import Layer, transform


def quantity_numbers():
    """The number of each quantity by its name in orrery.h and by MuJoCo's."""
    found = {}
    for i in range(constants["ORR_ROBOT_QUANTITIES"]):
        found[call.robot_quantity_name(i).decode()] = i
    for name, number in constants.items():
        if name.startswith("ORR_ROBOT_") and not name.startswith(("ORR_ROBOT_OBJECT_", "ORR_ROBOT_ELEMENT_")):
            if name != "ORR_ROBOT_QUANTITIES":
                found.setdefault(name[len("ORR_ROBOT_") :].lower(), number)
    return found


def view_of(camera, index, background=None, **members):
    """An orr_view of orrery.h."""
    view = structs["orr_view"](camera=camera, world=index, **members)
    if background is not None:
        view.has_background, view.background[:] = True, numbers(background, 3, "background")
    return view


def picture_planes(shape, out, depth):
    """An orr_picture of orrery.h whose planes have this height and width, and its rgba, as arrays of the
    caller or (out None) a new one."""
    out = np.empty((*shape, 4), np.float32) if out is None else out
    if out.shape != (*shape, 4) or (depth is not None and depth.shape != shape):
        raise ValueError(f"picture {out.shape}: expected {(*shape, 4)}, and {shape} of a depth")
    picture = structs["orr_picture"](
        pointer(out, np.float32, written=True),
        None if depth is None else pointer(depth, np.float32, written=True),
    )
    return picture, out


class Hit:
    """What a view shows at a point of its picture (World.pick).

    layer: the Layer. position: of the point, in the scene (3). depth: along the camera's axis [scene units].
    robot: the layer, if it is a robot, or the robot that it is bound to; None: neither. body: the index of
    that robot's body, or -1; geom: the index of the robot's geom, or -1; geom_name: its name, "" without one.
    triangle: the index of a mesh's triangle, or -1."""

    def __init__(self, scene, hit):
        self.layer = Layer(scene, hit.layer)
        self.robot = Layer(scene, hit.robot) if hit.body >= 0 else None
        self.body, self.geom, self.triangle = hit.body, hit.geom, hit.triangle
        self.position, self.depth = np.array(hit.position), hit.depth
        name = call.scene_robot_geom(scene.pointer, hit.robot, hit.geom) if hit.geom >= 0 else None
        self.geom_name = (name or b"").decode()

    def __repr__(self):
        at = ", ".join(f"{x:.4g}" for x in self.position)
        return f"<orrery.Hit on {self.layer.name!r} at ({at})>"


class World(Handle):
    """`count` copies of everything that changes in a scene, one for each environment.

    device: "auto", "cpu" or "cuda", which simulates robots. precision: "auto", "f32" or "f64".
    contact_capacity: largest number of contacts of a step in a block of copies, on CUDA of each copy; 0: no
    limit."""

    def __init__(self, scene, count=1, device="auto", precision="auto", contact_capacity=0):
        self.scene, self.count = scene, count
        desc = structs["orr_world_desc"](
            count=count,
            device=constant("ORR_DEVICE_", device),
            precision=constant("ORR_PRECISION_", precision),
            contact_capacity=contact_capacity,
        )
        if count < 1:
            raise ValueError(f"{count} copies: expected 1 or more")
        made = made_by(
            call.world_create_with_sized, scene.pointer, ctypes.byref(desc), ctypes.sizeof(desc)
        )
        super().__init__(made, "world_destroy", scene)
        self._numbers = quantity_numbers()

    def _mask(self, mask):
        if mask is None:
            return None
        given = np.asarray(mask)
        if given.dtype != np.bool_ and not np.isin(given, (0, 1)).all():
            raise ValueError("mask: expected true or false for each copy, not their indices")
        mask = np.ascontiguousarray(given, np.bool_)
        if mask.shape != (self.count,):
            raise ValueError(f"mask {mask.shape}: expected ({self.count},)")
        return pointer(mask.view(np.uint8), np.uint8)

    def step(self, steps=1, mask=None):
        """Simulates time steps of all robots, in the copies whose mask is true (None: in all)."""
        call.world_step_masked(self.pointer, steps, self._mask(mask))

    def advance(self, seconds):
        """Simulates `seconds` in whole time steps; the remainder is carried over to the next call."""
        call.world_advance(self.pointer, seconds)

    def reset(self, mask=None):
        """Resets all robots to their initial state, in the copies whose mask is true (None: in all)."""
        call.world_reset_masked(self.pointer, self._mask(mask))

    def robot_info(self, robot):
        """The sizes of a robot's model and its time step: an orr_robot_info of orrery.h."""
        info = structs["orr_robot_info"]()
        call.scene_robot_info_sized(self.scene.pointer, robot._id, ctypes.byref(info), ctypes.sizeof(info))
        return info

    def elements(self, robot, kind):
        """The robot's elements of a kind, "joint", "actuator" or "sensor": a list of orr_robot_element of
        orrery.h, with name, first, count (its numbers of "qpos", "ctrl" or "sensor"), limited, low, high.
        """
        count = getattr(self.robot_info(robot), kind + "_count")
        elements = [structs["orr_robot_element"]() for _ in range(count)]
        number = constant("ORR_ROBOT_ELEMENT_", kind)
        for i, element in enumerate(elements):
            call.scene_robot_element_sized(
                self.scene.pointer, robot._id, number, i, ctypes.byref(element), ctypes.sizeof(element)
            )
        return elements

    def names(self, robot, kind):
        """The names of a robot's elements of a kind: "body", "geom", "site", "joint", "tendon", "actuator",
        "sensor", "camera", "equality", "keyframe" or "material"; "" for an element without a name."""
        number, names = constant("ORR_ROBOT_OBJECT_", kind), []
        while (name := call.scene_robot_name(self.scene.pointer, robot._id, number, len(names))) is not None:
            names.append(name.decode())
        return names

    def find(self, robot, kind, name):
        """The index of a robot's element of this kind and name."""
        number = constant("ORR_ROBOT_OBJECT_", kind)
        found = call.scene_robot_find(self.scene.pointer, robot._id, number, name.encode())
        if found < 0:
            known = ", ".join(filter(None, self.names(robot, kind)))
            raise ValueError(f"no {kind} {name!r}: expected one of {known}")
        return found

    def _quantity(self, quantity):
        if quantity not in self._numbers:
            raise ValueError(f"{quantity!r}: expected one of {', '.join(self._numbers)}")
        return self._numbers[quantity]

    def _size(self, robot, quantity):
        count = ctypes.c_int()
        call.world_robot_numbers(self.pointer, robot._id, self._quantity(quantity), ctypes.byref(count))
        return count.value

    def set_autoreset(self, on=True):
        """Chooses whether a robot whose numbers diverge returns to its initial state in the same step, with
        all robots simulated with it in that copy (at first off)."""
        call.world_set_autoreset(self.pointer, on)

    def _of_each_copy(self, function, robot, kind):
        values = (kind * self.count)()
        for i in range(self.count):
            one = kind.from_buffer(values, i * ctypes.sizeof(kind))
            function(self.pointer, i, robot._id, ctypes.byref(one))
        return np.array(values)

    def diverged(self, robot):
        """For each copy whether the numbers of a robot or soft layer are no longer finite. It is not
        simulated then until it is reset or set."""
        return self._of_each_copy(call.world_robot_diverged, robot, ctypes.c_bool)

    def restarts(self, robot):
        """For each copy how often a robot has returned to its initial state (set_autoreset), since robots
        were last added, removed or moved to another device."""
        return self._of_each_copy(call.world_robot_restarts, robot, ctypes.c_int)

    def forward(self):
        """Computes accelerations for the current states and controls, without moving anything."""
        call.world_forward(self.pointer)

    def wait(self):
        """Waits until all steps are done; on the CPU they always are."""
        call.world_wait(self.pointer)

    def read(self, robot, *quantities, mask=None, dtype=np.float64):
        """Reads several quantities of all copies at once: a list of views, each count x size. What they have
        in common is computed once. mask: the copies to read (None: all); the rows of other copies are 0."""
        sizes = [self._size(robot, quantity) for quantity in quantities]
        rows = np.zeros((self.count, sum(sizes)), dtype)
        if rows.dtype not in (np.float64, np.float32):
            raise ValueError(f"dtype {rows.dtype}: expected float64 or float32")
        chosen = (ctypes.c_int * len(sizes))(*[self._quantity(quantity) for quantity in quantities])
        kind = constant("ORR_NUMBER_", "F32" if rows.dtype == np.float32 else "F64")
        values = ctypes.cast(pointer(rows, rows.dtype), ctypes.c_void_p)
        call.world_read_robots(
            self.pointer, robot._id, chosen, len(sizes), self._mask(mask), kind, values
        )
        return np.split(rows, np.cumsum(sizes)[:-1], axis=1)

    def _parameter_size(self, robot, number):
        count = ctypes.c_int()
        call.world_parameter_numbers(self.pointer, robot._id, number, ctypes.byref(count))
        return count.value

    def parameter(self, robot, parameter, mask=None):
        """A parameter of the robot's model in all copies, count x size: "body_mass" [kg], "body_inertia"
        (3 for each body), "geom_friction" (3), "geom_size" (3), "dof_damping", "dof_armature",
        "actuator_gain" (10), "actuator_bias" (10), "gravity" (3), "start_qpos", "start_qvel"."""
        number = constant("ORR_PARAMETER_", parameter)
        values = np.zeros((self.count, self._parameter_size(robot, number)))
        call.world_get_parameters(
            self.pointer, robot._id, number, self._mask(mask), pointer(values, np.float64)
        )
        return values

    def set_parameter(self, robot, parameter, values, mask=None):
        """Sets a parameter of the robot's model in the copies whose mask is true, None: in all (domain
        randomisation): count x size numbers, or `size` numbers for every copy. Resets keep it."""
        number = constant("ORR_PARAMETER_", parameter)
        shape = (self.count, self._parameter_size(robot, number))
        values = np.ascontiguousarray(spread(parameter, values, shape, np.float64))
        call.world_set_parameters(
            self.pointer, robot._id, number, self._mask(mask), pointer(values, np.float64)
        )

    def contacts(self, robot, capacity=64, mask=None):
        """The contacts of all copies in their current states: counts (count), and a record array (count x
        capacity) with geom1, geom2 (-1: not a geom of the robot), dimension, distance [m], position (3),
        frame (9: normal and two tangents, in rows) and force (6, in that frame [N, N m])."""
        if capacity < 0:
            raise ValueError(f"capacity {capacity}: expected 0 or more")
        kind = structs["orr_contact"]
        rows, counts = np.zeros((self.count, capacity), np.dtype(kind)), np.zeros(self.count, np.intc)
        call.world_get_contacts_sized(
            self.pointer,
            robot._id,
            self._mask(mask),
            capacity,
            ctypes.cast(rows.ctypes.data, ctypes.POINTER(kind)),
            ctypes.sizeof(kind),
            pointer(counts, np.intc),
        )
        return counts, rows

    def jacobian(self, robot, kind, which, points=None, mask=None):
        """Jacobians of the origin of a "body", "geom" or "site", by name or number, in all copies: jacp and
        jacr, count x 3 x nv. The velocity of the point is jacp @ qvel, the angular velocity of its body
        jacr @ qvel. points: count x 3, other points that move with it, in the robot's layer [m]."""
        index = self.find(robot, kind, which) if isinstance(which, str) else which
        shape = (self.count, 3, self.robot_info(robot).qvel_count)
        jacp, jacr = np.zeros(shape), np.zeros(shape)
        if points is not None:
            points = np.ascontiguousarray(points, np.float64)
            if points.shape != (self.count, 3):
                raise ValueError(f"points {points.shape}: expected ({self.count}, 3)")
        call.world_get_jacobians(
            self.pointer,
            robot._id,
            constant("ORR_ROBOT_OBJECT_", kind),
            index,
            self._mask(mask),
            None if points is None else pointer(points, np.float64),
            pointer(jacp, np.float64),
            pointer(jacr, np.float64),
        )
        return jacp, jacr

    def tactile(
        self,
        robot,
        geom,
        rows=20,
        columns=25,
        normal=(0, 0, 1),
        across=(0, 0, 0),
        centre=(0, 0, 0),
        size=(0, 0),
        stiffness=1.0,
        damping=0.1,
        friction=2.0,
        thickness=0.004,
        mask=None,
        forces=None,
        heights=None,
    ):
        """The forces on a soft pad on a geom (given by name or index) at a grid of points (taxels), in all
        copies. Returns float32 arrays: forces, count x rows x columns x 3 [N], pressure and shear along
        columns and rows, computed as in TacSL; heights, count x rows x columns [m], the depth to which other
        objects press into the pad along its normal, up to `thickness`. Geoms, soft solids and closed cloth
        press on the pad.

        normal: direction out of the pad; across: direction along its columns (0: the axis of the geom that
        follows the one nearest to normal); centre [m]: relative to the middle of the geom's box; all in the
        frame of the geom. size [m]: along columns and rows (0: that of the geom, less 3 mm on each side).
        stiffness [N/m], damping [N s/m] and friction: per taxel; 0: the default, as for thickness [m]. mask:
        the copies to compute (None: all). forces, heights: arrays to write to; rows of other copies keep
        their values (0 in arrays that are made here)."""
        desc = structs["orr_tactile_desc"](
            geom=self.find(robot, "geom", geom) if isinstance(geom, str) else geom,
            rows=rows,
            columns=columns,
            normal=numbers(normal, 3, "normal", ctypes.c_double),
            across=numbers(across, 3, "across", ctypes.c_double),
            centre=numbers(centre, 3, "centre", ctypes.c_double),
            size=numbers(size, 2, "size", ctypes.c_double),
            stiffness=stiffness,
            damping=damping,
            friction=friction,
            thickness=thickness,
        )
        shape = (self.count, rows, columns)
        if min(rows, columns) < 1:
            raise ValueError(f"{rows} x {columns} taxels: expected 1 or more of each")
        forces = np.zeros((*shape, 3), np.float32) if forces is None else forces
        heights = np.zeros(shape, np.float32) if heights is None else heights
        for name, array, wanted in (("forces", forces, (*shape, 3)), ("heights", heights, shape)):
            if array.shape != wanted or array.dtype != np.float32:
                raise ValueError(f"{name} {array.shape}, {array.dtype}: expected {wanted}, float32")
        call.world_get_tactile_sized(
            self.pointer,
            robot._id,
            ctypes.byref(desc),
            ctypes.sizeof(desc),
            self._mask(mask),
            pointer(forces, np.float32, written=True),
            pointer(heights, np.float32, written=True),
        )
        return forces, heights

    def simulation(self, robot):
        """How the robot is simulated, and how accurately so far: an orr_simulation_info of orrery.h."""
        info = structs["orr_simulation_info"]()
        call.world_simulation_sized(self.pointer, robot._id, ctypes.byref(info), ctypes.sizeof(info))
        return info

    def cuda(self, robot, quantity):
        """A quantity of all copies in GPU memory, without a copy, for torch.from_dlpack: blocks x size x 32,
        where copy w is [w // 32, :, w % 32]. The robot must be simulated alone, on CUDA. Computed quantities
        are valid until the next call with this world."""
        view = structs["orr_cuda_view"]()
        call.world_robot_device_view_sized(
            self.pointer, robot._id, self._quantity(quantity), ctypes.byref(view), ctypes.sizeof(view)
        )
        return cuda_array(view, self)

    def get(self, robot, quantity, mask=None, out=None):
        """A quantity of all copies, count x size, by MuJoCo's name ("qpos", "xpos", "sensordata", "cfrc_ext"
        and the others that ORR_ROBOT_... of orrery.h lists), or by one of these names: "time" [s], "qpos",
        "qvel", "act", "ctrl", "force" (6 per body: force and torque at its centre of mass [N, N m]),
        "equality" (1: active), "joint_force", "mocap_position", "mocap_rotation", and computed:
        "acceleration", "body_position", "body_rotation", "contact_force", "actuator_force", "sensor".

        mask: the copies to read (None: all). out: a float64 or float32 array to write to; rows of other
        copies keep their values (0 in an array that is made here)."""
        shape = (self.count, self._size(robot, quantity))
        if out is None:
            out = np.zeros(shape)
        if out.shape != shape or out.dtype not in (np.float64, np.float32):
            raise ValueError(f"out {out.shape}, {out.dtype}: expected {shape}, float64 or float32")
        number = self._quantity(quantity)
        kind = constant("ORR_NUMBER_", "F32" if out.dtype == np.float32 else "F64")
        values = ctypes.cast(pointer(out, out.dtype, written=True), ctypes.c_void_p)
        call.world_get_robots(self.pointer, robot._id, number, self._mask(mask), kind, values)
        return out

    def set(self, robot, quantity, values, mask=None):
        """Sets a quantity: count x size finite numbers, or `size` numbers for every copy. mask: the copies to
        set (None: all)."""
        size, chosen = self._size(robot, quantity), self._mask(mask)
        values = np.ascontiguousarray(spread(quantity, values, (self.count, size), np.float64))
        rows = np.arange(self.count) if mask is None else np.flatnonzero(mask)
        wrong = np.argwhere(~np.isfinite(values[rows]))
        if len(wrong):
            copy, i = rows[wrong[0, 0]], wrong[0, 1]
            raise ValueError(
                f"{quantity}: number {i} of copy {copy} is {values[copy, i]}: expected a finite number"
            )
        number, kind = self._quantity(quantity), constant("ORR_NUMBER_", "F64")
        values = ctypes.cast(pointer(values, np.float64), ctypes.c_void_p)
        call.world_set_robots(self.pointer, robot._id, number, chosen, kind, values)

    def get_soft(self, layer, index=0):
        """Positions [m], in the scene's frame, and velocities [m/s] of the vertices of a soft layer in one
        copy: two arrays, n x 3."""
        position, velocity = (np.empty(layer.soft_mesh["rest"].shape) for _ in range(2))
        call.world_get_soft(
            self.pointer, index, layer._id, pointer(position, np.float64), pointer(velocity, np.float64)
        )
        return position, velocity

    def set_soft(self, layer, position=None, velocity=None, index=0):
        """Sets positions and velocities of the vertices of a soft layer in one copy (None: unchanged). A
        layer that nodes of a robot move follows "qpos", and can only be read."""
        shape, given = layer.soft_mesh["rest"].shape, []
        for values in (position, velocity):
            values = None if values is None else np.ascontiguousarray(values, np.float64)
            if values is not None and values.shape != shape:
                raise ValueError(f"{values.shape}: expected {shape}")
            given.append(None if values is None else pointer(values, np.float64))
        call.world_set_soft(self.pointer, index, layer._id, *given)

    def move(self, layer, position=(0, 0, 0), rotation=(1, 0, 0, 0), scale=1.0, index=0):
        """Sets the transform of a layer in one copy."""
        call.world_set_transform(
            self.pointer, index, layer._id, ctypes.byref(transform(position, rotation, scale))
        )

    def grab(self, layer, point, body=1):
        """Takes hold of a robot, a moving body or a soft body at a point of the scene, in copy 0, as the
        mouse does in the viewer. body: of a robot, a name or an index. A spring pulls until `release`."""
        if isinstance(body, str):
            body = self.find(layer, "body", body)
        call.world_grab(self.pointer, layer._id, body, numbers(point, 3, "point", ctypes.c_double))

    def pull(self, layer, to):
        """Moves the point that is held to a place of the scene, where steps bring it."""
        call.world_pull(self.pointer, layer._id, numbers(to, 3, "to", ctypes.c_double))

    def release(self, layer):
        """Lets go of what `grab` holds."""
        call.world_release(self.pointer, layer._id)

    def place(self, layer, camera, x, y, up=(0, 0, 0), turn=0.0, scale=0.0, index=0):
        """Places a layer upright on the surface that the camera sees at pixel x, y. up (0, 0, 0): the
        scene's; turn [rad]: about the vertical; scale 0: unchanged."""
        view = structs["orr_view"](camera=camera, world=index)
        desc = structs["orr_place_desc"](numbers(up, 3, "up"), turn, scale)
        call.world_place_sized(
            self.pointer,
            ctypes.byref(view),
            ctypes.sizeof(view),
            x,
            y,
            layer._id,
            ctypes.byref(desc),
            ctypes.sizeof(desc),
        )

    def pick(self, camera, x, y, index=0):
        """What the camera sees at pixel x, y of a picture of one copy: a Hit, or None where nothing is. The
        nearest triangle counts, and clouds and fields where their alpha is 0.5 or more."""
        hit, view = structs["orr_hit"](), view_of(camera, index)
        call.world_pick_sized(
            self.pointer, ctypes.byref(view), ctypes.sizeof(view), x, y, ctypes.byref(hit), ctypes.sizeof(hit)
        )
        return Hit(self.scene, hit) if hit.layer.slot else None

    def save(self, path, camera=None, index=0):
        """Writes a scene file of what one copy shows: layers that come from files, cameras and light.

        camera: an additional camera, after those of the scene."""
        call.world_save(
            self.pointer, index, ctypes.byref(camera) if camera is not None else None, os.fsencode(path)
        )

    def body(self, robot, body, index=0):
        """Position (3) and rotation (quaternion w, x, y, z) of the frame of a body in one copy.

        body: a name or an index."""
        if isinstance(body, str):
            body = self.find(robot, "body", body)
        at = structs["orr_transform"]()
        call.world_body_transform(self.pointer, index, robot._id, body, ctypes.byref(at))
        return np.array(at.position), np.array(at.rotation)

    @property
    def cameras(self):
        """The names of all cameras of a copy: first those of the scene, then those of each robot."""
        count = call.world_camera_count(self.pointer)
        return [call.world_camera_name(self.pointer, i).decode() for i in range(count)]

    def camera(self, camera, index=0, size=(0, 0)):
        """The current state of a camera in one copy, given by name or index. size (0, 0): that of its
        file."""
        number = camera
        if isinstance(camera, str):
            if camera not in self.cameras:
                raise ValueError(f"no camera {camera!r}: expected one of {', '.join(self.cameras)}")
            number = self.cameras.index(camera)
        out = structs["orr_camera"]()
        call.world_camera(self.pointer, index, number, *size, ctypes.byref(out))
        return out


class Eyes(Handle):
    """Cameras for learners: the same cameras in every copy of a world. The CPU draws one picture per thread;
    CUDA draws all of them.

    cameras: names or indices of World.cameras, which move with their robots. views: orr_camera objects, the
    same in each copy (Scene.default_camera). size: width, height [px]. smooth_edges: anti-aliased edges of
    meshes and robots, as with a Renderer.
    detail: error in pixels that outlines of round geoms may have. The CPU casts rays at opaque round geoms
    unless smooth_edges is on; other geoms get fewer triangles; splats that are within 2 x detail pixels of
    each other (4 x with antialias) are merged. 0: full detail. cloud_detail: the same for clouds only; None:
    as `detail`; 0: whole clouds, which cost nothing extra where cameras stand still.
    flow: keeps what "flow" needs of the previous pictures. mirrors: draws mirror images on surfaces of robots
    with a reflectance, which takes as long as a second picture. shadows: draws shadows of meshes and robots.
    Without mirrors and shadows, what does not move is drawn only once for cameras that stand still. fog:
    fades meshes, robots and the sky into the fog of the first robot's model.
    device: "cpu", or "cuda", whose pictures can stay in GPU memory (draw_cuda); it does not vary surfaces."""

    def __init__(
        self,
        world,
        cameras=(),
        views=(),
        size=(64, 64),
        background=None,
        antialias=False,
        smooth_edges=False,
        detail=0.1,
        flow=False,
        mirrors=True,
        fog=False,
        device="cpu",
        cloud_detail=None,
        shadows=True,
    ):
        names = world.cameras
        cameras = [cameras] if isinstance(cameras, str) else cameras
        for camera in cameras:
            if isinstance(camera, str) and camera not in names:
                known = ", ".join(filter(None, names)) or "none, the scene has no cameras"
                raise ValueError(f"no camera {camera!r}: expected one of {known}")
        numbers = [names.index(c) if isinstance(c, str) else c for c in cameras]
        desc = structs["orr_eyes_desc"](
            cameras=(ctypes.c_int * len(numbers))(*numbers),
            camera_count=len(numbers),
            views=(structs["orr_camera"] * len(views))(*views),
            view_count=len(views),
            width=size[0],
            height=size[1],
            smooth_edges=smooth_edges,
            detail=detail,
            flow=flow,
            device=constant("ORR_DEVICE_", device),
            cloud_detail=0.0 if cloud_detail is None else cloud_detail or -1.0,
        )
        desc.look.antialias = antialias
        desc.look.no_mirrors = not mirrors
        desc.look.no_shadows = not shadows
        desc.look.fog = fog
        if background is not None:
            desc.look.has_background, desc.look.background[:] = True, [float(v) for v in background]
        self._view_count = len(views)
        self.world, self.shape = world, (world.count, len(numbers) + len(views), size[1], size[0])
        self._planes, self._targets = {}, 0
        made = made_by(call.eyes_create_sized, world.pointer, ctypes.byref(desc), ctypes.sizeof(desc))
        super().__init__(made, "eyes_destroy", world)

    _KINDS = {
        "rgb": (3, np.uint8),
        "rgba": (4, np.float32),
        "depth": (None, np.float32),
        "segmentation": (2, np.int32),
        "normals": (3, np.float32),
        "flow": (2, np.float32),
    }

    def set_looks(
        self,
        camera_offset=0.0,
        camera_turn=0.0,
        light_turn=0.0,
        light=0.0,
        exposure=0.0,
        background=None,
        mask=None,
    ):
        """Sets how the pictures of each copy differ from what its world shows (domain randomisation). What is
        not given stays as in the world. Each value is one for all copies, or one row per copy.

        camera_offset [scene units] (3) and camera_turn (rotation vector [rad], 3): of the cameras, in their
        own axes. light_turn (rotation vector about the scene's axes [rad], 3): of the directions of lights.
        light [EV] (3): change of their red, green and blue. exposure [EV]. background: r, g, b. mask: the
        copies to set (None: all); the others keep their looks."""
        looks = np.zeros(self.shape[0], np.dtype(structs["orr_eyes_look"]))
        given = {
            "camera_offset": camera_offset,
            "camera_turn": camera_turn,
            "light_turn": light_turn,
            "light": light,
            "exposure": exposure,
        }
        for name, values in given.items():
            looks[name] = spread(name, values, looks[name].shape, np.float32)
        if background is not None:
            looks["has_background"] = True
            looks["background"] = spread("background", background, (len(looks), 3), np.float32)
        kind = structs["orr_eyes_look"]
        call.eyes_set_looks_sized(
            self.pointer,
            self.world._mask(mask),
            ctypes.cast(looks.ctypes.data, ctypes.POINTER(kind)),
            ctypes.sizeof(kind),
        )

    def vary_surfaces(self, targets, textures=(), pattern_side=0):
        """Chooses the surfaces that can look different in each copy, in place of earlier ones, and allocates
        memory for them; set_surfaces sets their looks.

        targets: a list of "geom:NAME" or "material:NAME" (of the first robot with that name), layers, or
        tuples of a robot and such a name, or of a mesh and the index of a material. textures: pictures for
        set_surfaces: paths, arrays (uint8, height x width x 3, sRGB), or "texture:NAME" of a robot's model.
        pattern_side: side of patterns in texels, a power of two; 0: 64. Geoms without texture coordinates get
        the picture projected along the axis that they face, over their longest side."""
        surfaces.vary(self, targets, textures, pattern_side)
        self._targets = len(targets)

    def set_surfaces(
        self, pattern="own", picture=0, cells=0, seed=0, colours=0.0, colour=None, mask=None, **finish
    ):
        """Sets the looks of the surfaces of vary_surfaces. What is not given stays as in the world. Each
        value is one for all, or an array that broadcasts to copies x targets.

        pattern: replaces the texture: "own" (keeps it), "flat" (the first of colours), "checker", "gradient",
        "noise", or "picture", the texture with index `picture`. cells: squares of a checker, or lattice
        points of noise, per side. seed: of noise. colours (x 2 x 3): display colours of patterns, 0 to 1.
        colour (x 3): replaces the material's colour, a factor of its texture; white with a pattern. finish:
        emission, specular, shininess, metallic, roughness and reflectance, of materials that have them. mask:
        the copies to set (None: all)."""
        shape = (self.shape[0], self._targets)
        made = surfaces.fill(shape, pattern, picture, cells, seed, colours, colour, finish)
        surfaces.put(self, made, self.world._mask(mask))

    @staticmethod
    def _check(name, names):
        if name not in names:
            raise ValueError(f"{name!r}: expected one of {', '.join(names)}")

    def _shape_of(self, name):
        numbers = self._KINDS[name][0]
        return self.shape + ((numbers,) if numbers else ())

    def draw(self, *planes, mask=None):
        """Draws the copies whose mask is true (None: all). Returns an array for each of `planes` (default
        "rgb"), copies x cameras x height x width:

        "rgb" (uint8, x 3)
        "rgba" (float32, x 4): premultiplied
        "depth" (float32): scene units along the camera's axis; 0: nothing
        "segmentation" (int32, x 2): index of the layer, geom of a robot; -1, -1: nothing
        "normals" (float32, x 3): unit vectors, along the camera's right, down and forward, of the surface of
        "segmentation"; of clouds an estimate from the depth; 0: nothing
        "flow" (float32, x 2): motion of the point of that surface since the copy's previous picture [px], to
        the right and down; 0: nothing, or unknown, as in first pictures and on soft clouds

        Every call returns the same arrays; rows of copies that are not drawn keep their content. Pictures by
        CUDA are copied to them."""
        planes = planes or ("rgb",)
        pictures = structs["orr_eyes_pictures"]()
        for name in planes:
            self._check(name, self._KINDS)
            kind = self._KINDS[name][1]
            if name not in self._planes:
                self._planes[name] = np.zeros(self._shape_of(name), kind)
            setattr(pictures, name, pointer(self._planes[name], kind))
        call.eyes_draw_sized(
            self.pointer, self.world._mask(mask), ctypes.byref(pictures), ctypes.sizeof(pictures)
        )
        drawn = [self._planes[name] for name in planes]
        return drawn[0] if len(drawn) == 1 else drawn

    def draw_cuda(self, *planes, mask=None, stream=0):
        """Draws like draw(), for Eyes on CUDA, without copying to the host. Returns for each of `planes`
        (default "rgb") an array in GPU memory of the same shape and type as draw(), for torch.from_dlpack.
        Each call uses the same memory: a tensor made from an earlier result shows the new pictures.

        stream: the CUDA stream in which earlier pictures are read, a cudaStream_t as a number
        (torch.cuda.current_stream().cuda_stream); its work is finished before the pictures are overwritten.
        0: CUDA's default stream."""
        planes, wanted = planes or ("rgb",), 0
        for name in planes:
            self._check(name, self._KINDS)
            wanted |= constants["ORR_EYES_" + name.upper()]
        pictures = structs["orr_eyes_cuda_pictures"]()
        call.eyes_draw_cuda_sized(
            self.pointer,
            self.world._mask(mask),
            wanted,
            stream,
            ctypes.byref(pictures),
            ctypes.sizeof(pictures),
        )
        drawn = [cuda_pictures(pictures, name, self._shape_of(name), self) for name in planes]
        return drawn[0] if len(drawn) == 1 else drawn

    def set_views(self, views):
        """Moves the views given to the constructor, for the next pictures; their number is fixed."""
        if len(views) != self._view_count:
            raise ValueError(f"{len(views)} views: expected {self._view_count}")
        call.eyes_set_views(self.pointer, (structs["orr_camera"] * len(views))(*views))

    def forget(self, mask=None):
        """Starts a new series of pictures in the copies whose mask is true (None: all): the flow of the next
        pictures is 0, as at the start of an episode."""
        call.eyes_forget(self.pointer, self.world._mask(mask))


class Renderer(Handle):
    """Draws pictures of any scene of its engine. It owns memory, pipelines and frames in flight."""

    def __init__(self, engine):
        desc = structs["orr_frame_desc"]()
        super().__init__(
            made_by(call.frame_create_sized, engine.pointer, ctypes.byref(desc), ctypes.sizeof(desc)),
            "frame_destroy",
            engine,
        )

    def draw(
        self,
        scene,
        camera,
        world=None,
        index=0,
        out=None,
        depth=None,
        background=None,
        antialias=False,
        shadows=True,
        exposure=0.0,
        tone="none",
        smooth_edges=True,
        occlusion_radius=0.0,
        occlusion_strength=1.0,
        mirrors=True,
        fog=False,
    ):
        """Draws one picture: height x width x 4, float32, premultiplied by alpha, display-referred.

        world, index: the copy to draw; None: the scene as it was built. out, depth: arrays to write to
        (float32; depth: height x width, scene units along the camera's axis, 0: nothing). background: r, g,
        b behind everything; None: the scene's, or transparent. shadows: draws those of meshes and robots.
        exposure [EV], tone ("none", "neutral", "agx" or "aces"): for the light of meshes and robots.
        smooth_edges: anti-aliased edges of meshes and robots. occlusion_radius [scene units],
        occlusion_strength (above 0, up to 1): ambient occlusion by meshes and robots within that radius; 0:
        as in the scene file; negative: none. mirrors: draws mirror images on surfaces of robots with a
        reflectance. fog: fades meshes, robots and the sky into the fog of the first robot's model.
        """
        view = view_of(
            camera,
            index,
            background,
            antialias=antialias,
            no_shadows=not shadows,
            hard_edges=not smooth_edges,
            exposure=exposure,
            tone=constant("ORR_TONE_", tone),
            occlusion_radius=occlusion_radius,
            occlusion_strength=occlusion_strength,
            no_mirrors=not mirrors,
            fog=fog,
        )
        picture, out = picture_planes((camera.height, camera.width), out, depth)
        world = World(scene) if world is None else world
        call.frame_submit_sized(
            self.pointer, scene.pointer, world.pointer, ctypes.byref(view), ctypes.sizeof(view)
        )
        call.frame_finish_sized(self.pointer, ctypes.byref(picture), ctypes.sizeof(picture))
        return out

    def compose(self, scene, camera, world, layer, photo, index=0):
        """Draws a layer into a photo taken by the camera. Returns the picture, and the fraction of light that
        the shadow of the layer leaves.

        photo: height x width x 4, as draw returns; the other layers of the scene are what the photo shows."""
        photo = np.ascontiguousarray(photo, np.float32)
        shape = (camera.height, camera.width, 4)
        if photo.shape != shape:
            raise ValueError(f"photo {photo.shape}: expected {shape}")
        view = structs["orr_view"](camera=camera, world=index)
        out, shadow = np.empty(shape, np.float32), np.empty(shape[:2], np.float32)
        call.frame_compose_sized(
            self.pointer,
            scene.pointer,
            world.pointer,
            ctypes.byref(view),
            ctypes.sizeof(view),
            layer._id,
            pointer(photo, np.float32),
            pointer(out, np.float32),
            pointer(shadow, np.float32),
        )
        return out, shadow


def render(scene, camera=None, world=None, size=(640, 480), **options):
    """Draws one picture of a scene, of the shape that Renderer.draw states. camera None: the scene's first
    camera, or one that sees every layer. To draw many pictures, keep a Renderer."""
    if camera is None:
        camera = scene.cameras[0] if scene.cameras else scene.default_camera(size)
        camera.width, camera.height = camera.width or size[0], camera.height or size[1]
    with Renderer(scene.engine) as renderer:
        return renderer.draw(scene, camera, world, **options)
