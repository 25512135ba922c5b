// Shared by the files of the model compiler; compile.c runs the steps.
#pragma once

#include "physics/grid/distance_grid.h"
#include "physics/model/spec.h"

// Allocates the arrays of a model whose sizes are set, as one block of zeros. `path` is for messages.
orr_result model_allocate(orr_model *model, const char *path, orr_error *error);

// ---- inertia (model/inertia.c)

typedef struct rigid_part {                  // of a body, in the body's frame
    double mass, pos[3], quat[4], moment[3]; // centre of mass; principal axes and moments
} rigid_part;

// Symmetric 3x3 (row-major) into principal moments, largest first, and the rotation to their axes. of_floats:
// from a mesh, whose vertices are floats; what is off the diagonal by their rounding is not an axis.
void principal_moments(const double matrix[9], bool of_floats, double moment[3], double quat[4]);
// All parts as one.
void merge_parts(const rigid_part *parts, int count, rigid_part *whole);

// ---- meshes (mesh_load.c, mesh_builtin.c, mesh_hull.c)

typedef struct mesh_data {
    int vertex_count, face_count, hull_vertex_count, hull_face_count, hull_edge_count;
    float *vertices, *normals, *texcoords; // x 3, x 3, x 2
    double *exact;                         // x 3: vertices before they are rounded to float
    // What the hull is made of: the positions listed in a .obj, or the vertices; where these are corners of
    // triangles, each place once.
    float *points_listed; // x 3; NULL: vertices
    int points_listed_count;
    bool corners;
    int32_t *faces;
    double *hull_vertices;
    int32_t (*hull_angles)[2]; // of each of the hull's triangles: see hull_face_angle in model.h
    int32_t *hull_points;      // of each of the hull's vertices: which of the points it is made of
    int32_t *hull_faces, *hull_edge_start, *hull_edge_number, *hull_edges;
    double pos[3], quat[4], volume, moment[3]; // moment per unit of density
    double low[3], high[3];
    bool thickened; // see spec_mesh
    bool sensed;    // set before: points and tangents are wanted
    int point_count;
    bool as_octree; // set before: its distance is wanted
    int octree_count;
    int32_t *octree_child; // as the model has them
    double *octree_coeff;
    double octree_box[6];
    float *points, *tangents; // of a tactile sensor: x 3, x 6, as they are in the file, moved like vertices
} mesh_data;

// Reads and prepares a mesh. One that cannot collide has no hull, unless its inertia or its faces come from
// it.
orr_result mesh_build(const spec_mesh *mesh, bool collides, mesh_data *data, orr_error *error);
void mesh_data_free(mesh_data *data);
// Allocates arrays of zeros for so many vertices and triangles, and sets their counts.
orr_result mesh_data_take(mesh_data *data, int vertices, int faces, orr_error *error);
// Makes the vertices and triangles of mesh->builtin from mesh->params; no normals. Fails for parameters that
// the shape does not have.
orr_result mesh_builtin(const spec_mesh *mesh, mesh_data *data, orr_error *error);
// Makes two sheets, 2 mm apart, of vertices in a plane, without triangles. Fails for others.
orr_result mesh_thicken(const spec_mesh *mesh, mesh_data *data, orr_error *error);
// Makes the octree of a mesh that is in its principal frame.
orr_result mesh_octree(const spec_mesh *mesh, mesh_data *data, orr_error *error);
// Makes the triangles of the surface of mesh->function.
orr_result mesh_of_function(const spec_mesh *mesh, mesh_data *data, orr_error *error);
// Two tangents of each vertex of a builtin mesh: zeros, but of a wedge and a plate.
void mesh_builtin_tangents(const spec_mesh *mesh, int vertices, float *tangents);
// Reads or makes the triangles of a file or of the spec; vertices may be shared.
orr_result mesh_load(const spec_mesh *mesh, mesh_data *data, orr_error *error);
// Moves and scales what has been loaded by the asset's refpos, refquat and scale; makes `exact`.
orr_result mesh_scale(const spec_mesh *mesh, mesh_data *data, orr_error *error);
// Finds the convex hull of data, with at most mesh->maxhullvert vertices (-1: all).
orr_result mesh_hull(const spec_mesh *mesh, mesh_data *data, orr_error *error);
// Orders the corners of the hull's triangles counter-clockwise as seen from outside.
void mesh_hull_orient(mesh_data *data);

// ---- height fields and textures (model/texture.c, model/hfield.c)

typedef struct texture_data {
    int width, height, channels, colour_space;
    uint8_t *pixels;
} texture_data;

orr_result texture_build(const spec_texture *texture, texture_data *data, orr_error *error);

typedef struct hfield_data {
    int rows, columns;
    float *samples;
} hfield_data;

