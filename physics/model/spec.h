// The description of a model that MJCF and URDF are read into, before it is compiled. Angles are in radians,
// classes and frames are resolved, names are not. Strings and numbers are in the arena of the spec.
#pragma once

#include "engine/core/memory.h"
#include "physics/model/flex/flex_cells.h"
#include "physics/model/model.h"

enum { SPEC_AUTO = 2 };              // of a tristate: decided by the ranges
enum { SPEC_NUMBERS_MAX = 1 << 24 }; // numbers in one attribute

typedef struct spec_location { // of an element in its file, for messages
    const char *file;
    int line; // 0: the file is not of elements, messages name it alone
    const char *element;
} spec_location;

typedef struct spec_numbers { // of an attribute with any number of them
    double *values;
    int count;
} spec_numbers;

// First member of all elements.
typedef struct spec_head {
    spec_location location;
    const char *name; // Nullable
} spec_head;

// One of the alternatives to a quaternion; those not given are NaN at [0].
typedef struct spec_orientation {
    double quat[4], axisangle[4], xyaxes[6], zaxis[3], euler[3];
} spec_orientation;

// Of a body: it continues the cable of its parent, if both have the same instance.
typedef struct spec_cable {
    const void *instance; // NULL: it is part of no cable
    int32_t flat;         // straight without stress, else as it is given
    double twist, bend;   // moduli [Pa] of shear and of elasticity
} spec_cable;

typedef struct spec_flex_nodes spec_flex_nodes;

typedef struct spec_body {
    spec_head head;
    double pos[3];
    spec_orientation orientation;   // resolved: orientation.quat
    double own_pos[3], own_quat[4]; // as given in the body, without the frames around it
    int parent;
    int32_t mocap, kept; // kept: not fused with its parent by fusestatic
    int32_t sleep;       // orr_sleep_policy of the tree that begins with it
    double gravcomp;
    spec_numbers user;
    const char *childclass;
    spec_cable cable;
    const spec_flex_nodes *nodes; // it is one of these; NULL: of none
    int node;
    const struct spec_compiler *compiler; // settings of the model it was attached from; NULL: this one's
    // inertial
    int32_t has_inertial;
    spec_head inertial; // its location, with the name of the body
    double mass, ipos[3], iquat[4], inertia[3];
    double full_inertia[6]; // xx yy zz xy xz yz; NaN at [0]: inertia and iquat are used
} spec_body;

typedef struct spec_inertial {
    spec_head head;
    double pos[3];
    spec_orientation orientation;
    double mass, diaginertia[3], fullinertia[6];
} spec_inertial;

typedef struct spec_frame {
    spec_head head;
    double pos[3];
    spec_orientation orientation;
    const char *childclass;
} spec_frame;

// A distance as a function (orr_function) with its parameters.
typedef struct spec_function {
    int32_t kind;
    double prm[ORR_NFUNCTION];
} spec_function;

typedef struct spec_joint {
    spec_head head;
    int body;
    int32_t type, group, limited, actfrclimited, actgravcomp, align;
    double pos[3], axis[3], stiffness[1 + ORR_NPOLY], damping[1 + ORR_NPOLY], armature, frictionloss, margin;
    double range[2], actfrcrange[2], ref, springref, springdamper[2], springyield;
    double solref_limit[ORR_NREF], solimp_limit[ORR_NIMP], solref_friction[ORR_NREF],
        solimp_friction[ORR_NIMP];
    spec_numbers user;
} spec_joint;

typedef struct spec_geom {
    spec_head head;
    int body;
    int32_t type, contype, conaffinity, condim, group, priority, fluidshape, shellinertia, castshadow;
    double size[3], fitscale, fromto[6], pos[3];
    spec_orientation orientation;
    double friction[3], mass, density, solmix, solref[ORR_NREF], solimp[ORR_NIMP], margin, gap, fluidcoef[5];
    double surfacevel[6], adhesion;
    float rgba[4];
    const char *material, *mesh, *hfield, *grid;
    spec_function function;
    spec_numbers user;
    const void *link;   // of URDF: the link whose collision it is; NULL: of none
    const void *visual; // of URDF: the visual that it is; NULL: it is none
} spec_geom;

