"""The table of tests/gpu_check: Markdown from what `orrery bench --json` said.

    gpu_table.py FOLDER OUT.md CARD TESTS SANITIZER FAILED
"""
import glob
import json
import os
import sys

folder, out, card, tests, sanitizer, failed = sys.argv[1:7]
lines = []


def read(name):
    try:
        with open(os.path.join(folder, name + ".json")) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def table(*rows):
    """Rows of cells, the first of them the head."""
    for i, row in enumerate(rows):
        lines.append("| " + " | ".join(str(cell) for cell in row) + " |")
        if i == 0:
            lines.append("|" + "---|" * len(row))
    lines.append("")


def limits():
    found = next((r["device_limits"] for r in map(read, ("splats", "neural")) if "device_limits" in r), None)
    if found:
        table(("limit of the card", "measured"),
              ("memory, copied within, read and written", f"{found['bytes_per_second'] / 1e9:.0f} GB/s"),
              ("upload from pinned memory", f"{found['upload_bytes_per_second'] / 1e9:.1f} GB/s"),
              ("tensor cores, halves summed in float (mma.sync)",
               f"{found['tensor_operations_per_second'] / 1e12:.0f} TFLOP/s"),
              ("our sort, 32-bit keys and values", f"{found['sort_keys_per_second'] / 1e9:.2f} G keys/s"))


def splats():
    growth = {int(g["splats"]): g["milliseconds"] for name in ("splats", "splats_150k")
              for g in read(name).get("growth", [])}
    targets = {1000000: "1 ms on the device"}
    if growth:
        table(("splats", "1080p, from submit to a picture on the host", "target on an H100"),
              *((f"{count:,}", f"{growth[count]:.2f} ms, {1e3 / growth[count]:.0f} frames/s", targets.get(count, ""))
                for count in sorted(growth)))
    for case in read("splats").get("splats", []):
        lines.extend((f"{case['name']}, {case['splats']:,} splats: {case['milliseconds']:.2f} ms", ""))
        rows = [("stage", "ms", "items/s", "of the limit")]
        for stage in case["stages"]:
            rate = stage["items"] / max(stage["milliseconds"], 1e-9) * 1e3
            limit = stage["limit_items_per_second"]
            rows.append((stage["name"], f"{stage['milliseconds']:.3f}", f"{rate:.3g}",
                         f"{100 * rate / limit:.0f} %" if limit else ""))
        table(*rows)


def neural():
    found = read("neural").get("neural")
    if found:
        table(("radiance field, grid and both networks", "samples/s", "of the tensor peak", "rows of the table",
               "target on an H100"),
              *((name, f"{found[name + '_samples_per_second'] / 1e6:.1f} M",
                 f"{100 * found[name + '_tensor_share']:.1f} %",
                 f"{found[name + '_table_bytes_per_second'] / 1e9:.0f} GB/s", target)
                for name, target in (("inference", "2000 M"), ("training", "400 M"))))


def fields():
    rows = [("field", "1080p, from submit to a picture on the host", "of it, the field on the device",
             "target on an H100")]
    for name, target in (("cloud", ""), ("lego", "16 ms")):
        for case in read(name).get("splats", []):
            if "parameters" in case:
                device = sum(s["milliseconds"] for s in case["stages"] if s["name"] == "fields")
                rows.append((case["name"], f"{case['milliseconds']:.2f} ms", f"{device:.2f} ms", target))
    if len(rows) > 1:
        table(*rows)


def trainings():
    runs = [read(os.path.basename(path)[:-5]) for path in glob.glob(os.path.join(folder, "lego_*.json"))]
    runs = sorted((r for r in runs if "device seconds" in r and "PSNR" in r), key=lambda r: r["steps"])
    if not runs:
        return
    table(("lego, trained on the card", "seconds of steps", "PSNR of the photos held out", "network samples/s"),
          *((f"{r['steps']:,.0f} steps", f"{r['device seconds']:.2f} s", f"{r['PSNR']:.2f} dB",
             f"{r['samples'] / max(r['device seconds'], 1e-9) / 1e6:.1f} M") for r in runs))
    reached = {wanted: next((r for r in runs if r["PSNR"] >= wanted), None) for wanted in (30, 33, 35)}
    table(("lego", "seconds of steps", "target on an H100"),
          *((f"{wanted} dB", f"at most {r['device seconds']:.2f} s" if r else "not reached",
             "5 s" if wanted == 33 else "") for wanted, r in reached.items()))


def physics():
    rows = [("robot", "worlds", "precision", "threads for a world", "steps/s", "target on an H100")]
    for robot in ("humanoid", "ant"):
        for case in read("physics_" + robot).get("physics", []):
            wanted = robot == "humanoid" and case["worlds"] == 8192 and case["precision"] == "f32"
            rows.append((robot, f"{case['worlds']:,}", case["precision"], case["team"],
                         f"{case['steps_per_second']:,.0f}", "3,000,000" if wanted else ""))
    if len(rows) > 1:
        table(*rows)


def frames():
    found = [read(os.path.basename(path)[:-5]).get("frame") for path in
             sorted(glob.glob(os.path.join(folder, "frame_*.json")))]
    rows = [("rung", "a frame every", "input to picture", "copies in it", "host and device at once")]
    for frame in filter(None, found):
        copies = sum(s["milliseconds"] for s in frame["stages"] if s["kind"] == "copy")
        rows.append((frame["device"], f"{frame['milliseconds']:.2f} ms", f"{frame['latency_milliseconds']:.2f} ms",
                     f"{copies:.3f} ms", f"{100 * frame['at_once']:.0f} %"))
    if len(rows) > 1:
        first = next(filter(None, found))
        lines.extend((f"The frame, {first['scene']}, {first['size'][0]}x{first['size'][1]}", ""))
        table(*rows)


def rows_of(name):
    try:
        with open(os.path.join(folder, name)) as file:
            return [line.rstrip("\n").split("|") for line in file]
    except OSError:
        return []


def ladder():
    if rows_of("rungs.txt"):
        table(("`--device`", "in use"), *rows_of("rungs.txt"))
    if rows_of("handed_over.txt"):
        table(("from CUDA's picture to Vulkan's image", "size", "ms"), *rows_of("handed_over.txt"))


lines += [f"### {card}", "", f"Tests on the card: {tests}.", "", "compute-sanitizer:", "", sanitizer.rstrip(), ""]
if failed:
    lines += ["Not measured:", "", failed.rstrip(), ""]
for part in (limits, splats, neural, fields, trainings, physics, ladder, frames):
    part()
with open(out, "w") as file:
    file.write("\n".join(lines).rstrip() + "\n")
