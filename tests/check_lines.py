#!/usr/bin/env python3
"""Names the tracked lines of code and prose that are longer than 110 columns:
    check_lines.py SOURCE_DIR [PATH...]     PATH: files or folders, the whole repository by default
Code is C, C++, CUDA, GLSL, CMake, shell and Python; prose is Markdown, without tables, code blocks and lines
that hold a link or an address. The exit code is 1 when there are any."""
import re
import subprocess
import sys

COLUMNS = 110
CODE = (".c", ".h", ".cpp", ".hpp", ".cu", ".comp", ".vert", ".frag", ".glsl", ".cmake", ".cmake.in", ".sh",
        ".py", "CMakeLists.txt")
ADDRESS = re.compile(r"https?://\S+|\]\([^)]*\)")


def long_lines(text, markdown):
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if markdown and line.startswith("```"):
            fenced = not fenced
        excepted = markdown and (fenced or line.startswith(("|", "    "))) or ADDRESS.search(line)
        if len(line) > COLUMNS and not excepted:
            yield number, len(line)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source = sys.argv[1]
    command = ["git", "ls-files", "-z", "--", *sys.argv[2:]]
    listing = subprocess.run(command, cwd=source, stdout=subprocess.PIPE, check=True)
    found = 0
    for name in filter(None, listing.stdout.decode().split("\0")):
        with open(f"{source}/{name}", "rb") as file:
            data = file.read()
        markdown = name.endswith(".md")
        script = data.startswith(b"#!")
        if not (markdown or script or name.endswith(CODE)):
            continue
        for number, columns in long_lines(data.decode(), markdown):
            print(f"{name}:{number}: {columns} columns, expected at most {COLUMNS}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