// What a link of a URDF looks like (visuals.h). It begins as spec_site does.
typedef struct spec_visual {
    spec_head head; // with its name, or else that of its link
    int body;
    int32_t type, group;
    double size[3], pos[3];
    spec_orientation orientation;
    const void *link, *element; // the same for all of a link; of it alone
    const char *mesh, *texture; // files
    const char *wrong;          // the mistake in it; NULL: none
    bool coloured;
    float rgba[4];
} spec_visual;

typedef struct spec_site {
    spec_head head;
    int body;
    int32_t type, group;
    double size[3], fromto[6], pos[3];
    spec_orientation orientation;
    float rgba[4];
    const char *material;
    spec_numbers user;
} spec_site;

// The nodes that move a soft body: those that move by themselves are bodies below the flex's.
struct spec_flex_nodes {
    flex_cells cells;
    int count;
    double *point;     // count x 3, in the frame of pos and orientation
    uint8_t *held;     // count: by the body of the flex
    double *mass;      // count, kg
    double *stiffness; // cells x (3 nodes of a cell)^2, as flex_fill_cells makes it
    uint8_t *empty;    // cells
};

// How a soft body touches: as a geom does.
typedef struct spec_touch {
    int32_t contype, conaffinity, condim, priority;
    int32_t selfcollide; // 0: its parts do not touch each other
    int32_t layers;      // of tetrahedra, from the surface on, that touch
    double friction[3], solmix, solref[ORR_NREF], solimp[ORR_NIMP], margin, gap;
} spec_touch;

// A soft body (<flexcomp>): points, and elements of dim + 1 of them. It begins as spec_site does.
typedef struct spec_flex {
    spec_head head;
    int body;
    double pos[3];
    spec_orientation orientation;
    int32_t dim, elastic2d; // orr_elastic2d
    double mass, radius, young, poisson, damping, thickness;
    double inertiabox; // m: half the side of the cube whose inertia a node has
    double edge_stiffness, edge_damping;
    int32_t edge_equality, strain, collides, group; // strain: equalities hold the cells between its nodes
    int32_t strain_cells; // one for each cell, with the numbers below, are still to be made
    double strain_solref[ORR_NREF], strain_solimp[ORR_NIMP]; // and of edges that keep their lengths
    spec_touch touch;                                        // collides: contype or conaffinity is not 0
    float rgba[4];
    const char *material;
    int points, elements;
    double *point;                // points x 3, in the frame of pos and orientation
    int32_t *element;             // elements x (dim + 1)
    uint8_t *pinned;              // points
    const spec_flex_nodes *nodes; // that move the points; NULL: each moves by itself
} spec_flex;

typedef struct spec_camera {
    spec_head head;
    int body;
    int32_t mode, projection, resolution[2];
    double pos[3];
    spec_orientation orientation;
    double fovy, ipd;
    float focal[2], focalpixel[2], principal[2], principalpixel[2], sensorsize[2];
    const char *target;
    spec_numbers user;
} spec_camera;

typedef struct spec_light {
    spec_head head;
    int body;
    int32_t mode, type, directional, castshadow, active;
    double pos[3], dir[3];
    float bulbradius, intensity, range, attenuation[3], cutoff, softness, exponent, ambient[3], diffuse[3],
        specular[3];
    const char *target;
} spec_light;

typedef struct spec_mesh {
    spec_head head;
    const char *file;
    double refpos[3], refquat[4], scale[3];
    int32_t inertia, maxhullvert, smoothnormal, builtin;
    bool thickens; // if it is flat: it gets a thickness, and may collide
    spec_numbers vertex, normal, texcoord, face, params; // params: of a builtin one
    spec_function function;
} spec_mesh;

typedef enum spec_mesh_inertia {
    SPEC_MESH_CONVEX,
    SPEC_MESH_EXACT,
    SPEC_MESH_LEGACY,
    SPEC_MESH_SHELL
} spec_mesh_inertia;

