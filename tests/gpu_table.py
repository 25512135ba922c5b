"""The table of tests/gpu_check: Markdown from its results.json."""
import re

LINES_MAX = 6  # of what a failed step printed


class Table:
    def __init__(self, results, parts):
        self.results, self.parts, self.lines = results, parts, []
        self.steps = {}
        for part in results["parts"].values():
            self.steps.update(part["steps"])

    def read(self, name):
        """What the step of this name measured."""
        return self.steps.get(name, {}).get("json", {})

    def read_all(self, pattern):
        """The same of all steps whose names match, with their names."""
        return {name: step["json"] for name, step in self.steps.items()
                if re.fullmatch(pattern, name) and "json" in step}

    def add(self, *rows):
        """Rows of cells, the first of them the head. A head alone is not written."""
        if len(rows) < 2:
            return
        for i, row in enumerate(rows):
            self.lines.append("| " + " | ".join(str(cell) for cell in row) + " |")
            if i == 0:
                self.lines.append("|" + "---|" * len(row))
        self.lines.append("")


# ---- what ran ----


def count_skips(step):
    """cmocka says which tests of a program were skipped."""
    return len(set(re.findall(r"\[  SKIPPED \] (\w+)", step["output"])))


def outcome(t):
    rows = [("part", "passed", "failed", "skipped", "tests skipped inside programs", "not run", "seconds")]
    for name in t.parts:
        steps = t.results["parts"].get(name, {}).get("steps", {}).values()
        if not steps:
            continue
        count = {s: sum(step["status"] == s for step in steps) for s in ("passed", "skipped", "no time left")}
        rows.append((name, count["passed"], len(steps) - sum(count.values()), count["skipped"],
                     sum(map(count_skips, steps)), count["no time left"],
                     "%.0f" % sum(s["seconds"] for s in steps)))
    t.add(*rows)
    absent = [name for name in t.parts if name not in t.results["parts"]]
    if absent:
        t.lines.extend(("Not run yet: " + ", ".join(absent) + ".", ""))


def last_lines(step):
    """The lines that say why: cmocka's errors where there are some, or else the last ones."""
    lines = [line.strip() for line in step["output"].splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"ERROR|FAILED|error:|Error", line)]
    return (errors or lines)[-LINES_MAX:]


def complaints(t):
    fine = ("passed", "skipped", "no time left")
    failed = {name: step for name, step in t.steps.items() if step["status"] not in fine}
    for name, step in failed.items():
        code = " with exit code %s" % step["code"] if step.get("code") is not None else ""
        t.lines.append("- **%s**: %s%s" % (name, step["status"], code))
        t.lines.extend("  `%s`" % line.replace("`", "'")[:300] for line in last_lines(step))
    skipped = [n for n, s in t.steps.items() if s["status"] == "skipped"]
    if skipped:
        t.lines.append("- skipped: " + ", ".join(skipped))
    if failed or skipped:
        t.lines.append("")


# ---- what was measured ----


def limits(t):
    found = t.read("limits").get("device_limits")
    if found:
        t.add(("limit of the GPU", "measured"),
              ("memory, copied within, read and written", f"{found['bytes_per_second'] / 1e9:.0f} GB/s"),
              ("upload from pinned memory", f"{found['upload_bytes_per_second'] / 1e9:.1f} GB/s"),
              ("tensor cores, halves summed in float (mma.sync)",
               f"{found['tensor_operations_per_second'] / 1e12:.0f} TFLOP/s"),
              ("our sort, 32-bit keys and values", f"{found['sort_keys_per_second'] / 1e9:.2f} G keys/s"))


def splats(t):
    growth = {int(g["splats"]): g["milliseconds"] for name in ("splats", "splats_150k")
              for g in t.read(name).get("growth", [])}
    targets = {1000000: "1 ms on the device"}
    t.add(("splats", "1080p, from submit to a picture on the host", "target on an H100"),
          *((f"{count:,}", f"{ms:.2f} ms, {1e3 / ms:.0f} frames/s", targets.get(count, ""))
            for count, ms in sorted(growth.items())))
    for case in t.read("splats").get("splats", []):
        t.lines.extend((f"{case['name']}, {case['splats']:,} splats: {case['milliseconds']:.2f} ms", ""))
        rows = [("stage", "ms", "items/s", "of the limit")]
        for stage in case["stages"]:
            rate = stage["items"] / max(stage["milliseconds"], 1e-9) * 1e3
            limit = stage["limit_items_per_second"]
            rows.append((stage["name"], f"{stage['milliseconds']:.3f}", f"{rate:.3g}",
                         f"{100 * rate / limit:.0f} %" if limit else ""))
        t.add(*rows)


