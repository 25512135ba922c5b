/*
 * pick: what is under a pixel of a scene's default view.
 *
 *     pick SCENE X Y
 *
 * X and Y are in pixels of a picture of 1280 x 720, from its upper left corner.
 */
#include <orrery.h>

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 1280, HEIGHT = 720 };

static void check(orr_result result, const orr_error *error)
{
    if (result != ORR_OK) {
        fprintf(stderr, "pick: %s\n", error->message);
        exit(2);
    }
}

static void print_hit(const orr_scene *scene, const orr_hit *hit)
{
    if (hit->layer.slot == 0) {
        printf("nothing\n");
        return;
    }
    orr_error error;
    orr_layer_info info;
    check(orr_scene_layer_info(scene, hit->layer, &info, &error), &error);
    printf("layer %s", info.name);
    if (hit->body >= 0) {
        printf(", body %d \"%s\"", hit->body, orr_scene_robot_body(scene, hit->robot, hit->body));
    }
    if (hit->geom >= 0) {
        printf(", geom %d \"%s\"", hit->geom, orr_scene_robot_geom(scene, hit->layer, hit->geom));
    }
    if (hit->triangle >= 0) {
        printf(", triangle %lld of %lld", (long long)hit->triangle, (long long)info.count);
    }
    printf(", at %.4g %.4g %.4g, depth %.4g\n", (double)hit->position[0], (double)hit->position[1],
           (double)hit->position[2], (double)hit->depth);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "pick SCENE X Y\n");
        return 2;
    }
    orr_error error;
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_engine_desc desc = {.device = ORR_DEVICE_CPU}; /* picking needs no other */
    check(orr_engine_create(&desc, &engine, &error), &error);
    check(orr_scene_load(engine, argv[1], &scene, &error), &error);
    check(orr_world_create(scene, 1, &world, &error), &error);

    orr_view view = {.camera = orr_scene_default_camera(scene, WIDTH, HEIGHT)};
    orr_hit hit;
    check(orr_world_pick(world, &view, strtof(argv[2], NULL), strtof(argv[3], NULL), &hit, &error), &error);
    print_hit(scene, &hit);

    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
    return 0;
}