typedef enum spec_mesh_builtin {
    SPEC_MESH_NOT_BUILTIN,
    SPEC_MESH_SPHERE,
    SPEC_MESH_HEMISPHERE,
    SPEC_MESH_CONE,
    SPEC_MESH_SUPERSPHERE,
    SPEC_MESH_SUPERTORUS,
    SPEC_MESH_WEDGE,
    SPEC_MESH_PLATE
} spec_mesh_builtin;

typedef struct spec_hfield {
    spec_head head;
    const char *file;
    int32_t nrow, ncol;
    double size[4];
    spec_numbers elevation;
} spec_hfield;

// A distance grid, for geoms of the type ORR_GEOM_SDF. The spec borrows it until it has been compiled; the
// model has a copy of its arrays.
typedef struct spec_grid {
    spec_head head;
    const struct orr_distance_grid *grid;
    double scale; // m per unit of the grid, > 0
} spec_grid;

typedef enum spec_builtin {
    SPEC_BUILTIN_NONE,
    SPEC_BUILTIN_GRADIENT,
    SPEC_BUILTIN_CHECKER,
    SPEC_BUILTIN_FLAT
} spec_builtin;
typedef enum spec_mark { SPEC_MARK_NONE, SPEC_MARK_EDGE, SPEC_MARK_CROSS, SPEC_MARK_RANDOM } spec_mark;

typedef struct spec_texture {
    spec_head head;
    int32_t type, builtin, mark, width, height, nchannel, hflip, vflip, gridsize[2], colour_space;
    double rgb1[3], rgb2[3], markrgb[3], random;
    const char *file, *gridlayout, *side[6]; // right left up down front back: +x -x +y -y +z -z
} spec_texture;

typedef struct spec_material {
    spec_head head;
    const char *texture;
    int32_t texuniform;
    float texrepeat[2], emission, specular, shininess, reflectance, metallic, roughness, rgba[4];
} spec_material;

typedef struct spec_pair {
    spec_head head;
    const char *geom1, *geom2;
    int32_t condim;
    double friction[5], solref[ORR_NREF], solreffriction[ORR_NREF], solimp[ORR_NIMP], margin, gap, adhesion;
} spec_pair;

typedef struct spec_exclude {
    spec_head head;
    const char *body1, *body2;
} spec_exclude;

typedef struct spec_equality {
    spec_head head;
    int32_t type, active;
    const char *object1, *object2;
    const char *site1, *site2;
    double solref[ORR_NREF], solimp[ORR_NIMP];
    double anchor[3], relpose[7], torquescale, polycoef[5];
    int32_t cell[3]; // of the flex that is object1
} spec_equality;

typedef struct spec_wrap {
    spec_head head;
    int32_t type;
    const char *object, *sidesite;
    double prm;
} spec_wrap;

typedef struct spec_tendon {
    spec_head head;
    int32_t group, limited, actfrclimited;
    double range[2], actfrcrange[2], margin, stiffness[1 + ORR_NPOLY], damping[1 + ORR_NPOLY], armature,
        frictionloss, springlength[2], springyield, width;
    double solref_limit[ORR_NREF], solimp_limit[ORR_NIMP], solref_friction[ORR_NREF],
        solimp_friction[ORR_NIMP];
    float rgba[4];
    const char *material;
    spec_numbers user;
    int wrap, wrap_count;
} spec_tendon;

typedef struct spec_actuator {
    spec_head head;
    int32_t dyntype, gaintype, biastype, ctrllimited, forcelimited, actlimited, actearly, group, actdim;
    int32_t inputs, input;                        // orr_input: of PID; of other gains, 0: none, or orr_chart
    int32_t nsample, interpolation;               // of delays: orr_delay_type
    double resistance, motorconst[2], nominal[3]; // of DC motors; 0: not given
    double velrange[2], ffrange[2];
    double ctrlrange[2], forcerange[2], actrange[2], lengthrange[2], gear[6];
    double dynprm[ORR_NDYN], gainprm[ORR_NGAIN], biasprm[ORR_NBIAS];
    double delay, inheritrange, cranklength, armature, damping[1 + ORR_NPOLY];
    const char *joint, *jointinparent, *tendon, *site, *refsite, *cranksite, *slidersite, *body;
    spec_numbers user;
} spec_actuator;

