// Triangle meshes in the form in which they are drawn.
#pragma once

#include "engine/maths/inline.h"
#include "engine/mesh/mesh_file.h"
#include "neural/fields/triangle_view.h"

typedef struct orr_mesh_vertex {
    float position[3]; // layer's space
    float normal[3];   // unit
    float uv[2];       // texture coordinates, v = 0 at the top row
    uint8_t colour[4]; // vertex colour, sRGB, straight alpha; 255 when the file has none
} orr_mesh_vertex;

typedef struct orr_mesh {
    orr_mesh_vertex *vertices;
    // vertex_count x 2: as uv, of textures that materials lay on by them; NULL: none does
    float *second_uv;
    uint32_t *indices; // three per triangle, counter-clockwise seen from the front
    orr_mesh_part *parts;
    orr_mesh_material *materials;
    orr_image8 *textures; // sRGB colour, straight alpha; looked up by the samplers of materials
    int64_t vertex_count;
    int64_t index_count;
    int part_count, material_count, texture_count;
    bool borrows_textures;  // they outlive the mesh and are not freed with it
    bool has_mips;          // each texture's rgba is followed by levels 1, 2, ... of its mip chain
    float low[3], high[3];  // bounds
    orr_light_desc *lights; // light_count: lamps that are part of it, in the layer's space
    int light_count;
    // what its file holds and is not drawn, in one line; empty: nothing
    char unused[sizeof((orr_mesh_file *)0)->unused];
} orr_mesh;

// A file that orr_mesh_readable knows, with mip chains; fails as orr_mesh_file_read does.
orr_result orr_mesh_load(const char *path, orr_mesh **mesh, orr_error *error);
// The same from what a reader of files, or a program, gives; takes over what it can use. No texture has a
// side above 32768.
orr_result orr_mesh_take(orr_mesh_file *file, orr_mesh **mesh, orr_error *error);
// The triangles as training of a signed distance field takes them; borrows from the mesh.
orr_triangle_view orr_mesh_for_sdf(const orr_mesh *mesh);
// Where texture coordinates of vertices are, and the floats from one vertex to the next.
typedef struct orr_mesh_coordinates {
    const float *first;
    int32_t stride;
} orr_mesh_coordinates;

// Those of a material's texture.
ORR_INLINE orr_mesh_coordinates orr_mesh_coordinates_of(const orr_mesh *mesh,
                                                        const orr_mesh_material *material,
                                                        orr_texture_use use)
{
    const orr_mesh_coordinates plain = {mesh->vertices->uv, sizeof(orr_mesh_vertex) / sizeof(float)},
                               second = {mesh->second_uv, 2};
    return mesh->second_uv && material->second[use] ? second : plain;
}
void orr_mesh_destroy(orr_mesh *mesh); // NULL is allowed
size_t orr_mesh_bytes(const orr_mesh *mesh);
// Corner 0 .. 7 of a box, moved by a 3x4 transform.
void orr_box_corner(const float low[3], const float high[3], const float map[12], int corner, float moved[3]);

// Adds the mip chain of every texture, by 2 x 2 boxes in linear light, colours weighted by alpha.
orr_result orr_mesh_build_mips(orr_mesh *mesh, orr_error *error);
// Texels of a picture and its mip chain; and the chain of a picture that has memory for it.
size_t orr_mip_texels(int width, int height);
void orr_mips_fill(const orr_image8 *picture);
// A side of level l of a mip chain.
ORR_INLINE int orr_mip_side(int side, int level)
{
    return side >> level > 1 ? side >> level : 1;
}
// Levels of a chain, level 0 included: down to 1 x 1.
int orr_mip_levels(int width, int height);
enum {
    ORR_MIP_LEVELS = 17 // at most
};
// Levels of a picture that is followed by its mip chain; first: as below.
int orr_mip_chain(const orr_image8 *picture, int32_t first[ORR_MIP_LEVELS]);
// Number of levels of one of the mesh's textures; first[l]: the texel at which level l begins.
int orr_mesh_texture_levels(const orr_mesh *mesh, const orr_image8 *texture, int32_t first[ORR_MIP_LEVELS]);
