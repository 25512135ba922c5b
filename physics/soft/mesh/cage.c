// Isosurface stuffing: lattice points near the surface move onto it, the tetrahedra that it still cuts are
// clipped, and what is inside is cut into tetrahedra again.
#include "physics/soft/mesh/cage.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

enum {
    LONG_EDGES = 3,      // of a point, to the next one of its kind along x, y, z
    EDGES_OF_POINT = 11, // and from a centre to the 8 corners of its cube
    CLIPPED_MAX = 6,     // vertices of a clipped tetrahedron: three of its own and three cuts
    FACES_MAX = 5
};

// The share of an edge within which a cut moves the edge's end onto the surface.
static const double near_long = 0.24999, near_short = 0.41189;

// Points of the lattice: corners of cubes, then their centres. An edge is known by its first point (a centre
// where it is short) and its number there.
typedef struct lattice {
    orr_soft_distance *distance;
    const void *context;
    int n[3]; // cubes
    double low[3], cell;
    int corners, points;
    double *position; // points x 3
    double *value;    // distance; 0 of points that lie on the surface
    int32_t *cut;     // points x EDGES_OF_POINT: vertex on the edge; -1: none yet
    int32_t *kept;    // points: vertex of the cage; -1: none yet
    orr_soft_cage *cage;
    int vertex_capacity, tet_capacity;
} lattice;

static int corner_at(const lattice *g, int x, int y, int z)
{
    return (z * (g->n[1] + 1) + y) * (g->n[0] + 1) + x;
}

static int centre_at(const lattice *g, int x, int y, int z)
{
    return g->corners + (z * g->n[1] + y) * g->n[0] + x;
}

static bool is_centre(const lattice *g, int point)
{
    return point >= g->corners;
}

static void cell_of(const lattice *g, int point, int at[3])
{
    int own = is_centre(g, point) ? point - g->corners : point, more = is_centre(g, point) ? 0 : 1;
    at[0] = own % (g->n[0] + more);
    at[1] = own / (g->n[0] + more) % (g->n[1] + more);
    at[2] = own / (g->n[0] + more) / (g->n[1] + more);
}

static int point_at(const lattice *g, bool centre, const int at[3])
{
    for (int k = 0; k < 3; k++) {
        if (at[k] < 0 || at[k] >= g->n[k] + (centre ? 0 : 1)) {
            return -1;
        }
    }
    return centre ? centre_at(g, at[0], at[1], at[2]) : corner_at(g, at[0], at[1], at[2]);
}

// The point at the other end of edge 0 .. 13: along +x, +y, +z, -x, -y, -z to its own kind, then eight to the
// other kind. -1: outside.
static int neighbour(const lattice *g, int point, int edge)
{
    int at[3];
    bool centre = is_centre(g, point);
    cell_of(g, point, at);
    if (edge < 2 * LONG_EDGES) {
        at[edge % 3] += edge < 3 ? 1 : -1;
        return point_at(g, centre, at);
    }
    for (int k = 0; k < 3; k++) {
        at[k] += (edge - 6) >> k & 1 ? (centre ? 1 : -1) : 0;
    }
    return point_at(g, !centre, at);
}

static double *cut_position(const lattice *g, int a, int b, double out[3])
{
    const double *from = g->position + (size_t)a * 3, *to = g->position + (size_t)b * 3;
    double low = 0.0, high = 1.0, at_low = g->value[a], at_high = g->value[b];
    double t = at_low / (at_low - at_high);
    for (int i = 0; i < 3; i++) { // regula falsi on the true distance
        for (int k = 0; k < 3; k++) {
            out[k] = from[k] + t * (to[k] - from[k]);
        }
        double here = g->distance(g->context, out);
        if ((here < 0.0) == (at_low < 0.0)) {
            low = t, at_low = here;
        } else {
            high = t, at_high = here;
        }
        if (at_low == at_high) {
            break;
        }
        t = low + (high - low) * at_low / (at_low - at_high);
    }
    for (int k = 0; k < 3; k++) {
        out[k] = from[k] + t * (to[k] - from[k]);
    }
    return out;
}

