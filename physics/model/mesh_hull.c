// The convex hull of a mesh, by qhull: vertices, triangles, and the neighbours of each vertex, which
// collision searches.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <libqhull_r/qhull_ra.h>
#pragma GCC diagnostic pop

static orr_result take(mesh_data *d, int vertices, int faces, orr_error *error)
{
    d->hull_vertex_count = vertices, d->hull_face_count = faces;
    d->hull_vertices = orr_alloc(3 * (size_t)vertices, sizeof(double));
    d->hull_faces = orr_alloc(3 * (size_t)faces, sizeof(int32_t));
    d->hull_edge_start = orr_alloc_zero((size_t)vertices, sizeof(int32_t));
    d->hull_edge_number = orr_alloc_zero((size_t)vertices, sizeof(int32_t));
    d->hull_edges = orr_alloc(6 * (size_t)faces, sizeof(int32_t));
    return d->hull_vertices && d->hull_faces && d->hull_edge_start && d->hull_edge_number && d->hull_edges
               ? ORR_OK
               : spec_memory_fail(error);
}

typedef struct indexed_point {
    float at[3];
    int32_t index;
} indexed_point;

static int compare_points(const void *a, const void *b)
{
    const indexed_point *p = a, *q = b;
    for (int k = 0; k < 3; k++) {
        if (p->at[k] != q->at[k]) {
            return p->at[k] < q->at[k] ? -1 : 1;
        }
    }
    return p->index < q->index ? -1 : p->index > q->index;
}

// The vertices without repetitions, in their order. Returns how many there are; 0: out of memory. first: one
// number per vertex.
static size_t unique_points(const mesh_data *d, int32_t *first, double *points)
{
    indexed_point *sorted = orr_alloc((size_t)d->vertex_count, sizeof *sorted);
    size_t count = 0;
    for (int i = 0; sorted && i < d->vertex_count; i++) {
        for (int k = 0; k < 3; k++) {
            sorted[i].at[k] = d->vertices[3 * i + k];
        }
        sorted[i].index = i;
    }
    if (sorted) {
        qsort(sorted, (size_t)d->vertex_count, sizeof *sorted, compare_points);
    }
    for (int i = 0; sorted && i < d->vertex_count; i++) {
        const float *at = sorted[i].at, *before = i > 0 ? sorted[i - 1].at : NULL;
        first[sorted[i].index] = !before || at[0] != before[0] || at[1] != before[1] || at[2] != before[2];
    }
    for (int i = 0; sorted && i < d->vertex_count; i++) {
        for (int k = 0; k < 3 && first[i]; k++) {
            points[3 * count + (size_t)k] = (double)d->vertices[3 * i + k];
        }
        count += first[i] != 0;
    }
    orr_free(sorted);
    return count;
}

// The neighbours of a vertex, in the order of qhull's facets around it: which of those that are equally low
// touch a plane depends on it, here as in MuJoCo.
static int connect_vertex(qhT *qh, const vertexT *from, const int32_t *ids, int32_t *edges)
{
    facetT *facet, **facetp;
    vertexT *vertex, **vertexp;
    int count = 0;
    FOREACHfacet_(from->neighbors)
    {
        FOREACHvertex_(facet->vertices)
        {
            int32_t id = ids[qh_pointid(qh, vertex->point)];
            int k = 0;
            while (k < count && edges[k] != id) {
                k++;
            }
            if (vertex != from && k == count) {
                edges[count++] = id;
            }
        }
    }
    return count;
}

// Takes qhull's result, with its order of vertices. ids: one number per point.
static orr_result copy_hull(qhT *qh, const double *points, mesh_data *d, int32_t *ids, orr_error *error)
{
    vertexT *vertex, **vertexp;
    facetT *facet;
    ORR_TRY(take(d, qh->num_vertices, qh->num_facets, error));
    int id = 0, face = 0, used = 0;
    FORALLvertices
    {
        int point = qh_pointid(qh, vertex->point);
        memcpy(d->hull_vertices + 3 * id, points + 3 * point, 3 * sizeof *points);
        ids[point] = id++;
    }
    qh_vertexneighbors(qh);
    id = 0;
    FORALLvertices
    {
        int count = connect_vertex(qh, vertex, ids, d->hull_edges + used);
        d->hull_edge_start[id] = used;
        d->hull_edge_number[id++] = count;
        used += count;
    }
    d->hull_edge_count = used;
    FORALLfacets
    {
        int32_t corner[3] = {0, 0, 0};
        int count = 0;
        FOREACHvertex_(facet->vertices)
        {
            corner[count++ % 3] = ids[qh_pointid(qh, vertex->point)];
        }
        bool flipped = facet->toporient != 0;
        d->hull_faces[3 * face] = corner[0];
        d->hull_faces[3 * face + 1] = corner[flipped ? 2 : 1];
        d->hull_faces[3 * face + 2] = corner[flipped ? 1 : 2];
        face++;
    }
    return ORR_OK;
}

// Triangles are oriented outward, as seen from the middle of the hull.
static void orient(mesh_data *d)
{
    double middle[3] = {0.0};
    for (int i = 0; i < 3 * d->hull_vertex_count; i++) {
        middle[i % 3] += d->hull_vertices[i] / d->hull_vertex_count;
    }
    for (int f = 0; f < d->hull_face_count; f++) {
        int32_t *face = d->hull_faces + 3 * f;
        double corner[3][3], normal[3];
        for (int k = 0; k < 9; k++) {
            corner[k / 3][k % 3] = d->hull_vertices[3 * face[k / 3] + k % 3] - middle[k % 3];
        }
        vec3_cross(corner[1], corner[2], normal);
        if (vec3_dot(corner[0], normal) < 0.0) {
            int32_t swap = face[1];
            face[1] = face[2], face[2] = swap;
        }
    }
}

orr_result mesh_hull(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    qhT state, *qh = &state;
    size_t count = (size_t)d->vertex_count;
    double *points = orr_alloc(3 * count, sizeof *points);
    int32_t *ids = orr_alloc(count, sizeof *ids);
    FILE *silence = fopen("/dev/null", "w"); // qhull writes its messages to a stream
    char options[64] = "qhull Qt";
    if (mesh->maxhullvert > 4) {
        snprintf(options, sizeof options, "qhull Qt TA%d", mesh->maxhullvert - 4);
    }
    orr_result result = points && ids && silence ? ORR_OK : spec_memory_fail(error);
    if (result == ORR_OK) {
        count = unique_points(d, ids, points);
        result = count > 0 ? ORR_OK : spec_memory_fail(error);
    }
    if (result == ORR_OK) {
        qh_zero(qh, silence);
        int code = qh_new_qhull(qh, 3, (int)count, points, False, options, silence, silence);
        result = code == qh_ERRnone
                     ? copy_hull(qh, points, d, ids, error)
                     : spec_fail(&mesh->head, error, "expected vertices whose convex hull has a volume");
        int left, total;
        qh_freeqhull(qh, !qh_ALL);
        qh_memfreeshort(qh, &left, &total);
    }
    if (silence) {
        fclose(silence);
    }
    orr_free(points);
    orr_free(ids);
    if (result == ORR_OK) {
        orient(d);
    }
    return result;
}
