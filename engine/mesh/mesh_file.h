// Triangle meshes in files: .glb .gltf .obj .stl .ply .dae. For drawing (render/formats/mesh_import.c) and
// for physics (physics/model/mesh/mesh_load.c).
//
// Files are flattened: polygons become triangles, the transforms of nodes are applied, and triangles of nodes
// that mirror are rewound, so that their front stays the front.
#pragma once

#include "engine/core/file.h"
#include "engine/image/image.h"

// lanes gather vertices of 9 floats with 32-bit offsets
enum {
    ORR_MESH_VERTEX_MAX = INT32_MAX / 9,
    ORR_MESH_INDEX_MAX = INT32_MAX,
    ORR_MESH_TEXTURE_SIDE_MAX = 32768
};

// What a texture of a material is for.
typedef enum orr_texture_use {
    ORR_TEXTURE_BASE,
    ORR_TEXTURE_SURFACE,
    ORR_TEXTURE_EMISSIVE,
    ORR_TEXTURE_NORMAL,
    ORR_TEXTURE_COAT,
    ORR_TEXTURE_COAT_NORMAL,
    ORR_TEXTURE_SECOND_SURFACE,
    ORR_TEXTURE_USES
} orr_texture_use;

// What a texture shows beyond coordinates of 0 .. 1.
typedef enum orr_texture_wrap {
    ORR_WRAP_REPEAT, // the picture again
    ORR_WRAP_CLAMP,  // the texels of its edge
    ORR_WRAP_MIRROR  // the picture again, every other time mirrored
} orr_texture_wrap;

// How a texture is looked up. All 0: repeated, and mixed between texels and between levels of its mip chain.
typedef struct orr_texture_sampler {
    uint8_t wrap_u, wrap_v; // an orr_texture_wrap each
    bool nearest_large;     // the nearest texel alone, in pixels that are no larger than a texel
    bool nearest_small;     // likewise, in pixels that are larger
    bool no_mips;           // larger pixels, too, show texels of the picture itself
    bool nearest_mip;       // of the level whose texels are nearest to the pixel's size, instead of two mixed
} orr_texture_sampler;

typedef struct orr_mesh_material {
    float base_colour[4]; // linear factor, straight alpha
    int texture;          // index into textures, -1: none
    bool two_sided;
    bool blended;       // what is behind shows by 1 - texel alpha x base_colour[3]; false: opaque
    float alpha_cutoff; // where texel alpha x base_colour[3] is less there is a hole; 0: opaque
    float emission;     // shines by itself: base colours as under so much more ambient light
    float emissive[3];  // linear colour that it shines in besides
    bool unlit;         // shown in its base colour, whatever the light
    float specular;     // factor of the lights' specular parts; 0: dull
    float shininess;    // 0 .. 1: how narrow its highlights are
    bool no_shadow;     // casts none
    float reflectance;  // > 0: its surface, which is flat, mirrors the scene; a factor of that light
    // glTF's metallic-roughness model; false: Lambert's law and the two above
    bool metallic_roughness;
    float metallic, roughness; // 0 .. 1
    // what its highlights reflect of light where it is no metal, seen straight, linear, and at a grazing
    // angle (KHR_materials_ior, KHR_materials_specular); each the square of a 255th part, as GPUs take them.
    // false: 0.04 and 1
    bool has_highlight;
    float highlight[3], highlight_grazing;
    // only of this model; indices into textures, -1: none
    int surface_texture;  // red dims ambient light; green, blue and alpha are factors of roughness, metallic
                          // and transmission
    int emissive_texture; // factor of emissive
    int normal_texture;   // components of the normal, as ORR_NORMAL_CENTRE says
    int coat_texture;     // red: how much of it is under a clear coat; green: the coat's roughness
    int coat_normal_texture;    // as normal_texture, of the coat, whose normals are else the mesh's
    int second_surface_texture; // as surface_texture, multiplied with it; laid on by the second coordinates
    // laid on by the second coordinates of vertices; never base colours and surface_texture, and always
    // second_surface_texture
    bool second[ORR_TEXTURE_USES];
    orr_texture_sampler samplers[ORR_TEXTURE_USES]; // of any model
    // only of this model: the part of it that is no metal which light goes through in place of the matte part
    // (KHR_materials_transmission, _ior, _volume); 0: opaque, and the rest is not used
    float transmission;
    float ior;   // index of refraction, 1 or more
    bool closed; // false: thin, light goes straight through; true: the surface of a body, it refracts
    float
        absorption[3]; // of a body's inside, linear colours [1/length of the scene]: exp(-absorption length)
    float thickness;   // of a body as a whole, for pictures that do not follow light through it
    // a network that says how it reflects, in place of all but alpha and emission (render/appearance); NULL:
    // none
    struct orr_neural_material *neural;
} orr_mesh_material;

