// Inside of the URDF importer: the XML tree (of the MJCF importer) into a spec. Files: urdf.c the tree of links,
// urdf/link.c what a link is made of, urdf/joint.c how it hangs on its parent, urdf/mesh.c where mesh files are.
// The format: http://wiki.ros.org/urdf/XML; what it leaves open is as MuJoCo reads it.
#pragma once

#include "physics/mjcf/mjcf.h"

typedef struct urdf_link {
    const char *name;
    const mjcf_node *node, *joint;          // its <link>, and the <joint> whose child it is (Nullable)
    int parent, child, last_child, sibling; // indices of links; -1: none
    int body;                               // of the spec; -1: not placed yet
} urdf_link;

typedef struct urdf_material {
    const char *name;
    float rgba[4];
    struct urdf_material *next;
} urdf_material;

typedef struct urdf_reader {
    orr_spec *spec;
    const mjcf_class *defaults; // what elements are before the file says
    urdf_link *links;           // in the order of the file
    int link_count;
    urdf_material *materials; // the last one first
    orr_error *error;
} urdf_reader;

// <robot> into the spec.
orr_result urdf_read(orr_spec *spec, const mjcf_node *root, orr_error *error);

orr_result urdf_read_materials(urdf_reader *reader, const mjcf_node *node); // all below the node
orr_result urdf_read_link(urdf_reader *reader, const urdf_link *link);
orr_result urdf_read_joint(urdf_reader *reader, const urdf_link *child);
// The name of the spec's mesh for a <mesh> element.
orr_result urdf_read_mesh(urdf_reader *reader, const mjcf_node *node, const char **name);

// ---- elements

// That a node has only these attributes and children (lists end with NULL; NULL: none), and no text. What belongs to
// another program's namespace ("drake:...") is allowed everywhere.
orr_result urdf_check(const urdf_reader *reader, const mjcf_node *node, const char *const *attributes,
                      const char *const *children);
const mjcf_node *urdf_child(const mjcf_node *node, const char *name); // the first; Nullable
orr_result urdf_required_child(const urdf_reader *reader, const mjcf_node *node, const char *name,
                               const mjcf_node **child);
// `count` numbers; without the attribute *values stay, or that is an error.
orr_result urdf_numbers(const urdf_reader *reader, const mjcf_node *node, const char *name, int count,
                        bool required, double *values);
// The pose that the <origin> of a node says, or none.
orr_result urdf_origin(const urdf_reader *reader, const mjcf_node *node, double pos[3], double quat[4]);
