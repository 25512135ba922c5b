// orrery convert: clouds, meshes and fields to colliders, and colliders to meshes.
#include "samples/orrery/convert_collider.h"

#include "engine/collider/grid_surface.h"
#include "engine/core/file.h"
#include "engine/core/profile.h"
#include "neural/fields/surface_file.h"
#include "neural/ingp/ingp.h"
#include "physics/grid/collider_file.h"
#include "render/formats/splat_formats.h"
#include "samples/orrery/interrupt.h"

#include <stdio.h>
#include <string.h>

// What the collider is made of, loaded.
typedef struct loaded_source {
    orr_splat_pack *splats;
    orr_mesh *mesh;
    orr_field_layer *field;
} loaded_source;

static orr_result load_cloud(const char *path, orr_jobs *jobs, orr_splat_pack **pack, orr_error *error)
{
    orr_splats *splats;
    ORR_TRY(orr_splats_load(path, &splats, error));
    orr_splats_view view = orr_splats_data(splats);
    orr_result result = orr_splat_pack_create(jobs, &view, NULL, pack, error);
    orr_splats_destroy(splats);
    return result;
}

static orr_result load_source(const char *path, orr_jobs *jobs, loaded_source *source, orr_error *error)
{
    if (orr_field_model_readable(path)) {
        orr_isa isa;
        ORR_TRY(orr_isa_choose(&isa, error));
        return orr_field_layer_load(path, jobs, isa, &source->field, error);
    }
    return orr_mesh_readable(path) ? orr_mesh_load(path, &source->mesh, error)
                                   : load_cloud(path, jobs, &source->splats, error);
}

static orr_result choose_side(const char *name, orr_collider_side *side, orr_error *error)
{
    static const char *const names[] = {
        [ORR_COLLIDER_AUTO] = "auto", [ORR_COLLIDER_OUTSIDE] = "outside", [ORR_COLLIDER_INSIDE] = "inside"};
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        if (!name || strcmp(name, names[i]) == 0) {
            *side = (orr_collider_side)i;
            return ORR_OK;
        }
    }
    return orr_fail(error, ORR_CODE_ARGUMENT, "convert: --free %s: expected auto, outside or inside", name);
}

static orr_result save(const collider_conversion *c, const orr_distance_grid *grid,
                       const orr_collider_report *report, double seconds, cJSON *json, orr_error *error)
{
    interrupt_begin(); // Ctrl-C waits for the file to be whole
    ORR_TRY(orr_collider_save(grid, c->to, error));
    fprintf(stderr, "%s: cells of %g, %d bricks of 8^3 with distances, made in %.2f s\n", c->to, grid->cell,
            grid->brick_count, seconds);
    if (report->haze + report->islands > 0) {
        fprintf(stderr, "%s: left out: %lld splats that are too large, %lld small pieces\n", c->to,
                (long long)report->haze, (long long)report->islands);
    }
    cJSON_AddStringToObject(json, "file", c->to);
    cJSON_AddNumberToObject(json, "cell", grid->cell);
    cJSON_AddNumberToObject(json, "bricks", grid->brick_count);
    cJSON_AddNumberToObject(json, "haze", (double)report->haze);
    cJSON_AddNumberToObject(json, "islands", (double)report->islands);
    cJSON_AddBoolToObject(json, "inside", report->side == ORR_COLLIDER_INSIDE);
    cJSON_AddNumberToObject(json, "seconds", seconds);
    return ORR_OK;
}

orr_result convert_to_collider(const collider_conversion *c, cJSON *json, orr_error *error)
{
    orr_collider_desc desc = c->desc;
    ORR_TRY(choose_side(c->free_side, &desc.side, error));
    ORR_TRY(orr_file_try(c->to, error));
    orr_jobs *jobs;
    ORR_TRY(orr_jobs_create(c->threads, NULL, NULL, &jobs, error));
    loaded_source loaded = {0};
    orr_distance_grid *grid = NULL;
    orr_collider_report report = {0};
    uint64_t start = orr_clock_nanoseconds();
    orr_result result = load_source(c->from, jobs, &loaded, error);
    if (result == ORR_OK) {
        const orr_collider_source source = {
            .name = c->from, .splats = loaded.splats, .field = loaded.field, .mesh = loaded.mesh};
        result = orr_collider_make(&source, &desc, jobs, NULL, &grid, &report, error);
    }
    double seconds = (double)(orr_clock_nanoseconds() - start) * 1e-9;
    if (result == ORR_OK) {
        result = save(c, grid, &report, seconds, json, error);
    }
    orr_distance_grid_destroy(grid);
    orr_splat_pack_destroy(loaded.splats);
    orr_mesh_destroy(loaded.mesh);
    orr_field_layer_destroy(loaded.field);
    orr_jobs_destroy(jobs);
    return result;
}

orr_result convert_from_collider(const collider_conversion *c, cJSON *json, orr_error *error)
{
    if (!orr_surface_writable(c->to)) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: expected a name that ends in .ply, .obj or .glb",
                        c->to);
    }
    ORR_TRY(orr_file_try(c->to, error));
    orr_distance_grid *grid;
    ORR_TRY(orr_collider_load(c->from, &grid, error));
    orr_jobs *jobs;
    orr_surface surface = {0};
    orr_result result = orr_jobs_create(c->threads, NULL, NULL, &jobs, error);
    if (result == ORR_OK) {
        result = orr_grid_surface(grid, jobs, &surface, error);
        orr_jobs_destroy(jobs);
    }
    orr_distance_grid_destroy(grid);
    ORR_TRY(result);
    interrupt_begin();
    result = orr_surface_save(&surface, c->to, error);
    if (result == ORR_OK) {
        fprintf(stderr, "%s: %lld vertices, %lld triangles\n", c->to, (long long)surface.vertex_count,
                (long long)surface.triangle_count);
        cJSON_AddStringToObject(json, "file", c->to);
        cJSON_AddNumberToObject(json, "vertices", (double)surface.vertex_count);
        cJSON_AddNumberToObject(json, "triangles", (double)surface.triangle_count);
    }
    orr_surface_free(&surface);
    return result;
}
