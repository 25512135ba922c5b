// What a soft model holds; private to this folder.
#pragma once

#include "physics/soft/soft.h"

typedef struct orr_soft_elastic { // of tets and membranes: Pa, or N/m
    double mu, l, alpha;          // element_formula.h
    double eta;                   // Pa s
} orr_soft_elastic;

typedef struct orr_soft_gas {         // that closed triangles enclose
    double pressure, ambient, volume; // Pa above what is around it, Pa, and m^3, at rest
} orr_soft_gas;

enum { SOFT_PATCH_TRIANGLES = 32, SOFT_PATCH_NEIGHBOURS = 12 };

// Triangles of a surface that hang together by their sides.
typedef struct orr_soft_patch {
    int32_t triangle, triangles; // where in `patch_triangle` they begin, and how many
    int32_t vertex, vertices,
        own; // of all of them, in `patch_vertex`; own: the first, which no other patch has
    int32_t neighbours, neighbour[SOFT_PATCH_NEIGHBOURS]; // patches across a side of a triangle
} orr_soft_patch;

struct orr_soft_model {
    int vertices;
    double *rest; // vertices x 3, m
    double *mass; // kg
    uint8_t *pinned;
    int32_t *colour; // of each vertex; no two vertices of an element share one
    int colours;

    orr_soft_elastic solid, cloth;
    int tets;
    int32_t *tet;              // tets x 4
    double *tet_inverse;       // tets x 9: rows m1, m2, m3 of the inverse of the differences to vertex 0
    double *tet_volume;        // m^3
    double yield_stress, flow; // Pa; 0: no plastic strain. 1/s; 0: at once
    int triangles;
    int32_t *triangle;        // triangles x 3
    double *triangle_inverse; // triangles x 4: rows m1, m2
    double *triangle_area;    // m^2
    int hinges;               // inner edges of cloth that are bent at rest
    int32_t *hinge;           // hinges x 4: the edge, and the vertex opposite in each triangle
    double *hinge_stiffness;  // J/rad^2
    double *hinge_angle;      // at rest
    int bends;                // pairs of vertices through which edges that are flat at rest bend
    int32_t *bend;            // bends x 2
    double *bend_stiffness;   // N/m, of either sign
    double bending_damping;   // s
    int edges;
    int32_t *edge;          // edges x 2
    double *edge_length;    // m
    double *edge_stiffness; // N/m
    double *edge_viscosity; // N s/m
    bool edges_damped;      // any of them is above 0
    bool edges_held;        // as `hold` says; stiffness: about that at rest
    orr_soft_hold hold;

    bool closed; // every edge of the triangles has two of them, which agree on what is outside
    bool filled; // with a gas: spec.pressure, spec.ambient
    orr_soft_gas gas;

    int surfaces;        // triangles that can be touched: first `walls` of solids, then cloth
    int walls;           // their normals point outwards
    int32_t *surface;    // surfaces x 3
    int32_t *surface_of; // surfaces: the tet, or the number among the triangles
    uint8_t *touchable;  // vertices: those of surfaces and of ropes
    double spacing;      // m, mean length of the edges of surfaces
    int rims;            // edges of surfaces that stick out: of solids sharp ones, of cloth its border
    int patches;
    orr_soft_patch *patch;   // those of triangles first
    int32_t *patch_triangle; // surfaces
    int32_t *patch_vertex;
    int32_t *rim; // rims x 4: its vertices, and the two triangles that share it; -1: it has one
};

// Finds the hinges of the triangles, flat ones too: `hinge`, `hinges` and `closed`.
orr_result orr_soft_find_hinges(orr_soft_model *m, const char *name, orr_error *error);
// Their stiffness and angles; replaces those that are flat by bends. plate: bending stiffness, N m.
orr_result orr_soft_find_bends(orr_soft_model *m, double plate, orr_error *error);
// `surface` and what belongs to it.
orr_result orr_soft_find_surface(orr_soft_model *m, orr_error *error);
// `patch` and what belongs to it: of all that can be touched.
orr_result orr_soft_find_patches(orr_soft_model *m, orr_error *error);
// Of a triangle of the surface, of length 1, outwards where it is a wall.
void orr_soft_wall_normal(const orr_soft_model *m, const double *position, int triangle, double normal[3]);
// Takes the gas of the spec: `filled` and what belongs to it.
orr_result orr_soft_fill(orr_soft_model *m, const orr_soft_spec *s, orr_error *error);
// Greedy, in the order of the vertices: `colour` and `colours`.
orr_result orr_soft_colour(orr_soft_model *m, orr_error *error);

// The vertices that share an element, and the elements of each vertex: element kinds in this order.
enum { SOFT_TET, SOFT_TRIANGLE, SOFT_HINGE, SOFT_BEND, SOFT_EDGE, SOFT_KINDS };

typedef struct orr_soft_incidence { // of one kind
    int32_t *first;                 // vertices + 1: where those of a vertex begin
    int32_t *use;                   // element x corners + corner
} orr_soft_incidence;

int orr_soft_corners(int kind); // vertices of an element
// The number of elements of a kind, and their vertices.
int orr_soft_elements(const orr_soft_model *m, int kind, const int32_t **element);
orr_result orr_soft_incidence_create(const orr_soft_model *m, int kind, orr_soft_incidence *incidence,
                                     orr_error *error);
void orr_soft_incidence_destroy(orr_soft_incidence *incidence);

// The corners of a tet (0 .. 3) beginning with `corner`, an even permutation, so that volumes stay positive;
// and of a triangle.
extern const int orr_soft_tet_order[4][4];
// Rest data of a tet or a triangle as its corner sees it: rows of the inverse for the following corners.
void orr_soft_tet_rows(const orr_soft_model *m, int tet, int corner, double rows[9]);
void orr_soft_triangle_rows(const orr_soft_model *m, int triangle, int corner, double rows[4]);
