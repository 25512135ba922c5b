// orrery convert: clouds, meshes and fields to colliders, and colliders to meshes.
#include "samples/orrery/convert/convert_collider.h"

#include "engine/core/file.h"
#include "engine/core/profile.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"

#include <stdio.h>
#include <string.h>

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

static orr_result save(const collider_conversion *c, const orr_collider *collider, double seconds,
                       cJSON *json, orr_error *error)
{
    orr_collider_info info;
    interrupt_begin(); // Ctrl-C waits for the file to be whole
    ORR_TRY(orr_collider_save(collider, c->to, error));
    ORR_TRY(orr_collider_describe(collider, &info, error));
    fprintf(stderr, "%s: cells of %g, %lld bricks of 8^3 with distances, made in %.2f s\n", c->to, info.cell,
            (long long)info.bricks, seconds);
    if (info.haze + info.islands > 0) {
        fprintf(stderr, "%s: left out: %lld splats that are too large, %lld small pieces\n", c->to,
                (long long)info.haze, (long long)info.islands);
    }
    cJSON_AddStringToObject(json, "file", c->to);
    cJSON_AddNumberToObject(json, "cell", info.cell);
    cJSON_AddNumberToObject(json, "bricks", (double)info.bricks);
    cJSON_AddNumberToObject(json, "haze", (double)info.haze);
    cJSON_AddNumberToObject(json, "islands", (double)info.islands);
    cJSON_AddBoolToObject(json, "inside", info.side == ORR_COLLIDER_INSIDE);
    cJSON_AddNumberToObject(json, "seconds", seconds);
    return ORR_OK;
}

static orr_result make(const collider_conversion *c, const orr_collider_desc *desc, orr_collider **collider,
                       orr_error *error)
{
    orr_engine *engine;
    orr_scene *scene;
    const common_options common = {.threads = c->threads, .device = ORR_DEVICE_CPU};
    ORR_TRY(command_engine(&common, &engine, error));
    orr_result result = orr_scene_load(engine, c->from, &scene, error);
    if (result == ORR_OK) {
        result = orr_scene_layer_count(scene) == 1
                     ? orr_scene_make_collider(scene, orr_scene_layer(scene, 0), desc, collider, error)
                     : orr_fail(error, ORR_CODE_ARGUMENT, "%s: %d layers: expected a file of one layer",
                                c->from, orr_scene_layer_count(scene));
        orr_scene_destroy(scene);
    }
    orr_engine_destroy(engine);
    return result;
}

orr_result convert_to_collider(const collider_conversion *c, cJSON *json, orr_error *error)
{
    orr_collider_desc desc = c->desc;
    orr_collider *collider;
    ORR_TRY(choose_side(c->free_side, &desc.side, error));
    ORR_TRY(orr_file_try(c->to, error));
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(make(c, &desc, &collider, error));
    double seconds = (double)(orr_clock_nanoseconds() - start) * 1e-9;
    orr_result result = save(c, collider, seconds, json, error);
    orr_collider_destroy(collider);
    return result;
}

orr_result convert_from_collider(const collider_conversion *c, cJSON *json, orr_error *error)
{
    ORR_TRY(orr_file_try(c->to, error));
    orr_collider *collider;
    ORR_TRY(orr_collider_load(c->from, &collider, error));
    interrupt_begin();
    orr_result result = orr_collider_save(collider, c->to, error);
    orr_collider_destroy(collider);
    ORR_TRY(result);
    fprintf(stderr, "%s: the surface of %s\n", c->to, c->from);
    cJSON_AddStringToObject(json, "file", c->to);
    return ORR_OK;
}
