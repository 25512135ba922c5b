"""The parts of tests/gpu_check. Each is a list of steps; a step is one program with its own time limit."""
import dataclasses
import os
import re
import shutil

# of the device ladder (docs/devices.md)
RUNGS = ("cuda+vulkan", "cuda+vulkan-copies", "cuda", "vulkan", "cpu")
TRAINING_STEPS = (250, 500, 1000, 2000, 4000, 8000, 16000, 32000)
SPLAT_STEPS = (1000, 7000, 30000)
# The tests of each part, by their names; the first part that matches counts.
TESTS = {
    "tests-splats": r"test_(cuda_(?!neural|trainer|nerf|device)|eyes_cuda).*",
    "tests-neural": r"test_cuda_(neural|trainer|nerf).*",
    "tests-physics": r"test_(dynamics|sensors|vary)_cuda.*|test_(soft|world|robot)_cuda|test_soft_device",
    "tests-interop": r"test_(vulkan.*|interop.*|ladder|cuda_device|(field|traced)_frames|robot.*"
                     r"|cli_(devices|bench))",
    "lanes": r".*",
}
# tools of compute-sanitizer, the most useful first
SANITIZERS = ("memcheck", "racecheck", "synccheck", "initcheck")


@dataclasses.dataclass
class Step:
    name: str
    command: list
    timeout: float  # [s]
    environment: dict = dataclasses.field(default_factory=dict)
    skip_code: int = None  # of a program that lacks what it needs
    skip_text: str = None  # the same, in what it prints: a regular expression
    json: bool = False  # its standard output is one JSON object
    quiet: bool = False  # a warning counts as a failure
    absent: str = None  # why it cannot run here: skipped


@dataclasses.dataclass
class Machine:
    """What the parts need to know of the pack and of the machine it is on."""
    pack: dict  # pack.json
    folder: str  # of the pack
    out: str  # for files that are kept
    scratch: str  # for others
    vulkan_gpu: bool  # Vulkan has a device that is a GPU

    @property
    def tiny(self):
        return self.pack["emulated"]

    @property
    def executable(self):
        return os.path.join(self.folder, "bin", "orrery_pack")

    def orrery(self, name, *arguments, timeout=180, **rules):
        return Step(name, [self.executable, "orrery", *map(str, arguments)], timeout, **rules)

    def bench(self, name, *arguments, **rules):
        tiny = ["--tiny"] if self.tiny else []
        return self.orrery(name, "bench", *arguments, *tiny, "--json", json=True, **rules)

    def bench_splats(self, name, largest, *arguments):
        size = "32x18" if self.tiny else "1920x1080"
        return self.bench(name, "splats", "--device", "cuda", "--size", size, "--largest", largest,
                          *arguments)

    @property
    def capture(self):
        return os.environ.get("ORR_CAPTURE", os.path.join(self.folder, "capture"))

    @property
    def robots(self):
        """Humanoid and ant of Gymnasium where they are, and robots that ship."""
        folder = os.environ.get("ORR_ROBOTS", os.path.join(self.folder, "data", "mjcf"))
        others = (os.path.join(folder, name + ".xml") for name in ("humanoid", "ant"))
        own = (os.path.join(self.folder, "assets", "robots", name) for name in ("biped.xml", "quadruped.xml"))
        return [*filter(os.path.exists, others), *own]


def part_of_test(name):
    return next(part for part, pattern in TESTS.items() if re.fullmatch(pattern, name))


def tests_of(part):
    def steps(machine):
        return [Step(test["name"], [machine.executable, *test["arguments"]], test["timeout"],
                     test["environment"], test["skip_code"], test["skip_text"])
                for test in machine.pack["tests"] if part_of_test(test["name"]) == part]
    return steps


def bench_limits(machine):
    return [machine.orrery("devices", "devices", "--json", json=True),
            machine.bench("limits", "splats", "--device", "cuda", "--size", "64x36", "--largest", 10000)]


def bench_splats(machine):
    model = os.path.join(machine.scratch, "volume.ingp")
    steps = 20 if machine.tiny else 2000
    return [machine.bench_splats("splats", 6000000),
            machine.bench_splats("splats_150k", 150000),
            *train_splats(machine),
            machine.orrery("train_volume", "train", "volume", "cloud", "--steps", steps, "-o", model),
            machine.bench_splats("volume", 10000, "--file", model)]


