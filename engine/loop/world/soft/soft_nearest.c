#include "engine/loop/world/soft/soft_nearest.h"

#include "engine/loop/world/geom_distance.h"
#include "engine/maths/nearest.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

static const double least_step = 1e-3; // of its longest side
static const double level = 1e-4;      // slopes below this are none, where the search begins at a corner

void orr_soft_nearest_evaluate(const orr_model *m, int geom, const double (*corners)[3], orr_soft_nearest *at)
{
    for (int k = 0; k < 3; k++) {
        at->point[k] = 0.0;
        for (int i = 0; i < 3; i++) {
            at->point[k] += at->weight[i] * corners[i][k];
        }
    }
    const orr_geom_distance found = orr_geom_distance_at(m, geom, at->point);
    at->distance = found.distance;
    memcpy(at->normal, found.normal, sizeof at->normal);
}

// The projected gradient of the distance with steps that are halved where they lead away, or nearer by less
// than `slope` of their length.
static void descend(const orr_model *m, int geom, const double (*corners)[3], double longest, double slope,
                    orr_soft_nearest *best)
{
    for (double step = 0.5 * longest; step > least_step * longest && best->distance < INFINITY;) {
        orr_soft_nearest next;
        double ahead[3];
        for (int k = 0; k < 3; k++) {
            ahead[k] = best->point[k] - step * best->normal[k];
        }
        orr_nearest_in_triangle(ahead, corners[0], corners[1], corners[2], next.weight);
        orr_soft_nearest_evaluate(m, geom, corners, &next);
        if (next.distance < best->distance - fmax(slope * step, 1e-9)) {
            *best = next;
        } else {
            step *= 0.5;
        }
    }
}

orr_soft_nearest orr_soft_nearest_find(const orr_model *m, int geom, const double (*corners)[3],
                                       double longest)
{
    orr_soft_nearest best = {.weight = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0}};
    const bool ball = m->geom_type[geom] == ORR_GEOM_SPHERE; // nearest to its middle, without a search
    if (ball) {
        static const double middle[3] = {0.0, 0.0, 0.0};
        orr_nearest_in_triangle(middle, corners[0], corners[1], corners[2], best.weight);
    }
    orr_soft_nearest_evaluate(m, geom, corners, &best);
    if (!ball) {
        descend(m, geom, corners, longest, 0.0, &best);
    }
    return best;
}

orr_soft_nearest orr_soft_nearest_from_corners(const orr_model *m, int geom, const double (*corners)[3],
                                               double longest)
{
    orr_soft_nearest best = {.weight = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0}};
    orr_soft_nearest_evaluate(m, geom, corners, &best);
    for (int i = 0; i < 3; i++) {
        orr_soft_nearest at = {.weight = {i == 0, i == 1, i == 2}};
        orr_soft_nearest_evaluate(m, geom, corners, &at);
        best = at.distance < best.distance ? at : best;
    }
    descend(m, geom, corners, longest, level, &best);
    return best;
}

void orr_soft_side_bring(const orr_soft_near *g, const orr_soft_side *side, double corners[3][3])
{
    for (int i = 0; i < 3; i++) {
        double d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = side->position[(ptrdiff_t)side->vertex[i] * 3 + k] - g->position[k];
        }
        mat_apply_transposed(g->rotation, d, corners[i]);
    }
}

orr_geom_distance orr_soft_side_at(const orr_soft_side *side, const orr_soft_nearest *at, double point[3],
                                   double velocity[3])
{
    orr_geom_distance now = {.distance = at->distance};
    for (int k = 0; k < 3; k++) {
        now.normal[k] = at->normal[k];
        point[k] = velocity[k] = 0.0;
    }
    for (int i = 0; i < 9; i++) {
        const ptrdiff_t from = (ptrdiff_t)side->vertex[i / 3] * 3 + i % 3;
        point[i % 3] += at->weight[i / 3] * side->position[from];
        velocity[i % 3] += at->weight[i / 3] * side->velocity[from];
    }
    return now;
}

void orr_soft_side_measure_edges(orr_soft_side *side)
{
    double longest = 0.0;
    for (int i = 0; i < 3; i++) {
        const double *from = side->position + (ptrdiff_t)side->vertex[i] * 3;
        const double *to = side->position + (ptrdiff_t)side->vertex[(i + 1) % 3] * 3;
        const double edge[3] = {from[0] - to[0], from[1] - to[1], from[2] - to[2]};
        const double square = vec3_dot(edge, edge);
        longest = square > longest ? square : longest;
    }
    side->longest = sqrt(longest);
}

void orr_soft_side_measure_middle(orr_soft_side *side)
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        side->middle[k] = 0.0;
        for (int i = 0; i < 3; i++) {
            side->middle[k] += side->position[(ptrdiff_t)side->vertex[i] * 3 + k] / 3.0;
        }
    }
    for (int i = 0; i < 3; i++) {
        double d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = side->position[(ptrdiff_t)side->vertex[i] * 3 + k] - side->middle[k];
        }
        square = fmax(square, vec3_dot(d, d));
    }
    side->radius = sqrt(square);
}
