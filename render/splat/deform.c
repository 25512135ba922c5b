#include "render/splat/deform.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

enum { VERTICES_OF_JOB = 2048 };

typedef struct mesh_call {
    const orr_mesh *rest;
    const int32_t *piece_of;
    const orr_affine_piece *pieces;
    orr_mesh_vertex *out;
} mesh_call;

static void mesh_job(void *context, int job, int worker)
{
    (void)worker;
    const mesh_call *c = context;
    int64_t first = (int64_t)job * VERTICES_OF_JOB, end = first + VERTICES_OF_JOB;
    for (int64_t i = first; i < end && i < c->rest->vertex_count; i++) {
        const orr_affine_piece *p = &c->pieces[c->piece_of[i]];
        const orr_mesh_vertex *from = &c->rest->vertices[i];
        orr_mesh_vertex *to = &c->out[i];
        float cofactor[9], length = 0.0f;
        *to = *from;
        for (int k = 0; k < 3; k++) {
            to->position[k] = vec3f_dot(p->matrix + (ptrdiff_t)k * 3, from->position) + p->offset[k];
            vec3f_cross(p->matrix + (k + 1) % 3 * 3, p->matrix + (k + 2) % 3 * 3,
                        cofactor + (ptrdiff_t)k * 3);
        }
        for (int k = 0; k < 3; k++) { // normals go by the inverse's transpose
            to->normal[k] = vec3f_dot(cofactor + (ptrdiff_t)k * 3, from->normal);
            length += to->normal[k] * to->normal[k];
        }
        for (int k = 0; k < 3 && length > 0.0f; k++) {
            to->normal[k] /= sqrtf(length);
        }
    }
}

orr_result orr_deform_mesh(const orr_mesh *rest, const int32_t *piece_of, const orr_affine_piece *pieces,
                           orr_jobs *jobs, orr_deformed *out, orr_error *error)
{
    orr_mesh_vertex *vertices = out->mesh.vertices;
    if (out->vertices < rest->vertex_count) {
        orr_free(vertices);
        out->vertices = 0;
        vertices = out->mesh.vertices = orr_alloc((size_t)rest->vertex_count, sizeof *vertices);
        if (!vertices) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a mesh that follows a soft body");
        }
        out->vertices = rest->vertex_count;
    }
    out->mesh = *rest;
    out->mesh.vertices = vertices;
    mesh_call call = {rest, piece_of, pieces, vertices};
    orr_jobs_for(jobs, orr_blocks(rest->vertex_count, VERTICES_OF_JOB), mesh_job, &call);
    for (int k = 0; k < 3; k++) {
        float low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < rest->vertex_count; i++) {
            low = fminf(low, vertices[i].position[k]), high = fmaxf(high, vertices[i].position[k]);
        }
        out->mesh.low[k] = low, out->mesh.high[k] = high;
    }
    return ORR_OK;
}

void orr_deformed_clear(orr_deformed *d)
{
    orr_free(d->mesh.vertices);
    *d = (orr_deformed){0};
}