typedef struct spec_sensor {
    spec_head head;
    int32_t type, objtype, reftype, intprm[3];
    int32_t dim, datatype, needstage; // of user sensors
    int32_t nsample, interpolation;   // of delays: orr_delay_type
    const char *object, *reference;
    double cutoff, noise, delay, interval[2];
    double fov[3]; // of touch grids: half angles [rad], gamma
    spec_numbers user;
} spec_sensor;

typedef struct spec_numeric {
    spec_head head;
    int32_t size;
    spec_numbers data;
} spec_numeric;

typedef struct spec_text {
    spec_head head;
    const char *data;
} spec_text;

typedef struct spec_tuple_element {
    spec_head head;
    int32_t objtype;
    const char *object;
    double prm;
} spec_tuple_element;

typedef struct spec_tuple {
    spec_head head;
    int first, count;
} spec_tuple;

typedef struct spec_key { // NaN among the numbers: the value at the start
    spec_head head;
    double time;
    spec_numbers qpos, qvel, act, ctrl, mpos, mquat, plastic;
} spec_key;

// Elements that can be in a frame. X(name): a list
#define SPEC_ELEMENT_LISTS(X) X(joints) X(geoms) X(sites) X(visuals) X(flexes) X(cameras) X(lights)

typedef struct spec_range {
    int first, end;
} spec_range;

typedef struct spec_span { // a frame with a name: its pose, and the elements in it
    spec_head head;
    const void *node;
    int body;
    double pos[3], quat[4]; // pose in the body of what is around it
    spec_range bodies;
#define SPEC_RANGE(list) spec_range list;
    SPEC_ELEMENT_LISTS(SPEC_RANGE)
#undef SPEC_RANGE
} spec_span;

typedef struct spec_model { // another file, parts of which are attached
    spec_head head;
    const char *file;
    struct orr_spec *spec;
} spec_model;

typedef struct spec_attachment { // a part of a model that is attached here
    spec_head head;
    const void *node;
    struct orr_spec *from;
    const char *prefix, *ending;  // added to names
    const spec_span *span;        // a frame, or NULL
    int host;                     // body whose elements are added to the body it is attached to; -1: none
    spec_range bodies;            // with all their elements
    int *body, *joint, *actuator; // index here of those of `from`, or -1
} spec_attachment;

typedef struct spec_compiler {
    int32_t conflict, autolimits, degree, inertiafromgeom, balanceinertia, discardvisual, strippath,
        fusestatic, alignfree, fitaabb, coordinate, inertiagrouprange[2];
    double boundmass, boundinertia, settotalmass;
    const char *eulerseq, *meshdir, *texturedir, *assetdir;
} spec_compiler;

// For which actuators the lengths that they can have are found, and how (MuJoCo's mjLROpt).
typedef enum spec_length_mode {
    SPEC_LENGTH_NONE,
    SPEC_LENGTH_MUSCLE,
    SPEC_LENGTH_MUSCLEUSER, // as SPEC_LENGTH_MUSCLE: there are no user actuators
    SPEC_LENGTH_ALL
} spec_length_mode;

typedef struct spec_length_range {
    int32_t mode, useexisting, uselimit;
    double accel, maxforce, timeconst, timestep, inttotal, interval, tolrange;
} spec_length_range;

typedef struct spec_size {
    int32_t nkey, nuserdata;
    int32_t nuser_body, nuser_jnt, nuser_geom, nuser_site, nuser_cam, nuser_tendon, nuser_actuator,
        nuser_sensor;
} spec_size;

// X(name): arrays of spec_NAME
#define SPEC_LISTS(X)                                                                                        \
    X(body, bodies)                                                                                          \
    X(joint, joints)                                                                                         \
    X(geom, geoms)                                                                                           \
    X(site, sites)                                                                                           \
    X(visual, visuals)                                                                                       \
    X(flex, flexes)                                                                                          \
    X(camera, cameras)                                                                                       \
    X(light, lights)                                                                                         \
    X(mesh, meshes)                                                                                          \
    X(hfield, hfields)                                                                                       \
    X(grid, grids)                                                                                           \
    X(texture, textures)                                                                                     \
    X(material, materials)                                                                                   \
    X(pair, pairs)                                                                                           \
    X(exclude, excludes)                                                                                     \
    X(equality, equalities)                                                                                  \
    X(tendon, tendons)                                                                                       \
    X(wrap, wraps)                                                                                           \
    X(actuator, actuators)                                                                                   \
    X(sensor, sensors)                                                                                       \
    X(numeric, numerics)                                                                                     \
    X(text, texts)                                                                                           \
    X(tuple, tuples)                                                                                         \
    X(tuple_element, tuple_elements)                                                                         \
    X(key, keys)                                                                                             \
    X(span, spans)                                                                                           \
    X(model, models)                                                                                         \
    X(attachment, attachments)

