"""The package against the library: layouts, robots, pictures, errors."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
if "ORRERY_INSTALLED" not in os.environ:
    sys.path.insert(0, str(ROOT / "python"))

import orrery as orr  # noqa: E402
from orrery import _library  # noqa: E402

PENDULUM = """<mujoco><option timestep="0.001"/><worldbody><light pos="0 0 3"/>
<body name="arm" pos="0 0 1"><joint name="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05" rgba="1 0 0 1"/></body></worldbody>
<actuator><motor joint="hinge"/></actuator></mujoco>"""
PAD = """<mujoco><option gravity="0 0 0"/><worldbody><geom name="pad" type="box" size=".02 .02 .01"/>
<body pos="0 0 .029"><freejoint/><geom name="tip" size=".02"/></body></worldbody></mujoco>"""
INCLUDES = Path(_library._header_path).parent


def written(folder, text):
    path = Path(folder) / "robot.xml"
    path.write_text(text)
    return path


class Arguments(unittest.TestCase):
    def test_a_value_of_a_wrong_type_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            scene = orr.Scene(written(folder, PENDULUM))
            with self.assertRaisesRegex(TypeError, r"^1\.5: expected int, as argument 2 of orr_world_step_"):
                orr.World(scene).step(1.5)
            with self.assertRaisesRegex(ValueError, "expected 2"):
                scene.default_camera((64,))
            world, robot = orr.World(scene), scene.robots[0]
            with self.assertRaisesRegex(ValueError, "no camera 'x': expected one of"):
                world.camera("x")
            with self.assertRaisesRegex(ValueError, "capacity -1: expected 0 or more"):
                world.contacts(robot, capacity=-1)
            with self.assertRaisesRegex(TypeError, "mass 'heavy': must be real number"):
                robot.set_physics(mass="heavy")
            with self.assertRaisesRegex(ValueError, "'cone': expected .* hull, sdf, decompose, boxes$"):
                robot.set_physics(shape="cone")


class Training(unittest.TestCase):
    def train(self, folder, output, progress):
        picture = Path(folder) / "red.npy"
        np.save(picture, np.full((4, 4, 4), 0.5, np.float32))
        return orr.train("volume", picture, output, steps=3, batch=256, progress=progress)

    def test_an_output_that_cannot_be_written_is_refused_before_anything_is_learned(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("no/folder/model.ingp", "model.png"):
                with self.assertRaisesRegex(orr.OrreryError, Path(name).name):
                    self.train(folder, Path(folder) / name, lambda info: self.fail("it learns"))

    def test_an_exception_of_the_callers_loses_nothing(self):
        def fail(info):
            raise ZeroDivisionError

        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "model.ingp"
            with self.assertRaises(ZeroDivisionError):
                self.train(folder, output, fail)
            more = orr.Trainer("volume", output.with_name("red.npy"), resume=output)
            self.assertGreater(more.info.steps, 0)

    def test_what_cannot_be_saved_is_not_lost(self):
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "model.ingp"
            with self.assertRaises(orr.OrreryError) as caught:
                self.train(folder, output, lambda info: output.exists() or output.mkdir())
            caught.exception.trainer.save(Path(folder) / "other.ingp")


class Layouts(unittest.TestCase):
    def test_structs_are_as_the_compiler_lays_them_out(self):
        compiler = os.environ.get("CC", "cc")
        lines, expected = [], []
        for name, struct in _library.structs.items():
            lines.append(f'printf("%zu\\n", sizeof({name}));')
            expected.append(_library.ctypes.sizeof(struct))
            for member in (field[0] for field in struct._fields_):
                lines.append(f'printf("%zu\\n", offsetof({name}, {member}));')
                expected.append(getattr(struct, member).offset)
        for name, value in _library.constants.items():
            lines.append(f'printf("%d\\n", (int){name});')
            expected.append(value)
        self.assertGreater(len(expected), 200)
        program = (
            '#include "orrery.h"\n#include <stdio.h>\nint main(void)\n{\n' + "\n".join(lines) + "\n}\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            source, binary = Path(folder) / "layout.c", Path(folder) / "layout"
            source.write_text(program)
            version = Path(folder) / "orrery_version.h"
            version.write_text('#define ORR_VERSION "0"\n')
            subprocess.run([compiler, "-I", INCLUDES, "-I", folder, source, "-o", binary], check=True)
            found = subprocess.run([binary], check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual([int(word) for word in found], expected)

    def test_every_declared_function_is_in_the_library(self):
        for name in _library.header.functions:
            self.assertIsNotNone(getattr(_library.call, name[len("orr_") :]), name)


class Robots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.engine = orr.Engine(threads=2, device="cpu")
        cls.scene = orr.Scene(written(cls.folder.name, PENDULUM), engine=cls.engine)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_copies_move_apart_and_are_reset_by_mask(self):
        world, robot = orr.World(self.scene, 3), self.scene.robots[0]
        world.set(robot, "ctrl", [[0.0], [0.5], [1.0]])
        world.step(100)
        angle = world.get(robot, "qpos")
        self.assertEqual(angle.shape, (3, 1))
        self.assertEqual(angle[0, 0], 0.0)
        self.assertTrue(0.0 < angle[1, 0] < angle[2, 0])
        world.reset(mask=[False, True, False])
        again = world.get(robot, "qpos")
        self.assertEqual(again[1, 0], 0.0)
        self.assertEqual(again[2, 0], angle[2, 0])
        world.step(1, mask=[True, False, False])
        np.testing.assert_allclose(world.get(robot, "time")[:, 0], [0.101, 0.0, 0.1], atol=1e-6)  # f32

    def test_all_copies_are_read_and_set_at_once(self):
        world = orr.World(self.scene, 3)
        robot = self.scene.robots[0]
        joint = world.elements(robot, "joint")[0]
        self.assertEqual((joint.first, joint.count, joint.velocity_count), (0, 1, 1))
        world.set(robot, "qpos", [[0.1], [0.2], [0.3]], mask=[True, False, True])
        np.testing.assert_allclose(world.get(robot, "qpos")[:, 0], [0.1, 0.0, 0.3], atol=1e-7)
        out = np.full((3, 1), -1.0, np.float32)
        world.get(robot, "qpos", mask=[False, False, True], out=out)
        np.testing.assert_allclose(out[:, 0], [-1.0, -1.0, 0.3], atol=1e-7)
        self.assertEqual(world.get(robot, "body_position").shape, (3, 6))
        with self.assertRaisesRegex(ValueError, "^xpos: .*it is computed"):
            world.set(robot, "body_position", np.zeros(6))
        with self.assertRaisesRegex(ValueError, "expected \\(3, 1\\), float64 or float32"):
            world.get(robot, "qpos", out=np.zeros((3, 1), int))

    def test_a_body_is_where_it_hangs(self):
        world = orr.World(self.scene)
        position, rotation = world.body(self.scene.robots[0], "arm")
        np.testing.assert_allclose(position, [0, 0, 1])
        np.testing.assert_allclose(rotation, [1, 0, 0, 0])
        with self.assertRaisesRegex(ValueError, "expected one of world, arm"):
            world.body(self.scene.robots[0], "leg")

    def test_a_picture_shows_the_robot(self):
        camera = orr.look_at((0, -3, 0.8), (0, 0, 0.8), size=(40, 30))
        depth = np.empty((30, 40), np.float32)
        picture = orr.render(self.scene, camera, background=(0, 0, 1), depth=depth, smooth_edges=False)
        self.assertEqual(picture.shape, (30, 40, 4))
        red, blue = picture[15, 20], picture[0, 0]
        self.assertTrue(red[0] > 2 * red[2] and blue[2] == 1.0 and blue[0] == 0.0)
        self.assertAlmostEqual(depth[15, 20], 2.97, delta=0.025)
        self.assertEqual(depth[0, 0], 0.0)

    def test_exposure_and_tone_change_the_robot_alone(self):
        camera = orr.look_at((0, -3, 0.8), (0, 0, 0.8), size=(40, 30))
        draw = lambda **look: orr.render(self.scene, camera, background=(0, 0, 1), **look)
        plain = draw()
        for look in (
            {"exposure": 1.0},
            {"exposure": -1.0},
            {"tone": "neutral"},
            {"tone": "agx"},
            {"tone": "aces"},
        ):
            picture = draw(**look)
            np.testing.assert_array_equal(picture[0, 0], plain[0, 0])
            self.assertTrue((picture[15, 20] != plain[15, 20]).any())
        self.assertTrue(draw(exposure=1.0)[15, 20, 0] > plain[15, 20, 0] > draw(exposure=-1.0)[15, 20, 0])
        with self.assertRaisesRegex(ValueError, "expected one of none, neutral, agx, aces"):
            draw(tone="film")
        with self.assertRaises(orr.ValueRefused):
            draw(exposure=21.0)

    def test_light_from_around_and_from_lamps(self):
        camera = orr.look_at((0, -3, 0.8), (0, 0, 0.8), size=(40, 30))
        path = Path(self.folder.name) / "lit.json"
        path.write_text('{"orrery": 1, "layers": [{"file": "robot.xml"}]}')
        scene = orr.Scene(path, engine=self.engine)
        scene.set_environment(np.full((8, 16, 3), (0.0, 0.0, 0.5)), rotation=30, strength=2)
        picture = orr.render(scene, camera)
        np.testing.assert_allclose(picture[0, 0], (0, 0, 1, 1), atol=5e-3)
        scene.set_environment(None)
        scene.set_probes()
        scene.set_rays()
        scene.add_light("point", position=(0, -1, 1), colour=(0, 1, 0))
        self.assertEqual(orr.render(scene, camera)[15, 20, 2], 0.0)
        scene.clear_lights()
        with self.assertRaises(orr.ValueRefused):
            scene.add_light("spot")
        with self.assertRaisesRegex(ValueError, "height x width x 3"):
            scene.set_environment(np.zeros((8, 16)))

    def test_scene_files_hold_exposure_and_tone(self):
        camera = orr.look_at((0, -3, 0.8), (0, 0, 0.8), size=(40, 30))
        path = Path(self.folder.name) / "bright.json"
        path.write_text('{"orrery": 1, "exposure": 0.5, "tone": "agx", "layers": [{"file": "robot.xml"}]}')
        bright = orr.Scene(path, engine=self.engine)
        for own, plain in (
            ({}, {"exposure": 0.5, "tone": "agx"}),
            ({"exposure": 0.5, "tone": "aces"}, {"exposure": 1.0, "tone": "aces"}),
        ):
            np.testing.assert_array_equal(
                orr.render(bright, camera, **own), orr.render(self.scene, camera, **plain)
            )

    def test_shadows_are_left_out(self):
        model = """<mujoco><worldbody><light directional="true" dir="0 0 -1"/>
          <geom type="plane" size="4 4 1"/><geom type="box" size=".5 .5 .1" pos="0 0 1"/>
          </worldbody></mujoco>"""
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(model)
            file.flush()
            scene = orr.Scene(file.name, engine=self.engine)
        camera = orr.look_at((0, -3, 0.4), (0, 0, 0), size=(40, 30))
        lit, shadowed = (
            orr.render(scene, camera, shadows=shadows)[15, 20, :3].sum() for shadows in (False, True)
        )
        self.assertTrue(lit > 1.2 * shadowed)
        dark, half = (
            orr.render(scene, camera, occlusion_radius=2.0, occlusion_strength=strength)[15, 20, :3].sum()
            for strength in (1.0, 0.5)
        )
        self.assertTrue(dark < half < shadowed)
        with self.assertRaises(orr.ValueRefused):
            orr.render(scene, camera, occlusion_radius=float("nan"))

    def test_floors_mirror(self):
        model = """<mujoco><asset><material name="wet" rgba="0 0 0 1" specular="0" reflectance="0.8"/></asset>
          <worldbody><light directional="true" dir="0 1 -1"/><geom type="plane" size="4 4 1" material="wet"/>
          <geom type="box" size="2 .1 1" pos="0 1 1" rgba="1 0 0 1"/></worldbody></mujoco>"""
        with tempfile.TemporaryDirectory() as folder:
            scene = orr.Scene(written(folder, model), engine=self.engine)
        camera = orr.look_at((0, -3, 1), (0, 0, 0), size=(40, 30))
        world = orr.World(scene)
        with orr.Renderer(self.engine) as renderer:
            wet, dry = (
                renderer.draw(scene, camera, world, mirrors=mirrors, smooth_edges=False)[..., 0]
                for mirrors in (True, False)
            )
        self.assertTrue(wet[15, 20] > 0.3 > 0.1 > dry[15, 20])
        for mirrors, picture in ((True, wet), (False, dry)):
            eyes = orr.Eyes(world, views=[camera], size=(40, 30), detail=0, mirrors=mirrors)
            np.testing.assert_allclose(
                    eyes.draw()[0, 0, ..., 0], 255 * np.minimum(picture, 1.0), atol=0.501
                )

    def test_a_robots_material_becomes_glass(self):
        model = """<mujoco><asset><material name="pane" rgba="1 1 1 1"/></asset><worldbody>
          <light directional="true" dir="0 1 -1"/><geom type="box" size="2 .1 2" pos="0 2 0" rgba="1 0 0 1"/>
          <geom type="box" size="1 .1 1" material="pane"/></worldbody></mujoco>"""
        with tempfile.TemporaryDirectory() as folder:
            scene = orr.Scene(written(folder, model), engine=self.engine)
        camera, robot = orr.look_at((0, -4, 0), (0, 0, 0), size=(40, 30)), scene.robots[0]
        scene.set_rays()

        def greenness():  # of the middle, behind which all is red
            return orr.render(scene, camera)[15, 20, 1]

        before = greenness()
        robot.set_glass("pane", ior=1.2, colour=(1, 1, 1))
        self.assertGreater(before, 2 * greenness())
        robot.set_glass("pane", on=False)
        self.assertEqual(before, greenness())
        with self.assertRaisesRegex(ValueError, "no material 'wall'"):
            robot.set_glass("wall")
        with self.assertRaisesRegex(orr.ValueRefused, "ior"):
            robot.set_glass("pane", ior=0.5)

    def test_eyes_draw_shadows_where_they_are_asked_for(self):
        model = """<mujoco><worldbody><light directional="true" dir="0.3 0 -1"/>
          <geom type="plane" size="4 4 .1"/><geom type="box" size=".5 .5 .5" pos="0 0 1"/>
          </worldbody></mujoco>"""
        with tempfile.TemporaryDirectory() as folder:
            scene = orr.Scene(written(folder, model), engine=self.engine)
        camera = orr.look_at((0, -4, 3), (0, 0, 0), size=(40, 30))
        world = orr.World(scene)
        seen = []
        with orr.Renderer(self.engine) as renderer:
            for shadows in (True, False):
                asked = {"shadows": shadows, "smooth_edges": False}
                picture = renderer.draw(scene, camera, world, **asked)[..., :3]
                eyes = orr.Eyes(world, views=[camera], size=(40, 30), detail=0, **asked)
                seen.append(eyes.draw()[0, 0])
                np.testing.assert_allclose(seen[-1], 255 * np.minimum(picture, 1.0), atol=0.501)
        self.assertGreater(np.abs(seen[0].astype(int) - seen[1]).max(), 50)

    def test_fog_is_drawn_where_it_is_asked_for(self):
        model = """<mujoco><statistic extent="1" center="0 0 0"/>
          <visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/>
          <map fogstart="2" fogend="6"/><rgba fog="0 0 1 1"/></visual><worldbody>
          <geom type="box" size="4 .1 4" pos="0 .1 0" rgba="1 0 0 1"/></worldbody></mujoco>"""
        with tempfile.TemporaryDirectory() as folder:
            scene = orr.Scene(written(folder, model), engine=self.engine)
        camera = orr.look_at((0, -3, 0), (0, 0, 0), size=(40, 30))  # a quarter of the fog before the box
        world = orr.World(scene)
        with orr.Renderer(self.engine) as renderer:
            for fog, expected in ((False, (1, 0, 0)), (True, (0.75, 0, 0.25))):
                picture = renderer.draw(scene, camera, world, fog=fog)
                np.testing.assert_allclose(picture[15, 20, :3], expected, atol=0.002)
                eyes = orr.Eyes(world, views=[camera], size=(40, 30), detail=0, fog=fog)
                np.testing.assert_allclose(
                    eyes.draw()[0, 0, 15, 20], 255 * np.array(expected), atol=1
                )

    def test_eyes_see_every_copy(self):
        world = orr.World(self.scene, 3)
        robot = self.scene.robots[0]
        world.set(robot, "qpos", [[0.0], [0.5], [1.0]])
        camera = self.scene.default_camera((32, 24))
        eyes = orr.Eyes(world, views=[camera], size=(32, 24), detail=0, cloud_detail=0)
        rgb, depth, segmentation = eyes.draw("rgb", "depth", "segmentation")
        self.assertEqual(rgb.shape, (3, 1, 24, 32, 3))
        self.assertEqual((rgb.dtype, depth.shape, segmentation.shape[-1]), (np.uint8, rgb.shape[:-1], 2))
        camera.width, camera.height = 32, 24
        with orr.Renderer(self.scene.engine) as renderer:
            for copy in range(3):
                alone = renderer.draw(self.scene, camera, world, copy, smooth_edges=False)  # as eyes do
                np.testing.assert_allclose(rgb[copy, 0], 255 * alone[..., :3], atol=0.501)
        before = rgb.copy()
        world.set(robot, "qpos", [[2.0]])
        again = eyes.draw(mask=[False, True, False])
        self.assertTrue((again[[0, 2]] == before[[0, 2]]).all() and (again[1] != before[1]).any())
        with self.assertRaisesRegex(ValueError, "expected one of rgb"):
            eyes.draw("heights")

    def test_eyes_say_which_way_surfaces_face(self):
        scene = orr.Scene(engine=self.engine)
        corners = np.array([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]])
        scene.add_mesh("floor", corners, [[0, 1, 2], [0, 2, 3]])
        camera = orr.look_at((0, -3, 4), (0, 0, 0), (0, 0, 1), size=(16, 16))
        normals, depth = orr.Eyes(orr.World(scene), views=[camera], size=(16, 16)).draw("normals", "depth")
        self.assertEqual((normals.shape, normals.dtype), (depth.shape + (3,), np.float32))
        # up, from a camera that looks down by atan(4 / 3)
        self.assertTrue((depth > 0).all())
        np.testing.assert_allclose(normals, np.broadcast_to([0, -0.6, -0.8], normals.shape), atol=1e-6)

    def test_eyes_say_how_surfaces_have_moved(self):
        scene = orr.Scene(engine=self.engine)
        corners = np.array([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]])
        scene.add_mesh("floor", corners, [[0, 1, 2], [0, 2, 3]])
        camera = orr.look_at((0, 0, 4), (0, 0, 0), (0, 1, 0), size=(16, 16))
        world = orr.World(scene, 2)
        eyes = orr.Eyes(world, views=[camera], size=(16, 16), flow=True)
        self.assertFalse(eyes.draw("flow").any())
        eyes.set_looks(camera_offset=(-0.5, 0.25, 0), mask=[False, True])
        flow = eyes.draw("flow")
        self.assertEqual((flow.shape, flow.dtype), ((2, 1, 16, 16, 2), np.float32))
        self.assertFalse(flow[0].any())
        step = np.array([0.5, -0.25]) * camera.focal[0] / 4  # to the right and down
        np.testing.assert_allclose(flow[1], np.broadcast_to(step, flow[1].shape), atol=1e-4)
        eyes.set_looks()
        eyes.forget(mask=[False, True])
        self.assertFalse(eyes.draw("flow").any())
        with self.assertRaisesRegex(ValueError, "flow: expected eyes that were made with it"):
            orr.Eyes(world, views=[camera]).draw("flow")

    def test_views_of_eyes_move(self):
        here = self.scene.default_camera((32, 24))
        there = orr.look_at((0, -3, 1), (0, 0, 0), size=(32, 24))
        world = orr.World(self.scene, 2)
        eyes = orr.Eyes(world, views=[here, there], size=(32, 24))
        before = eyes.draw().copy()
        eyes.set_views([there, here])
        after = eyes.draw()
        self.assertTrue((before == after[:, ::-1]).all() and (before != after).any())
        with self.assertRaisesRegex(ValueError, "1 views: expected 2"):
            eyes.set_views([here])

    def test_a_cloud_is_cut_by_a_box(self):
        def cloud():
            splats = orr.Splats(count=1000)
            splats.position[:] = np.random.default_rng(0).uniform(-1, 1, (1000, 3))
            return splats

        whole, inside, outside = cloud(), cloud(), cloud()
        within = (np.abs(whole.position - [0.2, 0, 0]) < 0.5).all(1)
        inside.crop([0.2, 0, 0], [1, 1, 1])
        outside.crop([0.2, 0, 0], [1, 1, 1], outside=True)
        np.testing.assert_array_equal(inside.position, whole.position[within])
        np.testing.assert_array_equal(outside.position, whole.position[~within])
        with self.assertRaisesRegex(orr.ValueRefused, "a size above 0"):
            inside.crop([0, 0, 0], [1, 0, 1])

    def test_a_cloud_casts_shadows_when_told_to(self):
        scene = orr.Scene(engine=self.engine)
        floor = [[x, 0, z] for x in (-2, 2) for z in (-2, 2)]
        scene.add_mesh("floor", floor, [[0, 1, 2], [2, 1, 3]])
        cloud = orr.Splats(count=200)
        cloud.position[:] = np.random.default_rng(0).uniform(-0.3, 0.3, (200, 3)) + (0, 1, 0)
        cloud.log_scale[:], cloud.opacity[:], cloud.rotation[:] = np.log(0.1), 3.0, (1, 0, 0, 0)
        layer = scene.add_splats("cloud", cloud)
        scene.set_sun(direction=(1, 1, 0), colour=(0.8, 0.8, 0.8), ambient=(0.1, 0.1, 0.1))
        camera = orr.look_at((0, 4, 0.1), (0, 0, 0), up=(0, 0, -1), size=(64, 64))
        shown = {}
        for casting in ("moving", "always", "never"):
            layer.set_shadow_casting(casting)
            shown[casting] = orr.render(scene, camera)
        np.testing.assert_array_equal(shown["moving"], shown["never"])  # it stands still
        darker = (shown["never"][..., :3] - shown["always"][..., :3]).max(-1) > 0.2
        self.assertGreater(darker.sum(), 20)
        self.assertLess(np.argwhere(darker)[:, 1].mean(), 30)  # away from the sun
        with self.assertRaisesRegex(ValueError, "moving"):
            layer.set_shadow_casting("maybe")

    def test_a_soft_body_sags_between_its_pins(self):
        scene = orr.Scene(engine=self.engine)
        side = np.linspace(-0.5, 0.5, 9)
        points = np.array([[x, 0, z] for x in side for z in side])
        first = [9 * i + k for i in range(8) for k in range(8)]
        triangles = [[a, a + 1, a + 9] for a in first] + [[a + 1, a + 10, a + 9] for a in first]
        sheet = scene.add_mesh("sheet", points, triangles)
        with self.assertRaisesRegex(TypeError, "expected one of soft"):
            sheet.set_physics(soften=True)
        with self.assertRaisesRegex(ValueError, "9 pins"):
            sheet.set_physics(soft=True, pin=[(0, 0, 0, 1)] * 9)
        pins = [(x, 0, z, 0.01) for x in (-0.5, 0.5) for z in (-0.5, 0.5)]
        sheet.set_physics(soft=True, cloth=0.01, young=1e4, pin=pins)
        world, camera = orr.World(scene), orr.look_at(
            (0, 0.3, 3), (0, -0.2, 0), up=(0, 1, 0), size=(64, 64)
        )
        before = orr.render(scene, camera, world)
        world.advance(1.0)
        after = orr.render(scene, camera, world)

        def lowest(picture):
            return np.flatnonzero(picture[..., 3].max(1) > 0.5).max()

        self.assertGreater(lowest(after), lowest(before) + 1)
        self.assertLess(lowest(after), 63)  # it has not fallen
        mesh, (position, velocity) = sheet.soft_mesh, world.get_soft(sheet)
        self.assertEqual((mesh["triangles"].shape, mesh["tets"].shape), ((128, 3), (0, 4)))
        self.assertAlmostEqual(mesh["mass"].sum(), 300 * 0.01, 6)
        corners = np.abs(mesh["rest"][:, [0, 2]]).min(1) > 0.49
        np.testing.assert_allclose(position[corners], mesh["rest"][corners], atol=1e-6)
        self.assertLess(position[~corners, 1].min(), -0.05)
        world.set_soft(sheet, mesh["rest"], 0 * velocity)
        np.testing.assert_allclose(world.get_soft(sheet)[0], mesh["rest"], atol=1e-6)
        np.testing.assert_array_equal(orr.render(scene, camera, world), before)
        with self.assertRaisesRegex(ValueError, "expected \\(81, 3\\)"):
            world.set_soft(sheet, position[:4])

    def test_refusals_are_exceptions_of_one_line(self):
        world, robot = orr.World(self.scene, 2), self.scene.robots[0]
        with self.assertRaises(orr.FileError) as caught:
            orr.Scene("/absent.xml", engine=self.engine)
        self.assertIn("/absent.xml", str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))
        self.assertIsInstance(caught.exception, OSError)
        with self.assertRaises(orr.ValueRefused):
            self.scene.robots[0].set_physics(mass=1.0)
        with self.assertRaisesRegex(ValueError, r"ctrl \(3, 1\): expected .* to \(2, 1\)"):
            world.set(robot, "ctrl", np.zeros((3, 1)))
        with self.assertRaisesRegex(ValueError, r"body_mass \(9,\): expected a shape"):
            world.set_parameter(robot, "body_mass", np.ones(9))
        for wrong in ([0, 2], [0.5, 1]):
            with self.assertRaisesRegex(ValueError, "mask: expected true or false"):
                world.reset(mask=wrong)
        world.reset(mask=np.array([0, 1], np.uint8))
        with self.assertRaisesRegex(ValueError, r"expected \(2,\)"):
            world.reset(mask=[True])
        with self.assertRaisesRegex(ValueError, "expected one of"):
            world.get(robot, "speed")
        with self.assertRaisesRegex(TypeError, "argument 2 of orr_world_step_masked"):
            world.step("many")
        with self.assertRaisesRegex(ValueError, "ctrl: number 0 of copy 1 is nan: expected a finite number"):
            world.set(robot, "ctrl", [[0.0], [np.nan]])
        world.set(robot, "ctrl", [[0.0], [np.nan]], mask=[True, False])  # which is not set
        frozen = np.zeros((2, 1))
        frozen.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only"):
            world.get(robot, "qpos", out=frozen)
        picture = np.zeros((12, 16, 4), np.float32)
        picture.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only"):
            orr.render(self.scene, size=(16, 12), out=picture)
        self.assertEqual(np.abs(frozen).max() + np.abs(picture).max(), 0.0)
        world.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            world.step()


BALL = """<mujoco><option timestep="0.001" gravity="0 0 -10"/><worldbody>
<geom name="floor" type="plane" size="0 0 1" friction="1 0.01 0.001"/>
<body name="ball" pos="0 0 0.0999"><freejoint/><site name="top" pos="0 0 0.1"/>
<geom name="skin" type="sphere" size="0.1" mass="2"/></body></worldbody></mujoco>"""


class Batches(unittest.TestCase):
    def world(self, count=5, **options):
        with tempfile.TemporaryDirectory() as folder:
            scene = orr.Scene(written(folder, BALL))
        return orr.World(scene, count, **options), scene.robots[0]

    def test_parameters_differ_between_copies(self):
        world, robot = self.world(precision="f64")
        self.assertEqual(world.parameter(robot, "body_mass")[0].tolist(), [0, 2])
        world.set_parameter(robot, "body_mass", [0, 8], mask=np.arange(5) == 3)
        world.set(robot, "joint_force", [0, 0, 100, 0, 0, 0])
        world.forward()
        up = world.get(robot, "qacc")[:, 2]
        np.testing.assert_allclose(up, [40, 40, 40, 2.5, 40], rtol=1e-9)
        with self.assertRaisesRegex(ValueError, "body_mass: world 0, number 1: expected at least 0"):
            world.set_parameter(robot, "body_mass", [0, -1])
        with self.assertRaisesRegex(ValueError, "expected one of body_mass"):
            world.parameter(robot, "colour")
        self.assertTrue(world.simulation(robot).double_precision)

    def test_copies_that_diverge_are_named_and_restart(self):
        world, robot = self.world()
        bad = np.zeros((5, 6))
        bad[3] = 1e30
        world.set(robot, "qvel", bad)
        world.step(2)
        self.assertEqual(world.diverged(robot).tolist(), [False, False, False, True, False])
        self.assertEqual(world.restarts(robot).tolist(), [0] * 5)
        world.reset()
        world.set_autoreset()
        world.set(robot, "qvel", bad)
        world.step(2)
        self.assertFalse(world.diverged(robot).any())
        self.assertEqual(world.restarts(robot).tolist(), [0, 0, 0, 1, 0])
        world.reset()
        world.set_autoreset(False)
        world.set(robot, "qvel", bad)
        world.step(2)
        self.assertTrue(world.diverged(robot)[3])

    def test_a_hand_pulls(self):
        world, robot = self.world()
        with self.assertRaisesRegex(ValueError, "nothing of it is held"):
            world.pull(robot, (0, 0, 1))
        world.grab(robot, (0, 0, 0.1999), "ball")
        world.pull(robot, (0.3, 0, 1))
        world.step(4000)
        self.assertGreater(world.get(robot, "qpos")[0, 2], 0.5)
        self.assertLess(world.get(robot, "qpos")[1, 2], 0.11)  # of the first copy alone
        world.release(robot)
        world.step(2000)
        self.assertLess(world.get(robot, "qpos")[0, 2], 0.11)

    def test_a_layer_moves_with_a_body(self):
        world, robot = self.world()
        flag = world.scene.add_mesh("flag", np.eye(3), [[0, 1, 2]])
        camera = orr.look_at((5, 5, 4), (0, 0, 2), size=(48, 32))
        world.set(robot, "qpos", [0, 0, 3, 1, 0, 0, 0])
        before = orr.render(world.scene, camera, world=world)
        flag.bind(robot, "ball")  # which takes it 3 m up
        self.assertGreater(np.abs(orr.render(world.scene, camera, world=world) - before).max(), 0.1)
        with self.assertRaisesRegex(ValueError, "bll"):
            flag.bind(robot, "bll")

    def test_mujocos_names_and_several_quantities(self):
        world, robot = self.world()
        places, speeds = world.read(robot, "xpos", "cvel", dtype=np.float32)
        self.assertEqual((places.shape, places.dtype, speeds.shape), ((5, 6), np.float32, (5, 12)))
        np.testing.assert_array_equal(places, world.get(robot, "xpos").astype(np.float32))
        np.testing.assert_array_equal(world.get(robot, "sensordata"), world.get(robot, "sensor"))
        with self.assertRaisesRegex(ValueError, "'xpo': expected one of"):
            world.read(robot, "xpo")

    def test_contacts_and_jacobians(self):
        world, robot = self.world(precision="f64")
        counts, contacts = world.contacts(robot, capacity=4)
        self.assertEqual(counts.tolist(), [1] * 5)
        first = contacts[2, 0]
        names = world.names(robot, "geom")
        self.assertEqual([names[first["geom1"]], names[first["geom2"]]], ["floor", "skin"])
        np.testing.assert_allclose(first["distance"], -1e-4, atol=1e-9)
        jacp, jacr = world.jacobian(robot, "site", "top")
        np.testing.assert_allclose(jacp[1], [[1, 0, 0, 0, 0.1, 0], [0, 1, 0, -0.1, 0, 0], [0, 0, 1, 0, 0, 0]],
                                   atol=1e-12)  # fmt: skip
        np.testing.assert_allclose(jacr[1][:, 3:], np.eye(3), atol=1e-12)
        with self.assertRaisesRegex(ValueError, "no site 'bottom': expected one of top"):
            world.jacobian(robot, "site", "bottom")
        with self.assertRaisesRegex(ValueError, r"points \(2, 3\): expected \(5, 3\)"):
            world.jacobian(robot, "body", 1, points=np.zeros((2, 3)))

    def test_a_ball_is_felt_and_leaves_its_print(self):
        with tempfile.TemporaryDirectory() as folder:
            scene = orr.Scene(written(folder, PAD))
        world, robot = orr.World(scene, 3, precision="f64"), scene.robots[0]
        q = world.get(robot, "qpos")
        q[:, 2] += [0, -0.001, 0.001]                   # 1 mm deep as built
        world.set(robot, "qpos", q)
        forces, heights = world.tactile(robot, "pad", rows=7, columns=5, size=(0.016, 0.03), stiffness=100)
        self.assertEqual((forces.shape, heights.shape), ((3, 7, 5, 3), (3, 7, 5)))
        np.testing.assert_allclose(heights[:, 3, 2], [0.001, 0.002, 0], atol=1e-8)
        np.testing.assert_allclose(forces[:, 3, 2], [[0.1, 0, 0], [0.2, 0, 0], [0, 0, 0]], atol=1e-7)
        self.assertEqual((heights[0] > 0).sum(), 5)     # a print of 6.2 mm, taxels 4 and 5 mm apart
        some, only = np.full((3, 20, 25, 3), 7, np.float32), np.zeros((3, 20, 25), np.float32)
        world.tactile(robot, 0, mask=[False, True, False], forces=some, heights=only)
        self.assertTrue((some[[0, 2]] == 7).all() and only[1].max() > 0 and not only[[0, 2]].any())
        with self.assertRaisesRegex(ValueError, "no geom 'finger': expected one of pad"):
            world.tactile(robot, "finger")
        with self.assertRaisesRegex(ValueError, r"heights \(3, 20, 25\), float64: expected"):
            world.tactile(robot, "pad", heights=np.zeros((3, 20, 25)))
        with self.assertRaisesRegex(TypeError, "expected contiguous float32"):
            world.tactile(robot, "pad", heights=np.zeros((3, 25, 20), np.float32).transpose(0, 2, 1))
        with self.assertRaisesRegex(ValueError, "0 x 25 taxels: expected 1 or more"):
            world.tactile(robot, "pad", rows=0)
        with self.assertRaisesRegex(ValueError, "row 0, column 0 is beside its geom"):
            world.tactile(robot, "pad", size=(0.2, 0.1))

    def test_a_gel_is_lit_where_it_slopes(self):
        heights = np.zeros((2, 9, 9), np.float32)
        heights[1] = 0.25 * 1e-4 * np.arange(9, 0, -1)      # falls along the columns
        rgb = orr.tactile_pictures(heights, 1e-4)
        self.assertEqual((rgb.shape, rgb.dtype), ((2, 9, 9, 3), np.uint8))
        self.assertTrue((rgb[0] == 128).all())
        np.testing.assert_array_equal(rgb[1, 4, 4], [155, 109, 109])
        table = np.zeros((125, 125, 3, 6), np.float32)
        table[..., 1, 5] = 10                               # green, wherever
        green = orr.tactile_pictures(heights[0], 1e-4, table, np.full((9, 9, 3), 20))
        self.assertTrue((green == [20, 30, 20]).all())
        with self.assertRaisesRegex(ValueError, r"table .*: expected \(125, 125, 3, 6\)"):
            orr.tactile_pictures(heights, 1e-4, table[..., :5])
        with self.assertRaisesRegex(ValueError, "a pixel of 0 m: expected more than 0"):
            orr.tactile_pictures(heights, 0)

    def test_looks_change_pictures_of_their_copies(self):
        world, robot = self.world(3)
        eyes = orr.Eyes(world, views=[world.scene.default_camera((32, 32))], size=(32, 32))
        before = eyes.draw("rgba").copy()
        eyes.set_looks(light=-2.0, mask=[False, True, False])
        after = eyes.draw("rgba")
        np.testing.assert_array_equal(before[[0, 2]], after[[0, 2]])
        self.assertLess(after[1].mean(), before[1].mean())
        with self.assertRaisesRegex(ValueError, "the look of copy 0"):
            eyes.set_looks(exposure=float("nan"))

    def test_surfaces_differ_between_copies(self):
        world, robot = self.world(4)
        eyes = orr.Eyes(world, views=[world.scene.default_camera((32, 32))], size=(32, 32))
        before = eyes.draw("rgba").copy()
        name = world.names(robot, "geom")[0]
        stripes = np.zeros((8, 8, 3), np.uint8)
        stripes[::2] = 255
        eyes.vary_surfaces(["geom:" + name, robot], [stripes], pattern_side=32)
        np.testing.assert_array_equal(before, eyes.draw("rgba"))
        eyes.set_surfaces(
            pattern=[["own"], ["noise"], ["picture"], ["flat"]],
            seed=[[0], [1], [2], [3]],
            colours=[[1, 0, 0], [0, 1, 0]],
            specular=0.9,
            mask=[False, True, True, True],
        )
        after = eyes.draw("rgba")
        np.testing.assert_array_equal(before[0], after[0])
        for i in range(1, 4):
            self.assertTrue((before[i] != after[i]).any())
        red = after[3, 0][after[3, 0, ..., 3] == 1]  # light is white, and no other colour is left
        self.assertGreater(red[:, 0].mean(), red[:, 1].mean() + 0.05)
        shape = r"colours \(5, 3\): expected a shape that broadcasts to \(4, 2, 2, 3\)"
        refused = {
            "copy 0, target 0: picture 7: expected one of 1": {"pattern": "picture", "picture": 7},
            "'stripes': expected one of own, flat, checker, gradient, noise, picture": {"pattern": "stripes"},
            shape: {"colours": np.ones((5, 3))},
            "copy 0, target 0: roughness 2: expected 0 to 1": {"roughness": 2},
        }
        for message, wrong in refused.items():
            with self.assertRaisesRegex(ValueError, message):
                eyes.set_surfaces(**wrong)
        with self.assertRaisesRegex(ValueError, "eyes: surfaces: expected some that vary"):
            orr.Eyes(world, views=[world.scene.default_camera()]).set_surfaces()
        with self.assertRaisesRegex(TypeError, "'gloss': expected one of emission"):
            eyes.set_surfaces(gloss=1)
        with self.assertRaisesRegex(ValueError, "target 0: expected a robot with material wood"):
            eyes.vary_surfaces(["material:wood"])
        with self.assertRaisesRegex(ValueError, "target 'wood': expected 'geom:NAME'"):
            eyes.vary_surfaces(["wood"])
        with self.assertRaisesRegex(ValueError, r"texture float32 \(2, 2, 3\): expected uint8"):
            eyes.vary_surfaces([robot], [np.zeros((2, 2, 3), np.float32)])

    def test_soft_bodies_without_texture_coordinates_take_colours(self):
        scene = orr.Scene()
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.3
        sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        triangles = [corner for a, b, c, d in sides for corner in ((a, b, c), (a, c, d))]
        block = scene.add_mesh("block", corners, triangles)
        block.set_physics(soft=True, resolution=2)
        world = orr.World(scene, 2)
        eyes = orr.Eyes(world, views=[scene.default_camera((24, 24))], size=(24, 24))
        before = eyes.draw("rgba").copy()
        eyes.vary_surfaces([block])
        with self.assertRaisesRegex(ValueError, "copy 0, target 0: a pattern for a soft body"):
            eyes.set_surfaces("noise")
        eyes.set_surfaces("flat", colours=[[1, 0, 0], [0, 0, 0]], mask=[False, True])
        after = eyes.draw("rgba")
        np.testing.assert_array_equal(before[0], after[0])
        seen = after[1][after[1, ..., 3] == 1]
        self.assertTrue(len(seen) > 20 and (seen[:, 0] > seen[:, 1]).all())


class Placing(unittest.TestCase):
    def test_a_layer_is_put_on_the_surface_that_is_seen(self):
        scene = orr.Scene()
        square = np.array([[-2, 0, -2], [2, 0, -2], [2, 0, 2], [-2, 0, 2]])
        scene.add_mesh("floor", square, [[0, 2, 1], [0, 3, 2]])
        camera = scene.default_camera((64, 64))
        corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * 0.5
        sides = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
        stone = scene.add_mesh("stone", corners, sides, colour=(1, 0, 0, 1), position=(9, 0, 9))
        world = orr.World(scene, 2)
        for up in ((0, 0, 0), (0, 1, 0)):
            world.place(stone, camera, 32, 32, up=up, index=1)
        with self.assertRaisesRegex(ValueError, "up: 2 numbers, expected 3"):
            world.place(stone, camera, 32, 32, up=(0, 1))
        before, after = (orr.render(scene, camera, world=world, index=i) for i in range(2))
        self.assertGreater(np.abs(before - after).max(), 0.01)


    def test_what_stays_keeps_its_state_when_a_layer_is_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            scene = orr.Scene()
            stays, goes = (scene.add(written(folder, PENDULUM), position=(x, 0, 0)) for x in (0, 3))
        world = orr.World(scene)
        world.set(stays, "qpos", 0.5)
        world.step(50)
        before = world.get(stays, "qpos")
        goes.remove()
        self.assertEqual(repr(goes), "<orrery.Layer that was removed>")
        np.testing.assert_array_equal(world.get(stays, "qpos"), before)
        self.assertEqual(len(scene.layers), 1)
        world.step(1)
        self.assertNotEqual(world.get(stays, "qpos")[0, 0], before[0, 0])
        with self.assertRaisesRegex(ValueError, "expected a layer that is in the scene"):
            world.get(goes, "qpos")


def ball(n=12, radius=0.5):
    """A closed mesh of a ball: vertices and triangles."""
    rows, columns = np.meshgrid(np.linspace(0, np.pi, n), np.linspace(0, 2 * np.pi, n), indexing="ij")
    vertices = np.stack(
        [np.sin(rows) * np.cos(columns), np.sin(rows) * np.sin(columns), np.cos(rows)], -1
    ).reshape(-1, 3)
    corner = np.arange(n * n).reshape(n, n)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    triangles = [np.stack([a, b, c], -1), np.stack([a, c, d], -1)]
    return radius * vertices, np.concatenate(triangles).reshape(-1, 3)


class Colliders(unittest.TestCase):
    def test_distances_of_a_ball(self):
        scene = orr.Scene()
        layer = scene.add_mesh("ball", *ball(40))
        with layer.make_collider(cell=0.02) as collider, tempfile.TemporaryDirectory() as folder:
            self.assertAlmostEqual(collider.info["cell"], 0.02)
            low, high = collider.info["bounds"]
            self.assertTrue((low < -0.5).all() and (high > 0.5).all())
            points = np.array([[[0.6, 0, 0], [0, 0, 0.45]], [[0, -0.5, 0], [0.3, 0.4, 0]]])
            distances, slopes = collider.distance(points, gradients=True)
            np.testing.assert_allclose(distances, [[0.1, -0.05], [0.0, 0.0]], atol=0.01)
            np.testing.assert_allclose(slopes, points / np.linalg.norm(points, axis=2)[..., None], atol=0.2)
            self.assertEqual(collider.distance([0.6, 0, 0]).shape, ())
            collider.save(Path(folder) / "ball.collider")
            again = orr.Collider(Path(folder) / "ball.collider")
            np.testing.assert_array_equal(again.distance(points), distances)
            shown = scene.add_collider("shown", again, position=(2, 0, 0))
            self.assertEqual(shown.kind, "mesh")
            np.testing.assert_allclose(shown.bounds[1], 0.5, atol=0.02)
            with self.assertRaisesRegex(ValueError, "points \\(2,\\): expected"):
                again.distance([0.0, 1.0])
            with self.assertRaisesRegex(ValueError, "'up': expected one of auto, outside, inside"):
                layer.make_collider(side="up")
            with self.assertRaisesRegex(orr.FileError, "none.collider"):
                orr.Collider(Path(folder) / "none.collider")

    def test_friction_of_nothing_is_none(self):
        speeds = []
        for friction in (0.0, 1.0):
            scene = orr.Scene()
            vertices = [[x, y, z] for x in (-3, 3) for y in (-0.2, 0) for z in (-3, 3)]
            sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
            triangles = [[s[0], s[1], s[2]] for s in sides] + [[s[0], s[2], s[3]] for s in sides]
            ground = scene.add_mesh("ground", vertices, triangles)
            small = np.array(vertices) * (0.05, 0.5, 0.05)
            box = scene.add_mesh("box", small, triangles, position=(0, 0.1, 0))
            ground.set_physics(shape="hull", friction=friction)
            box.set_physics(mass=1.0, friction=0.0)
            world = orr.World(scene)
            world.set(box, "qvel", [1.0, 0, 0, 0, 0, 0])
            world.advance(1.0)
            speeds.append(world.get(box, "qvel")[0, 0])
        self.assertGreater(speeds[0], 0.99)
        self.assertLess(abs(speeds[1]), 1e-3)
        with self.assertRaisesRegex(ValueError, "friction -1.0: expected 0 or more"):
            box.set_physics(mass=1.0, friction=-1.0)


class Looking(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.scene = orr.Scene(written(cls.folder.name, PENDULUM))
        cls.camera = orr.look_at((0, -3, 0.8), (0, 0, 0.8), size=(40, 30))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_what_is_under_a_pixel(self):
        world = orr.World(self.scene)
        hit = world.pick(self.camera, 20, 15)
        self.assertEqual((hit.layer.kind, hit.robot.name, hit.geom), ("robot", hit.layer.name, 0))
        self.assertEqual(world.names(hit.robot, "body")[hit.body], "arm")
        self.assertAlmostEqual(hit.depth, 2.95, delta=0.01)
        np.testing.assert_allclose(hit.position, [0, -0.05, 0.8], atol=0.05)
        self.assertEqual((hit.triangle, hit.geom_name), (-1, ""))
        self.assertIsNone(world.pick(self.camera, 1, 1))
        with self.assertRaisesRegex(orr.ValueRefused, "expected"):
            world.pick(self.camera, 41, 1)

    def test_paths_are_traced(self):
        world = orr.World(self.scene)
        with orr.Reference(self.scene, self.camera, world, seed=3, background=(0, 0, 1)) as reference:
            self.assertEqual(reference.info.samples, 0)
            reference.advance(2)
            reference.advance(2)
            depth = np.zeros((30, 40), np.float32)
            picture = reference.picture(depth=depth)
            self.assertEqual((reference.info.samples, picture.shape), (4, (30, 40, 4)))
            self.assertTrue(0.0 < reference.info.error < 1.0)
            self.assertGreater(picture[15, 20, 0], 0.2)
            np.testing.assert_allclose(picture[0, 0], (0, 0, 1, 1), atol=1e-6)
            self.assertAlmostEqual(depth[15, 20], 2.97, delta=0.03)
            with self.assertRaisesRegex(orr.ValueRefused, "0 samples: expected 1 or more"):
                reference.advance(0)
        again = orr.Reference(self.scene, self.camera, world, seed=3, background=(0, 0, 1))
        again.advance(4)
        np.testing.assert_array_equal(again.picture(), picture)


class Policies(unittest.TestCase):
    def test_a_policy_learns_is_saved_and_acts(self):
        task = """{"orrery_task": 1, "name": "Swing", "frame_skip": 5,
            "observation": [{"of": "qpos"}, {"of": "qvel"}], "reward": [{"of": "qvel"}]}"""
        with tempfile.TemporaryDirectory() as folder:
            path, file = Path(folder) / "swing.json", Path(folder) / "swing.policy"
            path.write_text(task)
            limited = PENDULUM.replace("<motor", '<motor ctrlrange="-1 1"')
            robot = written(folder, limited)
            trainer = orr.PolicyTrainer(path, robot, count=64, horizon=4, width=16, seed=1)
            self.assertEqual(trainer.step(2).steps, 512)
            trainer.save(file)
            policy = orr.Policy(file)
            info = policy.info
            self.assertEqual((info["task"], info["observation_count"], info["action_count"]), ("Swing", 2, 1))
            self.assertEqual((info["steps"], info["task_text"]), (512, task))
            seen = np.random.default_rng(0).normal(size=(70, 2))
            actions = policy.act(seen)
            self.assertEqual((actions.shape, actions.dtype), ((70, 1), np.float32))
            np.testing.assert_array_equal(actions, trainer.act(seen))
            np.testing.assert_allclose(policy.act(seen[3]), actions[3], atol=1e-6)
            more = orr.PolicyTrainer(path, robot, resume=file)
            more.step()
            trainer.step()
            np.testing.assert_array_equal(more.act(seen), trainer.act(seen))
            with self.assertRaisesRegex(ValueError, r"observations \(70, 3\): expected \(count x\) 2"):
                policy.act(np.zeros((70, 3)))
            file.write_bytes(b"noise")
            with self.assertRaisesRegex(orr.ValueRefused, "swing.policy: expected a policy"):
                orr.Policy(file)


class Capsules(unittest.TestCase):
    def test_a_consumer_shares_the_memory_and_keeps_its_owner(self):
        import gc
        import weakref

        from orrery import dlpack

        class Owner:
            numbers = np.arange(24.0)

        owner = Owner()
        array = dlpack.DeviceArray(owner.numbers.ctypes.data, (2, 3, 2), (12, 2, 1), 64, (1, 0), owner)
        for versioned in (False, True):
            capsule = array.__dlpack__(max_version=(1, 0) if versioned else None)
            self.assertEqual(len(dlpack._alive), 1)
            del capsule  # nobody took it
            self.assertEqual(len(dlpack._alive), 0)
        taken = np.from_dlpack(array)
        np.testing.assert_array_equal(taken[1], [[12, 13], [14, 15], [16, 17]])
        Owner.numbers[12] = -1
        self.assertEqual(taken[1, 0, 0], -1)
        alive = weakref.ref(owner)
        del owner, array
        gc.collect()
        self.assertIsNotNone(alive())
        del taken
        gc.collect()
        self.assertIsNone(alive())

    def test_what_cannot_be_given_is_refused(self):
        from orrery import dlpack

        array = dlpack.DeviceArray(0, (1,), (1,), 32, (2, 0), None)
        with self.assertRaisesRegex(BufferError, "copy=True"):
            array.__dlpack__(copy=True)
        with self.assertRaisesRegex(BufferError, "dl_device"):
            array.__dlpack__(dl_device=(1, 0))

    def test_quantities_on_cuda(self):
        with tempfile.TemporaryDirectory() as folder:
            scene = orr.Scene(written(folder, BALL))
        with self.assertRaisesRegex(ValueError, "expected worlds on a CUDA device"):
            orr.World(scene, 3, device="cpu").cuda(scene.robots[0], "qpos")
        try:
            world = orr.World(scene, 40, device="cuda")
        except orr.OrreryError:
            self.skipTest("no CUDA device")
        array = world.cuda(scene.robots[0], "qpos")
        self.assertEqual((array.shape, array.__dlpack_device__()[0]), ((2, 7, 32), 2))
        self.assertEqual(array.strides[1:], (32, 1))

    def test_bytes_are_shared_too(self):
        from orrery import dlpack

        numbers = np.arange(6, dtype=np.uint8)
        taken = np.from_dlpack(dlpack.DeviceArray(numbers.ctypes.data, (3, 2), (2, 1), 8, (1, 0), numbers))
        self.assertEqual(taken.dtype, np.uint8)
        np.testing.assert_array_equal(taken, [[0, 1], [2, 3], [4, 5]])

    def test_pictures_on_cuda(self):
        with tempfile.TemporaryDirectory() as folder:
            scene = orr.Scene(written(folder, BALL))
        world = orr.World(scene, 3)
        camera = scene.default_camera((20, 12))
        with self.assertRaisesRegex(NotImplementedError, "expected cpu or cuda"):
            orr.Eyes(world, views=[camera], size=(20, 12), device="vulkan")
        with self.assertRaisesRegex(NotImplementedError, "expected eyes whose device is cuda"):
            orr.Eyes(world, views=[camera], size=(20, 12)).draw_cuda()
        try:
            eyes = orr.Eyes(world, views=[camera], size=(20, 12), device="cuda")
        except orr.OrreryError:
            self.skipTest("no CUDA device")
        with self.assertRaisesRegex(ValueError, "'alpha': expected one of rgb, rgba, depth, seg"):
            eyes.draw_cuda("alpha")
        with self.assertRaisesRegex(ValueError, "flow: expected eyes that were made with it"):
            eyes.draw_cuda("flow")
        rgb, depth = eyes.draw_cuda("rgb", "depth", mask=[True, False, True])
        self.assertEqual((rgb.shape, rgb.strides), ((3, 1, 12, 20, 3), (720, 720, 60, 3, 1)))
        self.assertEqual((depth.shape, depth.strides), ((3, 1, 12, 20), (240, 240, 20, 1)))
        self.assertEqual((rgb.bits, depth.bits, rgb.__dlpack_device__()[0]), (8, 32, 2))
        self.assertEqual(eyes.draw_cuda("rgb").address, rgb.address)
        names = eyes.draw_cuda("segmentation")
        self.assertEqual((names.shape, names.bits), ((3, 1, 12, 20, 2), 32))
        self.assertEqual([array._kind for array in (names, rgb, depth)], [0, 1, 2])  # int, uint, float
        planes = ("rgb", "depth", "segmentation", "normals", "flow")
        device, host = (  # in full: the CPU casts rays at round geoms otherwise
            orr.Eyes(world, views=[camera], size=(20, 12), detail=0, flow=True, device=name)
            for name in ("cuda", "cpu")
        )
        for ours, cpu in zip(device.draw(*planes), host.draw(*planes)):
            np.testing.assert_allclose(ours.astype(float), cpu, atol=1 if ours.dtype == np.uint8 else 1e-5)
        self.assertTrue(host.draw().any())


if __name__ == "__main__":
    unittest.main()
