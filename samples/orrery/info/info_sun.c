// The sun by which a cloud or a scene's clouds are lit.
#include "samples/orrery/info/info.h"

#include <stdio.h>

void info_describe_sun(const orr_sun_estimate *estimate, cJSON *json)
{
    if (json) {
        command_add_sun(json, estimate);
        return;
    }
    if (!estimate->found) {
        printf("  sun          none: no sun explains how bright surfaces are\n");
        return;
    }
    const float *to = estimate->sun.direction, *colour = estimate->sun.colour;
    printf(
        "  sun          towards %.3f, %.3f, %.3f, colour %.3g, %.3g, %.3g; explains %.0f %% of brightness\n",
        (double)to[0], (double)to[1], (double)to[2], (double)colour[0], (double)colour[1], (double)colour[2],
        100.0 * (double)estimate->explained);
}

orr_result info_find_sun(const char *path, const common_options *common, orr_sun_estimate *estimate,
                         orr_error *error)
{
    orr_engine *engine;
    orr_scene *scene;
    orr_result result = info_load_scene(path, common, &engine, &scene, error);
    if (result == ORR_OK && orr_scene_estimate_sun(scene, estimate, error) != ORR_OK) {
        const orr_error why = *error;
        result = orr_fail(error, (orr_code)why.code, "%s: %s", path, why.message);
    }
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
    return result;
}
