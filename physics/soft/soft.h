// Soft bodies by vertex block descent (Chen et al. 2024, arXiv:2403.06321): a compiled model, which is
// constant and shared, and a simulation of any number of worlds, each with a copy of its state.
//
// A body is made of tetrahedra (solids), triangles (cloth) and edges (ropes) over the same vertices. SI
// units; positions and velocities are in the world's frame. Backward Euler: every step minimises inertia plus
// elastic energy, vertex by vertex, and vertices of one colour (no two share an element) at once.
#pragma once

#include "engine/core/jobs.h"
#include "engine/device/cuda.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct orr_soft_material {
    double density; // kg/m^3, > 0
    double young;   // Young's modulus, Pa, >= 0; 0: its elements have no stiffness
    double poisson; // 0 <= nu < 0.5
    double damping; // s, >= 0: how long strain lags (Kelvin-Voigt); of stretch, shear and bending
} orr_soft_material;

// How edges keep their lengths as MuJoCo's equality constraints do: the rate of change of a length is pulled
// towards -damping x (itself) - stiffness x (how much too long it is), softly (contact_rows.h).
typedef struct orr_soft_hold {
    double stiffness, damping; // 1/s^2, 1/s, >= 0
    double low, high, width;   // the impedance at rest and from `width` m on, in (0, 1); width >= 0
    double middle;             // of the width, in (0, 1): where it is halfway; curved as by the power 2
} orr_soft_hold;

// The rest state. Elements hold indices of vertices.
typedef struct orr_soft_spec {
    const char *name;     // for messages
    int vertices;         // at least 1; each belongs to an element
    const double *vertex; // vertices x 3, m
    int tets;
    const int32_t *tet; // tets x 4; (p1 - p0) x (p2 - p0) . (p3 - p0) > 0
    int triangles;
    const int32_t *triangle; // triangles x 3, cloth
    int edges;
    const int32_t *edge; // edges x 2, ropes
    int pins;
    const int32_t *pin;                   // vertices that forces do not move
    orr_soft_material solid, cloth, rope; // of a kind without elements: not read
    double cloth_thickness;               // m, > 0; membrane and bending stiffness follow from it
    bool cloth_without_membrane;          // it bends only: something else, such as edges, bears its stretch
    bool cloth_without_bending;
    double rope_radius; // m, > 0; ropes resist stretch only, neither bending nor twist
    // Of every edge, in place of the rope's material, where one is above 0: N/m and N s/m.
    double edge_stiffness, edge_viscosity;
    const orr_soft_hold *hold; // in place of every stiffness; needs `mass`; NULL: none
    const double *mass;        // vertices, kg, > 0, in place of what follows from densities; NULL: none
    // Of a gas that the triangles enclose, all of them one closed surface or several, counter-clockwise from
    // outside: Pa above what is around it, at the rest volume. 0: there is none, unless `ambient` is given.
    double pressure;
    // Pa around it. 0: the pressure is kept, as by a pump; above 0: the amount of gas is kept, at one
    // temperature, (pressure + ambient) x volume = const.
    double ambient;
    // Of solids: the von Mises stress (Pa) beyond which they yield and stay deformed; 0: they do not. Beyond
    // it stress decays at the rate `flow` (1/s); 0: at once. orr_soft_energy and orr_soft_forces know of no
    // plastic strain.
    double yield_stress, flow;
} orr_soft_spec;

typedef struct orr_soft_model orr_soft_model;

// ORR_CODE_ARGUMENT names the element and what was expected of it.
orr_result orr_soft_model_create(const orr_soft_spec *spec, orr_soft_model **model, orr_error *error);
void orr_soft_model_destroy(orr_soft_model *model);         // NULL is allowed
const double *orr_soft_masses(const orr_soft_model *model); // of vertices, kg
// About how stiff a vertex is for its mass, 1/s^2: of the stiffest kind of elements, without bending.
double orr_soft_stiffness(const orr_soft_model *model);
// Triangles that can be touched, x 3: the outer ones of solids, and cloth.
const int32_t *orr_soft_surface(const orr_soft_model *model, int *count);
// The element of each of these: a tet, or of cloth a triangle.
const int32_t *orr_soft_surface_elements(const orr_soft_model *model);
// How many of the triangles, the first, face outwards: those of solids, and of cloth that is all closed.
int orr_soft_walls(const orr_soft_model *model);

// What the triangles enclose, m^3, of positions (vertices x 3).
double orr_soft_volume(const orr_soft_model *model, const double *position);
// The pressure of its gas above what is around it at a volume (m^3), Pa.
double orr_soft_pressure(const orr_soft_model *model, double volume);

