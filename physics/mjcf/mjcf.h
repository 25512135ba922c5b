// MJCF, MuJoCo's XML format, into a spec (model/spec.h): the XML tree, attributes by table, default classes,
// and one reader for each group of elements. load/load.c calls mjcf_parse and mjcf_read_mujoco; urdf uses the
// tree, the attributes and the default class.
#pragma once

#include "physics/model/spec.h"

#include <math.h>

// ---- the tree

typedef struct mjcf_attribute {
    const char *name, *value;
    struct mjcf_attribute *next;
} mjcf_attribute;

typedef struct mjcf_node {
    const char *name, *file;
    int line, text_line; // text_line: of the first text between elements; 0: none
    int repeat; // how often the pose of a frame is applied: the number of a copy by <replicate>, else 1
    const char *ending; // of an <attach>: suffix that <replicate> adds to names; Nullable
    bool plain;         // made by a <composite> or of a <flex>: default classes do not apply
    bool strained;      // a <flexcomp> that a <flexstrain> names
    mjcf_attribute *attributes;
    struct mjcf_node *children, *next;
} mjcf_node;

enum { MJCF_DEPTH_MAX = 250 }; // of nested elements

// Parses `text` and replaces every <include> by the contents of its file. `path` is for messages and relative
// file names.
orr_result mjcf_parse(const char *text, size_t size, const char *path, orr_arena *arena, mjcf_node **root,
                      orr_error *error);
// Replaces every <composite> by the bodies of its cable, and excludes their contacts.
orr_result mjcf_composites(orr_spec *spec, mjcf_node *root, orr_error *error);
// Replaces every <replicate> of the tree of bodies by its copies.
orr_result mjcf_replicate(mjcf_node *root, orr_arena *arena, orr_error *error);
// Replaces every <flex>, and the bodies that are its points, by a <flexcomp>.
orr_result mjcf_flexes(orr_spec *spec, mjcf_node *root, orr_error *error);
// Adds an element at the end of `parent`, with the line of `where`. NULL: out of memory.
mjcf_node *mjcf_add_child(orr_arena *arena, mjcf_node *parent, const char *name, const mjcf_node *where);
// Adds an attribute, or replaces the value of the one with that name.
orr_result mjcf_set_attribute(orr_arena *arena, mjcf_node *node, const char *name, const char *value,
                              orr_error *error);
orr_result mjcf_print_attribute(orr_arena *arena, mjcf_node *node, const char *name, orr_error *error,
                                const char *format, ...) __attribute__((format(printf, 5, 6)));
