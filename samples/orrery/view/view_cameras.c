#include "samples/orrery/view/view_cameras.h"

#include "engine/core/memory.h"
#include "samples/orrery/view/view.h"

orr_result view_cameras_list(viewer *v, orr_error *error)
{
    int count = orr_world_camera_count(v->world);
    const char **names;
    ORR_ALLOC(names, count, "names of cameras", error);
    for (int i = 0; i < count; i++) {
        names[i] = orr_world_camera_name(v->world, i);
    }
    orr_free(v->cameras.names);
    v->cameras.names = names;
    v->cameras.count = count;
    return ORR_OK;
}

void view_cameras_free(viewer *v)
{
    orr_free(v->cameras.names);
}

int view_cameras_followed(const viewer *v)
{
    return v->cameras.current >= orr_scene_camera_count(v->scene) ? v->cameras.current : -1;
}

void view_cameras_choose(viewer *v, int camera)
{
    orr_camera now;
    orr_error error;
    if (orr_world_camera(v->world, 0, camera, 0, 0, &now, &error) != ORR_OK) {
        view_say(v, "%s", error.message);
        return;
    }
    v->cameras.current = camera;
    if (view_cameras_followed(v) < 0) {
        navigator_go_to(&v->navigator, &now, v->navigator.pose.distance);
    }
}

void view_cameras_leave(viewer *v)
{
    if (view_cameras_followed(v) >= 0) {
        navigator_adopt(&v->navigator, &v->seen);
    }
    v->cameras.current = -1;
}
