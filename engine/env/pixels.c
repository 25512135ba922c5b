#include "engine/env/pixels.h"

#include "engine/core/memory.h"
#include "engine/env/env.h"

#include <string.h>

enum { SIDE_MAX = 256, SAMPLES_MAX = 8 };

struct env_eyes {
    orr_eyes *eyes;
    uint8_t *rgb;               // environments x cameras x drawn rows x drawn columns x 3
    orr_eyes_look *looks;       // count
    orr_eyes_surface *surfaces; // count x surface_count; NULL: the task varies none
    const uint8_t *mask;        // of what is being observed
};

// ---- in a task file ----

static orr_result read_cameras(const orr_json *json, env_pixels *pixels, orr_error *error)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json->node, "cameras"), *node = NULL;
    const int count = cJSON_GetArraySize(list);
    pixels->camera_count = 1;
    if (!list) {
        return ORR_OK;
    }
    if (!cJSON_IsArray(list) || count < 1 || count > ENV_CAMERAS) {
        return orr_json_expected(json, "cameras", error, "a list of 1 to %d names", ENV_CAMERAS);
    }
    pixels->camera_count = 0;
    cJSON_ArrayForEach(node, list)
    {
        if (!cJSON_IsString(node)) {
            return orr_json_expected(json, "cameras", error, "names of cameras");
        }
        pixels->camera[pixels->camera_count++] = node->valuestring;
    }
    return ORR_OK;
}

orr_result env_pixels_read(const orr_json *root, env_pixels *pixels, orr_error *error)
{
    static const char *const keys[] = {"cameras", "width", "height", "samples", NULL};
    orr_json json;
    *pixels = (env_pixels){0};
    ORR_TRY(orr_json_member(root, "pixels", &json, error));
    if (!json.node) {
        return ORR_OK;
    }
    pixels->width = pixels->height = 12;
    pixels->samples = 2;
    ORR_TRY(orr_json_check_keys(&json, keys, error));
    ORR_TRY(orr_json_whole(&json, "width", NULL, 1, SIDE_MAX, &pixels->width, error));
    ORR_TRY(orr_json_whole(&json, "height", NULL, 1, SIDE_MAX, &pixels->height, error));
    ORR_TRY(orr_json_whole(&json, "samples", NULL, 1, SAMPLES_MAX, &pixels->samples, error));
    return read_cameras(&json, pixels, error);
}

int env_pixels_numbers(const env_pixels *pixels)
{
    return pixels->camera_count * pixels->height * pixels->width * 3;
}

// ---- in environments ----

static orr_result find_cameras(const orr_env *env, const env_pixels *pixels, int *cameras, orr_error *error)
{
    const orr_world *world = env->scene->world;
    const int count = orr_world_camera_count(world);
    for (int i = 0; i < pixels->camera_count; i++) {
        const char *name = pixels->camera[i];
        cameras[i] = 0;
        while (name && cameras[i] < count && strcmp(orr_world_camera_name(world, cameras[i]), name) != 0) {
            cameras[i]++;
        }
        if (cameras[i] == count) {
            return orr_fail(error, ORR_CODE_MODEL_FILE, "%s: task %s: pixels: expected a camera%s%s",
                            env->model_path, env->task->name, name ? " named " : "", name ? name : "");
        }
    }
    return ORR_OK;
}

static orr_result vary_surfaces(const orr_env *env, struct env_eyes *e, orr_error *error)
{
    orr_eyes_surfaces_desc desc;
    ORR_TRY(orr_env_get_surfaces_desc(env, &desc, error));
    if (desc.target_count == 0) {
        return ORR_OK;
    }
    ORR_ALLOC(e->surfaces, (int64_t)env->count * desc.target_count, "pixels of environments", error);
    return orr_eyes_vary_surfaces(e->eyes, &desc, error);
}

orr_result env_eyes_create(orr_env *env, orr_error *error)
{
    static const char what[] = "pixels of environments";
    const env_pixels *pixels = env->file ? &env->file->pixels : NULL;
    int cameras[ENV_CAMERAS];
    if (!pixels || pixels->camera_count == 0) {
        return ORR_OK;
    }
    ORR_TRY(find_cameras(env, pixels, cameras, error));
    ORR_ALLOC(env->eyes, 1, what, error);
    *env->eyes = (struct env_eyes){0};
    const int64_t drawn = (int64_t)pixels->samples * pixels->samples;
    ORR_ALLOC(env->eyes->rgb, env->count * drawn * env_pixels_numbers(pixels), what, error);
    ORR_ALLOC(env->eyes->looks, env->count, what, error);
    const orr_eyes_desc desc = {.cameras = cameras,
                                .camera_count = pixels->camera_count,
                                .width = pixels->width * pixels->samples,
                                .height = pixels->height * pixels->samples};
    ORR_TRY(orr_eyes_create(env->scene->world, &desc, &env->eyes->eyes, error));
    return vary_surfaces(env, env->eyes, error);
}

void env_eyes_destroy(orr_env *env)
{
    if (env->eyes) {
        orr_eyes_destroy(env->eyes->eyes);
        orr_free(env->eyes->rgb);
        orr_free(env->eyes->looks);
        orr_free(env->eyes->surfaces);
        orr_free(env->eyes);
    }
}

orr_result env_eyes_begin(const orr_env *env, orr_error *error)
{
    const struct env_eyes *e = env->eyes;
    if (!e) {
        return ORR_OK;
    }
    ORR_TRY(orr_env_get_looks(env, e->looks, error));
    ORR_TRY(orr_eyes_set_looks(e->eyes, env->begins, e->looks, error));
    if (!e->surfaces) {
        return ORR_OK;
    }
    ORR_TRY(orr_env_get_surfaces(env, e->surfaces, error));
    return orr_eyes_set_surfaces(e->eyes, env->begins, e->surfaces, error);
}

// One colour of a pixel: the mean of samples x samples drawn ones, the first of which is at `drawn`.
static double mean_colour(const uint8_t *drawn, ptrdiff_t row, int samples)
{
    int sum = 0;
    for (int y = 0; y < samples; y++) {
        for (int x = 0; x < samples; x++) {
            sum += drawn[y * row + (ptrdiff_t)3 * x];
        }
    }
    return sum / (255.0 * samples * samples);
}

static void observe_pixels(void *context, int i, int worker)
{
    const orr_env *env = context;
    const env_pixels *p = &env->file->pixels;
    const int numbers = env_pixels_numbers(p), samples = p->samples;
    const ptrdiff_t row = (ptrdiff_t)3 * p->width * samples;
    const uint8_t *drawn = env->eyes->rgb + (ptrdiff_t)i * numbers * samples * samples;
    double *seen = env->results.observation + (ptrdiff_t)(i + 1) * env->observation_count - numbers;
    (void)worker;
    if (!env->eyes->mask[i]) {
        return;
    }
    for (int y = 0; y < p->camera_count * p->height; y++, drawn += row * samples) {
        for (int k = 0; k < 3 * p->width; k++) {
            *seen++ = mean_colour(drawn + (ptrdiff_t)(k / 3) * 3 * samples + k % 3, row, samples);
        }
    }
}

orr_result env_eyes_see(orr_env *env, const uint8_t *mask, orr_error *error)
{
    if (!env->eyes) {
        return ORR_OK;
    }
    ORR_TRY(orr_eyes_draw(env->eyes->eyes, mask, &(orr_eyes_pictures){.rgb = env->eyes->rgb}, error));
    env->eyes->mask = mask;
    orr_jobs_for(env->engine->jobs, env->count, observe_pixels, env);
    return ORR_OK;
}
