"""The declarations of orrery.h as ctypes.

The header is read when the package is imported, so that the two cannot differ: constants, structs and the
functions that the library exports. It is regular C: every declaration ends with a semicolon, and there are no
macros but ORR_API.
"""

import ctypes
import re

_SCALARS = {
    "void": None, "char": ctypes.c_char, "bool": ctypes.c_bool, "int": ctypes.c_int, "float": ctypes.c_float,
    "double": ctypes.c_double, "unsigned char": ctypes.c_ubyte, "unsigned": ctypes.c_uint,
    "size_t": ctypes.c_size_t, "int8_t": ctypes.c_int8, "uint8_t": ctypes.c_uint8, "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
    "uint16_t": ctypes.c_uint16,
}  # fmt: skip
_MEMBER = re.compile(r"^(?P<type>.*?[\s*])(?P<names>\w+(\[[^\]]+\])*(\s*,\s*\*?\w+(\[[^\]]+\])*)*)$", re.S)


class _Struct(ctypes.Structure):
    """A struct that names the member which a value does not fit."""

    def __setattr__(self, name, value):
        try:
            super().__setattr__(name, value)
        except TypeError as refused:
            raise TypeError(f"{name} {value!r}: {refused}") from None


class Header:
    """What a header declares. constants: name to value; structs: name to class; functions: name to
    (result type, argument types)."""

    def __init__(self, text):
        self.constants, self.structs, self.functions = {}, {}, {}
        self._types = dict(_SCALARS)
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        text = re.sub(r"^\s*#.*(\\\n.*)*$", "", text, flags=re.M)
        text = text.replace('extern "C" {', "")
        text = re.sub(r"static inline [^;{]*\{.*?\n\}", "", text, flags=re.S)
        text = re.sub(r"static inline [^;]*;", "", text)
        for statement in self._statements(text):
            self._declare(" ".join(statement.split()))

    @staticmethod
    def _statements(text):
        depth, start = 0, 0
        for i, c in enumerate(text):
            depth += (c == "{") - (c == "}")
            if c == ";" and depth == 0:
                yield text[start:i]
                start = i + 1

    def _declare(self, text):
        if match := re.match(r"(?:typedef )?enum (?:\w+ )?\{(.*)\} ?(\w*)$", text):
            self._enum(match[1], match[2])
        elif match := re.match(r"typedef struct \w* ?\{(.*)\} (\w+)$", text):
            members = [self._members(m) for m in match[1].split(";") if m.strip()]
            fields = [field for group in members for field in group]
            self._types[match[2]] = self.structs[match[2]] = type(
                match[2], (_Struct,), {"_fields_": fields}
            )
        elif match := re.match(r"typedef struct \w+ (\w+)$", text):
            self._types[match[1]] = None  # opaque: only pointers to it occur
        elif match := re.match(r"typedef (.+?)\(\*(\w+)\)\((.*)\)$", text):
            self._types[match[2]] = self._callback(match[1], match[3])
        elif match := re.match(r"ORR_API (.+?[ *])(\w+)\((.*)\)$", text):
            arguments = [] if match[3] == "void" else [self._parameter(p) for p in self._split(match[3])]
            self.functions[match[2]] = (self._type(match[1]), arguments)

    def _enum(self, body, name):
        value = -1
        for entry in filter(None, (part.strip() for part in body.split(","))):
            label, _, text = (part.strip() for part in entry.partition("="))
            value = self._number(text) if text else value + 1
            self.constants[label] = value
        if name:
            self._types[name] = ctypes.c_int

    def _number(self, text):
        return int(eval(text, {"__builtins__": {}}, self.constants))  # an expression of constants, as in C

    @staticmethod
    def _split(text):
        parts, depth = [""], 0
        for c in text:
            depth += (c == "(") - (c == ")")
            if c == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += c
        return [part.strip() for part in parts]

    def _type(self, text):
        stars = text.count("*")
        base = re.sub(r"\bconst\b|\bstruct\b|\*", " ", text)
        kind = self._types[" ".join(base.split())]
        if stars and kind is ctypes.c_char:
            kind, stars = ctypes.c_char_p, stars - 1
        for _ in range(stars):
            kind = ctypes.c_void_p if kind is None else ctypes.POINTER(kind)
        return kind

    def _callback(self, result, parameters):
        return ctypes.CFUNCTYPE(self._type(result), *[self._parameter(p) for p in self._split(parameters)])

    def _parameter(self, text):
        if match := re.match(r"(.+?)\(\*\w*\)\((.*)\)$", text):
            return self._callback(match[1], match[2])
        if match := re.match(r"(.+?[ *])\w+((?:\[[^\]]*\])+)$", text):
            return ctypes.POINTER(self._type(match[1]))
        return self._type(re.match(r"(.+[ *])\w+$", text)[1])

    def _members(self, text):
        text = text.strip()
        if match := re.match(r"(.+?)\(\*(\w+)\)\((.*)\)$", text):
            return [(match[2], self._callback(match[1], match[3]))]
        match = _MEMBER.match(text)
        base, stars = re.match(r"(.*?)([\s*]*)$", match["type"]).groups()
        found = []
        for name in (stars.replace(" ", "") + match["names"]).split(","):
            kind, name = self._type(base + "*" * name.count("*")), name.replace("*", "").strip()
            for size in reversed(re.findall(r"\[([^\]]+)\]", name)):
                kind = kind * self._number(size)
            found.append((name.split("[")[0], kind))
        return found
