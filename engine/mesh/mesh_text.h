// Words and numbers of text files: .obj, .mtl, .stl, .ply, and the arrays of .dae.
#pragma once

#include "engine/core/file.h"

#include <stddef.h>

// `end` is at a zero byte. Characters up to the blank separate words; so does a backslash before the end of a
// line.
typedef struct orr_mesh_text {
    const char *at, *end;
    int line; // of `at`, from 1
} orr_mesh_text;

// Of a file, which may end its lines with carriage returns alone, as old programs of the Macintosh do: they
// become line feeds.
orr_mesh_text orr_mesh_text_of(const orr_bytes *bytes);
// Of a line; false at its end.
bool orr_mesh_text_word(orr_mesh_text *text, const char **word, size_t *length);
// Likewise; false also where there is no number, which is not taken.
bool orr_mesh_text_number(orr_mesh_text *text, double *value);
// Up to `count` floats of a line; how many there are.
int orr_mesh_text_floats(orr_mesh_text *text, float *values, int count);
// The rest of the line, without the blanks around it.
void orr_mesh_text_rest(orr_mesh_text *text, const char **rest, size_t *length);
// To the start of the next line; false at the end of the text.
bool orr_mesh_text_next_line(orr_mesh_text *text);
// A number of any line; false where there is none.
bool orr_mesh_text_any_number(orr_mesh_text *text, double *value);
// A word of any line; false at the end of the text.
bool orr_mesh_text_any_word(orr_mesh_text *text, const char **word, size_t *length);
bool orr_mesh_text_is(const char *word, size_t length, const char *expected); // upper or lower case
