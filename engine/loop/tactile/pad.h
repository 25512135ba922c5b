// A soft pad on a geom of a robot, and what it feels at a grid of points (taxels). The forces are those of
// TacSL (Akinola et al., arXiv 2408.06506): of each taxel by itself, from how deep it is in another geom and
// how it slides there. The pad does not deform, and what it feels acts on nothing: rigid contact moves
// bodies.
#pragma once

#include "engine/core/result.h"
#include "physics/model/model.h"

// The pad's frame: origin in the middle of the grid, x along columns, y along rows, z out of the pad.
typedef struct orr_tactile_pad {
    int geom; // of the model, as are the others
    int rows, columns;
    double centre[3], axes[9]; // of the frame in the geom's; axes: its x, y and z as rows
    double *taxel;             // rows x columns x 3 [m], on the geom's surface, in the pad's frame
    double middle[3], radius; // of a sphere around all taxels and what is at most `thickness` behind them [m]
    double stiffness;         // N/m
    double damping;           // N s/m, of sliding
    double friction;
    double thickness; // m
    int *other;       // other_count: the geoms that can press it
    int other_count;
} orr_tactile_pad;

// Where geoms are in one copy, and how bodies move: numbers of the physics.
typedef struct orr_tactile_state {
    const double *xpos, *xmat; // ngeom x 3, ngeom x 9
    const double *cvel;        // nbody x 6: angular velocity, velocity at the centre of mass of its tree
    const double *subtree_com; // nbody x 3
} orr_tactile_state;

struct orr_tactile_facets;

// A geom that is near a pad; scratch of orr_tactile_feel.
typedef struct orr_tactile_near {
    int geom;
    double rotation[9], position[3]; // of the pad's frame in the geom's
    double velocity[3], spin[3];     // of the geom's body where the pad's frame has its origin, in that frame
} orr_tactile_near;

// geom: of the model, which may be several robots together. desc: with zeros, as orrery.h says.
// ORR_CODE_ARGUMENT: a number out of range, or a taxel is beside the geom.
orr_result orr_tactile_pad_open(orr_tactile_pad *pad, const orr_model *model, int geom,
                                const orr_tactile_desc *desc, orr_error *error);
void orr_tactile_pad_clear(orr_tactile_pad *pad);

// The pad's frame in the world: axes: its x, y and z as rows.
void orr_tactile_pad_frame(const orr_tactile_pad *pad, const orr_tactile_state *state, double origin[3],
                           double axes[9]);

// model: with the sizes of geoms of this copy. near: room for other_count. facets: of soft bodies (facets.h);
// NULL: there are none. forces: rows x columns x 3 [N]: pressure, then shear along x and y; heights: rows x
// columns [m]; either may be NULL.
void orr_tactile_feel(const orr_tactile_pad *pad, const orr_model *model, const orr_tactile_state *state,
                      orr_tactile_near *near, const struct orr_tactile_facets *facets, float *forces,
                      float *heights);

// The model of a copy whose geoms have sizes of their own (ngeom x 3), which it borrows. bounds: room for
// ngeom numbers, which it borrows too.
orr_model orr_tactile_resized(const orr_model *model, double *sizes, double *bounds);
