// The convex hull of a mesh, by qhull: its vertices, its triangles, and the neighbours of each vertex, along which
// collision walks.
#include "physics/model_build.h"
#include "physics/rotation.h"

#include <stdio.h>
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

// Each edge of a closed surface of triangles is passed once in each direction: those that leave a vertex are its
// neighbours.
static void connect(mesh_data *d)
{
    for (int i = 0; i < 3 * d->hull_face_count; i++) {
        d->hull_edge_number[d->hull_faces[i]]++;
    }
    for (int v = 0, used = 0; v < d->hull_vertex_count; v++) {
        d->hull_edge_start[v] = used;
        used += d->hull_edge_number[v];
        d->hull_edge_number[v] = 0;
    }
    for (int f = 0; f < d->hull_face_count; f++) {
        const int32_t *face = d->hull_faces + 3 * f;
        for (int k = 0; k < 3; k++) {
            int from = face[k];
            d->hull_edges[d->hull_edge_start[from] + d->hull_edge_number[from]++] = face[(k + 1) % 3];
        }
    }
    d->hull_edge_count = 3 * d->hull_face_count;
}

// What qhull found, in the order of the mesh's vertices. `ids` has room for one number per vertex.
static orr_result copy_hull(qhT *qh, mesh_data *d, int32_t *ids, orr_error *error)
{
    vertexT *vertex, **vertexp;
    facetT *facet;
    for (int i = 0; i < d->vertex_count; i++) {
        ids[i] = -1;
    }
    FORALLvertices
    {
        ids[qh_pointid(qh, vertex->point)] = 0;
    }
    int vertices = 0, faces = qh->num_facets, face = 0;
    for (int i = 0; i < d->vertex_count; i++) {
        ids[i] = ids[i] == 0 ? vertices++ : -1;
    }
    ORR_TRY(take(d, vertices, faces, error));
    for (int i = 0; i < d->vertex_count; i++) {
        for (int k = 0; k < 3 && ids[i] >= 0; k++) {
            d->hull_vertices[3 * ids[i] + k] = (double)d->vertices[3 * i + k];
        }
    }
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

// Outward: qhull's orientation is checked against the middle of the hull.
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
        vec_cross(corner[1], corner[2], normal);
        if (vec_dot(corner[0], normal) < 0.0) {
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
    FILE *silence = fopen("/dev/null", "w"); // qhull explains to a stream
    char options[64] = "qhull Qt";
    if (mesh->maxhullvert > 4) {
        snprintf(options, sizeof options, "qhull Qt TA%d", mesh->maxhullvert - 4);
    }
    orr_result result = points && ids && silence ? ORR_OK : spec_memory_fail(error);
    if (result == ORR_OK) {
        for (size_t i = 0; i < 3 * count; i++) {
            points[i] = (double)d->vertices[i];
        }
        qh_zero(qh, silence);
        int code = qh_new_qhull(qh, 3, d->vertex_count, points, False, options, silence, silence);
        result = code == qh_ERRnone
                     ? copy_hull(qh, d, ids, error)
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
        connect(d);
    }
    return result;
}
