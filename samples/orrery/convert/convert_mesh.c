// orrery convert: meshes from one file format to another. Positions, normals and triangles stay as they are;
// vertices keep the base colours of the materials.
#define ORR_SCALAR
#include "samples/orrery/convert/convert_mesh.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "engine/maths/colour_formula.h"
#include "neural/fields/surface_file.h"
#include "render/mesh.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The texel at texture coordinates, of pictures that repeat.
static const uint8_t *texel_at(const orr_image8 *texture, const float uv[2])
{
    int at[2];
    const int sides[2] = {texture->width, texture->height};
    for (int k = 0; k < 2; k++) {
        float place = uv[k] - floorf(uv[k]);
        int texel = (int)(place * (float)sides[k]);
        at[k] = texel < sides[k] ? texel : sides[k] - 1;
    }
    return texture->rgba + 4 * ((size_t)at[1] * (size_t)sides[0] + (size_t)at[0]);
}

// Vertex colour x base colour x texel, as a display colour.
static void find_colour(const orr_mesh *mesh, const orr_mesh_material *material, const orr_mesh_vertex *v,
                        uint8_t colour[4])
{
    static const uint8_t white[4] = {255, 255, 255, 255};
    const uint8_t *texel =
        material->texture < 0 ? white : texel_at(&mesh->textures[material->texture], v->uv);
    for (int k = 0; k < 4; k++) {
        float own = (float)v->colour[k] / 255.0f, seen = (float)texel[k] / 255.0f;
        float product =
            k < 3 ? linear_to_srgb(srgb_to_linear(own) * srgb_to_linear(seen) * material->base_colour[k])
                  : own * seen * material->base_colour[k];
        colour[k] = (uint8_t)lrintf(255.0f * fminf(fmaxf(product, 0.0f), 1.0f));
    }
}

static bool is_white(const orr_surface *s)
{
    for (int64_t i = 0; i < 4 * s->vertex_count; i++) {
        if (s->colours[i] != 255) {
            return false;
        }
    }
    return true;
}

static void fill(const orr_mesh *mesh, orr_surface *s)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        memcpy(s->positions + 3 * i, mesh->vertices[i].position, 3 * sizeof(float));
        memcpy(s->normals + 3 * i, mesh->vertices[i].normal, 3 * sizeof(float));
    }
    memcpy(s->indices, mesh->indices, (size_t)mesh->index_count * sizeof *s->indices);
    memset(s->colours, 255, 4 * (size_t)mesh->vertex_count);
    for (int p = 0; p < mesh->part_count; p++) {
        const orr_mesh_part *part = &mesh->parts[p];
        for (uint32_t i = part->first_index; i < part->first_index + part->index_count; i++) {
            uint32_t vertex = mesh->indices[i];
            find_colour(mesh, &mesh->materials[part->material], &mesh->vertices[vertex],
                        s->colours + 4 * (size_t)vertex);
        }
    }
    if (is_white(s)) {
        orr_free(s->colours);
        s->colours = NULL;
    }
}

static orr_result surface_of_mesh(const orr_mesh *mesh, orr_surface *s, orr_error *error)
{
    *s = (orr_surface){.vertex_count = mesh->vertex_count, .triangle_count = mesh->index_count / 3};
    ORR_ALLOC(s->positions, 3 * mesh->vertex_count, "vertices", error);
    ORR_ALLOC(s->normals, 3 * mesh->vertex_count, "vertices", error);
    ORR_ALLOC(s->colours, 4 * mesh->vertex_count, "vertices", error);
    ORR_ALLOC(s->indices, mesh->index_count, "triangles", error);
    fill(mesh, s);
    return ORR_OK;
}

// What the file written does not keep; "": nothing.
static void find_losses(const orr_mesh *mesh, char lost[64])
{
    bool looks = false;
    for (int i = 0; i < mesh->material_count; i++) {
        looks = looks || mesh->materials[i].metallic_roughness || mesh->materials[i].specular > 0.0f;
    }
    const char *parts[] = {mesh->texture_count > 0 ? "textures" : NULL, looks ? "materials" : NULL,
                           mesh->light_count > 0 ? "lamps" : NULL};
    int used = 0;
    lost[0] = '\0';
    for (int i = 0; i < 3; i++) {
        if (parts[i]) {
            used += snprintf(lost + used, 64 - (size_t)used, "%s%s", used > 0 ? ", " : "", parts[i]);
        }
    }
}

static orr_result save(const orr_mesh *mesh, const char *to, orr_error *error)
{
    orr_surface surface;
    orr_result result = surface_of_mesh(mesh, &surface, error);
    if (result == ORR_OK) {
        interrupt_begin(); // Ctrl-C waits for the file to be whole
        result = orr_surface_save(&surface, to, error);
    }
    orr_surface_free(&surface);
    return result;
}

orr_result convert_mesh(const char *from, const char *to, cJSON *json, orr_error *error)
{
    if (!orr_surface_writable(to)) {
        return orr_fail(error, ORR_CODE_FILE_TYPE,
                        "%s: %s is a mesh: expected a name that ends in .ply, .obj, .glb or .collider", to,
                        from);
    }
    ORR_TRY(orr_file_try(to, error));
    uint64_t start = orr_clock_nanoseconds();
    orr_mesh *mesh;
    ORR_TRY(orr_mesh_load(from, &mesh, error));
    char lost[64];
    find_losses(mesh, lost);
    if (mesh->unused[0]) {
        orr_log_line(command_log(), ORR_LOG_WARNING, ORR_CODE_IGNORED, "%s: %s", from, mesh->unused);
    }
    if (lost[0]) {
        fprintf(stderr, "%s: lossy: %s; vertices have the base colours\n", to, lost);
    }
    orr_result result = save(mesh, to, error);
    double seconds = (double)(orr_clock_nanoseconds() - start) * 1e-9;
    if (result == ORR_OK) {
        fprintf(stderr, "%s: %lld vertices, %lld triangles, %.2f s\n", to, (long long)mesh->vertex_count,
                (long long)mesh->index_count / 3, seconds);
        cJSON_AddStringToObject(json, "file", to);
        cJSON_AddNumberToObject(json, "vertices", (double)mesh->vertex_count);
        cJSON_AddNumberToObject(json, "triangles", (double)mesh->index_count / 3.0);
        cJSON_AddStringToObject(json, "lost", lost);
        cJSON_AddNumberToObject(json, "seconds", seconds);
    }
    orr_mesh_destroy(mesh);
    return result;
}
