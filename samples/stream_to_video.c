/*
 * stream_to_video: a turn of the camera around a scene, written as it is drawn.
 *
 *     stream_to_video SCENE VIDEO.mp4 FRAMES
 *
 * The output may also be numbered pictures, such as frame_%04d.png. Robots move meanwhile.
 */
#include <orrery.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 360, FRAMES_PER_SECOND = 30 };

static void check(orr_result result, const orr_error *error)
{
    if (result != ORR_OK) {
        fprintf(stderr, "stream_to_video: %s\n", error->message);
        exit(2);
    }
}

/* the camera, turned around a point about the axis of the scene that points up in its picture */
static orr_camera turned(const orr_camera *camera, const float target[3], float angle)
{
    const float *m = camera->pose; /* columns: right, down, forward, position */
    float eye[3], up[3] = {0.0f, 0.0f, 0.0f};
    int a = fabsf(m[1]) > 0.7f ? 0 : fabsf(m[5]) > 0.7f ? 1 : 2, b = (a + 1) % 3, c = (a + 2) % 3;
    float y = m[4 * b + 3] - target[b], z = m[4 * c + 3] - target[c];
    up[a] = m[4 * a + 1] < 0.0f ? 1.0f : -1.0f;
    eye[a] = m[4 * a + 3];
    eye[b] = target[b] + cosf(angle) * y - sinf(angle) * z;
    eye[c] = target[c] + sinf(angle) * y + cosf(angle) * z;
    return orr_camera_look_at(eye, target, up, 2.0f * atanf(0.5f * HEIGHT / camera->focal[1]), WIDTH, HEIGHT);
}

int main(int argc, char **argv)
{
    long frames = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
    if (frames < 1) {
        fprintf(stderr, "stream_to_video SCENE VIDEO.mp4 FRAMES\n");
        return 2;
    }
    orr_error error;
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_output *output;
    orr_output_desc desc = {.path = argv[2], .count = frames, .frames_per_second = FRAMES_PER_SECOND};
    check(orr_output_create(&desc, &output, &error), &error);
    check(orr_engine_create(NULL, &engine, &error), &error);
    check(orr_scene_load(engine, argv[1], &scene, &error), &error);
    check(orr_world_create(scene, 1, &world, &error), &error);
    check(orr_frame_create(engine, NULL, &frame, &error), &error);

    orr_view view = {.camera = orr_scene_default_camera(scene, WIDTH, HEIGHT)};
    orr_hit middle;
    check(orr_world_pick(world, &view, WIDTH / 2, HEIGHT / 2, &middle, &error), &error);
    float *rgba = malloc(sizeof(float) * 4 * WIDTH * HEIGHT);
    for (long i = 0; i < frames; i++) {
        orr_view turn = {.camera =
                             turned(&view.camera, middle.position, 6.2831853f * (float)i / (float)frames)};
        check(orr_frame_submit(frame, scene, world, &turn, &error), &error);
        check(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error), &error);
        check(orr_output_put(output, i, rgba, WIDTH, HEIGHT, &error), &error);
        check(orr_world_advance(world, 1.0 / FRAMES_PER_SECOND, &error), &error);
    }
    check(orr_output_finish(output, &error), &error);

    free(rgba);
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
    orr_output_destroy(output);
    return 0;
}
