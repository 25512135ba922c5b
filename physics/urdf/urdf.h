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
    const char *name;
    float rgba[4];
    struct urdf_material *next;
} urdf_material;

typedef struct urdf_reader {
    orr_spec *spec;
    const mjcf_class *defaults; // elements before their own attributes are read
    urdf_link *links;           // in the order of the file
    int link_count;
    urdf_material *materials; // list, the last in the file first
    orr_error *error;
} urdf_reader;

// Reads <robot> into the spec.
orr_result urdf_read(orr_spec *spec, const mjcf_node *root, orr_error *error);

orr_result urdf_read_materials(urdf_reader *reader, const mjcf_node *node); // of all elements below the node
orr_result urdf_read_link(urdf_reader *reader, const urdf_link *link);
orr_result urdf_read_joint(urdf_reader *reader, const urdf_link *child);
// The name of the spec's mesh for a <mesh> element.
orr_result urdf_read_mesh(urdf_reader *reader, const mjcf_node *node, const char **name);

// ---- elements

// Fails when a node has attributes or children that are not listed (lists end with NULL; NULL: none). Names
// in another program's namespace ("drake:...") are allowed everywhere; text is noted.
orr_result urdf_check(const urdf_reader *reader, const mjcf_node *node, const char *const *attributes,
                      const char *const *children);
const mjcf_node *urdf_child(const mjcf_node *node, const char *name); // the first; Nullable
orr_result urdf_required_child(const urdf_reader *reader, const mjcf_node *node, const char *name,
                               const mjcf_node **child);
// `count` numbers. Without the attribute: an error if it is required, else *values is not changed.
orr_result urdf_numbers(const urdf_reader *reader, const mjcf_node *node, const char *name, int count,
                        bool required, double *values);
// The pose that the <origin> of a node gives; without one the identity.
orr_result urdf_origin(const urdf_reader *reader, const mjcf_node *node, double pos[3], double quat[4]);