orr_result hfield_build(const spec_hfield *field, hfield_data *data, orr_error *error);
// extent: size of a spec_hfield. half: half sizes of the box that has its mass.
void hfield_half_size(const double extent[4], double half[3]);

// ---- steps

// The mesh whose vertices are the points of a tactile sensor; -1: there is none of its name, or it is another
// sensor.
static inline int sensed_mesh(const orr_spec *spec, const spec_sensor *s)
{
    return s->type == ORR_SENSOR_TACTILE && s->object ? SPEC_FIND(spec, meshes, s->object) : -1;
}

typedef struct model_builder {
    orr_spec *spec;
    orr_model *m;
    mesh_data *meshes;        // one per mesh of the spec
    hfield_data *hfields;     // one per height field
    texture_data *textures;   // one per texture
    int *geom_ids, *mesh_ids; // of the spec's geoms and meshes in the model; -1: discarded
    rigid_part *inertias;     // one per body of the spec
    orr_error *error;
} model_builder;

orr_result builder_limited(const model_builder *b, const spec_head *head, const char *what, int limited,
                           const double range[2], uint8_t *out);
// Fails when `index` is -1 although there is a name: "there is no `what` 'name'".
orr_result builder_found(const model_builder *b, const spec_head *head, const char *what, int index,
                         const char *name);
// Fails when a geom or site has not the sizes that its type needs.
orr_result builder_sizes(const model_builder *b, const spec_head *head, int type, const double size[3]);
// Copies the user numbers of an element; the others stay 0.
static inline void copy_user(double *to, int width, const spec_numbers *user)
{
    for (int i = 0; i < user->count && i < width; i++) {
        to[i] = user->values[i];
    }
}
// Constants of a geom's ellipsoid in a medium (geom_fluid of the model); coefficients: MJCF's fluidcoef.
void fluid_coefficients(int type, const double size[3], const double coefficients[5],
                        double fluid[ORR_NFLUID]);
// before the sizes of the model are known
orr_result check_names(const model_builder *b);
// With discardvisual: geoms that cannot collide, that feel no fluid and that nothing refers to.
bool is_discarded(const orr_spec *spec, const spec_geom *geom);
orr_result resolve_masses(model_builder *b); // poses and sizes of geoms; inertia of bodies
orr_result align_free(model_builder *b);     // frames of free bodies (alignfree)
orr_result fuse_static(model_builder *b);    // bodies without joints (fusestatic)
// Transforms the elements of each body from the body's frame to the one that the frame is given in.
typedef struct body_frame {
    double pos[3], quat[4];
} body_frame;
void move_attached(orr_spec *spec, const body_frame *frames);
orr_result count_sizes(model_builder *b);
orr_result add_size(const model_builder *b, int32_t *size, int64_t more); // fails when it is too large
orr_result check_delay(const model_builder *b, const spec_head *head, double delay, int nsample);
int count_cables(const orr_spec *spec); // joints of cables
// Adds those of a flex to the model's sizes.
orr_result count_flex_nodes(model_builder *b, const spec_flex *flex);
typedef struct model_place { // where the next of each is in the model
    int node, cell, cell_node, stiffness, mode, touch, point, weight, element, grid;
} model_place;
orr_result count_flex_touch(model_builder *b, const spec_flex *flex);
// active: elements; those that touch, which are triangles and the outer layers of tetrahedra, are 1. As
// MuJoCo peels them: each layer has a face that no element of the next layers has. Returns how many.
orr_result flex_active_elements(const spec_flex *flex, uint8_t *active, int *count, orr_error *error);
// After build_flex_nodes, of the same flex.
orr_result build_flex_touch(model_builder *b, int id, model_place *at);
orr_result build_flex_nodes(model_builder *b, int id, model_place *at);
// The cell (i, j, k) of a flex, of the model's nflexcell; -1: it has none there.
int find_flex_cell(const orr_spec *spec, int flex, const int32_t at[3]);
orr_result count_names(model_builder *b);
// after the arrays are allocated
void fill_names(model_builder *b);
orr_result build_bodies(model_builder *b);                  // bodies, joints, dofs
orr_result build_masses(model_builder *b);                  // the inertia of bodies
orr_result build_geoms(model_builder *b);                   // geoms, sites
orr_result build_visuals(model_builder *b);                 // of URDF, when geoms are built
orr_result build_cables(model_builder *b);                  // joints of cables, when geoms are built
orr_result build_flexes(model_builder *b);                  // soft bodies
orr_result build_views(model_builder *b);                   // cameras, lights
orr_result build_assets(model_builder *b);                  // meshes, height fields, textures, materials
orr_result build_contact_equality_tendon(model_builder *b); // pairs, excludes, equalities, tendons
orr_result build_actuators(model_builder *b);               // actuators and sensors
orr_result build_sleep(const model_builder *b);             // after the bodies, tendons and actuators
orr_result build_custom(model_builder *b);                  // custom elements, keyframes
