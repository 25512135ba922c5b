/*
 * batch_render: every camera of a file, drawn into numbered pictures, two frames in flight.
 *
 *     batch_render SCENE transforms.json view_%04d.png      also .exr and .npy
 */
#include <orrery.h>

#include <stdio.h>
#include <stdlib.h>

static void check(orr_result result, const orr_error *error)
{
    if (result != ORR_OK) {
        fprintf(stderr, "batch_render: %s\n", error->message);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "batch_render SCENE transforms.json view_%%04d.png\n");
        return 2;
    }
    orr_error error;
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_output *output;
    orr_camera_list list;
    check(orr_camera_file_load(argv[2], 1280, 720, &list, &error), &error);
    orr_output_desc files = {.path = argv[3], .count = list.count};
    check(orr_output_create(&files, &output, &error), &error);
    check(orr_engine_create(NULL, &engine, &error), &error);
    check(orr_scene_load(engine, argv[1], &scene, &error), &error);
    check(orr_world_create(scene, 1, &world, &error), &error);
    orr_frame_desc desc = {.frames_in_flight = 2};
    check(orr_frame_create(engine, &desc, &frame, &error), &error);

    for (int i = 0; i <= list.count; i++) { /* while camera i is drawn, the picture of i - 1 is written */
        if (i < list.count) {
            orr_view view = {.camera = list.cameras[i], .antialias = true};
            check(orr_frame_submit(frame, scene, world, &view, &error), &error);
        }
        if (i > 0) {
            const orr_camera *camera = &list.cameras[i - 1];
            float *rgba = malloc(sizeof *rgba * 4 * (size_t)camera->width * (size_t)camera->height);
            check(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error), &error);
            check(orr_output_put(output, i - 1, rgba, camera->width, camera->height, &error), &error);
            free(rgba);
        }
    }
    check(orr_output_finish(output, &error), &error);
    orr_output_destroy(output);
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
    orr_camera_list_free(&list);
    return 0;
}
