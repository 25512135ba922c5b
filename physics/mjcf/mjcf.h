// Inside of the MJCF importer: XML into a tree, the tree into a spec. Files: mjcf/xml.c the tree, mjcf/schema.c which
// attributes an element has, mjcf/read.c how they are read, mjcf/defaults.c classes, and one file per group of elements.
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
    int repeat;          // how often the pose of a frame applies: the number of a copy by <replicate>, else 1
    const char *ending;  // Nullable: of an <attach>: what <replicate> puts behind names
    mjcf_attribute *attributes;
    struct mjcf_node *children, *next;
} mjcf_node;

enum { MJCF_DEPTH_MAX = 250 }; // of nested elements

// `text` parsed, and every <include> replaced by what its file holds.
orr_result mjcf_parse(const char *text, size_t size, const char *path, orr_arena *arena, mjcf_node **root,
                      orr_error *error);
// Every <replicate> of the tree of bodies replaced by its copies.
orr_result mjcf_replicate(mjcf_node *root, orr_arena *arena, orr_error *error);
// The value, or NULL.
const char *mjcf_find(const mjcf_node *node, const char *attribute);
bool mjcf_is(const mjcf_node *node, const char *name);
spec_place mjcf_place(const mjcf_node *node);
// "file:line: <element>: what"
orr_result mjcf_fail(const mjcf_node *node, orr_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
orr_result mjcf_unknown(const mjcf_node *node, const mjcf_node *parent, orr_error *error);
// That an element has no name or class, where none is asked for.
orr_result mjcf_no_head(const mjcf_node *node, orr_error *error);
// Notes that there is text where only attributes are expected: it has no effect.
void mjcf_note_text(orr_spec *spec, const mjcf_node *node);
orr_result mjcf_no_children(const mjcf_node *node, orr_error *error);
// A file name as an attribute gives it, with the folders of the compiler element before it; in the arena.
char *mjcf_file(orr_spec *spec, const char *folder, const char *file);

// Reads the text of another file, MJCF or URDF, into a spec whose path is set.
typedef orr_result mjcf_read_file(orr_spec *spec, const char *text, size_t size, orr_error *error);
// <mujoco> into the spec. read_file: for the files of its <model>s.
orr_result mjcf_read_mujoco(orr_spec *spec, mjcf_node *root, mjcf_read_file *read_file, orr_error *error);

// ---- attributes

typedef enum mjcf_kind {
    MJCF_REAL,       // doubles
    MJCF_SINGLE,     // floats
    MJCF_INTEGER,    // int32_t
    MJCF_KEYWORD,    // int32_t, one of keys
    MJCF_TEXT,       // const char *
    MJCF_NUMBERS,    // spec_numbers
    MJCF_NO_EFFECT,  // of MuJoCo's memory or files only
    MJCF_UNSUPPORTED // known to MuJoCo, not to this engine
} mjcf_kind;

typedef struct mjcf_key {
    const char *name;
    int value;
} mjcf_key;

typedef struct mjcf_field {
    const char *name;
    mjcf_kind kind;
    size_t offset;
    int min, max;         // how many numbers
    const mjcf_key *keys; // ends with NULL
} mjcf_field;

// Fills the fields that the node has attributes for; an attribute that is in no table is an error, but for those the
// caller reads itself (`own`, ends with NULL, Nullable).
orr_result mjcf_read(const mjcf_node *node, const mjcf_field *fields, const char *const *own, void *target,
                     orr_spec *spec, orr_error *error);
// Numbers of one attribute by itself; *count is 0 when it is absent.
orr_result mjcf_read_numbers(const mjcf_node *node, const char *name, int min, int max, double *values,
                             int *count, orr_error *error);

extern const mjcf_key mjcf_bool_keys[], mjcf_tristate_keys[], mjcf_geom_keys[], mjcf_joint_keys[],
    mjcf_object_keys[];
extern const mjcf_field mjcf_compiler_fields[], mjcf_length_range_fields[], mjcf_option_fields[],
    mjcf_size_fields[], mjcf_statistic_fields[], mjcf_body_fields[], mjcf_inertial_fields[],
    mjcf_frame_fields[], mjcf_replicate_fields[], mjcf_joint_fields[], mjcf_freejoint_fields[],
    mjcf_geom_fields[], mjcf_site_fields[], mjcf_camera_fields[], mjcf_light_fields[], mjcf_mesh_fields[],
    mjcf_hfield_fields[], mjcf_texture_fields[], mjcf_material_fields[], mjcf_pair_fields[],
    mjcf_exclude_fields[], mjcf_equality_fields[], mjcf_tendon_fields[], mjcf_numeric_fields[],
    mjcf_text_fields[], mjcf_no_fields[], mjcf_tuple_element_fields[], mjcf_key_fields[],
    mjcf_actuator_fields[], mjcf_general_fields[];

// ---- classes

// What an element begins with before its own attributes.
typedef struct mjcf_class {
    const char *name;
    spec_joint joint;
    spec_geom geom;
    spec_site site;
    spec_camera camera;
    spec_light light;
    spec_mesh mesh;
    spec_material material;
    spec_pair pair;
    spec_equality equality;
    spec_tendon tendon;
    spec_actuator actuator;
    struct mjcf_class *next;
} mjcf_class;

typedef struct mjcf_reader {
    orr_spec *spec;
    mjcf_class *classes; // the main class is the first
    mjcf_read_file *read_file;
    orr_error *error;
} mjcf_reader;

orr_result mjcf_read_defaults(mjcf_reader *reader, const mjcf_node *node);
// The class of a node: its own attribute, else `childclass` (Nullable), else the main one.
orr_result mjcf_class_of(mjcf_reader *reader, const mjcf_node *node, const char *childclass,
                         const mjcf_class **found);
void mjcf_class_init(mjcf_class *main_class);

// ---- groups of elements

orr_result mjcf_read_settings(mjcf_reader *reader,
                              const mjcf_node *section); // compiler option size statistic
orr_result mjcf_read_visual(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_assets(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_deformables(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_worldbody(mjcf_reader *reader, const mjcf_node *root);
orr_result mjcf_read_contact(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_equality(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_tendon(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_actuators(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_actuator(mjcf_reader *reader, const mjcf_node *node, const mjcf_node *section,
                              bool in_class, spec_actuator *actuator);
orr_result mjcf_read_sensors(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_custom(mjcf_reader *reader, const mjcf_node *section);
orr_result mjcf_read_keyframes(mjcf_reader *reader, const mjcf_node *section);
// Takes `name` and the place.
orr_result mjcf_head(mjcf_reader *reader, const mjcf_node *node, spec_head *head);

// ---- places in the tree

// Where what stands inside a body, or inside frames of it, begins.
typedef struct mjcf_frame {
    double pos[3], quat[4];
    const char *childclass; // Nullable
    int body;
} mjcf_frame;

static inline bool mjcf_given(const double *value) // of attributes that are NaN when they are absent
{
    return !isnan(value[0]);
}
void mjcf_turn_init(spec_orientation *turn);
// Three rotations; sequence: their axes in order, lower case about the rotated frame's axes, upper case about the fixed ones.
void mjcf_euler_quaternion(const char *sequence, const double angles[3], double quat[4]);
// Puts the alternative that is given into turn->quat; clears what an earlier class gave when the node gives its own.
orr_result mjcf_resolve_turn(mjcf_reader *reader, const mjcf_node *node, spec_orientation *turn);
void mjcf_turn_clear_for(const mjcf_node *node, spec_orientation *turn);
// Resolves the orientation, and places it and `pos` in the body.
orr_result mjcf_read_pose(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at, double pos[3],
                          spec_orientation *turn);
// A <model> among the assets: its file is read into a spec of its own.
orr_result mjcf_read_model(mjcf_reader *reader, const mjcf_node *node);
// Every <attach> of the tree in the order of the file.
orr_result mjcf_find_attachments(mjcf_reader *reader, const mjcf_node *parent);
// One of them: first what joins the body, and when the bodies are read, the bodies.
orr_result mjcf_attach_elements(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at);
orr_result mjcf_attach_bodies(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at);
// Notes where a frame with a name is and, `before` and after its elements or bodies are read, which those are.
orr_result mjcf_span_elements(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *around,
                              bool before);
void mjcf_span_bodies(mjcf_reader *reader, const mjcf_node *node, bool before);
// A joint, geom, site, camera or light; *known is false, and nothing is read, when the node is something else.
orr_result mjcf_read_attached(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at, bool *known);
