// URDF into a spec (model/spec.h). The format: http://wiki.ros.org/urdf/XML; what it does not define is read
// as MuJoCo reads it. load/load.c calls urdf_read; the rest is shared by the files of this folder.
#pragma once

#include "physics/mjcf/mjcf.h"

typedef struct urdf_link {
    const char *name;
    const mjcf_node *node, *joint;          // its <link>, and the <joint> whose child it is (Nullable)
    int parent, child, last_child, sibling; // indices of links; -1: none
    int body;                               // of the spec; -1: not added yet
} urdf_link;

typedef struct urdf_material {
    const char *name; // Nullable
    bool coloured;    // has `rgba`
    float rgba[4];
    const char *texture; // a file; NULL: none
    struct urdf_material *next;
} urdf_material;

// What the <geometry> of an element holds.
typedef struct urdf_shape {
    int32_t type;          // orr_geom_type
    double size[3];        // as of geoms
    double turn[4];        // of a plane: z to its normal
    const mjcf_node *mesh; // the <mesh>; NULL: none
    bool empty;            // one of its sizes is 0: it has no surface
} urdf_shape;

typedef struct urdf_reader {
    orr_spec *spec;
    const mjcf_class *defaults; // elements before their own attributes are read
    urdf_link *links;           // in the order of the file
    int link_count;
    urdf_material *materials; // list, the last in the file first
    bool hides_visuals;       // <compiler discardvisual="true"/>
    orr_error *error;
} urdf_reader;

// Reads <robot> into the spec.
orr_result urdf_read(orr_spec *spec, const mjcf_node *root, orr_error *error);

orr_result urdf_read_materials(urdf_reader *reader, const mjcf_node *node); // of all elements below the node
// That of a <visual>, its own or by name; without one, zeros.
orr_result urdf_read_material(urdf_reader *reader, const mjcf_node *visual, urdf_material *material);
// Adds the visual to the spec. A mistake in it is kept with it: it is for those who draw it.
orr_result urdf_read_visual(urdf_reader *reader, const urdf_link *link, const mjcf_node *node,
                            const urdf_material *material);
// Of a <visual> or a <collision>.
orr_result urdf_read_shape(urdf_reader *reader, const mjcf_node *node, urdf_shape *shape);
orr_result urdf_read_link(urdf_reader *reader, const urdf_link *link);
// To links that move without any; when all are read.
orr_result urdf_give_masses(urdf_reader *reader);
orr_result urdf_read_joint(urdf_reader *reader, const urdf_link *child);
// Of joints that mimic others; when all are read.
void urdf_settle_mimics(urdf_reader *reader);
// The name of the spec's mesh for a <mesh> element.
orr_result urdf_read_mesh(urdf_reader *reader, const mjcf_node *node, const char **name);
// Its file, and the factors of its coordinates.
orr_result urdf_find_mesh(urdf_reader *reader, const mjcf_node *node, const char **file, double scale[3]);
// The file that `name`, of an attribute, means; NULL: there is none.
const char *urdf_find_file(urdf_reader *reader, const char *name);

// ---- elements

// Fails when a node has attributes or children that are not listed (lists end with NULL; NULL: none). Names
// in another program's namespace ("drake:...") are allowed everywhere; text is noted.
orr_result urdf_check(const urdf_reader *reader, const mjcf_node *node, const char *const *attributes,
                      const char *const *children);
const mjcf_node *urdf_child(const mjcf_node *node, const char *name); // the first; Nullable
orr_result urdf_required_child(const urdf_reader *reader, const mjcf_node *node, const char *name,
                               const mjcf_node **child);
// `count` numbers, with spaces or commas between them, or as the default of a $(optenv). Without the
// attribute: an error if it is required, else *values is not changed.
orr_result urdf_numbers(const urdf_reader *reader, const mjcf_node *node, const char *name, int count,
                        bool required, double *values);
// The pose that the <origin> of a node gives; without one the identity.
orr_result urdf_origin(const urdf_reader *reader, const mjcf_node *node, double pos[3], double quat[4]);
