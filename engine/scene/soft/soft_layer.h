// Meshes and clouds that are soft: a cage of tetrahedra around what is drawn, or the triangles of cloth, and
// which of them each vertex or splat follows.
#pragma once

#include "engine/scene/scene.h"
#include "physics/plan/contact_mix.h"
#include "physics/soft/mesh/embed.h"
#include "physics/soft/soft.h"

enum {
    ORR_SOFT_RESOLUTION_MAX = 64, // cells along the longest side
    ORR_SOFT_ITERATIONS_MAX = 200 // of a step
};

// How a flex of MJCF touches, as MuJoCo has it: its vertices touch planes, its elements all else.
typedef struct orr_flex_contact {
    int32_t contype, conaffinity;
    bool with_itself;      // its parts touch each other
    orr_contact_side side; // whose lists are these
    double solref[ORR_NREF], solimp[ORR_NIMP], friction[3];
    // outer triangles of its elements, or edges, whose last vertex comes twice: three vertices and the number
    // of the element, facets x 4, by the elements
    int32_t *facet;
    int facets;
} orr_flex_contact;

typedef struct orr_soft_layer {
    int users; // the scene and its worlds
    orr_soft_cage *cage;
    orr_soft_model *model;
    double scale; // of the layer when it was made: the cage is in the layer's space times this
    double friction;
    bool untouchable;          // it collides with nothing
    bool plate;                // a flex that bends, which takes more to solve
    int iterations;            // of a step; 0: the default
    orr_flex_contact *contact; // of a flex that touches; NULL: a penalty keeps what is touched out
    int32_t *tie;              // ties: vertices that the body holds to which the layer is bound
    int ties;
    int flex;            // nodes of its robot move it, as this flex of its model; -1: it moves by itself
    int32_t *node_first; // flex: vertices + 1, of each vertex in the lists below
    int32_t *node;       // which of the flex's nodes it is between
    double *node_share;  // how much of each, of sum 1
    double margin;       // m: the cage's surface is so far outside of what it is the cage of
    int64_t count;       // vertices of the mesh, or splats of the pack with those that fill up its last block
    int32_t *piece;      // count: the tetrahedron or triangle that each follows
} orr_soft_layer;

orr_result orr_soft_layer_create(const orr_scene *scene, const orr_layer_data *layer,
                                 const orr_body_desc *desc, orr_soft_layer **soft, orr_error *error);
void orr_soft_layer_keep(orr_soft_layer *soft);    // one user more
void orr_soft_layer_destroy(orr_soft_layer *soft); // one less; NULL is allowed
