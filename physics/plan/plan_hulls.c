// The flat faces of convex hulls. As in MuJoCo, qhull's triangles are joined where they share an edge and
// their normals are alike: azimuth and polar angle in the file's frame, rounded to 0.01 rad, are equal. So
// faces that scans and rounded files have bent a little are flat.
#include "engine/core/memory.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"
#include "physics/plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE 0.01 // rad

typedef struct half_edge {
    int32_t low, high; // its vertices
    int32_t side;      // 3 * triangle + which of its edges
} half_edge;

typedef struct hull_work {
    const double *vertex;
    const int32_t (*face)[3];
    int face_count;
    double *normal;  // face_count x 3
    int32_t *angle;  // face_count x 2: azimuth and polar angle, in units of ALIKE
    half_edge *edge; // 3 x face_count, by their vertices
    int32_t *beside; // face_count x 3: the triangle across an edge, -1: none
    int32_t
        *polygon;    // face_count: the first triangle of the polygon that a triangle belongs to, -1: none yet
    int32_t *member; // face_count: triangles of the current polygon
    int32_t members;
    int32_t *next;  // of each vertex: the next one around the current polygon
    int32_t *owner; // of each vertex: the last face of which a triangle has it
    orr_plan *plan; // faces and corners are appended to those of earlier hulls
    int32_t faces, corners;
} hull_work;

static void triangle_normal(const hull_work *w, int f, double normal[3])
{
    const double *a = w->vertex + 3 * w->face[f][0], *b = w->vertex + 3 * w->face[f][1],
                 *c = w->vertex + 3 * w->face[f][2];
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
    }
    vec3_cross(u, v, normal);
    vec3_normalise(normal);
}

// The rounded angles of a normal in the frame of the file, whose vertices were scaled, then turned.
static void round_angles(const orr_model *m, int mesh, const double normal[3], int32_t angle[2])
{
    const double *scale = m->mesh_scale + 3 * mesh;
    double n[3], sign = scale[0] * scale[1] * scale[2] < 0.0 ? -1.0 : 1.0;
    quat_apply(m->mesh_quat + 4 * mesh, normal, n);
    for (int k = 0; k < 3; k++) {
        n[k] *= sign * scale[k];
    }
    vec3_normalise(n);
    int pole = fabs(n[2]) > 1.0 - 1e-7;
    angle[0] = pole ? 0 : (int32_t)lround(atan2(n[1], n[0]) / ALIKE);
    angle[1] = (int32_t)lround(acos(pole ? copysign(1.0, n[2]) : n[2]) / ALIKE);
}

static int compare_edges(const void *a, const void *b)
{
    const half_edge *x = a, *y = b;
    return x->low != y->low     ? (x->low > y->low) - (x->low < y->low)
           : x->high != y->high ? (x->high > y->high) - (x->high < y->high)
                                : (x->side > y->side) - (x->side < y->side);
}

static void find_neighbours(hull_work *w)
{
    int count = 3 * w->face_count;
    for (int i = 0; i < count; i++) {
        int32_t from = w->face[i / 3][i % 3], to = w->face[i / 3][(i + 1) % 3];
        w->edge[i] = (half_edge){from < to ? from : to, from < to ? to : from, i};
        w->beside[i] = -1;
    }
    qsort(w->edge, (size_t)count, sizeof *w->edge, compare_edges);
    for (int i = 0; i + 1 < count; i++) {
        const half_edge *one = &w->edge[i], *two = &w->edge[i + 1];
        if (one->low == two->low && one->high == two->high) {
            w->beside[one->side] = two->side / 3;
            w->beside[two->side] = one->side / 3;
            i++;
        }
    }
}

// The triangles that are alike and connected to one.
static void collect_members(hull_work *w, int first)
{
    w->members = 0;
    w->member[w->members++] = first;
    w->polygon[first] = first;
    for (int i = 0; i < w->members; i++) {
        for (int k = 0; k < 3; k++) {
            int other = w->beside[3 * w->member[i] + k];
            if (other >= 0 && w->polygon[other] < 0 && w->angle[2 * other] == w->angle[2 * first] &&
                w->angle[2 * other + 1] == w->angle[2 * first + 1]) {
                w->polygon[other] = first;
                w->member[w->members++] = other;
            }
        }
    }
}

// Appends the outline of the current polygon to the plan's corners, and its normal by Newell's method.
static void add_polygon(hull_work *w, int first)
{
    orr_plan *plan = w->plan;
    int32_t start = -1, begin = w->corners;
    for (int i = 0; i < w->members; i++) {
        for (int k = 0; k < 3; k++) {
            int side = 3 * w->member[i] + k, other = w->beside[side];
            if (other < 0 || w->polygon[other] != first) {
                w->next[w->face[w->member[i]][k]] = w->face[w->member[i]][(k + 1) % 3];
                start = start < 0 ? w->face[w->member[i]][k] : start;
            }
        }
    }
    for (int at = start; at >= 0;) {
        plan->hull_vertex[w->corners++] = at;
        int to = w->next[at];
        w->next[at] = -1;
        at = to == start ? -1 : to;
    }
    for (int i = 0; i < w->members; i++) { // a second outline, of a polygon with a hole, is left out
        for (int k = 0; k < 3; k++) {
            w->next[w->face[w->member[i]][k]] = -1;
            w->owner[w->face[w->member[i]][k]] = w->faces;
        }
    }
    double *normal = plan->hull_normal + 3 * w->faces, sum[3] = {0.0, 0.0, 0.0}, u[3], v[3], area[3];
    const double *origin = w->vertex + 3 * (ptrdiff_t)plan->hull_vertex[begin];
    for (int32_t c = begin + 1; c + 1 < w->corners; c++) {
        const double *p = w->vertex + 3 * (ptrdiff_t)plan->hull_vertex[c],
                     *q = w->vertex + 3 * (ptrdiff_t)plan->hull_vertex[c + 1];
        for (int k = 0; k < 3; k++) {
            u[k] = p[k] - origin[k];
            v[k] = q[k] - origin[k];
        }
        vec3_cross(u, v, area);
        for (int k = 0; k < 3; k++) {
            sum[k] += area[k];
        }
    }
    bool whole = vec3_dot(sum, w->normal + 3 * first) > 0.0;
    memcpy(normal, whole ? sum : w->normal + 3 * first, sizeof sum);
    vec3_normalise(normal);
    w->faces++;
    plan->hull_first[w->faces] = w->corners;
}

