/*
 * hello_splats: the shortest way from a splat file to a picture.
 *
 *     hello_splats CLOUD.ply PICTURE.ppm
 */
#include <orrery.h>

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 1280, HEIGHT = 720 };

static void check(orr_result result, const orr_error *error)
{
    if (result != ORR_OK) {
        fprintf(stderr, "hello_splats: %s\n", error->message);
        exit(2);
    }
}

/* colours are premultiplied and before black, so the three numbers are the picture */
static void write_ppm(const char *path, const float *rgba)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(2);
    }
    fprintf(file, "P6 %d %d 255\n", WIDTH, HEIGHT);
    for (size_t i = 0; i < (size_t)4 * WIDTH * HEIGHT; i++) {
        if (i % 4 < 3) {
            fputc(rgba[i] < 1.0f ? (int)(255.0f * rgba[i] + 0.5f) : 255, file);
        }
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "hello_splats CLOUD.ply PICTURE.ppm\n");
        return 2;
    }
    orr_error error;
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    check(orr_engine_create(NULL, &engine, &error), &error);
    check(orr_scene_load(engine, argv[1], &scene, &error), &error);
    check(orr_world_create(scene, 1, &world, &error), &error);
    check(orr_frame_create(engine, NULL, &frame, &error), &error);

    float *rgba = malloc(sizeof(float) * 4 * WIDTH * HEIGHT);
    orr_view view = {.camera = orr_scene_default_camera(scene, WIDTH, HEIGHT)};
    check(orr_frame_submit(frame, scene, world, &view, &error), &error);
    check(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error), &error);
    write_ppm(argv[2], rgba);

    free(rgba);
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
    return 0;
}
