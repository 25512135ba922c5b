// The environment of a scene (engine/orrery.h): light from all around it, from a picture.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/scene/scene.h"

#include <math.h>
#include <string.h>

static orr_result check(const orr_environment_desc *desc, orr_error *error)
{
    if (!desc->path && !desc->rgb) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "environment: expected a path, or pixels");
    }
    if (!isfinite(desc->rotation)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "environment: rotation %g: expected a number of degrees",
                        (double)desc->rotation);
    }
    if (!(desc->strength >= 0.0f && isfinite(desc->strength))) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "environment: strength %g: expected 0 or more",
                        (double)desc->strength);
    }
    return ORR_OK;
}

static orr_result make(const orr_scene *scene, const orr_environment_desc *desc, orr_environment **made,
                       orr_error *error)
{
    const char *name = desc->path ? desc->path : "environment";
    int64_t clamped = 0;
    ORR_TRY(desc->path ? orr_environment_load(scene->context.jobs, desc->path, &clamped, made, error)
                       : orr_environment_create(scene->context.jobs, desc->rgb, desc->width, desc->height,
                                                name, &clamped, made, error));
    if (clamped > 0) {
        orr_log_line(scene->context.log, ORR_LOG_WARNING, ORR_CODE_IMAGE_FILE,
                     "%s: %lld infinite values: taken as 65504", name, (long long)clamped);
    }
    return ORR_OK;
}

orr_result orr_scene_set_environment_sized(orr_scene *scene, const orr_environment_desc *desc,
                                           size_t desc_size, orr_error *error)
{
    ORR_ENTER;
    orr_environment_desc own;
    orr_environment *made = NULL;
    char *path = NULL;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_TRY(orr_sized_read(&own, sizeof own, desc, desc_size, "orr_environment_desc", error));
    if (desc) {
        ORR_TRY(check(&own, error));
        if (own.path) {
            size_t size = strlen(own.path) + 1;
            ORR_ALLOC(path, size, "an environment's path", error);
            memcpy(path, own.path, size);
        }
        orr_result result = make(scene, &own, &made, error);
        if (result != ORR_OK) {
            orr_free(path);
            return result;
        }
    }
    orr_environment_destroy(scene->environment);
    orr_free(scene->environment_path);
    scene->environment = made;
    scene->environment_path = path;
    scene->environment_key = (*scene->context.next_key)++;
    scene->environment_rotation = own.rotation;
    scene->environment_strength = own.strength == 0.0f ? 1.0f : own.strength;
    return ORR_OK;
}
