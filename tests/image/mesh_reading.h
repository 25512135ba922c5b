// Mesh files in memory, read and looked at by the tests of readers.
#pragma once

#include "engine/mesh/mesh_file.h"

extern orr_mesh_file mesh; // of the file read last

orr_result read_bytes(const char *name, const void *data, size_t size, orr_error *why);
void read_good(const char *name, const char *text);
// Expects one line that names the file and `because`.
void assert_refused(const char *name, const void *data, size_t size, const char *because);
void assert_text_refused(const char *name, const char *text, const char *because);
// Corner `i` of the triangles, in their order.
const orr_mesh_file_vertex *corner(int i);
void assert_at(int i, float x, float y, float z);
void assert_close(float a, double b);
// Of all triangles, seen along z.
double area(void);
// Red, green and blue of the texel of a texture, decoded to 0 .. 255.
void assert_texel(int texture, int red, int green, int blue);
// After the last test: frees `mesh`.
int free_last(void **state);