// An attribute's value, or NULL.
const char *mjcf_find(const mjcf_node *node, const char *attribute);
const char *mjcf_find_name(const mjcf_node *node, const char *attribute); // NULL where it is empty
bool mjcf_is(const mjcf_node *node, const char *name);
spec_location mjcf_location(const mjcf_node *node);
// "file:line: <element>: what"
orr_result mjcf_fail(const mjcf_node *node, orr_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
orr_result mjcf_unknown(const mjcf_node *node, const mjcf_node *parent, orr_error *error);
// Fails when an element has a name or a class that it may not have.
orr_result mjcf_no_head(const mjcf_node *node, orr_error *error);
// Notes that text between elements has no effect.
void mjcf_note_text(orr_spec *spec, const mjcf_node *node);
orr_result mjcf_no_children(const mjcf_node *node, orr_error *error);
// The path of a file that an attribute of `node` names: in `folder` (of the compiler element; Nullable)
// beside the model, or beside the included file that the node is in; in the spec's arena. NULL: out of
// memory.
char *mjcf_file(orr_spec *spec, const mjcf_node *node, const char *folder, const char *file);

// Reads the text of another file, MJCF or URDF, into a spec whose path is set.
typedef orr_result mjcf_read_file(orr_spec *spec, const char *text, size_t size, orr_error *error);
// <mujoco> into the spec. read_file: for the files of its <model>s.
orr_result mjcf_read_mujoco(orr_spec *spec, mjcf_node *root, mjcf_read_file *read_file, orr_error *error);

// ---- attributes

typedef enum mjcf_kind {
    MJCF_REAL,       // doubles
    MJCF_RANGE,      // doubles; those without end are infinite
    MJCF_SINGLE,     // floats
    MJCF_INTEGER,    // int32_t
    MJCF_KEYWORD,    // int32_t, one of keys
    MJCF_TEXT,       // const char *
    MJCF_NUMBERS,    // spec_numbers
    MJCF_NO_EFFECT,  // concerns MuJoCo's memory or files only
    MJCF_UNSUPPORTED // known to MuJoCo, not to this engine
} mjcf_kind;

typedef struct mjcf_key {
    const char *name;
    int value;
} mjcf_key;

// An attribute, and the member of a struct that it fills.
typedef struct mjcf_member {
    const char *name;
    mjcf_kind kind;
    size_t offset;
    int min, max;         // how many numbers it may have
    const mjcf_key *keys; // ends with NULL
} mjcf_member;

// Fills the members of `target` that the node has attributes for. An attribute that is in no table is an
// error, except those that the caller reads itself (`own`, ends with NULL, Nullable).
orr_result mjcf_read(const mjcf_node *node, const mjcf_member *members, const char *const *own, void *target,
                     orr_spec *spec, orr_error *error);
// The value of a word; an error names the words that `keys` has.
orr_result mjcf_read_keyword(const mjcf_node *node, const char *name, const mjcf_key *keys, const char *text,
                             int32_t *value, orr_error *error);
// Numbers of one attribute by itself; *count is 0 when it is absent.
orr_result mjcf_read_numbers(const mjcf_node *node, const char *name, int min, int max, double *values,
                             int *count, orr_error *error);

extern const mjcf_key mjcf_bool_keys[], mjcf_tristate_keys[], mjcf_geom_keys[], mjcf_joint_keys[],
    mjcf_object_keys[], mjcf_interpolation_keys[];
extern const mjcf_member mjcf_compiler_members[], mjcf_length_range_members[], mjcf_option_members[],
    mjcf_size_members[], mjcf_statistic_members[], mjcf_body_members[], mjcf_inertial_members[],
    mjcf_frame_members[], mjcf_replicate_members[], mjcf_joint_members[], mjcf_freejoint_members[],
    mjcf_geom_members[], mjcf_site_members[], mjcf_camera_members[], mjcf_light_members[],
    mjcf_mesh_members[], mjcf_hfield_members[], mjcf_texture_members[], mjcf_material_members[],
    mjcf_pair_members[], mjcf_exclude_members[], mjcf_equality_members[], mjcf_tendon_members[],
    mjcf_numeric_members[], mjcf_text_members[], mjcf_no_members[], mjcf_tuple_element_members[],
    mjcf_key_members[], mjcf_actuator_members[], mjcf_general_members[], mjcf_orientation_members[],
    mjcf_flexcomp_members[], mjcf_flex_contact_members[], mjcf_flex_touch_members[], mjcf_flex_edge_members[],
    mjcf_flex_strain_members[], mjcf_flex_elasticity_members[], mjcf_flex_pin_members[], mjcf_flex_members[],
    mjcf_composite_members[];

typedef struct mjcf_flex_vertices {
    spec_numbers vertex;
} mjcf_flex_vertices;

// ---- classes

// `general` and the shortcuts for it.
typedef enum mjcf_actuator {
    MJCF_GENERAL,
    MJCF_MOTOR,
    MJCF_POSITION,
    MJCF_VELOCITY,
    MJCF_INTVELOCITY,
    MJCF_DAMPER,
    MJCF_CYLINDER,
    MJCF_MUSCLE,
    MJCF_ADHESION,
    MJCF_PID,
    MJCF_DCMOTOR,
    MJCF_ORIENTATION,
    MJCF_ACTUATOR_KINDS
} mjcf_actuator;

// A default class: elements before their own attributes are read.
typedef struct mjcf_class {
    const char *name;
    spec_joint joint;
    spec_geom geom;
    spec_site site;
    spec_camera camera;
    spec_light light;
    spec_mesh mesh;
    spec_texture texture;
    spec_material material;
    spec_pair pair;
    spec_equality equality;
    spec_tendon tendon;
    spec_actuator actuator[MJCF_ACTUATOR_KINDS];
    struct mjcf_class *next;
} mjcf_class;

typedef struct mjcf_reader {
    orr_spec *spec;
    mjcf_class *classes;     // the first is the main class
    const mjcf_class *plain; // as before any <default>; Nullable where there are no bodies
    mjcf_read_file *read_file;
    orr_error *error;
    const mjcf_node *root; // of the file, in which instances of plugins are
} mjcf_reader;

orr_result mjcf_read_defaults(mjcf_reader *reader, const mjcf_node *node);
// A node's class: its own attribute, else `childclass` (Nullable), else the main class.
orr_result mjcf_class_of(mjcf_reader *reader, const mjcf_node *node, const char *childclass,
                         const mjcf_class **found);
void mjcf_class_init(mjcf_class *main_class);

// ---- groups of elements

orr_result mjcf_read_settings(mjcf_reader *reader,
                              const mjcf_node *section); // compiler, option, size, statistic
orr_result mjcf_read_visual(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_assets(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_deformables(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_worldbody(mjcf_reader *reader, const mjcf_node *root);
orr_result mjcf_read_contact(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_equality(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_tendon(mjcf_reader *reader, const mjcf_node *section);
// The attributes of a tendon, or of the tendons of a default class.
orr_result mjcf_read_tendon_values(mjcf_reader *reader, const mjcf_node *node, spec_tendon *tendon);
orr_result mjcf_read_actuators(mjcf_reader *reader, const mjcf_node *section);
// An element's mjcf_actuator, or -1.
int mjcf_actuator_kind(const mjcf_node *node);
// An actuator in the class c, which is in the class `outer`.
orr_result mjcf_read_actuator_default(mjcf_reader *reader, const mjcf_node *node, int kind,
                                      const mjcf_class *outer, mjcf_class *c);
orr_result mjcf_read_sensors(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_extension(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_plugin_sensor(mjcf_reader *reader, const mjcf_node *node);
orr_result mjcf_read_custom(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_keyframes(mjcf_reader *reader, const mjcf_node *section);
// Name and location of an element.
orr_result mjcf_head(mjcf_reader *reader, const mjcf_node *node, spec_head *head);

// ---- plugins

extern const char mjcf_touch_grid[], mjcf_cable[]; // their names

// Fails at an attribute that is none of `known` (ends with NULL).
orr_result mjcf_check_attributes(const mjcf_node *node, const char *const *known, orr_error *error);
// The <plugin> of an <extension> with this name; NULL: there is none.
mjcf_node *mjcf_declared_plugin(const mjcf_node *root, const char *plugin);
// The element whose <config>s a <plugin> has, which must be this one: itself, or an instance.
orr_result mjcf_find_config(const mjcf_reader *reader, const mjcf_node *node, const char *plugin,
                            const mjcf_node **holder);
// The orr_function of a plugin's name, and of the plugin whose instance an element names.
int mjcf_function_kind(const mjcf_node *plugin);
int mjcf_instance_function(const mjcf_reader *reader, const mjcf_node *node);
// The function of a mesh or geom, if it has a <plugin>.
orr_result mjcf_read_function(mjcf_reader *reader, const mjcf_node *node, spec_function *function);
// Fails when a child of `holder` is no <config>.
orr_result mjcf_check_config(const mjcf_node *node, const mjcf_node *holder, orr_error *error);

// ---- frames

// The pose in its body of what an element's children are relative to: the body itself, or a frame in it.
typedef struct mjcf_frame {
    double pos[3], quat[4];
    const char *childclass; // Nullable
    int body;
} mjcf_frame;

static inline bool mjcf_given(const double *value) // of numbers that are NaN when the attribute is absent
{
    return !isnan(value[0]);
}
void mjcf_orientation_init(spec_orientation *orientation);
// Three rotations; sequence: their axes in order, lower case about the rotated frame's axes, upper case about
// the fixed ones.
void mjcf_euler_quaternion(const char *sequence, const double angles[3], double quat[4]);
// Converts the alternative that is given to orientation->quat.
orr_result mjcf_resolve_orientation(mjcf_reader *reader, const mjcf_node *node,
                                    spec_orientation *orientation);
// Clears what a class gave, when the node gives an orientation of its own.
void mjcf_clear_orientation(const mjcf_node *node, spec_orientation *orientation);
// Resolves the orientation, and transforms it and `pos` from the frame to the body.
orr_result mjcf_read_pose(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at, double pos[3],
                          spec_orientation *orientation);
// The <plugin> of a body.
orr_result mjcf_read_body_plugin(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at);
// A <model> among the assets: reads its file into a spec of its own.
orr_result mjcf_read_model(mjcf_reader *reader, const mjcf_node *node);
// Finds every <attach> of the tree, in the order of the file.
orr_result mjcf_find_attachments(mjcf_reader *reader, const mjcf_node *parent);
// Copies what one of them attaches: first the elements that join the body, and after the body's own bodies,
// the bodies.
orr_result mjcf_attach_elements(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at);
orr_result mjcf_attach_bodies(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at);
// Record the pose of a named frame and the range of its elements and of its bodies: called before and after
// these are read.
orr_result mjcf_span_elements(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *around,
                              bool before);
void mjcf_span_bodies(mjcf_reader *reader, const mjcf_node *node, bool before);
// ---- soft bodies

typedef enum mjcf_flex_type {
    MJCF_FLEX_GRID,
    MJCF_FLEX_BOX,
    MJCF_FLEX_CYLINDER,
    MJCF_FLEX_ELLIPSOID,
    MJCF_FLEX_SQUARE,
    MJCF_FLEX_DISC,
    MJCF_FLEX_CIRCLE,
    MJCF_FLEX_MESH, // from here on: points that are given
    MJCF_FLEX_GMSH,
    MJCF_FLEX_DIRECT
} mjcf_flex_type;

typedef enum mjcf_flex_dof { // what moves its points
    MJCF_FLEX_FULL,
    MJCF_FLEX_RADIAL,
    MJCF_FLEX_TRILINEAR,
    MJCF_FLEX_QUADRATIC,
    MJCF_FLEX_2D
} mjcf_flex_dof;

typedef enum mjcf_flex_equality { // what equalities hold
    MJCF_FLEX_FREE,
    MJCF_FLEX_EDGES, // their lengths
    MJCF_FLEX_STRAIN // the cells between nodes
} mjcf_flex_equality;

// A <flexcomp> before its points are made.
typedef struct mjcf_flexcomp {
    spec_flex flex; // first: members of the tables are relative to it
    int32_t type, dof, rigid, count[3], cellcount[3];
    int32_t equality;                       // mjcf_flex_equality
    double spacing[3], scale[3], origin[3]; // origin: NaN: not given
    spec_flex_nodes *nodes;                 // Nullable: that of `flex`
    spec_numbers point, element;
    const char *file, *mesh; // mesh: the name of an asset
} mjcf_flexcomp;

typedef struct mjcf_flex_pin {
    spec_numbers id, range, grid, gridrange;
} mjcf_flex_pin;

orr_result mjcf_read_flexcomp(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at);
// Points and elements of its type, scaled; a file of Gmsh also sets the dim.
orr_result mjcf_flexcomp_shape(mjcf_reader *reader, const mjcf_node *node, mjcf_flexcomp *f);
// Removes the points that no element has. Others keep their order, and their pins.
orr_result mjcf_flexcomp_drop_unused(mjcf_reader *reader, mjcf_flexcomp *f);
// Nodes that move its points, of which none is held yet.
orr_result mjcf_flexcomp_plan_nodes(mjcf_reader *reader, const mjcf_node *node, mjcf_flexcomp *f);
// Their places, masses and stiffness, when the points have their pose in the body, which becomes their frame.
orr_result mjcf_flexcomp_make_nodes(mjcf_reader *reader, const mjcf_node *node, mjcf_flexcomp *f);
// A strain equality for each cell of those whose <edge> says so, after all others, as in MuJoCo.
orr_result mjcf_strain_equalities(mjcf_reader *reader);
// The bodies of the nodes of a <flexcomp> that has been read, below `body`, as children of *holder in the
// order of *nodes, those that are held left out. NULL: no nodes move it.
orr_result mjcf_flexcomp_bodies(mjcf_reader *reader, const mjcf_node *node, int body, mjcf_node **holder,
                                const spec_flex_nodes **nodes);

// ---- composites

// The attributes of a <composite>, and what follows from them.
typedef struct mjcf_composite {
    int32_t type, count[3], initial; // initial: orr_joint_type of the first body, or MJCF_NO_JOINT
    double size[3], offset[3], quat[4];
    const char *curve;
    spec_numbers vertex;
    int points;
    float *point; // points x 3
} mjcf_composite;

enum { MJCF_NO_JOINT = -1 };

// A segment of a cable from one point to the next.
typedef struct mjcf_segment {
    double length, normal[3], quat[4]; // its x axis is along it
} mjcf_segment;

// The points of a cable, along its curve or as they are given.
orr_result mjcf_cable_points(const mjcf_node *node, mjcf_composite *c, orr_spec *spec, orr_error *error);
// The segment that begins at point i; before: the one that ends there.
mjcf_segment mjcf_cable_segment(const mjcf_composite *c, int i, const mjcf_segment *before);

// Reads a joint, geom, site, flexcomp, camera or light; *known is false when the node is something else.
orr_result mjcf_read_attached(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at, bool *known);
