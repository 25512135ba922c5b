#include "engine/mesh/mesh_normals.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static const float crease_cosine = 0.5f; // of 60 degrees

// Corners at one position that are compared with each other: the time grows with the square of their number,
// and a file decides how many there are.
enum { RUN_MAX = 512 };

// One corner of a triangle: its position, its index in mesh->indices, and its triangle's unit normal (0 when
// it has no area).
typedef struct corner {
    float position[3];
    uint32_t index;
    float normal[3];
    bool counts; // in the mean: false of a polygon's second triangle there
} corner;

typedef struct splitter {
    corner *corners;  // index_count, by position and then by index
    float *smooth;    // index_count x 3, at corner.index
    uint32_t *first;  // vertex_count: the vertex's newest copy, or NONE
    uint32_t *next;   // index_count: the copy of the same vertex made before this one, or NONE
    uint32_t *source; // index_count: the vertex that a copy is of
    uint32_t copies;
} splitter;

static void face_normal(const float *a, const float *b, const float *c, float normal[3])
{
    double u[3], v[3], n[3], length = 0.0;
    for (int k = 0; k < 3; k++) {
        u[k] = (double)b[k] - (double)a[k];
        v[k] = (double)c[k] - (double)a[k];
    }
    for (int k = 0; k < 3; k++) {
        n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        length += n[k] * n[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++) {
        normal[k] = length > 0.0 ? (float)(n[k] / length) : 0.0f;
    }
}

static int compare_corners(const void *left, const void *right)
{
    const corner *a = left, *b = right;
    for (int k = 0; k < 3; k++) {
        if (a->position[k] != b->position[k]) {
            return a->position[k] < b->position[k] ? -1 : 1;
        }
    }
    return a->index < b->index ? -1 : 1;
}

static bool same_position(const corner *a, const corner *b)
{
    return a->position[0] == b->position[0] && a->position[1] == b->position[1] &&
           a->position[2] == b->position[2];
}

// latest: for each vertex NONE; of a polygon's corners that have one vertex the last counts.
static void gather_corners(const orr_mesh_file *mesh, corner *corners, uint32_t *latest)
{
    for (int64_t i = 0; i < mesh->index_count; i += 3) {
        const uint32_t *index = mesh->indices + i;
        const float *p[3];
        float normal[3];
        for (int k = 0; k < 3; k++) {
            p[k] = mesh->vertices[index[k]].position;
        }
        face_normal(p[0], p[1], p[2], normal);
        for (int k = 0; k < 3; k++) {
            corner *c = &corners[i + k];
            c->index = (uint32_t)(i + k);
            memcpy(c->position, p[k], sizeof c->position);
            memcpy(c->normal, normal, sizeof c->normal);
            c->counts = true;
            if (mesh->split_corners && latest[index[k]] != NONE) {
                corners[latest[index[k]]].counts = false;
            }
            latest[index[k]] = c->index;
        }
    }
    qsort(corners, (size_t)mesh->index_count, sizeof *corners, compare_corners);
}

// Corners whose sums have the same terms get the same bits: terms are added in the order of the triangles.
static void smooth_run(const corner *run, int64_t count, float *smooth)
{
    for (int64_t i = 0; i < count; i++) {
        const float *own = run[i].normal;
        float *sum = smooth + 3 * (size_t)run[i].index;
        memset(sum, 0, 3 * sizeof *sum);
        for (int64_t j = 0; j < count; j++) {
            const float *n = run[j].normal;
            if (run[j].counts && own[0] * n[0] + own[1] * n[1] + own[2] * n[2] >= crease_cosine) {
                for (int k = 0; k < 3; k++) {
                    sum[k] += n[k];
                }
            }
        }
    }
}

static void make_corner_normals(const orr_mesh_file *mesh, splitter *s)
{
    const int64_t longest = mesh->flat_normals ? 1 : RUN_MAX;
    for (int64_t begin = 0, end; begin < mesh->index_count; begin = end) {
        for (end = begin + 1; end < mesh->index_count && end - begin < longest; end++) {
            if (!same_position(&s->corners[begin], &s->corners[end])) {
                break;
            }
        }
        smooth_run(s->corners + begin, end - begin, s->smooth);
    }
}

// The copy of a vertex that has this normal.
static uint32_t find_copy(splitter *s, uint32_t vertex, const float normal[3], float *copy_normals)
{
    for (uint32_t i = s->first[vertex]; i != NONE; i = s->next[i]) {
        if (memcmp(copy_normals + 3 * (size_t)i, normal, 3 * sizeof *normal) == 0) {
            return i;
        }
    }
    uint32_t made = s->copies++;
    // no copy is before the corner that it is made for, so this does not overwrite a normal still to be read
    memmove(copy_normals + 3 * (size_t)made, normal, 3 * sizeof *normal);
    s->source[made] = vertex;
    s->next[made] = s->first[vertex];
    s->first[vertex] = made;
    return made;
}

static orr_result split(orr_mesh_file *mesh, splitter *s, orr_error *error)
{
    ORR_ALLOC(s->corners, mesh->index_count, "corners of triangles", error);
    ORR_ALLOC(s->smooth, 3 * mesh->index_count, "normals", error);
    ORR_ALLOC(s->first, mesh->vertex_count, "vertices", error);
    memset(s->first, 0xff, (size_t)mesh->vertex_count * sizeof *s->first);
    gather_corners(mesh, s->corners, s->first);
    make_corner_normals(mesh, s);
    ORR_ALLOC(s->next, mesh->index_count, "vertices", error);
    ORR_ALLOC(s->source, mesh->index_count, "vertices", error);
    memset(s->first, 0xff, (size_t)mesh->vertex_count * sizeof *s->first);
    for (int64_t i = 0; i < mesh->index_count; i++) {
        const orr_mesh_file_vertex *vertex = &mesh->vertices[mesh->indices[i]];
        bool given = vertex->normal[0] != 0.0f || vertex->normal[1] != 0.0f || vertex->normal[2] != 0.0f;
        mesh->indices[i] =
            find_copy(s, mesh->indices[i], given ? vertex->normal : s->smooth + 3 * i, s->smooth);
    }
    if (s->copies > ORR_MESH_VERTEX_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%u vertices with their normals: expected at most %d",
                        s->copies, ORR_MESH_VERTEX_MAX);
    }
    orr_mesh_file_vertex *copies;
    ORR_ALLOC(copies, s->copies, "vertices", error);
    for (size_t i = 0; i < s->copies; i++) {
        copies[i] = mesh->vertices[s->source[i]];
        memcpy(copies[i].normal, s->smooth + 3 * i, sizeof copies[i].normal);
    }
    orr_free(mesh->vertices);
    mesh->vertices = copies;
    mesh->vertex_count = s->copies;
    return ORR_OK;
}

orr_result orr_mesh_make_normals(orr_mesh_file *mesh, orr_error *error)
{
    splitter s = {0};
    orr_result result = split(mesh, &s, error);
    orr_free(s.corners);
    orr_free(s.smooth);
    orr_free(s.first);
    orr_free(s.next);
    orr_free(s.source);
    return result;
}
