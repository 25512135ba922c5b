// Draws one splat with the engine and looks for it in the picture.
#pragma once

#include <orrery.h>

#include <stdio.h>
#include <stdlib.h>

enum { DRAW_WIDTH = 64, DRAW_HEIGHT = 48 };

static void check(orr_result result, const orr_error *error)
{
    if (result != ORR_OK) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

// Exits with code 1 where the engine fails or the picture is empty.
static void draw_splat(orr_device_kind device)
{
    static float rgba[DRAW_WIDTH * DRAW_HEIGHT * 4];
    orr_error error;
    orr_engine *engine;
    orr_splats *splats;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    check(orr_engine_create(&(orr_engine_desc){.device = device, .threads = 2}, &engine, &error), &error);
    printf("%s\n", orr_engine_describe(engine));
    check(orr_splats_create(1, 0, &splats, &error), &error);
    orr_splats_data(splats).opacity[0] = 9;
    check(orr_scene_create(engine, &scene, &error), &error);
    check(orr_scene_add_splats(scene, NULL, splats, NULL, NULL, &error), &error);
    check(orr_world_create(scene, 1, &world, &error), &error);
    check(orr_frame_create(engine, NULL, &frame, &error), &error);
    const float eye[3] = {0, 0, -5}, target[3] = {0}, up[3] = {0, -1, 0};
    orr_view view = {.camera = orr_camera_look_at(eye, target, up, 1, DRAW_WIDTH, DRAW_HEIGHT)};
    check(orr_frame_submit(frame, scene, world, &view, &error), &error);
    check(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error), &error);
    if (rgba[4 * (DRAW_HEIGHT / 2 * DRAW_WIDTH + DRAW_WIDTH / 2) + 3] < 0.9f) {
        fprintf(stderr, "the picture is empty\n");
        exit(1);
    }
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_splats_destroy(splats);
    orr_engine_destroy(engine);
}