// A component of a normal, -1 .. 1, is in its texture as the linear value CENTRE + (1 - CENTRE) component: a
// byte that, decoded, is just 0. Red is along growing u, green along falling v, blue along the normal.
#define ORR_NORMAL_CENTRE 0.50288665f // of the byte 188

// Index of the texture of a use, -1: none.
static inline int orr_material_texture(const orr_mesh_material *material, orr_texture_use use)
{
    const int of[ORR_TEXTURE_USES] = {material->texture,
                                      material->surface_texture,
                                      material->emissive_texture,
                                      material->normal_texture,
                                      material->coat_texture,
                                      material->coat_normal_texture,
                                      material->second_surface_texture};
    return use == ORR_TEXTURE_BASE || material->metallic_roughness ? of[use] : -1;
}

// Is a texture of it laid on by the second coordinates?
static inline bool orr_material_has_second(const orr_mesh_material *material)
{
    bool some = false;
    for (int use = 0; use < ORR_TEXTURE_USES; use++) {
        some |= material->second[use] && orr_material_texture(material, (orr_texture_use)use) >= 0;
    }
    return some;
}

// Does light go through it? Networks reflect all of it.
static inline bool orr_material_transmits(const orr_mesh_material *material)
{
    return material->transmission > 0.0f && material->metallic_roughness && !material->neural &&
           !material->unlit;
}

// Are triangles of it seen from either side? The inside of a body that light goes through is.
static inline bool orr_material_two_sided(const orr_mesh_material *material)
{
    return material->two_sided || (orr_material_transmits(material) && material->closed);
}

// A run of triangles with one material.
typedef struct orr_mesh_part {
    uint32_t first_index;
    uint32_t index_count; // a multiple of 3
    int material;
} orr_mesh_part;

typedef struct orr_mesh_file_vertex {
    float position[3]; // finite
    float normal[3];   // finite, of any length; 0 where the file has none
    float texcoord[2]; // finite, v = 0 at the bottom row; 0 where the file has none
    float colour[4];   // straight alpha; 1 where the file has none
    float second[2];   // as texcoord, of textures that materials lay on by them; 0 where none is
} orr_mesh_file_vertex;

typedef struct orr_mesh_file {
    int64_t vertex_count;
    int64_t index_count;
    orr_mesh_file_vertex *vertices;
    bool linear_colours; // false: colours are as displayed
    bool split_corners;  // no two polygons have a vertex in common
    bool flat_normals;   // normals that the file does not have are those of triangles; false: smooth ones
    uint32_t *indices;   // three per triangle, counter-clockwise seen from the front
    // of a .obj: the positions as they are listed there, point_count x 3, whether triangles have them or not;
    // NULL in other formats
    float *points;
    int64_t point_count;
    orr_mesh_part *parts;
    orr_mesh_material *materials;
    orr_image8 *textures; // sRGB colour, straight alpha; what is no colour is encoded likewise
    int part_count, material_count, texture_count;
    int plain_material;     // of the parts for which the file describes none; -1: it does for all
    orr_light_desc *lights; // light_count: lamps among the triangles, in their space; none of them is dark
    int light_count;
    char unused[400]; // what the file holds and a reader leaves out, in one line; empty: nothing
} orr_mesh_file;

typedef struct orr_mesh_file_desc {
    const char *path; // named in messages; its ending gives the format
    // the file's contents, one zero byte behind them as orr_file_read gives them; NULL: read from `path`, and
    // with it the files that it names
    const orr_bytes *bytes;
    bool share_vertices; // corners that agree in everything become one vertex
    // where the file has none, and for .stl: smooth ones, but for edges sharper than 60 degrees; of glTF flat
    // ones, as its specification wants
    bool make_normals;
    bool read_textures; // pictures that materials name, in the file or beside it; false: materials have none
    bool keep_axes; // coordinates as stored, without turning the up axis that the file names (Collada) to y
    // polygons of .obj files as MuJoCo cuts them, which leaves out or doubles parts of those with hollows
    bool polygons_as_mujoco;
} orr_mesh_file_desc;

// By the ending of its name; a .ply, which may also be a cloud, by its header.
bool orr_mesh_readable(const char *path);
// ORR_ERROR_FILE when it cannot be opened; ORR_ERROR_FORMAT names the mesh, face, vertex or texture that is
// wrong, and when there are no triangles; ORR_ERROR_MEMORY.
orr_result orr_mesh_file_read(const orr_mesh_file_desc *desc, orr_mesh_file *mesh, orr_error *error);
// Vertices moved by an affine map, normals by its cofactors. Returns whether it mirrors: triangles are to be
// rewound then.
bool orr_mesh_move(orr_mesh_file_vertex *vertices, int64_t count, const float pose[12]);
void orr_mesh_file_free(orr_mesh_file *mesh); // what it still owns; members may be taken out and set to NULL
