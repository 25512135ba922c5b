#include "physics/soft/mesh/embed.h"

#include "engine/core/memory.h"
#include "engine/maths/rotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_OF_JOB = 4096, TETS_OF_JOB = 1024, SIDE_MAX = 128 };

// Cells of a box around the cage, with the tetrahedra whose boxes meet each.
typedef struct cells {
    const orr_soft_cage *cage;
    const orr_soft_points *points;
    int32_t *tet;
    double low[3], high[3], size;
    int n[3];
    int32_t *first; // cells + 1
    int32_t *item;
} cells;

static int cell_along(const cells *c, int axis, double x)
{
    double at = floor((x - c->low[axis]) / c->size);
    return at > 0.0 ? at < c->n[axis] - 1 ? (int)at : c->n[axis] - 1 : 0;
}

static void tet_cells(const cells *c, int tet, int low[3], int high[3])
{
    for (int k = 0; k < 3; k++) {
        double least = INFINITY, most = -INFINITY;
        for (int i = 0; i < 4; i++) {
            double x = c->cage->vertex[(size_t)c->cage->tet[tet * 4 + i] * 3 + (size_t)k];
            least = fmin(least, x), most = fmax(most, x);
        }
        low[k] = cell_along(c, k, least), high[k] = cell_along(c, k, most);
    }
}

// Counts the tetrahedra of each cell, or with `item` fills them in.
static void visit_cells(cells *c)
{
    for (int t = 0; t < c->cage->tets; t++) {
        int low[3], high[3];
        tet_cells(c, t, low, high);
        for (int z = low[2]; z <= high[2]; z++) {
            for (int y = low[1]; y <= high[1]; y++) {
                for (int x = low[0]; x <= high[0]; x++) {
                    int at = (z * c->n[1] + y) * c->n[0] + x;
                    if (c->item) {
                        c->item[c->first[at]++] = t;
                    } else {
                        c->first[at + 1]++;
                    }
                }
            }
        }
    }
}

static orr_result make_cells(cells *c, orr_error *error)
{
    double longest = 0.0;
    int count = 1;
    for (int k = 0; k < 3; k++) {
        c->low[k] = INFINITY, c->high[k] = -INFINITY;
        for (int v = 0; v < c->cage->vertices; v++) {
            c->low[k] = fmin(c->low[k], c->cage->vertex[(size_t)v * 3 + (size_t)k]);
            c->high[k] = fmax(c->high[k], c->cage->vertex[(size_t)v * 3 + (size_t)k]);
        }
        longest = fmax(longest, c->high[k] - c->low[k]);
    }
    // about as many cells as tetrahedra along a side
    c->size = longest / fmin(SIDE_MAX, fmax(1.0, ceil(cbrt(c->cage->tets))));
    for (int k = 0; k < 3; k++) {
        c->n[k] = (int)fmax(1.0, ceil((c->high[k] - c->low[k]) / c->size));
        count *= c->n[k];
    }
    c->first = orr_alloc_zero((size_t)count + 1, sizeof *c->first);
    if (!c->first) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: points of a soft body");
    }
    visit_cells(c);
    for (int i = 0; i < count; i++) {
        c->first[i + 1] += c->first[i];
    }
    ORR_ALLOC(c->item, c->first[count], "points of a soft body", error);
    visit_cells(c); // leaves each cell's end where the next one began
    memmove(c->first + 1, c->first, (size_t)count * sizeof *c->first);
    c->first[0] = 0;
    return ORR_OK;
}

// The smallest barycentric coordinate: negative outside.
static double depth_in(const orr_soft_cage *cage, int tet, const double p[3])
{
    double d[3][3], at[3], n[3], least = 1.0, rest = 1.0;
    const double *origin = cage->vertex + (size_t)cage->tet[tet * 4] * 3;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            d[i][k] = cage->vertex[(size_t)cage->tet[tet * 4 + i + 1] * 3 + (size_t)k] - origin[k];
        }
        at[k] = p[k] - origin[k];
    }
    for (int i = 0; i < 3; i++) {
        vec3_cross(d[(i + 1) % 3], d[(i + 2) % 3], n);
        double b = vec3_dot(at, n) / vec3_dot(d[i], n);
        least = fmin(least, b);
        rest -= b;
    }
    return fmin(least, rest);
}