// Moves a point to the nearest cut of its edges that is too near.
static void warp(lattice *g, int point)
{
    double best = INFINITY, target[3] = {0};
    for (int edge = 0; edge < 14; edge++) {
        int other = neighbour(g, point, edge);
        if (other < 0 || !(g->value[point] * g->value[other] < 0.0)) {
            continue;
        }
        double at[3], d[3];
        cut_position(g, point < other ? point : other, point < other ? other : point, at);
        for (int k = 0; k < 3; k++) {
            d[k] = at[k] - g->position[(size_t)point * 3 + (size_t)k];
        }
        double length = sqrt(vec3_dot(d, d));
        double limit = edge < 6 ? near_long * g->cell : near_short * sqrt(0.75) * g->cell;
        if (length < limit && length < best) {
            best = length;
            memcpy(target, at, sizeof target);
        }
    }
    if (best < INFINITY) {
        memcpy(g->position + (size_t)point * 3, target, sizeof target);
        g->value[point] = 0.0;
    }
}

static orr_result add_vertex(lattice *g, const double at[3], int32_t *index, orr_error *error)
{
    orr_soft_cage *c = g->cage;
    ORR_GROW(c->vertex, g->vertex_capacity, 3 * (c->vertices + 1), "a cage", error);
    memcpy(c->vertex + (size_t)c->vertices * 3, at, 3 * sizeof *at);
    *index = c->vertices++;
    return ORR_OK;
}

// A vertex of a clipped tetrahedron, by rank: inner points before those on the surface before cuts, so that
// diagonals begin at inner points. Two tetrahedra that share a face rank its vertices alike.
typedef struct corner {
    int64_t rank;
    int32_t a, b; // points; b < 0: a itself, otherwise the cut between them
} corner;

static corner corner_of(const lattice *g, int a, int b)
{
    if (b < 0) {
        return (corner){g->value[a] < 0.0 ? a : a + (int64_t)g->points, a, -1};
    }
    int low = a < b ? a : b, high = a < b ? b : a;
    return (corner){((int64_t)low + 2) * g->points + high, low, high};
}

static orr_result vertex_of(lattice *g, corner c, int32_t *index, orr_error *error)
{
    if (c.b < 0) {
        int32_t *slot = &g->kept[c.a];
        if (*slot < 0) {
            ORR_TRY(add_vertex(g, g->position + (size_t)c.a * 3, slot, error));
        }
        *index = *slot;
        return ORR_OK;
    }
    int from = c.b, edge = 0; // a centre where it is short: centres come behind corners
    if (is_centre(g, c.a) == is_centre(g, c.b)) {
        for (from = c.a; neighbour(g, c.a, edge) != c.b; edge++) {
        }
    } else {
        for (edge = 6; neighbour(g, c.b, edge) != c.a; edge++) {
        }
        edge -= LONG_EDGES;
    }
    int32_t *slot = &g->cut[(size_t)from * EDGES_OF_POINT + (size_t)edge];
    if (*slot < 0) {
        double at[3];
        ORR_TRY(add_vertex(g, cut_position(g, c.a, c.b, at), slot, error));
    }
    *index = *slot;
    return ORR_OK;
}

static orr_result add_tet(lattice *g, corner a, corner b, corner c, corner d, orr_error *error)
{
    orr_soft_cage *cage = g->cage;
    ORR_GROW(cage->tet, g->tet_capacity, 4 * (cage->tets + 1), "a cage", error);
    int32_t *tet = cage->tet + (size_t)cage->tets * 4;
    ORR_TRY(vertex_of(g, a, &tet[0], error));
    ORR_TRY(vertex_of(g, b, &tet[1], error));
    ORR_TRY(vertex_of(g, c, &tet[2], error));
    ORR_TRY(vertex_of(g, d, &tet[3], error));
    cage->tets++;
    return ORR_OK;
}

typedef struct polygon {
    int count;
    corner at[4];
} polygon;

// What is inside of a face whose points are counter-clockwise as seen from outside the tetrahedron.
static polygon clip_face(const lattice *g, const int point[3])
{
    polygon p = {0};
    for (int i = 0; i < 3; i++) {
        int a = point[i], b = point[(i + 1) % 3];
        if (g->value[a] <= 0.0) {
            p.at[p.count++] = corner_of(g, a, -1);
        }
        if (g->value[a] * g->value[b] < 0.0) {
            p.at[p.count++] = corner_of(g, a, b);
        }
    }
    return p;
}

static bool has_edge(const polygon *faces, int count, int64_t a, int64_t b)
{
    for (int f = 0; f < count; f++) {
        for (int i = 0; i < faces[f].count; i++) {
            if (faces[f].at[i].rank == a && faces[f].at[(i + 1) % faces[f].count].rank == b) {
                return true;
            }
        }
    }
    return false;
}