// The potential energy (J) of positions (vertices x 3): elastic, of gravity (m/s^2) and of enclosed gas.
double orr_soft_energy(const orr_soft_model *model, const double *position, const double gravity[3]);
// Its negative gradient, vertices x 3, N; of pinned vertices too.
void orr_soft_forces(const orr_soft_model *model, const double *position, const double gravity[3],
                     double *force);

// ---- simulation

enum { ORR_SOFT_OBSTACLES_MAX = 16 };

typedef enum orr_soft_shape {
    ORR_SOFT_PLANE,   // the half-space z >= 0 is free
    ORR_SOFT_SPHERE,  // size[0]: radius
    ORR_SOFT_CAPSULE, // size[0]: radius; size[1]: half length of its segment, along z
    ORR_SOFT_BOX      // size: half lengths
} orr_soft_shape;

// Fixed geometry that vertices stay out of. During a step it counts as the plane that touches it nearest to
// where the vertex started, so that a vertex cannot jump over it; one that is inside leaves by the nearest
// face. At 10 m/s and the default time step vertices go up to 3 cm deep: thinner boxes let them through.
typedef struct orr_soft_obstacle {
    orr_soft_shape shape;
    double position[3]; // of its origin, m
    double axis[9];     // row-major rotation; its columns are the axes of the obstacle
    double size[3];     // m, > 0
    double friction;    // Coulomb's coefficient, >= 0
} orr_soft_obstacle;

typedef struct orr_soft_desc {
    int worlds;        // 0: 1
    double time_step;  // s; 0: 1/240
    int iterations;    // of a step; 0: 10
    double gravity[3]; // m/s^2
    double chebyshev;  // radius of convergence rho in [0, 1) of Chebyshev acceleration; 0: without
    // Steps together, on the CPU and with acceleration, end before their last iteration where it moves
    // vertices by at most this share, >= 0 and < 1, of the longest way of one in the step, along any axis.
    // 0: never
    double tolerance;
    int obstacles; // at most ORR_SOFT_OBSTACLES_MAX
    const orr_soft_obstacle *obstacle;
    double contact_stiffness; // of a vertex, N/m; 0: 100 x its mass / time_step^2
    bool double_precision;
    orr_cuda *cuda; // that the worlds are stepped on, in float; NULL: the CPU
} orr_soft_desc;

typedef struct orr_soft orr_soft;

// What a vertex touches in one step: a plane, of something fixed or of a rigid body. A round surface is to
// be touched where the step is expected to end: with the plane of its start, what slides or rolls over it is
// held back by about force x speed x time step / radius.
typedef struct orr_soft_touch {
    int32_t soft; // the vertex's body among those that step
    int32_t vertex;
    int32_t body;     // rigid, that the plane moves with; -1: it is fixed
    double normal[3]; // unit, outward; where it has a stiffness a row's direction (contact_rows.h)
    double distance;  // of the vertex at the step's start, m; negative inside
    // Of a body: how far the vertex is expected to go in the step as seen from the body's centre, but for
    // what leads away from the plane, m. The force acts on the body there.
    double ahead[3];
    double friction;  // Coulomb's coefficient, >= 0
    double stiffness; // N/m; 0: 100 x the mass of the vertex / time_step^2
} orr_soft_touch;

// Bodies that joints hold together. Their freedoms are speeds u (m/s or rad/s, as the joints have them), of
// which the bodies' velocities follow.
typedef struct orr_soft_linkage {
    int freedoms;
    // Where in `joints` of the contacts: its inertia, freedoms x freedoms, symmetric and positive definite; u
    // after the step if what is soft pushed as `push` says; that push, J^T times forces of soft bodies.
    int inertia, speed, push;
} orr_soft_linkage;

// A rigid body that soft bodies push. Vectors are in the world's frame, torques about the centre of mass.
typedef struct orr_soft_body {
    double centre[3];           // of mass, at the step's start, m
    double mass, inertia[9];    // of a body that moves by itself, kg, kg m^2; 0: nothing moves it
    double velocity[3];         // m/s: that it would have after the step if nothing soft touched it; as the
    double spin[3];             // speed of its linkage has it; and rad/s
    bool linked;                // it moves as a linkage does
    int linkage, jacobian;      // which; where in `joints` 6 x freedoms begin: velocity and spin by u
    double force[3], torque[3]; // results: of the touches, N and N m
} orr_soft_body;