static int find(const cells *c, const double point[3])
{
    int at[3], best = -1;
    double depth = -INFINITY, p[3];
    for (int k = 0; k < 3; k++) { // points far away as the nearest of the box
        p[k] = fmin(fmax(point[k], c->low[k]), c->high[k]);
        at[k] = cell_along(c, k, p[k]);
    }
    for (int ring = 0; best < 0 && ring < SIDE_MAX; ring++) {
        for (int z = at[2] - ring; z <= at[2] + ring; z++) {
            for (int y = at[1] - ring; y <= at[1] + ring; y++) {
                for (int x = at[0] - ring; x <= at[0] + ring; x++) {
                    bool shell = abs(z - at[2]) == ring || abs(y - at[1]) == ring || abs(x - at[0]) == ring;
                    bool there = x >= 0 && y >= 0 && z >= 0 && x < c->n[0] && y < c->n[1] && z < c->n[2];
                    if (!shell || !there) {
                        continue;
                    }
                    int cell = (z * c->n[1] + y) * c->n[0] + x;
                    for (int i = c->first[cell]; i < c->first[cell + 1]; i++) {
                        double here = depth_in(c->cage, c->item[i], p);
                        if (here > depth) {
                            depth = here, best = c->item[i];
                        }
                    }
                }
            }
        }
    }
    return best < 0 ? 0 : best;
}

static void find_job(void *context, int job, int worker)
{
    (void)worker;
    const cells *c = context;
    int64_t first = (int64_t)job * POINTS_OF_JOB, end = first + POINTS_OF_JOB;
    for (int64_t i = first; i < end && i < c->points->count; i++) {
        double p[3];
        c->points->at(c->points->context, i, p);
        c->tet[i] = find(c, p);
    }
}

orr_result orr_soft_embed(const orr_soft_cage *cage, const orr_soft_points *points, orr_jobs *jobs,
                          int32_t *tet, orr_error *error)
{
    cells c = {.cage = cage, .points = points, .tet = tet};
    orr_result result = make_cells(&c, error);
    if (result == ORR_OK) {
        orr_jobs_for(jobs, orr_blocks(points->count, POINTS_OF_JOB), find_job, &c);
    }
    orr_free(c.first);
    orr_free(c.item);
    return result;
}

static void invert(const double m[9], double out[9]) // returns the inverse's transpose
{
    const double *a = m, *b = m + 3, *c = m + 6;
    vec3_cross(b, c, out);
    vec3_cross(c, a, out + 3);
    vec3_cross(a, b, out + 6);
    double determinant = vec3_dot(a, out);
    for (int k = 0; k < 9; k++) {
        out[k] /= determinant;
    }
}

static double determinant_of(const double m[9])
{
    double n[3];
    vec3_cross(m + 3, m + 6, n);
    return vec3_dot(m, n);
}

// The rotation of the polar decomposition, by Newton's iteration (Higham 1986); identity where the matrix is
// flat or turned inside out.
static void polar(const double f[9], double q[4])
{
    double r[9], inverse[9];
    memcpy(r, f, sizeof r);
    if (!(determinant_of(f) > 1e-6)) {
        memcpy(q, (double[4]){1.0, 0.0, 0.0, 0.0}, 4 * sizeof *q);
        return;
    }
    for (int i = 0; i < 12; i++) {
        double change = 0.0;
        invert(r, inverse);
        for (int k = 0; k < 9; k++) {
            double next = 0.5 * (r[k] + inverse[k]);
            change += fabs(next - r[k]);
            r[k] = next;
        }
        if (change < 1e-7) {
            break;
        }
    }
    const double x[3] = {r[0], r[3], r[6]}, y[3] = {r[1], r[4], r[7]}, z[3] = {r[2], r[5], r[8]};
    quat_from_axes(x, y, z, q);
}

typedef struct affine_job {
    const orr_soft_cage *cage;
    const double *position;
    double scale;
    orr_affine_piece *pieces;
} affine_job;

