#include "engine/scene/soft/soft_cloth.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "engine/scene/soft/mesh_weld.h"

#include <string.h>

static double or_default(double value, double otherwise)
{
    return value > 0.0 ? value : otherwise;
}

// Is it a triangle, with an area?
static bool has_area(const orr_mesh *mesh, const uint32_t index[3], const int32_t *number)
{
    double u[3], v[3], n[3];
    const float *a = mesh->vertices[index[0]].position, *b = mesh->vertices[index[1]].position,
                *c = mesh->vertices[index[2]].position;
    for (int k = 0; k < 3; k++) {
        u[k] = (double)b[k] - (double)a[k];
        v[k] = (double)c[k] - (double)a[k];
    }
    vec3_cross(u, v, n);
    return number[index[0]] != number[index[1]] && number[index[1]] != number[index[2]] &&
           number[index[2]] != number[index[0]] && vec3_dot(n, n) > 1e-12 * vec3_dot(u, u) * vec3_dot(v, v);
}

// Places of welded vertices that triangles with an area use become the cage's vertices.
static orr_result fill_cage(const orr_layer_data *layer, const int32_t *number, int places,
                            orr_soft_layer *soft, orr_error *error)
{
    const orr_mesh *mesh = layer->mesh;
    orr_soft_cage *cage = soft->cage;
    int32_t *vertex_of; // places: the cage's vertex, -1: none yet
    ORR_ALLOC(vertex_of, places, layer->name, error);
    memset(vertex_of, -1, (size_t)places * sizeof *vertex_of);
    cage->vertex = orr_alloc((size_t)places, 3 * sizeof *cage->vertex);
    cage->triangle = orr_alloc((size_t)mesh->index_count + 1, sizeof *cage->triangle);
    if (!cage->vertex || !cage->triangle) {
        orr_free(vertex_of);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", layer->name);
    }
    for (int64_t i = 0; i < mesh->index_count; i += 3) {
        if (!has_area(mesh, mesh->indices + i, number)) {
            continue;
        }
        for (int c = 0; c < 3; c++) {
            const uint32_t index = mesh->indices[i + c];
            int32_t *v = &vertex_of[number[index]];
            if (*v < 0) {
                *v = cage->vertices++;
                for (int k = 0; k < 3; k++) {
                    cage->vertex[3 * (ptrdiff_t)*v + k] =
                        (double)mesh->vertices[index].position[k] * soft->scale;
                }
            }
            cage->triangle[3 * (ptrdiff_t)cage->triangles + c] = *v;
            soft->piece[index] = cage->triangles;
        }
        cage->triangles++;
    }
    orr_free(vertex_of);
    return cage->triangles > 0
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "%s: cloth: expected a mesh whose triangles have an area",
                          layer->name);
}

orr_result orr_soft_pins(const orr_layer_data *layer, const orr_body_desc *desc, orr_soft_layer *soft,
                         int32_t **pin, int *count, orr_error *error)
{
    const orr_soft_cage *cage = soft->cage;
    ORR_ALLOC(*pin, cage->vertices, layer->name, error);
    *count = 0;
    for (int i = 0; i < desc->pins; i++) {
        bool held = false;
        for (int v = 0; v < cage->vertices; v++) {
            double d[3], radius = (double)desc->pin[i][3] * soft->scale;
            for (int k = 0; k < 3; k++) {
                d[k] = cage->vertex[3 * (ptrdiff_t)v + k] - (double)desc->pin[i][k] * soft->scale;
            }
            bool inside = vec3_dot(d, d) <= radius * radius, known = false;
            for (int j = 0; j < *count && inside; j++) {
                known |= (*pin)[j] == v;
            }
            held |= inside;
            if (inside && !known) {
                (*pin)[(*count)++] = v;
            }
        }
        if (!held) {
            orr_free(*pin);
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s: a soft body: pin %d: expected a ball that holds a vertex, not one of radius "
                            "%g around %g, %g, %g",
                            layer->name, i, (double)desc->pin[i][3], (double)desc->pin[i][0],
                            (double)desc->pin[i][1], (double)desc->pin[i][2]);
        }
    }
    if (layer->bound_to.slot != 0) {
        soft->tie = *pin, soft->ties = *count;
        *pin = NULL, *count = 0;
    }
    return ORR_OK;
}

orr_result orr_soft_cloth_fill(const orr_layer_data *layer, const orr_body_desc *desc, orr_soft_layer *soft,
                               orr_error *error)
{
    int32_t *number, *pin;
    int places, pins;
    soft->count = layer->mesh->vertex_count;
    soft->margin = -0.5 * desc->cloth;
    soft->piece = orr_alloc_zero((size_t)soft->count + 1, sizeof *soft->piece);
    soft->cage = orr_alloc_zero(1, sizeof *soft->cage);
    if (!soft->piece || !soft->cage) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", layer->name);
    }
    ORR_TRY(orr_mesh_weld(layer->mesh, &number, &places, error));
    orr_result result = fill_cage(layer, number, places, soft, error);
    orr_free(number);
    ORR_TRY(result);
    ORR_TRY(orr_soft_pins(layer, desc, soft, &pin, &pins, error));
    const orr_soft_spec spec = {.name = layer->name,
                                .vertices = soft->cage->vertices,
                                .vertex = soft->cage->vertex,
                                .triangles = soft->cage->triangles,
                                .triangle = soft->cage->triangle,
                                .pins = pins,
                                .pin = pin,
                                .cloth_thickness = desc->cloth,
                                .pressure = desc->pressure,
                                .ambient = desc->ambient,
                                .cloth = {.density = or_default(desc->density, 300.0),
                                          .young = or_default(desc->young, 1e6),
                                          .poisson = or_default(desc->poisson, 0.3),
                                          .damping = or_default(desc->damping, 0.005)}};
    result = orr_soft_model_create(&spec, &soft->model, error);
    orr_free(pin);
    return result;
}