def neural(t):
    found = t.read("neural").get("neural")
    if found:
        t.add(("radiance field, grid and both networks", "samples/s", "of the tensor peak",
               "rows of the table", "target on an H100"),
              *((name, f"{found[name + '_samples_per_second'] / 1e6:.1f} M",
                 f"{100 * found[name + '_tensor_share']:.1f} %",
                 f"{found[name + '_table_bytes_per_second'] / 1e9:.0f} GB/s", target)
                for name, target in (("inference", "2000 M"), ("training", "400 M"))))


def fields(t):
    rows = [("field", "1080p, from submit to a picture on the host", "of it, the field on the device",
             "target on an H100")]
    for name, target in (("volume", ""), ("capture", "16 ms for lego")):
        for case in t.read(name).get("splats", []):
            if "parameters" in case:
                device = sum(s["milliseconds"] for s in case["stages"] if s["name"] == "fields")
                rows.append((case["name"], f"{case['milliseconds']:.2f} ms", f"{device:.2f} ms", target))
    t.add(*rows)


def trainings(t):
    runs = sorted((r for r in t.read_all(r"train_\d+").values() if "device seconds" in r and "PSNR" in r),
                  key=lambda r: r["steps"])
    t.add(("training a radiance field", "seconds of steps", "PSNR of the held-out photos",
           "network samples/s"),
          *((f"{r['steps']:,.0f} steps", f"{r['device seconds']:.2f} s", f"{r['PSNR']:.2f} dB",
             f"{r['samples'] / max(r['device seconds'], 1e-9) / 1e6:.1f} M") for r in runs))
    rows = [("PSNR", "seconds of steps", "target on an H100")]
    for psnr, target in ((30, ""), (33, "5 s for lego"), (35, "")):
        first = next((r for r in runs if r["PSNR"] >= psnr), None)
        seconds = f"at most {first['device seconds']:.2f} s" if first else "not reached"
        rows.append((f"{psnr} dB", seconds, target))
    if runs:
        t.add(*rows)


def splat_trainings(t):
    runs = sorted((r for r in t.read_all(r"train_splats_\d+").values() if "PSNR" in r),
                  key=lambda r: r["steps"])
    stages = ("project", "sort", "bin", "blend", "loss", "backward", "update")
    rows = [("photos to splats", "splats", "seconds", "of it, the device's stages, per step",
             "PSNR of the held-out photos", "target on an H100")]
    for r in runs:
        device = sum(r[stage + " seconds"] for stage in stages) / r["steps"]
        target = "60 s for lego" if r["steps"] == 30000 else ""
        rows.append((f"{r['steps']:,.0f} steps", f"{r['splats']:,.0f}", f"{r['seconds']:.2f} s",
                     f"{1e3 * device:.3f} ms", f"{r['PSNR']:.2f} dB", target))
    if runs:
        t.add(*rows)


def physics(t):
    rows = [("robot", "worlds", "precision", "threads for a world", "steps/s", "target on an H100")]
    for name, found in t.read_all(r"physics_\w+").items():
        robot = name[len("physics_"):]
        for case in found.get("physics", []):
            target = robot == "humanoid" and case["worlds"] == 8192 and case["precision"] == "f32"
            rows.append((robot, f"{case['worlds']:,}", case["precision"], case.get("team", ""),
                         f"{case['steps_per_second']:,.0f}", "3,000,000" if target else ""))
    t.add(*rows)


def ladder(t):
    t.add(("`--device`", "in use"),
          *((name[len("devices_"):], found["in_use"]) for name, found in t.read_all(r"devices_\w+").items()))
    output = t.steps.get("test_interop", {}).get("output", "")
    t.add(("from CUDA's picture to Vulkan's image", "size", "ms"),
          *re.findall(r"(.*): (.*) handed over in (.*) ms$", output, re.M))


def frames(t):
    found = [r["frame"] for r in t.read_all(r"frame_\w+").values() if "frame" in r]
    rows = [("rung", "a frame every", "input to picture", "copies in it", "host and device at once")]
    for frame in found:
        copies = sum(s["milliseconds"] for s in frame["stages"] if s["kind"] == "copy")
        rows.append((frame["device"], f"{frame['milliseconds']:.2f} ms",
                     f"{frame['latency_milliseconds']:.2f} ms", f"{copies:.3f} ms",
                     f"{100 * frame['at_once']:.0f} %"))
    if found:
        size = found[0]["size"]
        t.lines.extend((f"The frame, {found[0]['scene']}, {size[0]}x{size[1]}", ""))
    t.add(*rows)


def write(results, parts):
    """The Markdown of results.json; parts: the names of all parts."""
    t = Table(results, parts)
    t.lines.extend((f"### {results.get('machine', '')}", "", f"Orrery {results['commit']}.", ""))
    for section in (outcome, complaints, limits, splats, neural, fields, trainings, splat_trainings, physics,
                    ladder, frames):
        section(t)
    return "\n".join(t.lines).rstrip() + "\n"