// Edges from the first corner as rows; a triangle's third is its unit normal.
static void edges_of(const double *vertex, const int32_t *v, int corners, double rows[9])
{
    const double *origin = vertex + (size_t)v[0] * 3;
    for (int i = 0; i < corners - 1; i++) {
        for (int k = 0; k < 3; k++) {
            rows[i * 3 + k] = vertex[(size_t)v[i + 1] * 3 + (size_t)k] - origin[k];
        }
    }
    if (corners == 3) {
        vec3_cross(rows, rows + 3, rows + 6);
        vec3_normalise(rows + 6);
    }
}

// Two unit vectors across an edge: at rest, and turned with it on the shortest way, from direction u to w.
static void across(double rest[9], double now[9])
{
    double u[3], w[3], sum[3];
    memcpy(u, rest, sizeof u);
    memcpy(w, now, sizeof w);
    vec3_normalise(u);
    vec3_normalise(w);
    const int least = fabs(u[0]) < fabs(u[1])   ? (fabs(u[0]) < fabs(u[2]) ? 0 : 2)
                      : fabs(u[1]) < fabs(u[2]) ? 1
                                                : 2;
    double axis[3] = {least == 0, least == 1, least == 2};
    vec3_cross(u, axis, rest + 3);
    vec3_normalise(rest + 3);
    vec3_cross(u, rest + 3, rest + 6);
    for (int k = 0; k < 3; k++) {
        sum[k] = u[k] + w[k];
    }
    const double inverse = 1.0 / fmax(1.0 + vec3_dot(u, w), 1e-6);
    for (int i = 1; i < 3; i++) {
        const double part = vec3_dot(w, rest + (ptrdiff_t)3 * i) * inverse;
        for (int k = 0; k < 3; k++) {
            now[3 * i + k] = rest[3 * i + k] - part * sum[k];
        }
    }
}

static const int32_t *piece_of(const orr_soft_cage *cage, int piece, int *corners)
{
    *corners = cage->tets > 0 ? 4 : cage->triangles > 0 ? 3 : 2;
    const int32_t *list = cage->tets > 0 ? cage->tet : cage->triangles > 0 ? cage->triangle : cage->edge;
    return list + (ptrdiff_t)piece * *corners;
}

static void affine_of(const affine_job *job, int tet)
{
    int corners;
    const int32_t *v = piece_of(job->cage, tet, &corners);
    const double *rest = job->cage->vertex + (size_t)v[0] * 3, *now = job->position + (size_t)v[0] * 3;
    double d[9], inverse[9], s[9], f[9], q[4];
    edges_of(job->cage->vertex, v, corners, d);
    edges_of(job->position, v, corners, s);
    if (corners == 2) {
        across(d, s);
    }
    invert(d, inverse); // f d_i = s_i: f = sum over i of s_i (row i of the inverse's transpose)^T
    orr_affine_piece *out = &job->pieces[tet];
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            f[r * 3 + c] = s[r] * inverse[c] + s[3 + r] * inverse[3 + c] + s[6 + r] * inverse[6 + c];
            out->matrix[r * 3 + c] = (float)(f[r * 3 + c] * job->scale);
        }
        out->offset[r] = (float)(now[r] - vec3_dot(f + (ptrdiff_t)r * 3, rest));
    }
    polar(f, q);
    quat_normalise(q);
    for (int k = 0; k < 4; k++) {
        out->rotation[k] = (float)q[k];
    }
}

static void affines_job(void *context, int job, int worker)
{
    (void)worker;
    const affine_job *a = context;
    for (int i = job * TETS_OF_JOB; i < (job + 1) * TETS_OF_JOB && i < orr_soft_pieces(a->cage); i++) {
        affine_of(a, i);
    }
}

void orr_soft_affines(const orr_soft_cage *cage, const double *position, double scale, orr_jobs *jobs,
                      orr_affine_piece *pieces)
{
    affine_job job = {cage, position, scale, pieces};
    orr_jobs_for(jobs, orr_blocks(orr_soft_pieces(cage), TETS_OF_JOB), affines_job, &job);
}
