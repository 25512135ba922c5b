// The flat faces of convex hulls. As in MuJoCo, qhull's triangles are joined where they share an edge and
// their normals are alike: hull_face_angle of the model, rounded to 0.01 rad, is equal. So faces that scans
// and rounded files have bent a little are flat.
#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct half_edge {
    int32_t low, high; // its vertices
    int32_t side;      // 3 * triangle + which of its edges
} half_edge;

typedef struct hull_work {
    const double *vertex;
    const int32_t (*face)[3];
    int face_count;
    bool mirrored; // by a negative scale
    const int32_t (*angle)[2];
    double *normal;  // face_count x 3
    half_edge *edge; // 3 x face_count, by their vertices
    int32_t *beside; // face_count x 3: the triangle across an edge, -1: none
    int32_t
        *polygon;    // face_count: the first triangle of the polygon that a triangle belongs to, -1: none yet
    int32_t *member; // face_count: triangles of the current polygon
    int32_t members;
    int32_t *next;  // of each vertex: the next one around the current polygon
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
            if (other >= 0 && w->polygon[other] < 0 && w->angle[other][0] == w->angle[first][0] &&
                w->angle[other][1] == w->angle[first][1]) {
                w->polygon[other] = first;
                w->member[w->members++] = other;
            }
        }
    }
}

// Links the outer sides of the current polygon. Returns the vertex at which MuJoCo's outline begins: with the
// side that comes first among qhull's triangles, in mirrored meshes as they are before they are mirrored.
static int32_t link_outline(hull_work *w, int first)
{
    int32_t least = INT32_MAX;
    for (int i = 0; i < w->members; i++) {
        const int32_t *face = w->face[w->member[i]];
        for (int k = 0; k < 3; k++) {
            int other = w->beside[3 * w->member[i] + k];
            if (other < 0 || w->polygon[other] != first) {
                int32_t rank = 3 * w->member[i] + (w->mirrored ? 2 - k : k);
                w->next[face[k]] = face[(k + 1) % 3];
                least = rank < least ? rank : least;
            }
        }
    }
    if (least == INT32_MAX) {
        return -1;
    }
    const int32_t *face = w->face[least / 3];
    return face[w->mirrored ? (3 - least % 3) % 3 : least % 3];
}

