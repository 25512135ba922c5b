#include "camera_sequence.h"

#include "engine/core/memory.h"
#include "engine/loop/camera_file.h"
#include "engine/loop/camera_path.h"
#include "engine/loop/scene.h"

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720 };

static orr_result check_index(int camera, int count, const char *path, orr_error *error)
{
    if (camera >= count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: --camera %d: expected one of its %d camera%s, from 0",
                        path, camera, count, count == 1 ? "" : "s");
    }
    return ORR_OK;
}

static orr_camera resize(const camera_wish *wish, const orr_camera *camera)
{
    return wish->size[0] ? orr_camera_resize(camera, wish->size[0], wish->size[1]) : *camera;
}

// what --orbit and --smooth ask of the cameras
static orr_result check_keys(const camera_sequence *s, orr_error *error)
{
    const camera_wish *wish = &s->wish;
    if (wish->orbit && s->key_count > 1) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: --orbit starts from one camera, not %d: expected --camera INDEX", wish->file,
                        s->key_count);
    }
    if (wish->smooth && s->key_count < 2) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: --smooth needs two cameras or more: expected no --camera", wish->file);
    }
    for (int i = 1; i < s->key_count && wish->smooth; i++) {
        if (s->keys[i].width != s->keys[0].width || s->keys[i].height != s->keys[0].height) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s: --smooth between pictures of different sizes: expected --size", wish->file);
        }
    }
    return ORR_OK;
}

static orr_result read_keys(camera_sequence *s, orr_error *error)
{
    const camera_wish *wish = &s->wish;
    orr_camera_list list = {0};
    int width = wish->size[0] ? wish->size[0] : DEFAULT_WIDTH;
    int height = wish->size[1] ? wish->size[1] : DEFAULT_HEIGHT;
    ORR_TRY(orr_camera_file_load(wish->file, width, height, &list, error));
    int first = wish->camera < 0 ? 0 : wish->camera;
    orr_result result = check_index(first, list.count, wish->file, error);
    if (result == ORR_OK) {
        s->key_count = wish->camera < 0 ? list.count : 1;
        s->distorted = list.distorted;
        s->keys = orr_alloc((size_t)s->key_count, sizeof *s->keys);
        result = s->keys ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", wish->file);
    }
    for (int i = 0; i < s->key_count && result == ORR_OK; i++) {
        s->keys[i] = resize(wish, &list.cameras[first + i]);
    }
    orr_camera_list_free(&list);
    return result == ORR_OK ? check_keys(s, error) : result;
}

orr_result camera_sequence_open(const camera_wish *wish, camera_sequence *s, orr_error *error)
{
    *s = (camera_sequence){.wish = *wish, .count = 1};
    if (wish->smooth && !wish->file) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "render: --smooth: expected --cameras FILE beside it");
    }
    if (wish->file) {
        orr_result result = read_keys(s, error);
        if (result != ORR_OK) {
            camera_sequence_close(s);
            return result;
        }
        s->count = s->key_count + (int64_t)(s->key_count - 1) * wish->smooth;
    }
    s->count = wish->orbit ? wish->orbit : s->count;
    return ORR_OK;
}

orr_result camera_sequence_attach(camera_sequence *s, const orr_scene *scene, const char *scene_path,
                                  orr_error *error)
{
    orr_scene_centre(scene, s->centre);
    if (s->keys) {
        return ORR_OK;
    }
    int count = orr_scene_camera_count(scene);
    if (s->wish.camera >= 0) {
        ORR_TRY(check_index(s->wish.camera, count, scene_path, error));
    }
    ORR_ALLOC(s->keys, 1, "a camera", error);
    s->key_count = 1;
    if (count > 0) {
        s->keys[0] = resize(&s->wish, orr_scene_camera(scene, s->wish.camera < 0 ? 0 : s->wish.camera));
    } else {
        s->keys[0] = orr_scene_default_camera(scene, s->wish.size[0] ? s->wish.size[0] : DEFAULT_WIDTH,
                                              s->wish.size[1] ? s->wish.size[1] : DEFAULT_HEIGHT);
    }
    return ORR_OK;
}

orr_camera camera_sequence_at(const camera_sequence *s, int64_t index)
{
    if (s->wish.orbit) {
        const double full_turn = 6.283185307179586;
        return orr_camera_turn(&s->keys[0], s->centre, full_turn * (double)index / s->wish.orbit);
    }
    int64_t step = s->wish.smooth + 1;
    return orr_camera_path_at(s->keys, s->key_count,
                              (double)(index / step) + (double)(index % step) / (double)step);
}

void camera_sequence_close(camera_sequence *s)
{
    orr_free(s->keys);
    s->keys = NULL;
}
