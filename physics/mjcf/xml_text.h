// XML as MuJoCo's reader takes it, written so that a strict parser takes it too (private to xml.c).
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { MJCF_STRICT_GROWTH = 5 }; // what stands for a byte, at most: "&amp;"

// Copies `text`; lines stay lines. Comments, declarations and instructions are blank, an & or < in a value or
// in text that begins nothing is written as its entity, and attributes are apart. copy: up to
// MJCF_STRICT_GROWTH x size. Returns its size.
size_t mjcf_strict_text(const char *text, size_t size, char *copy);

bool mjcf_is_utf8(const char *text, size_t size);
