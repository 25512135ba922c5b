// Contacts of two convex shapes: the deepest or closest point, and further points that keep flat shapes from
// rocking.
#pragma once

#include "physics/lanes/collision/convex_distance.h"
#include "physics/lanes/collision/convex_faces.h"

// Parameters of the search, from the model's options.
typedef struct convex_search {
    double margin;    // m: contacts below this distance
    double tolerance; // m, of a depth
    int iterations;
    int several; // may a pair have more than one contact?
} convex_search;

FN int is_round(const convex_shape *s)
{
    return s->type == ORR_GEOM_SPHERE || s->type == ORR_GEOM_ELLIPSOID;
}

// Where two cores are closest, or that they are far apart or overlap. Of round shapes GJK halves what is left
// in each iteration: refine_distance goes on from 1e-7 of their size, and where it ends their supports are
// opposite each other, which only the closest points are.
LANE_FN convex_result convex_distance(convex_shape *a, convex_shape *b, double reach, convex_hit *hit,
                                      convex_simplex *simplex, int *refined)
{
    double scale = a->bound + b->bound;
    int round = is_round(a) || is_round(b);
    simplex->count = 0;
    convex_result result = core_distance(a, b, reach, round ? 1e-7 * scale : 0.0, hit, simplex);
    *refined = round && result == CONVEX_APART && refine_distance(a, b, hit);
    if (round && result == CONVEX_APART && !*refined) {
        result = core_distance(a, b, reach, 0.0, hit, simplex);
    }
    return result;
}

// The deepest or closest point. Returns whether the shapes are closer than the margin. witness: what touches.
LANE_FN int convex_closest_witness(convex_shape *a, convex_shape *b, const convex_search *search,
                                   convex_hit *hit, convex_witness *witness)
{
    double radii = a->radius + b->radius;
    convex_simplex simplex;
    int refined;
    convex_result result = convex_distance(a, b, radii + search->margin, hit, &simplex, &refined);
    if (result == CONVEX_FAR) {
        return 0;
    }
    witness_of_simplex(&simplex, witness);
    int deep = result != CONVEX_APART &&
               core_depth(a, b, &simplex, search->tolerance, search->iterations, hit, witness);
    if (result == CONVEX_OVERLAP && !deep) {
        return 0;
    }
    if (!deep && !refined && (!has_flat_faces(a) || !has_flat_faces(b))) {
        refine_distance(a, b, hit);
    }
    hit->distance -= radii;
    hit->pos = point_along(hit->pos, 0.5 * (a->radius - b->radius), hit->normal);
    return hit->distance < search->margin;
}

LANE_FN int convex_closest(convex_shape *a, convex_shape *b, const convex_search *search, convex_hit *hit)
{
    convex_witness witness;
    return convex_closest_witness(a, b, search, hit, &witness);
}

// Further contacts as in MuJoCo, where both shapes have a face, or one has and the other is a capsule.
// hits[0] is the first contact, witness its features. At most 4.
LANE_FN int further_contacts(const convex_shape *a, const convex_shape *b, const convex_search *search,
                             const convex_witness *witness, convex_hit *hits)
{
    return !search->several || is_round(a) || is_round(b)
               ? 1
               : face_contacts(a, b, search->margin, witness, hits);
}

// At most 4 contacts.
LANE_FN int convex_contacts(convex_shape *a, convex_shape *b, const convex_search *search, convex_hit *hits)
{
    convex_witness witness;
    return convex_closest_witness(a, b, search, hits, &witness)
               ? further_contacts(a, b, search, &witness, hits)
               : 0;
}