// Appends the outline of the current polygon to the plan's corners, and its normal by Newell's method. The
// four contacts that are kept of a polygon with more corners depend on where it begins.
static void add_polygon(hull_work *w, int first)
{
    orr_plan *plan = w->plan;
    const int32_t begin = w->corners, start = link_outline(w, first);
    for (int at = start; at >= 0;) {
        plan->hull_vertex[w->corners++] = at;
        int to = w->next[at];
        w->next[at] = -1;
        at = to == start ? -1 : to;
    }
    for (int i = 0; i < w->members; i++) { // a second outline, of a polygon with a hole, is left out
        for (int k = 0; k < 3; k++) {
            w->next[w->face[w->member[i]][k]] = -1;
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

static orr_result join_hull(hull_work *w, int vertices, orr_error *error)
{
    ORR_ALLOC(w->normal, 3 * (int64_t)w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->edge, 3 * (int64_t)w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->beside, 3 * (int64_t)w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->polygon, w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->member, w->face_count, "faces of a hull", error);
    ORR_ALLOC(w->next, vertices, "faces of a hull", error);
    for (int i = 0; i < vertices; i++) {
        w->next[i] = -1;
    }
    for (int f = 0; f < w->face_count; f++) {
        triangle_normal(w, f, w->normal + 3 * f);
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
    orr_free(w->edge);
    orr_free(w->beside);
    orr_free(w->polygon);
    orr_free(w->member);
    orr_free(w->next);
    w->normal = NULL, w->edge = NULL;
    w->beside = w->polygon = w->member = w->next = NULL;
}

// Lists the faces of each of `vertices` vertices. One inside of a face that is bent a little is a corner of
// none, and has none, as in MuJoCo.
static void find_faces_of(const orr_hull *hull, int vertices, int32_t *of_first, int32_t *of_face)
{
    int corners = hull->first[hull->face_count];
    for (int i = 0; i <= vertices; i++) {
        of_first[i] = 0;
    }
    for (int c = hull->first[0]; c < corners; c++) {
        of_first[hull->vertex[c] + 1]++;
    }
    for (int i = 0; i < vertices; i++) {
        of_first[i + 1] += of_first[i];
    }
    for (int k = 0; k < hull->face_count; k++) {
        for (int c = hull->first[k]; c < hull->first[k + 1]; c++) {
            of_face[of_first[hull->vertex[c]]++] = k;
        }
    }
    memmove(of_first + 1, of_first, (size_t)vertices * sizeof *of_first); // ends are the next one's firsts
    of_first[0] = 0;
}

static int32_t blocks_of(int count)
{
    return (count + ORR_EXTREME_BLOCK - 1) / ORR_EXTREME_BLOCK;
}

// How far a triangle's plane is from the origin, or where it is a sliver, all vertices: the normal of one
// whose height is a small share of the hull's size is that of its vertices' rounding, but what is beyond the
// plane that touches the hull is outside of the hull, whatever its normal is.
static double reach_of(const hull_work *w, int f, int vertices, double size)
{
    const double *normal = w->normal + 3 * (ptrdiff_t)f;
    double reach = vec3_dot(normal, w->vertex + 3 * (ptrdiff_t)w->face[f][0]), longest = 0.0;
    double side[3][3], across[3];
    for (int e = 0; e < 3; e++) {
        const double *from = w->vertex + 3 * (ptrdiff_t)w->face[f][e],
                     *to = w->vertex + 3 * (ptrdiff_t)w->face[f][(e + 1) % 3];
        for (int k = 0; k < 3; k++) {
            side[e][k] = to[k] - from[k];
        }
        longest = fmax(longest, vec3_length(side[e]));
    }
    vec3_cross(side[0], side[1], across);
    if (vec3_length(across) < ORR_HULL_SLIVER * size * longest) {
        for (int i = 0; i < vertices; i++) {
            reach = fmax(reach, vec3_dot(normal, w->vertex + 3 * (ptrdiff_t)i));
        }
    }
    return reach;
}

static void set_planes(const hull_work *w, int vertices, float *plane)
{
    double size = 0.0;
    for (int i = 0; i < vertices; i++) {
        size = fmax(size, vec3_length(w->vertex + 3 * (ptrdiff_t)i));
    }
    for (int f = 0; f < blocks_of(w->face_count) * ORR_EXTREME_BLOCK; f++) {
        const int block = f / ORR_EXTREME_BLOCK;
        const bool used = f < w->face_count; // not padding
        float *to = plane + 4 * ORR_EXTREME_BLOCK * (ptrdiff_t)block + f % ORR_EXTREME_BLOCK;
        const double *normal = w->normal + 3 * (ptrdiff_t)(used ? f : 0);
        for (int k = 0; k < 3; k++) {
            to[k * ORR_EXTREME_BLOCK] = used ? (float)normal[k] : 0.0f;
        }
        to[3 * ORR_EXTREME_BLOCK] = used ? (float)reach_of(w, f, vertices, size) : 1e30f;
    }
}

orr_result orr_plan_hulls(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    ORR_ALLOC(plan->hull, m->nmesh, "hulls", error);
    memset(plan->hull, 0, (size_t)m->nmesh * sizeof *plan->hull);
    plan->hulls = m->nmesh;
    ORR_ALLOC(plan->hull_normal, 3 * (int64_t)m->nhullface, "faces of hulls", error);
    ORR_ALLOC(plan->hull_plane, 4 * ((int64_t)m->nhullface + ORR_EXTREME_BLOCK * (int64_t)m->nmesh),
              "faces of hulls", error);
    ORR_ALLOC(plan->hull_first, (int64_t)m->nhullface + 1, "faces of hulls", error);
    ORR_ALLOC(plan->hull_vertex, 3 * (int64_t)m->nhullface, "faces of hulls", error);
    ORR_ALLOC(plan->hull_of_first, (int64_t)m->nhullvert + m->nmesh, "faces of hulls", error);
    ORR_ALLOC(plan->hull_of_face, 3 * (int64_t)m->nhullface, "faces of hulls", error);
    plan->hull_first[0] = 0;
    hull_work w = {.plan = plan};
    float *plane = plan->hull_plane;
    for (int mesh = 0; mesh < m->nmesh; mesh++) {
        const double *scale = m->mesh_scale + 3 * (ptrdiff_t)mesh;
        int32_t first = w.faces, vertices = m->mesh_hullvertnum[mesh];
        if (vertices == 0) {
            continue;
        }
        w.vertex = m->hull_vert + 3 * (size_t)m->mesh_hullvertadr[mesh];
        w.face = (const int32_t(*)[3])(m->hull_face + 3 * (size_t)m->mesh_hullfaceadr[mesh]);
        w.angle = (const int32_t(*)[2])(m->hull_face_angle + 2 * (size_t)m->mesh_hullfaceadr[mesh]);
        w.face_count = m->mesh_hullfacenum[mesh];
        w.mirrored = scale[0] * scale[1] * scale[2] < 0.0;
        orr_result result = join_hull(&w, vertices, error);
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
                           .of_face = of_face,
                           .plane_blocks = blocks_of(w.face_count),
                           .plane = plane,
                           .triangle = w.face};
        set_planes(&w, vertices, plane);
        plane += 4 * ORR_EXTREME_BLOCK * (ptrdiff_t)hull->plane_blocks;
        find_faces_of(hull, vertices, of_first, of_face);
        free_work(&w);
        ORR_TRY(orr_extremes_find(w.vertex, vertices, &hull->vertices, error));
    }
    return ORR_OK;
}
