// What the readers of mesh files share: the mesh as it grows, the files it names, and polygons.
#pragma once

#include "engine/mesh/mesh_file.h"

typedef struct orr_mesh_reader {
    const orr_mesh_file_desc *desc;
    orr_bytes bytes; // the file; one zero byte follows the last
    orr_mesh_file *mesh;
    int vertex_room, index_room, part_room, material_room, texture_room, light_room;
    char **texture_names; // as many as textures; NULL: of a picture in the file
    int name_room;
    int64_t texels;   // decoded so far
    size_t all_bytes; // of the file and those beside it
    bool has_part;    // use_material was called
    orr_error *error;
} orr_mesh_reader;

// The readers. They append vertices, triangles, parts and materials; the caller frees what is there when they
// fail, and checks what they made.
orr_result orr_mesh_read_gltf(orr_mesh_reader *reader); // .glb too
orr_result orr_mesh_read_obj(orr_mesh_reader *reader);
orr_result orr_mesh_read_stl(orr_mesh_reader *reader);
orr_result orr_mesh_read_ply(orr_mesh_reader *reader);
orr_result orr_mesh_read_dae(orr_mesh_reader *reader);

// Does a .ply hold triangles? Reads its header alone; false also when that fails.
bool orr_mesh_in_ply(const char *path);

// "FILE: ...": always an error of the file's format.
orr_result orr_mesh_fail(const orr_mesh_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Something in the file that is left out; each is named once.
void orr_mesh_note(orr_mesh_reader *reader, const char *what);

// `count` more vertices: white, the rest 0. Their limit is what the file's size makes plausible.
orr_result orr_mesh_add_vertices(orr_mesh_reader *reader, int64_t count, orr_mesh_file_vertex **first);
// Triangles from here on have this material; one more material, of defaults, is made for -1.
orr_result orr_mesh_use_material(orr_mesh_reader *reader, int material);
orr_result orr_mesh_add_triangle(orr_mesh_reader *reader, uint32_t a, uint32_t b, uint32_t c);
// A polygon, as triangles. Its corners' positions are in mesh->vertices.
orr_result orr_mesh_add_polygon(orr_mesh_reader *reader, const uint32_t *corners, int count);
orr_result orr_mesh_add_polygon_mujoco(orr_mesh_reader *reader, const uint32_t *corners, int count);
// Of four corners: 0, from the first to the third, or 1. In float, as in MuJoCo: in a square the last bit
// decides.
int orr_mesh_shorter_diagonal(const orr_mesh_file *mesh, const uint32_t *corners);
// A white, opaque, dull one; its index is material_count - 1.
orr_result orr_mesh_add_material(orr_mesh_reader *reader, orr_mesh_material **material);

// A picture in the file; `name` is what messages say.
orr_result orr_mesh_add_texture(orr_mesh_reader *reader, const char *name, const uint8_t *data, size_t size,
                                int *texture);
// Fails where textures become too many or too large.
orr_result orr_mesh_count_texels(orr_mesh_reader *reader, const char *name, int width, int height);
// One of a single white texel, for the caller to fill in.
orr_result orr_mesh_add_texel(orr_mesh_reader *reader, int *texture);
// A file that the mesh names. Only inside the mesh's folder or below: of absolute names, names with "..", and
// addresses, which lead elsewhere, the last part counts, in the mesh's folder. The error has no name in it.
orr_result orr_mesh_read_beside(orr_mesh_reader *reader, const char *name, orr_bytes *bytes,
                                orr_error *error);
// A picture beside the mesh; -1 where it is left out.
orr_result orr_mesh_load_texture(orr_mesh_reader *reader, const char *name, int *texture);
// Notes that a file beside the mesh is left out, and why. Fails only without memory.
orr_result orr_mesh_leave_out(orr_mesh_reader *reader, const char *kind, const char *name,
                              const orr_error *why);
