// The parts of the glTF 2.0 reader.
#pragma once

#include "engine/core/json.h"
#include "engine/mesh/mesh_reader.h"

// An array of objects at the root of the file: "meshes", "accessors", ...
typedef struct orr_gltf_list {
    const char *key;
    const cJSON **nodes;
    int count;
} orr_gltf_list;

typedef enum orr_gltf_kind {
    ORR_GLTF_ACCESSORS,
    ORR_GLTF_VIEWS,
    ORR_GLTF_BUFFERS,
    ORR_GLTF_IMAGES,
    ORR_GLTF_SAMPLERS,
    ORR_GLTF_TEXTURES,
    ORR_GLTF_MATERIALS,
    ORR_GLTF_MESHES,
    ORR_GLTF_NODES,
    ORR_GLTF_SCENES,
    ORR_GLTF_SKINS,
    ORR_GLTF_KINDS
} orr_gltf_kind;

// How a material's texture is laid on: a set of coordinates, and u v 1 times a matrix of two rows.
typedef struct orr_gltf_mapping {
    int set;
    bool used, moved;
    float matrix[6];
} orr_gltf_mapping;

// What normals of the mesh are made of: a texture, -1: none, and what it makes.
typedef struct orr_gltf_normals {
    int normals, texture; // of the file, of the mesh
    double scale;
} orr_gltf_normals;

// What a surface texture of a material was made of: textures, -1: none.
typedef struct orr_gltf_factors {
    int metal, occlusion, transmission;
    double strength; // of occlusion
    bool made;
    int texture; // of the mesh
} orr_gltf_factors;

// What a material's surface textures, its normals and its coat were made of: textures, -1: none.
typedef struct orr_gltf_surface {
    orr_gltf_factors factors[2]; // of each of its mappings
    orr_gltf_normals normals, coat_normals;
    int coat, coat_roughness, coat_texture;
    float coat_factors[2]; // of how much is coated and of its roughness
} orr_gltf_surface;

// Is the picture of an image there, in a format that is read?
typedef enum orr_gltf_image_state {
    ORR_GLTF_IMAGE_NEW, // not looked at yet
    ORR_GLTF_IMAGE_THERE,
    ORR_GLTF_IMAGE_MISSING
} orr_gltf_image_state;

typedef struct orr_gltf {
    orr_mesh_reader *reader;
    orr_json root;
    orr_gltf_list lists[ORR_GLTF_KINDS];
    orr_bytes chunk;       // the binary chunk of a .glb, borrowed; data NULL: none
    orr_bytes *buffers;    // of each buffer; data NULL: not read yet
    bool *owns;            // each buffer's bytes
    int *image_textures;   // index into the mesh's textures of each image, -1: not decoded yet
    uint8_t *image_states; // of each image: an orr_gltf_image_state
    // of each material: the first of its textures' mappings, and the first that is another
    orr_gltf_mapping (*mappings)[2];
    orr_gltf_surface *surfaces; // likewise
    int *parents;               // of each node, -1: none
    int64_t work;               // meshes, primitives and indices placed so far
    orr_error *error;
} orr_gltf;

// How a node places its mesh.
typedef struct orr_gltf_placing {
    const orr_json *node;
    const float *pose; // 3x4, of what has no joints
    float *joints;     // joint_count 3x4 maps from the mesh to the scene; NULL: the node has no skin
    int joint_count;
} orr_gltf_placing;

// Values of an accessor, as checked.
typedef struct orr_gltf_accessor {
    orr_json json;
    int64_t count;
    int components, type; // type: of a component, the file's number for it
    bool normalised;
    const uint8_t *data; // NULL: zeros
    size_t stride;
    int64_t sparse_count; // values that replace others
    int sparse_type;
    const uint8_t *sparse_indices, *sparse_values;
} orr_gltf_accessor;

