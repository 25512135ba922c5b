"""Builds the wheel of the package orrery (PEP 517), for `pip install ./python`.

With the standard library alone. The wheel holds the package, orrery.h and liborrery.so, which CMake builds in
build/python, without video, EXR, WebP, Vulkan and CUDA. Libraries of the distribution that it needs, and that
a wheel may not count on, are put beside it. With ORRERY_LIBRARY the wheel holds that library, and is for this
machine alone. One wheel serves every Python: nothing in it is compiled against the interpreter.

`--config-settings cmake=-DORR_INSTRUCTION_SETS=BASELINE`, as often as there are options, gives CMake options,
and `--config-settings build-dir=FOLDER` another folder to build in.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# what every Linux has, as far as wheels are concerned (PEP 600)
SYSTEM = re.compile(r"(ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|z|expat)\.so)")
OPTIONS = [
    f"-DORR_{name}=OFF" for name in ("VIDEO", "EXR", "WEBP", "ZIP", "VULKAN", "CUDA", "TESTS")
]


def _version():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\([^)]*VERSION ([0-9.]+)", text)[1]


def _run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr)


def _library(settings):
    """Builds the shared library; returns its path."""
    folder = Path(settings.get("build-dir", ROOT / "build" / "python"))
    given = settings.get("cmake", [])
    options = OPTIONS + ([given] if isinstance(given, str) else given)
    run_path = ["-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", "-DCMAKE_INSTALL_RPATH=$ORIGIN"]
    _run(
        "cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *options, *run_path
    )
    _run("cmake", "--build", folder, "--target", "orrery_shared", "orrery_places")
    return (folder / "liborrery.so").resolve()


def _needed(library):
    """Libraries that it needs and the system may not have: name to path."""
    found = {}
    for line in subprocess.run(
        ["ldd", library], check=True, capture_output=True, text=True
    ).stdout.splitlines():
        if (match := re.match(r"\s*(\S+) => (/\S+)", line)) and not SYSTEM.match(match[1]):
            found[match[1]] = Path(match[2])
    return found


def _tag(portable):
    if not portable:
        return "py3-none-linux_" + os.uname().machine
    machine, libc = os.uname().machine, os.confstr("CS_GNU_LIBC_VERSION").split()[1]
    return "py3-none-manylinux_" + libc.replace(".", "_") + "_" + machine


class _Wheel:
    def __init__(self, path):
        self.archive, self.record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, data):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.archive.writestr(name, data)
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, info):
        self.archive.writestr(info + "/RECORD", "\n".join([*self.record, info + "/RECORD,,"]) + "\n")
        self.archive.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    named = os.environ.get("ORRERY_LIBRARY")
    library = Path(named).resolve() if named else _library(config_settings or {})
    version, tag = _version(), _tag(not named)
    name, info = f"orrery-{version}-{tag}.whl", f"orrery-{version}.dist-info"
    wheel = _Wheel(Path(wheel_directory) / name)
    for path in sorted((HERE / "orrery").glob("*.py*")):
        wheel.add("orrery/" + path.name, path.read_bytes())
    wheel.add("orrery/orrery.h", (ROOT / "engine" / "orrery.h").read_bytes())
    texts = [*(ROOT / "assets" / "tasks").glob("*"), *(ROOT / "assets" / "robots").glob("*.xml")]
    for path in sorted(texts):
        wheel.add(f"orrery/assets/{path.parent.name}/{path.name}", path.read_bytes())
    for path in sorted((library.parent / "assets" / "tasks").glob("*.spz")):
        wheel.add("orrery/assets/tasks/" + path.name, path.read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder) / "liborrery.so"
        shutil.copy(library, stripped)
        _run("strip", "--strip-unneeded", stripped)
        wheel.add("orrery/liborrery.so", stripped.read_bytes())
    for needed, path in ({} if named else _needed(library)).items():
        wheel.add("orrery/" + needed, path.read_bytes())
    requires = "Requires-Dist: numpy>=1.22\nProvides-Extra: environments\n"
    requires += "Requires-Dist: gymnasium[mujoco]>=1.1; extra == 'environments'\n"
    head = f"Metadata-Version: 2.1\nName: orrery\nVersion: {version}\nRequires-Python: >=3.9\n{requires}\n"
    wheel.add(info + "/METADATA", (head + (HERE / "README.md").read_text()).encode())
    wheel.add(info + "/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    wheel.add(info + "/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
    wheel.close(info)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit(
        "orrery: a source distribution is the repository itself; expected pip install ./python"
    )