// The face that closes the others: the edges that have no reverse, reversed.
static polygon close_faces(const polygon *faces, int count)
{
    corner from[CLIPPED_MAX * 2], to[CLIPPED_MAX * 2];
    int open = 0;
    for (int f = 0; f < count; f++) {
        for (int i = 0; i < faces[f].count; i++) {
            corner a = faces[f].at[i], b = faces[f].at[(i + 1) % faces[f].count];
            if (!has_edge(faces, count, b.rank, a.rank)) {
                from[open] = b, to[open++] = a;
            }
        }
    }
    polygon p = {0};
    for (int at = 0; open > 2 && p.count < open && p.count < 4;) {
        p.at[p.count++] = from[at];
        int next = 0;
        while (next < open && from[next].rank != to[at].rank) {
            next++;
        }
        at = next < open ? next : 0;
    }
    return p;
}

static int lowest(const polygon *p)
{
    int best = 0;
    for (int i = 1; i < p->count; i++) {
        best = p->at[i].rank < p->at[best].rank ? i : best;
    }
    return best;
}

// The part of a tetrahedron that is inside, as a fan from its first vertex by rank to the faces without it,
// each of them a fan from its own first vertex.
static orr_result fill_tet(lattice *g, const int point[4], orr_error *error)
{
    static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
    int inside = 0;
    for (int i = 0; i < 4; i++) {
        inside += g->value[point[i]] < 0.0;
    }
    if (inside == 0) {
        return ORR_OK;
    }
    polygon faces[FACES_MAX];
    int count = 0;
    for (int f = 0; f < 4; f++) {
        const int at[3] = {point[face[f][0]], point[face[f][1]], point[face[f][2]]};
        faces[count] = clip_face(g, at);
        count += faces[count].count >= 3;
    }
    polygon last = close_faces(faces, count);
    if (last.count >= 3) {
        faces[count++] = last;
    }
    corner top = faces[0].at[0];
    for (int f = 0; f < count; f++) {
        corner first = faces[f].at[lowest(&faces[f])];
        top = first.rank < top.rank ? first : top;
    }
    for (int f = 0; f < count; f++) {
        const polygon *p = &faces[f];
        int first = lowest(p);
        for (int i = 1; p->at[first].rank != top.rank && i + 1 < p->count; i++) {
            ORR_TRY(add_tet(g, top, p->at[first], p->at[(first + i) % p->count],
                            p->at[(first + i + 1) % p->count], error));
        }
    }
    return ORR_OK;
}

// The four tetrahedra between two cubes that share a face.
static orr_result fill_face(lattice *g, const int at[3], int axis, orr_error *error)
{
    int next[3] = {at[0], at[1], at[2]};
    next[axis]++;
    if (next[axis] >= g->n[axis]) {
        return ORR_OK;
    }
    int ring[4];
    for (int i = 0; i < 4; i++) {
        int q[3] = {next[0], next[1], next[2]};
        q[(axis + 1) % 3] += i == 1 || i == 2;
        q[(axis + 2) % 3] += i >= 2;
        ring[i] = corner_at(g, q[0], q[1], q[2]);
    }
    for (int i = 0; i < 4; i++) {
        const int point[4] = {centre_at(g, at[0], at[1], at[2]), ring[i], ring[(i + 1) % 4],
                              centre_at(g, next[0], next[1], next[2])};
        ORR_TRY(fill_tet(g, point, error));
    }
    return ORR_OK;
}

static orr_result make_points(lattice *g, const char *name, orr_error *error)
{
    int64_t cubes = 1, corners = 1;
    for (int k = 0; k < 3; k++) {
        cubes *= g->n[k];
        corners *= g->n[k] + 1;
    }
    g->corners = (int)corners;
    g->points = (int)(corners + cubes);
    ORR_ALLOC(g->position, (size_t)g->points * 3, name, error);
    ORR_ALLOC(g->value, g->points, name, error);
    ORR_ALLOC(g->kept, g->points, name, error);
    ORR_ALLOC(g->cut, (size_t)g->points * EDGES_OF_POINT, name, error);
    memset(g->kept, -1, (size_t)g->points * sizeof *g->kept);
    memset(g->cut, -1, (size_t)g->points * EDGES_OF_POINT * sizeof *g->cut);
    for (int i = 0; i < g->points; i++) {
        int at[3];
        cell_of(g, i, at);
        for (int k = 0; k < 3; k++) {
            g->position[(size_t)i * 3 + (size_t)k] =
                g->low[k] + g->cell * (at[k] + (is_centre(g, i) ? 0.5 : 0.0));
        }
        g->value[i] = g->distance(g->context, g->position + (size_t)i * 3);
    }
    return ORR_OK;
}

