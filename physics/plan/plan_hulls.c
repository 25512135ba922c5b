// The flat faces of convex hulls: qhull's triangles of one plane are joined.
#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/plan/plan.h"

#include <stdlib.h>
#include <string.h>

typedef struct hull_work {
    const double *vertex;
    const int32_t (*face)[3];
    int face_count;
    double *normal;   // face_count x 3
    int32_t *polygon; // face_count: the polygon a triangle belongs to, -1: none yet
    int32_t *member;  // face_count: triangles of the current polygon
    int32_t members;
    int32_t *corner;             // face_count + 1: 3 k, the first corner of a triangle
    int32_t *of_first, *of_face; // the triangles of each vertex
    int32_t *next;               // of each vertex: the next one around the current polygon
    orr_plan *plan;              // faces and corners are appended to those of earlier hulls
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

static double cosine(const hull_work *w, int f, int g)
{
    return vec3_dot(w->normal + 3 * f, w->normal + 3 * g);
}

// The triangle on the other side of the edge from corner k of triangle f to the next corner; -1: none. It is
// searched among those of the end that has fewer: the tip of a cone may have thousands.
static int32_t neighbour(const hull_work *w, int f, int k)
{
    int from = w->face[f][k], to = w->face[f][(k + 1) % 3];
    const int32_t *of = w->of_first;
    int end = of[from + 1] - of[from] < of[to + 1] - of[to] ? from : to;
    for (int32_t i = of[end]; i < of[end + 1]; i++) {
        const int32_t *other = w->face[w->of_face[i]];
        for (int j = 0; j < 3; j++) {
            if (other[j] == to && other[(j + 1) % 3] == from) {
                return w->of_face[i];
            }
        }
    }
    return -1;
}

static int ascending(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

// The triangles in the plane of `first` (within 1e-5 rad: vertices are rounded to float), from neighbour to
// neighbour.
static void find_members(hull_work *w, int first)
{
    w->polygon[first] = first;
    w->member[0] = first;
    w->members = 1;
    for (int i = 0; i < w->members; i++) {
        for (int k = 0; k < 3; k++) {
            int32_t f = neighbour(w, w->member[i], k);
            if (f >= 0 && w->polygon[f] < 0 && cosine(w, first, f) > 1.0 - 5e-11) {
                w->polygon[f] = first;
                w->member[w->members++] = f;
            }
        }
    }
    qsort(w->member, (size_t)w->members, sizeof *w->member, ascending);
}

// `next` takes the edges on the rim of the polygon.
static void add_polygon(hull_work *w)
{
    for (int i = 0; i < w->members; i++) {
        int f = w->member[i];
        for (int k = 0; k < 3; k++) {
            int32_t other = neighbour(w, f, k);
            if (other < 0 || w->polygon[other] != w->polygon[f]) {
                w->next[w->face[f][k]] = w->face[f][(k + 1) % 3];
            }
        }
    }
}

static void join_triangles(hull_work *w)
{
    orr_plan *plan = w->plan;
    for (int first = 0; first < w->face_count; first++) {
        if (w->polygon[first] >= 0) {
            continue;
        }
        find_members(w, first);
        add_polygon(w);
        memcpy(plan->hull_normal + 3 * w->faces, w->normal + 3 * first, 3 * sizeof *w->normal);
        // start on the rim: a vertex of which an outer edge leaves
        int start = -1;
        for (int i = 0; i < w->members && start < 0; i++) {
            const int32_t *face = w->face[w->member[i]];
            for (int k = 0; k < 3 && start < 0; k++) {
                start = w->next[face[k]] >= 0 ? face[k] : -1;
            }
        }
        for (int at = start; at >= 0;) {
            plan->hull_vertex[w->corners++] = at;
            int to = w->next[at];
            w->next[at] = -1;
            at = to == start ? -1 : to;
        }
        w->faces++;
        plan->hull_first[w->faces] = w->corners;
    }
}

// Lists the faces of each of `vertices` vertices. A face k has the vertices from first[k] to first[k + 1].
static void find_faces_of(const int32_t *first, const int32_t *vertex, int faces, int vertices,
                          int32_t *of_first, int32_t *of_face)
{
    for (int i = 0; i <= vertices; i++) {
        of_first[i] = 0;
    }
    for (int c = first[0]; c < first[faces]; c++) {
        of_first[vertex[c] + 1]++;
    }
    for (int i = 0; i < vertices; i++) {
        of_first[i + 1] += of_first[i];
    }
    for (int k = 0; k < faces; k++) {
        for (int c = first[k]; c < first[k + 1]; c++) {
            of_face[of_first[vertex[c]]++] = k;
        }
    }
    memmove(of_first + 1, of_first, (size_t)vertices * sizeof *of_first); // ends are the next one's firsts
    of_first[0] = 0;
}

static orr_result join_hull(hull_work *w, int vertices, orr_error *error)
{
    ORR_ALLOC(w->normal, 3 * (int64_t)w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->polygon, w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->member, w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->corner, (int64_t)w->face_count + 1, "faces of a hull", error);
    ORR_ALLOC(w->of_first, (int64_t)vertices + 1, "faces of a hull", error);
    ORR_ALLOC(w->of_face, 3 * (int64_t)w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->next, vertices, "faces of a hull", error);
    for (int i = 0; i < vertices; i++) {
        w->next[i] = -1;
    }
    for (int f = 0; f < w->face_count; f++) {
        triangle_normal(w, f, w->normal + 3 * f);
        w->polygon[f] = -1;
    }
    for (int f = 0; f <= w->face_count; f++) {
        w->corner[f] = 3 * f;
    }
    find_faces_of(w->corner, w->face[0], w->face_count, vertices, w->of_first, w->of_face);
    join_triangles(w);
    return ORR_OK;
}

static void hull_work_free(hull_work *w)
{
    orr_free(w->normal);
    orr_free(w->polygon);
    orr_free(w->member);
    orr_free(w->corner);
    orr_free(w->of_first);
    orr_free(w->of_face);
    orr_free(w->next);
    w->normal = NULL;
    w->polygon = w->member = w->corner = w->of_first = w->of_face = w->next = NULL;
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
        int32_t first = w.faces, corner = w.corners, vertices = m->mesh_hullvertnum[mesh];
        if (vertices == 0) {
            continue;
        }
        w.vertex = m->hull_vert + 3 * (size_t)m->mesh_hullvertadr[mesh];
        w.face = (const int32_t(*)[3])(m->hull_face + 3 * (size_t)m->mesh_hullfaceadr[mesh]);
        w.face_count = m->mesh_hullfacenum[mesh];
        orr_result result = join_hull(&w, vertices, error);
        hull_work_free(&w);
        ORR_TRY(result);
        int32_t *of_first = plan->hull_of_first + m->mesh_hullvertadr[mesh] + mesh,
                *of_face = plan->hull_of_face + corner;
        orr_hull *hull = &plan->hull[mesh];
        *hull = (orr_hull){.face_count = w.faces - first,
                           .normal = plan->hull_normal + 3 * first,
                           .first = plan->hull_first + first,
                           .vertex = plan->hull_vertex,
                           .of_first = of_first,
                           .of_face = of_face};
        find_faces_of(hull->first, hull->vertex, hull->face_count, vertices, of_first, of_face);
        ORR_TRY(orr_extremes_find(w.vertex, vertices, &hull->vertices, error));
        ORR_TRY(orr_extremes_find(hull->normal, hull->face_count, &hull->normals, error));
    }
    return ORR_OK;
}