typedef struct orr_spec {
    char name[128];
    const char *path;        // of the main file
    struct orr_spec *parent; // the spec that attaches this one; NULL: none
    // of soft bodies that touch, also in the specs that it attaches: points move them, not nodes; nodes do
    bool touch_by_points, touch_by_nodes;
    int attached,
        files_read; // number of elements from other models; number of files, includes and attached models too
    orr_model_unused unused;
    spec_compiler compiler;
    spec_length_range length_range;
    spec_size size;
    orr_model_option option;
    orr_model_visual visual;
    orr_model_statistic statistic; // NaN: computed
#define SPEC_LIST(type, list)                                                                                \
    struct spec_##type *list;                                                                                \
    int list##_count, list##_capacity;
    SPEC_LISTS(SPEC_LIST)
#undef SPEC_LIST
    orr_arena arena; // strings and numbers
} orr_spec;

// Sets MuJoCo's defaults.
void spec_init(orr_spec *spec, const char *path);
void spec_destroy(orr_spec *spec);
// Sets the model's name, truncated to the array's size; NULL leaves MuJoCo's default.
void spec_set_name(orr_spec *spec, const char *name);

// touch_by_points, of this spec or of one that attaches it.
bool spec_flexes_touch_by_points(const orr_spec *spec);
// Can a soft body that nodes move touch what has no contacts with nodes: a height field, a distance grid,
// what is no plane where it is a surface (dim 2), or another soft body?
bool spec_flexes_meet_more(const orr_spec *spec);

// Appends a zeroed element to a list; NULL: out of memory.
#define SPEC_APPEND(spec, list)                                                                              \
    ((__typeof__((spec)->list))spec_append((void **)&(spec)->list, &(spec)->list##_count,                    \
                                           &(spec)->list##_capacity, sizeof *(spec)->list))
void *spec_append(void **list, int *count, int *capacity, size_t size);

// Index of a named element of a list, or -1. The list's elements begin with a spec_head.
int spec_find(const void *list, int count, size_t size, const char *name);
#define SPEC_FIND(spec, list, name) spec_find((spec)->list, (spec)->list##_count, sizeof *(spec)->list, name)

int spec_activations(const spec_actuator *actuator);
int spec_controls(const spec_actuator *actuator);
int spec_outputs(const spec_actuator *actuator);
int spec_delayed(const spec_actuator *actuator); // controls that it remembers

// Copies parts of other models (<attach>). Elements of an attached frame or world are added to the body `at`.
// Bodies and their elements are copied when the reader reaches the <attach>; at the end assets, custom
// elements, and those tendons, equalities, actuators, sensors and keyframe numbers whose objects have been
// copied.
typedef struct spec_at {
    int body;
    double pos[3], quat[4];
} spec_at;

orr_result spec_attach_elements(orr_spec *spec, const spec_attachment *part, const spec_at *at,
                                orr_error *error);
orr_result spec_attach_bodies(orr_spec *spec, const spec_attachment *part, const spec_at *at,
                              orr_error *error);
orr_result spec_attach_rest(orr_spec *spec, orr_error *error);

// "file:line: element 'name': what", with a code
orr_result spec_fail(const spec_head *head, orr_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
orr_result spec_memory_fail(orr_error *error);
// Records that something in the file has no effect here.
void spec_note(orr_spec *spec, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Compiles all but what follows from the rest pose (pose/constants.h). Poses, sizes and bodies of the spec
// are resolved in place.
orr_result orr_model_compile(orr_spec *spec, orr_model **model, orr_error *error);