// The smallest angle between two faces of a tetrahedron, degrees.
static double smallest_angle(const double *vertex, const int32_t tet[4])
{
    static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double normal[4][3], smallest = 180.0;
    for (int f = 0; f < 4; f++) {
        double u[3], v[3];
        for (int k = 0; k < 3; k++) {
            const double *p = vertex + k;
            u[k] = p[tet[face[f][1]] * 3] - p[tet[face[f][0]] * 3];
            v[k] = p[tet[face[f][2]] * 3] - p[tet[face[f][0]] * 3];
        }
        vec3_cross(u, v, normal[f]);
    }
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < a; b++) {
            double size = sqrt(vec3_dot(normal[a], normal[a]) * vec3_dot(normal[b], normal[b]));
            double cosine = size > 0.0 ? -vec3_dot(normal[a], normal[b]) / size : 1.0;
            smallest = fmin(smallest, acos(fmax(-1.0, fmin(1.0, cosine))) * (180.0 / 3.14159265358979324));
        }
    }
    return smallest;
}

static orr_result stuff(lattice *g, const char *name, orr_error *error)
{
    ORR_TRY(make_points(g, name, error));
    for (int i = 0; i < g->points; i++) {
        warp(g, i);
    }
    for (int i = g->corners; i < g->points; i++) {
        int at[3];
        cell_of(g, i, at);
        for (int axis = 0; axis < 3; axis++) {
            ORR_TRY(fill_face(g, at, axis, error));
        }
    }
    if (g->cage->tets == 0) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "%s: a soft body: expected a closed surface with an inside wider than its cells of %g m", name,
            g->cell);
    }
    g->cage->angle = 180.0;
    for (int i = 0; i < g->cage->tets; i++) {
        g->cage->angle = fmin(g->cage->angle, smallest_angle(g->cage->vertex, g->cage->tet + (size_t)i * 4));
    }
    return ORR_OK;
}

static orr_result check(lattice *g, const double low[3], const double high[3], const char *name,
                        orr_error *error)
{
    double cubes = 1.0;
    for (int k = 0; k < 3; k++) {
        double wide = high[k] - low[k];
        if (!(g->cell > 0.0) || !(wide > 0.0) || !isfinite(wide) || !isfinite(g->cell)) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s: a soft body: expected cells above 0 m and an extent, not %g m and %g m",
                            name, g->cell, wide);
        }
        double n = ceil(wide / g->cell) + 3.0; // the outermost cubes are outside
        cubes *= n;
        if (cubes > ORR_SOFT_CAGE_CELLS) {
            return orr_fail(
                error, ORR_CODE_CAPACITY,
                "%s: a soft body: cells of %g m are too small for its size: expected at most %d of them",
                name, g->cell, ORR_SOFT_CAGE_CELLS);
        }
        g->n[k] = (int)n;
        g->low[k] = 0.5 * (low[k] + high[k]) - 0.5 * n * g->cell;
    }
    return ORR_OK;
}

orr_result orr_soft_cage_create(orr_soft_distance *distance, const void *context, const double low[3],
                                const double high[3], double cell, const char *name, orr_soft_cage **cage,
                                orr_error *error)
{
    lattice g = {.distance = distance, .context = context, .cell = cell};
    *cage = NULL;
    ORR_TRY(check(&g, low, high, name, error));
    ORR_ALLOC(g.cage, 1, name, error);
    *g.cage = (orr_soft_cage){0};
    orr_result result = stuff(&g, name, error);
    orr_free(g.position);
    orr_free(g.value);
    orr_free(g.kept);
    orr_free(g.cut);
    if (result != ORR_OK) {
        orr_soft_cage_destroy(g.cage);
        return result;
    }
    *cage = g.cage;
    return ORR_OK;
}

void orr_soft_cage_destroy(orr_soft_cage *cage)
{
    if (cage) {
        orr_free(cage->vertex);
        orr_free(cage->tet);
        orr_free(cage->triangle);
        orr_free(cage->edge);
        orr_free(cage);
    }
}
