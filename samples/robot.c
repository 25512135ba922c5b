/*
 * robot: two copies of a world with a robot, whose actuators sines drive in copy 1 and nothing in copy 0.
 *
 *     robot MODEL.xml|MODEL.urdf [SECONDS]
 */
#include <orrery.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check(orr_result result, const orr_error *error)
{
    if (result != ORR_OK) {
        fprintf(stderr, "robot: %s\n", error->message);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "robot MODEL.xml|MODEL.urdf [SECONDS]\n");
        return 2;
    }
    double seconds = argc == 3 ? strtod(argv[2], NULL) : 1.0;
    orr_error error;
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_robot_info info;
    check(orr_engine_create(NULL, &engine, &error), &error);
    check(orr_scene_load(engine, argv[1], &scene, &error), &error);
    check(orr_world_create(scene, 2, &world, &error), &error);
    orr_layer robot = orr_scene_layer(scene, 0);
    check(orr_scene_robot_info(scene, robot, &info, &error), &error);
    printf("%d bodies, %d coordinates, %d actuators, steps of %g s\n", info.body_count, info.qpos_count,
           info.ctrl_count, info.timestep);

    double *ctrl = calloc((size_t)info.ctrl_count + 1, sizeof *ctrl);
    double *qpos[2];
    for (int i = 0; i < 2; i++) {
        qpos[i] = calloc((size_t)info.qpos_count + 1, sizeof *qpos[i]);
    }
    int body = info.body_count - 1;
    const char *name = orr_scene_robot_body(scene, robot, body);
    for (double time = 0.0; time < seconds;) {
        for (int i = 0; i < info.ctrl_count; i++) {
            ctrl[i] = 0.3 * sin(3.0 * time + i);
        }
        check(orr_world_set_robot(world, 1, robot, ORR_ROBOT_CTRL, ctrl, &error), &error);
        check(orr_world_step(world, 10, &error), &error); /* all copies, on all threads */
        check(orr_world_get_robot(world, 1, robot, ORR_ROBOT_TIME, &time, &error), &error);

        double apart = 0.0;
        for (int i = 0; i < 2; i++) {
            check(orr_world_get_robot(world, i, robot, ORR_ROBOT_QPOS, qpos[i], &error), &error);
        }
        for (int i = 0; i < info.qpos_count; i++) {
            apart = fmax(apart, fabs(qpos[1][i] - qpos[0][i]));
        }
        orr_transform pose;
        check(orr_world_body_transform(world, 1, robot, body, &pose, &error), &error);
        printf("%7.3f s: %s at %8.4f %8.4f %8.4f, coordinates apart by at most %g\n", time, name,
               (double)pose.position[0], (double)pose.position[1], (double)pose.position[2], apart);
    }
    free(ctrl);
    free(qpos[0]);
    free(qpos[1]);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
    return 0;
}