static orr_result join_hull(hull_work *w, int mesh, int vertices, orr_error *error)
{
    ORR_ALLOC(w->normal, 3 * (int64_t)w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->angle, 2 * (int64_t)w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->edge, 3 * (int64_t)w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->beside, 3 * (int64_t)w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->polygon, w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->member, w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->next, vertices, "faces of a hull", error);
    ORR_ALLOC(w->owner, vertices, "faces of a hull", error);
    for (int i = 0; i < vertices; i++) {
        w->next[i] = w->owner[i] = -1;
    }
    for (int f = 0; f < w->face_count; f++) {
        triangle_normal(w, f, w->normal + 3 * f);
        round_angles(w->plan->model, mesh, w->normal + 3 * f, w->angle + 2 * f);
        w->polygon[f] = -1;
    }
    find_neighbours(w);
    for (int first = 0; first < w->face_count; first++) {
        if (w->polygon[first] < 0) {
            collect_members(w, first);
            add_polygon(w, first);
        }
    }
    return ORR_OK;
}

static void free_work(hull_work *w)
{
    orr_free(w->normal);
    orr_free(w->angle);
    orr_free(w->edge);
    orr_free(w->beside);
    orr_free(w->polygon);
    orr_free(w->member);
    orr_free(w->next);
    orr_free(w->owner);
    w->normal = NULL, w->edge = NULL;
    w->angle = w->beside = w->polygon = w->member = w->next = w->owner = NULL;
}

// Lists the faces of each of `vertices` vertices. One that is inside of a face, and no corner of any, has
// that face: its `owner`, counted from the first of all hulls.
static void find_faces_of(const orr_hull *hull, int vertices, const int32_t *owner, int first_face,
                          int32_t *of_first, int32_t *of_face)
{
    int corners = hull->first[hull->face_count];
    for (int i = 0; i <= vertices; i++) {
        of_first[i] = 0;
    }
    for (int c = hull->first[0]; c < corners; c++) {
        of_first[hull->vertex[c] + 1]++;
    }
    for (int i = 0; i < vertices; i++) {
        bool inside = of_first[i + 1] == 0 && owner[i] >= 0;
        of_first[i + 1] += of_first[i] + inside;
        if (inside) {
            of_face[of_first[i]++] = owner[i] - first_face;
        }
    }
    for (int k = 0; k < hull->face_count; k++) {
        for (int c = hull->first[k]; c < hull->first[k + 1]; c++) {
            of_face[of_first[hull->vertex[c]]++] = k;
        }
    }
    memmove(of_first + 1, of_first, (size_t)vertices * sizeof *of_first); // ends are the next one's firsts
    of_first[0] = 0;
}

orr_result orr_plan_hulls(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    ORR_ALLOC(plan->hull, m->nmesh, "hulls", error);
    memset(plan->hull, 0, (size_t)m->nmesh * sizeof *plan->hull);
    plan->hulls = m->nmesh;
    ORR_ALLOC(plan->hull_normal, 3 * (int64_t)m->nhullface, "faces of hulls", error);
    ORR_ALLOC(plan->hull_first, (int64_t)m->nhullface + 1, "faces of hulls", error);
    ORR_ALLOC(plan->hull_vertex, 3 * (int64_t)m->nhullface, "faces of hulls", error);
    ORR_ALLOC(plan->hull_of_first, (int64_t)m->nhullvert + m->nmesh, "faces of hulls", error);
    ORR_ALLOC(plan->hull_of_face, 3 * (int64_t)m->nhullface, "faces of hulls", error);
    plan->hull_first[0] = 0;
    hull_work w = {.plan = plan};
    for (int mesh = 0; mesh < m->nmesh; mesh++) {
        int32_t first = w.faces, vertices = m->mesh_hullvertnum[mesh];
        if (vertices == 0) {
            continue;
        }
        w.vertex = m->hull_vert + 3 * (size_t)m->mesh_hullvertadr[mesh];
        w.face = (const int32_t(*)[3])(m->hull_face + 3 * (size_t)m->mesh_hullfaceadr[mesh]);
        w.face_count = m->mesh_hullfacenum[mesh];
        orr_result result = join_hull(&w, mesh, vertices, error);
        if (result) {
            free_work(&w);
            return result;
        }
        int32_t *of_first = plan->hull_of_first + m->mesh_hullvertadr[mesh] + mesh,
                *of_face = plan->hull_of_face + 3 * (ptrdiff_t)m->mesh_hullfaceadr[mesh];
        orr_hull *hull = &plan->hull[mesh];
        *hull = (orr_hull){.face_count = w.faces - first,
                           .normal = plan->hull_normal + 3 * first,
                           .first = plan->hull_first + first,
                           .vertex = plan->hull_vertex,
                           .of_first = of_first,
                           .of_face = of_face};
        find_faces_of(hull, vertices, w.owner, first, of_first, of_face);
        free_work(&w);
        ORR_TRY(orr_extremes_find(w.vertex, vertices, &hull->vertices, error));
    }
    return ORR_OK;
}
