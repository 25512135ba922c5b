#include "samples/orrery/camera_sequence.h"

#include "engine/core/memory.h"
#include "engine/loop/world/world.h"
#include "engine/scene/camera_file.h"
#include "engine/scene/camera_path.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720 };

// The index of a camera that is requested by its index or its name; -1: there is none.
static int find(const char *requested, int count, const char *(*name)(const void *list, int index),
                const void *list)
{
    char *end;
    long index = strtol(requested, &end, 10);
    if (end != requested && *end == 0 && index >= 0 && index < count) {
        return (int)index;
    }
    for (int i = 0; i < count; i++) {
        if (strcmp(name(list, i), requested) == 0) {
            return i;
        }
    }
    return -1;
}

static orr_result unknown(const char *path, const char *requested, int count, orr_error *error)
{
    return orr_fail(error, ORR_CODE_ARGUMENT,
                    "%s: --camera %s: expected one of its %d camera%s, by its index from 0 or its name", path,
                    requested, count, count == 1 ? "" : "s");
}

static const char *name_in_list(const void *list, int index)
{
    return ((const orr_camera_list *)list)->names[index];
}

static const char *name_in_world(const void *world, int index)
{
    return orr_world_camera_name(world, index);
}

orr_result camera_find(const orr_world *world, const char *requested, const char *scene_path, int *camera,
                       orr_error *error)
{
    int count = orr_world_camera_count(world);
    *camera = requested ? find(requested, count, name_in_world, world) : count > 0 ? 0 : -1;
    return requested && *camera < 0 ? unknown(scene_path, requested, count, error) : ORR_OK;
}

static orr_camera resize(const camera_request *request, const orr_camera *camera)
{
    return request->size[0] ? orr_camera_resize(camera, request->size[0], request->size[1]) : *camera;
}

// what --orbit and --smooth require of the cameras
static orr_result check_keys(const camera_sequence *s, orr_error *error)
{
    const camera_request *request = &s->request;
    if (request->orbit && s->key_count > 1) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: --orbit starts from one camera, not %d: expected --camera INDEX", request->file,
                        s->key_count);
    }
    if (request->smooth && s->key_count < 2) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: --smooth needs two cameras or more: expected no --camera", request->file);
    }
    for (int i = 1; i < s->key_count && request->smooth; i++) {
        if (s->keys[i].width != s->keys[0].width || s->keys[i].height != s->keys[0].height) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s: --smooth between pictures of different sizes: expected --size",
                            request->file);
        }
    }
    return ORR_OK;
}

static bool is_distorted(const orr_camera *camera)
{
    static const orr_camera straight;
    return camera->model == ORR_CAMERA_FISHEYE ||
           memcmp(camera->radial, straight.radial, sizeof straight.radial) != 0 ||
           memcmp(camera->tangential, straight.tangential, sizeof straight.tangential) != 0;
}

static orr_result read_keys(camera_sequence *s, orr_error *error)
{
    const camera_request *request = &s->request;
    orr_camera_list list = {0};
    int width = request->size[0] ? request->size[0] : DEFAULT_WIDTH;
    int height = request->size[1] ? request->size[1] : DEFAULT_HEIGHT;
    ORR_TRY(orr_camera_file_load(request->file, width, height, &list, error));
    int first = request->camera ? find(request->camera, list.count, name_in_list, &list) : 0;
    orr_result result = first < 0 ? unknown(request->file, request->camera, list.count, error) : ORR_OK;
    if (result == ORR_OK) {
        s->key_count = request->camera ? 1 : list.count;
        s->keys = orr_alloc((size_t)s->key_count, sizeof *s->keys);
        result =
            s->keys ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", request->file);
    }
    for (int i = 0; i < s->key_count && result == ORR_OK; i++) {
        s->keys[i] = resize(request, &list.cameras[first + i]);
        s->distorted = s->distorted || is_distorted(&s->keys[i]);
    }
    orr_camera_list_free(&list);
    return result == ORR_OK ? check_keys(s, error) : result;
}

orr_result camera_sequence_open(const camera_request *request, camera_sequence *s, orr_error *error)
{
    *s = (camera_sequence){.request = *request, .count = 1, .scene_camera = -1};
    if (request->smooth && !request->file) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "render: --smooth: expected --cameras FILE as well");
    }
    if (request->file) {
        orr_result result = read_keys(s, error);
        if (result != ORR_OK) {
            camera_sequence_close(s);
            return result;
        }
        s->count = s->key_count + (int64_t)(s->key_count - 1) * request->smooth;
    }
    s->count = request->orbit ? request->orbit : request->frames ? request->frames : s->count;
    return ORR_OK;
}

orr_result camera_sequence_attach(camera_sequence *s, const orr_world *world, const char *scene_path,
                                  orr_error *error)
{
    orr_scene_centre(world->scene, s->centre);
    orr_scene_level(world->scene, s->up);
    if (s->keys) {
        return ORR_OK;
    }
    ORR_TRY(camera_find(world, s->request.camera, scene_path, &s->scene_camera, error));
    ORR_ALLOC(s->keys, 1, "a camera", error);
    s->key_count = 1;
    if (s->scene_camera < 0 && !s->request.orbit && orr_scene_picture_camera(world->scene, s->keys)) {
        s->keys[0] = resize(&s->request, s->keys);
    } else if (s->scene_camera < 0) {
        s->keys[0] =
            orr_scene_default_camera(world->scene, s->request.size[0] ? s->request.size[0] : DEFAULT_WIDTH,
                                     s->request.size[1] ? s->request.size[1] : DEFAULT_HEIGHT);
    }
    return camera_sequence_follow(s, world, error);
}

orr_result camera_sequence_follow(camera_sequence *s, const orr_world *world, orr_error *error)
{
    return s->scene_camera < 0 ? ORR_OK
                               : orr_world_camera(world, 0, s->scene_camera, s->request.size[0],
                                                  s->request.size[1], &s->keys[0], error);
}

orr_camera camera_sequence_at(const camera_sequence *s, int64_t index)
{
    if (s->request.orbit) {
        const double full_turn = 6.283185307179586;
        return orr_camera_turn(&s->keys[0], s->centre, s->up, full_turn * (double)index / s->request.orbit);
    }
    if (s->request.frames && s->key_count == 1) {
        return s->keys[0];
    }
    const int64_t step = s->request.smooth + 1, last = (s->key_count - 1) * step; // more pictures stay there
    const int64_t at = index < last ? index : last;
    return orr_camera_path_at(s->keys, s->key_count,
                              (double)(at / step) + (double)(at % step) / (double)step);
}

void camera_sequence_close(camera_sequence *s)
{
    orr_free(s->keys);
    s->keys = NULL;
}