enum { ORR_SOFT_TOUCHES_MAX = 10 }; // of a vertex

// A vertex that is held by a spring.
typedef struct orr_soft_tie {
    int32_t soft, vertex; // as of a touch
    int32_t body;         // rigid; -1: it is fixed
    double gap[3];        // from where it is held to where it is, at the step's start, m
    double stiffness;     // N/m; 0: 1000 x its mass / time_step^2
} orr_soft_tie;

// Two soft bodies, or two parts of one, that may meet in one step: a vertex and a triangle, or two edges. Or
// a point of a triangle and a rigid body: its three corners are the first side, and the fourth has no weight.
typedef struct orr_soft_pair {
    int32_t soft[4], vertex[4]; // of each corner; soft: its body among those that step
    bool rigid;
    int32_t body;     // rigid: that the second side, a plane, moves with; -1: it is fixed
    double weight[4]; // positive ones, of the first side, sum to 1, the others to -1
    double normal[3]; // unit, towards the first side; as of a touch
    double distance;  // between the sides at the step's start, m; negative: they overlap
    double share;     // 0 .. 1: of the stiffness of a contact
    double reach[3];  // rigid: from the first side, at the step's start, to where the force acts on the body
    double friction;  // Coulomb's coefficient, >= 0
    double stiffness; // N/m, without `share`; 0: 100 x the mass with which its sides resist / time_step^2
} orr_soft_pair;

// All contacts of soft bodies that step together.
typedef struct orr_soft_contacts {
    int touches, ties, pairs, bodies, linkages;
    const orr_soft_touch *touch; // in the order of the soft bodies; those of a vertex follow each other
    const orr_soft_tie *tie;
    const orr_soft_pair *pair;
    orr_soft_body *body; // rigid
    const orr_soft_linkage *linkage;
    const double *joints; // numbers of linkages and of linked bodies
} orr_soft_contacts;

// The model, the jobs and the CUDA device must outlive the simulation. On CUDA double precision and too
// little memory are errors. The same bits for any number of threads. jobs: NULL: a simulation of one world is
// stepped by the calling thread alone.
orr_result orr_soft_create(const orr_soft_desc *desc, const orr_soft_model *model, orr_jobs *jobs,
                           orr_soft **soft, orr_error *error);
void orr_soft_destroy(orr_soft *soft); // NULL is allowed
// On CUDA it does not wait, and does nothing once the device has failed.
void orr_soft_step(orr_soft *soft, int steps);
orr_cuda *orr_soft_get_cuda(const orr_soft *soft); // NULL: the CPU
// Waits for a CUDA device, and returns what has made it fail.
orr_result orr_soft_check(const orr_soft *soft, orr_error *error);
// Other numbers for the steps that follow; time_step: s, above 0. A step may stand for several, at least 1,
// equal steps of semi-implicit Euler: then it is as far from the continuous motion under a constant force as
// they are, by velocities that change within the step; other forces are those at its end.
void orr_soft_set_conditions(orr_soft *soft, double time_step, int stands_for, const double gravity[3]);
// Memory of steps together, for one thread at a time.
typedef struct orr_soft_coupling orr_soft_coupling;
orr_result orr_soft_coupling_create(orr_soft_coupling **coupling, orr_error *error);
void orr_soft_coupling_destroy(orr_soft_coupling *coupling); // NULL is allowed
// One step of simulations of one world each, with the same time step. The touches of a vertex beyond
// ORR_SOFT_TOUCHES_MAX are left out. Rigid bodies move in the same minimisation as the vertices, so that
// light bodies on stiff contacts are stable; what the step says of them is the force that the vertices feel.
orr_result orr_soft_step_together(orr_soft_coupling *coupling, orr_soft *const *softs, int count,
                                  const orr_soft_contacts *contacts, orr_error *error);
// Of a world, vertices x 3. Setting a pinned vertex moves the pin; its velocity does nothing.
void orr_soft_get(const orr_soft *soft, int world, double *position, double *velocity); // each nullable
void orr_soft_set(orr_soft *soft, int world, const double *position, const double *velocity);
// Undoes the plastic strain of a world.
void orr_soft_unstrain(orr_soft *soft, int world);
// What the tets of a world have yielded: tets x 9, row-major; units where they have not.
int orr_soft_strain_numbers(const orr_soft_model *model); // tets x 9; 0: it does not yield
void orr_soft_get_strain(const orr_soft *soft, int world, double *strain);
void orr_soft_set_strain(orr_soft *soft, int world, const double *strain);
