/*
 * batch_render: every camera of a file, drawn into numbered pictures, two frames in flight.
 *
 *     batch_render SCENE transforms.json PREFIX      writes PREFIX0000.ppm, PREFIX0001.ppm, ...
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

/* colours are premultiplied and before black, so the three numbers are the picture */
static void write_ppm(const char *prefix, int number, const orr_camera *camera, const float *rgba)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%04d.ppm", prefix, number);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(2);
    }
    size_t values = 4 * (size_t)camera->width * (size_t)camera->height;
    fprintf(file, "P6 %d %d 255\n", camera->width, camera->height);
    for (size_t i = 0; i < values; i++) {
        if (i % 4 < 3) {
            fputc(rgba[i] < 1.0f ? (int)(255.0f * rgba[i] + 0.5f) : 255, file);
        }
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "batch_render SCENE transforms.json PREFIX\n");
        return 2;
    }
    orr_error error;
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_camera_list list;
    check(orr_camera_file_load(argv[2], 1280, 720, &list, &error), &error);
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
            write_ppm(argv[3], i - 1, camera, rgba);
            free(rgba);
        }
    }
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
    orr_camera_list_free(&list);
    return 0;
}