// An element of a list, with its place for messages.
orr_result orr_gltf_element(const orr_gltf *g, orr_gltf_kind kind, int index, orr_json *element);
// A whole number; when the key is absent the value stays.
orr_result orr_gltf_integer(const orr_gltf *g, const orr_json *object, const char *key, int64_t least,
                            int64_t most, int64_t *value);
// An index into a list; when the key is absent -1.
orr_result orr_gltf_index(const orr_gltf *g, const orr_json *object, const char *key, orr_gltf_kind kind,
                          int *index);
// object.extensions.NAME; node NULL: absent
// Is the extension read?
bool orr_gltf_knows_extension(const char *name);
orr_result orr_gltf_extension(const orr_gltf *g, const orr_json *object, const char *name,
                              orr_json *extension);
// A buffer's or an image's bytes in a "data:" address or in a file; free with orr_free, on failure too.
orr_result orr_gltf_read_address(const orr_gltf *g, const char *address, orr_bytes *bytes, orr_error *why);
// The bytes of a buffer view, borrowed, and its stride (0: none).
orr_result orr_gltf_view(orr_gltf *g, int index, const uint8_t **data, size_t *size, size_t *stride);

orr_result orr_gltf_accessor_open(orr_gltf *g, int index, orr_gltf_accessor *a);
// Its values as floats, `width` of each, the next `step` floats behind; width: at most its components.
orr_result orr_gltf_accessor_floats(const orr_gltf *g, const orr_gltf_accessor *a, int width, float *out,
                                    size_t step);
// Its values as indices; fails where one is not below `limit`.
orr_result orr_gltf_accessor_indices(const orr_gltf *g, const orr_gltf_accessor *a, int64_t limit,
                                     uint32_t *out);

// object[key] as a texture of the file whose picture is there; -1: absent, or left out and noted, as its
// picture is missing, or in a format that is not read.
orr_result orr_gltf_texture(orr_gltf *g, const orr_json *object, const char *key, int *index);
// How such a texture is looked up.
orr_result orr_gltf_read_sampler(const orr_gltf *g, int index, orr_texture_sampler *sampler);
// Such a texture, decoded when it is new, or anew.
orr_result orr_gltf_read_texture(orr_gltf *g, int index, int *texture);
orr_result orr_gltf_decode_texture(orr_gltf *g, int index, int *texture);
orr_result orr_gltf_read_mapping(const orr_gltf *g, const orr_json *info, orr_gltf_mapping *mapping);
// Metallic and roughness, occlusion, emission, normals and clear coat of material `index`, as textures.
orr_result orr_gltf_read_surface(orr_gltf *g, const orr_json *json, int index, orr_mesh_material *material);
// How light goes through a material whose other members are known.
orr_result orr_gltf_read_glass(const orr_gltf *g, const orr_json *json, orr_mesh_material *material);
orr_result orr_gltf_read_materials(orr_gltf *g);
// The light of a node, if it has one.
orr_result orr_gltf_add_node_light(orr_gltf *g, const orr_json *node, const float pose[12]);
// What is placed again and again without a triangle takes time too.
orr_result orr_gltf_count_work(orr_gltf *g, int64_t amount);
orr_result orr_gltf_read_scene(orr_gltf *g);
// A node's own transform.
orr_result orr_gltf_read_pose(const orr_gltf *g, const orr_json *node, float pose[12]);
// Fills in the joints of placing->node, if it has a skin, where the scene's nodes are; the caller frees them,
// on failure too.
orr_result orr_gltf_read_skin(orr_gltf *g, orr_gltf_placing *placing);
// Moves vertices as the morph targets of a primitive do by the weights of the node or the mesh.
orr_result orr_gltf_morph(orr_gltf *g, const orr_json *mesh, const orr_json *primitive,
                          const orr_gltf_placing *placing, int64_t count, orr_mesh_file_vertex *vertices);
// Moves vertices into the scene. *mirrors: their triangles turn around
orr_result orr_gltf_place(orr_gltf *g, const orr_json *attributes, const orr_gltf_placing *placing,
                          int64_t count, orr_mesh_file_vertex *vertices, bool *mirrors);
