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
    d->hull_points = orr_alloc((size_t)vertices, sizeof(int32_t));
    d->hull_faces = orr_alloc(3 * (size_t)faces, sizeof(int32_t));
    d->hull_angles = orr_alloc((size_t)faces, sizeof *d->hull_angles);
    d->hull_edge_start = orr_alloc_zero((size_t)vertices, sizeof(int32_t));
    d->hull_edge_number = orr_alloc_zero((size_t)vertices, sizeof(int32_t));
    d->hull_edges = orr_alloc(6 * (size_t)faces, sizeof(int32_t));
    return d->hull_vertices && d->hull_points && d->hull_faces && d->hull_angles && d->hull_edge_start &&
                   d->hull_edge_number && d->hull_edges
               ? ORR_OK
               : spec_memory_fail(error);
}

typedef struct indexed_point {
    uint32_t bits[3]; // of the coordinates: 0 and -0 are two places, as in MuJoCo
    int32_t index;
} indexed_point;

static int compare_points(const void *a, const void *b)
{
    const indexed_point *p = a, *q = b;
    for (int k = 0; k < 3; k++) {
        if (p->bits[k] != q->bits[k]) {
            return p->bits[k] < q->bits[k] ? -1 : 1;
        }
    }
    return p->index < q->index ? -1 : p->index > q->index;
}

// Marks the first point of each place.
static orr_result find_first(const float *points, int count, bool *first, orr_error *error)
{
    indexed_point *sorted = orr_alloc((size_t)count, sizeof *sorted);
    if (!sorted) {
        return spec_memory_fail(error);
    }
    for (int i = 0; i < count; i++) {
        memcpy(sorted[i].bits, points + 3 * (ptrdiff_t)i, sizeof sorted[i].bits);
        sorted[i].index = i;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, compare_points);
    for (int i = 0; i < count; i++) {
        first[sorted[i].index] =
            i == 0 || memcmp(sorted[i].bits, sorted[i - 1].bits, sizeof sorted[i].bits) != 0;
    }
    orr_free(sorted);
    return ORR_OK;
}

// The points that qhull gets, in the order in which MuJoCo gives them: which triangles it makes of a flat
// side, and the order of all it makes, depend on both. Sets *count to how many there are.
static orr_result list_points(const mesh_data *d, double *points, int *count, orr_error *error)
{
    const float *from = d->points_listed ? d->points_listed : d->vertices;
    const int all = d->points_listed ? d->points_listed_count : d->vertex_count;
    bool *first = orr_alloc((size_t)all, sizeof *first);
    orr_result result = first ? ORR_OK : spec_memory_fail(error);
    if (result == ORR_OK && d->corners) {
        result = find_first(from, all, first, error);
    }
    *count = 0;
    for (int i = 0; result == ORR_OK && i < all; i++) {
        if (!d->corners || first[i]) {
            for (int k = 0; k < 3; k++) {
                points[3 * *count + k] = (double)from[3 * i + k];
            }
            ++*count;
        }
    }
    orr_free(first);
    return result;
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

// The angles of a triangle's normal, rounded as in MuJoCo; azimuth 0 at the poles.
static void round_angles(const double *vertices, const int32_t face[3], int32_t angle[2])
{
    const double unit = 0.01; // rad
    double u[3], v[3], n[3];
    for (int k = 0; k < 3; k++) {
        u[k] = vertices[3 * face[1] + k] - vertices[3 * face[0] + k];
        v[k] = vertices[3 * face[2] + k] - vertices[3 * face[0] + k];
    }
    vec3_cross(u, v, n);
    vec3_normalise(n);
    for (int k = 0; k < 3; k++) {
        n[k] += 0.0; // -0 becomes 0, whose azimuth is on the same side
    }
    bool pole = fabs(n[2]) > 1.0 - 1e-7;
    angle[0] = pole ? 0 : (int32_t)lround(atan2(n[1], n[0]) / unit);
    angle[1] = (int32_t)lround(acos(pole ? copysign(1.0, n[2]) : n[2]) / unit);
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
        d->hull_points[id] = point;
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
        bool flipped = facet->toporient != 0; // and turned as in MuJoCo, which decides where polygons begin
        d->hull_faces[3 * face] = corner[flipped];
        d->hull_faces[3 * face + 1] = corner[!flipped];
        d->hull_faces[3 * face + 2] = corner[2];
        round_angles(d->hull_vertices, d->hull_faces + 3 * face, d->hull_angles[face]);
        face++;
    }
    return ORR_OK;
}

void mesh_hull_orient(mesh_data *d)
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
    int count = d->points_listed ? d->points_listed_count : d->vertex_count;
    double *points = orr_alloc(3 * (size_t)count, sizeof *points);
    int32_t *ids = orr_alloc((size_t)count, sizeof *ids);
    FILE *silence = fopen("/dev/null", "w"); // qhull writes its messages to a stream
    char options[64] = "qhull Qt";
    if (mesh->maxhullvert > 4) {
        // Q9: of all points the farthest one is added next, so that few vertices are a good hull
        snprintf(options, sizeof options, "qhull Qt Q9 TA%d", mesh->maxhullvert - 4);
    }
    orr_result result = points && ids && silence ? ORR_OK : spec_memory_fail(error);
    if (result == ORR_OK) {
        result = list_points(d, points, &count, error);
    }
    if (result == ORR_OK) {
        qh_zero(qh, silence);
        int code = qh_new_qhull(qh, 3, count, points, False, options, silence, silence);
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
    return result;
}