def train_splats(machine):
    """Each from the beginning, as the radiance fields of bench_neural."""
    cloud = os.path.join(machine.scratch, "trained.ply")
    counts = (2,) if machine.tiny else SPLAT_STEPS
    size = ("--splats", 100) if machine.tiny else ()
    return [machine.orrery("train_splats_%d" % count, "train", "splats", machine.capture, "--device", "cuda",
                           "--steps", count, *size, "--no-state", "-o", cloud, "--json", json=True,
                           timeout=240) for count in counts]


def bench_neural(machine):
    model = os.path.join(machine.scratch, "capture.ingp")
    # an emulated device would take hours
    device, counts = ("cpu", (20,)) if machine.tiny else ("cuda", TRAINING_STEPS)
    # each from the beginning: the table says after how many seconds a quality is reached
    trainings = [machine.orrery("train_%d" % count, "train", "nerf", machine.capture, "--device", device,
                                "--steps", count, "-o", model, "--json", json=True, timeout=240)
                 for count in counts]
    return [machine.bench("neural", "neural", "--device", "cuda"), *trainings,
            machine.bench_splats("capture", 10000, "--file", model)]


def bench_physics(machine):
    return [machine.bench("physics_" + os.path.splitext(os.path.basename(robot))[0], "physics",
                          "--device", "cuda", "--robot", robot, timeout=300) for robot in machine.robots]


def bench_frame(machine):
    steps = []
    for rung in RUNGS:
        # a machine without a GPU in Vulkan may refuse the rung, or fall to the next one with a warning
        rules = {} if machine.vulkan_gpu or "vulkan" not in rung else {"skip_code": 2}
        name = rung.replace("+", "_").replace("-", "_")
        trace = os.path.join(machine.out, "trace_%s.json" % name)
        steps += [machine.orrery("devices_" + name, "devices", "--device", rung, "--json", json=True,
                                 quiet=machine.vulkan_gpu, **rules),
                  machine.bench("frame_" + name, "frame", "--device", rung, "--size", "1920x1080",
                                "--trace", trace, **rules)]
    return steps


def sanitizer(machine):
    """Every kernel at the smallest size under each of compute-sanitizer's tools."""
    program = shutil.which("compute-sanitizer", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
    if not program or machine.tiny:
        why = "an emulated device" if machine.tiny else "compute-sanitizer is not installed"
        return [Step("compute-sanitizer", [], 0, absent=why)]
    tiny = ["--tiny", "--device", "cuda", "--json"]
    walker = os.path.join(machine.folder, "assets", "walker.xml")
    model = os.path.join(machine.scratch, "sanitized.ingp")
    cloud = os.path.join(machine.scratch, "sanitized.ply")
    programs = {"sort": ["test_cuda_sort"],
                "splats": ["orrery", "bench", "splats", *tiny],
                "frame": ["orrery", "bench", "frame", *tiny],
                "neural": ["orrery", "bench", "neural", *tiny],
                "training": ["orrery", "train", "nerf", machine.capture, "--device", "cuda", "--steps", "2",
                             "-o", model],
                "splat_training": ["orrery", "train", "splats", machine.capture, "--device", "cuda",
                                   "--steps", "2", "--splats", "1000", "--no-state", "-o", cloud],
                "physics": ["orrery", "bench", "physics", "--robot", walker, *tiny]}
    return [Step(tool + "_" + name, [program, "--tool", tool, "--error-exitcode", "9", "--print-limit", "20",
                                     machine.executable, *command], 150)
            for tool in SANITIZERS for name, command in programs.items()]


@dataclasses.dataclass
class Part:
    purpose: str
    steps: callable  # of a Machine
    jobs: callable = lambda cores: 1  # how many steps at once; figures need the machine for themselves


def half(cores):  # most tests use two threads
    return max(1, cores // 2)


def few(cores):
    return min(4, half(cores))


PARTS = {
    "tests-splats": Part("splats, meshes and fields drawn by CUDA", tests_of("tests-splats"), few),
    "tests-neural": Part("networks and training on CUDA", tests_of("tests-neural"), few),
    "tests-physics": Part("robots on CUDA", tests_of("tests-physics"), few),
    "tests-interop": Part("Vulkan, memory that CUDA and Vulkan share, rendering", tests_of("tests-interop")),
    "bench-limits": Part("what the GPU can do", bench_limits),
    "bench-splats": Part("splats, photos that become splats, and a volume as a field", bench_splats),
    "bench-neural": Part("networks; a capture becomes a radiance field", bench_neural),
    "bench-physics": Part("robots, by number of worlds and threads per world", bench_physics),
    "bench-frame": Part("the frame on every rung of the device ladder", bench_frame),
    "sanitizer": Part("compute-sanitizer on every kernel", sanitizer, few),
    "lanes": Part("tests of the CPU, for each instruction set it has", tests_of("lanes"), half),
}
