"""The code of docs/python.md runs, each section by itself."""

import importlib.util
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

if "ORRERY_INSTALLED" not in os.environ:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

ROOT = Path(__file__).resolve().parents[2]
ASSETS = Path(os.environ.get("ORRERY_ASSETS", ROOT / "build" / "release" / "assets"))

CHECKED = {  # sections of whose results check() knows something
    "A picture of a scene",
    "A cloud as arrays",
    "Many copies of a robot",
    "What the copies see",
    "Rigid bodies",
    "Photos to splats, and pictures to fields",
    "Environments for learners",
}


@unittest.skipUnless((ASSETS / "walker.json").exists(), f"left out: {ASSETS} has no assets")
class Tutorial(unittest.TestCase):
    def test_every_section_runs(self):
        text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
        sections = re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, flags=re.S | re.M)
        self.assertLessEqual(CHECKED, {title for title, _ in sections})
        for title, body in sections:
            code = "\n".join(re.findall(r"```python\n(.*?)```", body, flags=re.S))
            self.assertTrue(code, title)
            if "stable_baselines3" in code and importlib.util.find_spec("stable_baselines3") is None:
                continue  # learners/test_learners.py runs it
            if "gymnasium" in code:
                try:
                    import gymnasium.envs.mujoco  # noqa: F401
                except ImportError:
                    print(f"left out: {title}: gymnasium[mujoco] is not installed")
                    continue
            with self.subTest(title), tempfile.TemporaryDirectory() as folder:
                names = {"ASSETS": ASSETS, "FOLDER": Path(folder)}
                exec(compile(code, f"docs/python.md: {title}", "exec"), names)
                self.check(title, names)

    def check(self, title, names):
        """What a section ends with is what it says."""
        if title == "A picture of a scene":
            self.assertEqual(names["image"].shape, (200, 320, 3))
            self.assertGreater(names["picture"][..., 3].max(), 0.9)
        elif title == "A cloud as arrays":
            self.assertEqual(len(names["orr"].Splats(names["FOLDER"] / "half.ply")), len(names["splats"]))
        elif title == "Many copies of a robot":
            self.assertEqual(names["heights"].shape, (16,))
        elif title == "What the copies see":
            self.assertEqual(names["rgb"].shape, (4, 1, 64, 64, 3))
            self.assertGreater(names["nearest"], 0.0)
        elif title == "Rigid bodies":
            self.assertTrue(abs(names["position"][1]) < 0.01, names["position"])
        elif title == "Photos to splats, and pictures to fields":
            self.assertGreater(len(names["cloud"]), 100)
            self.assertGreater(min(score["psnr"] for score in names["scores"]), 8.0)
            self.assertEqual(names["more"].info.steps, names["trainer"].info.steps + 10)
            self.assertGreater(names["picture"][..., 3].max(), 0.1)
            self.assertEqual(names["field"].info.steps, 2)
        elif title == "Environments for learners":
            self.assertEqual(names["observations"]["pixels"].shape, (2, 1, 64, 64, 3))


if __name__ == "__main__":
    unittest.main()
