#include "tests/support/robots.h"

#include "tests/support/support.h"

#include <stdio.h>

static const char *const own[] = {"arm_hand", "biped", "quadruped"};
static const char *const gymnasium[] = {"ant",
                                        "half_cheetah",
                                        "hopper",
                                        "humanoid",
                                        "humanoidstandup",
                                        "inverted_double_pendulum",
                                        "inverted_pendulum",
                                        "point",
                                        "pusher",
                                        "pusher_v5",
                                        "reacher",
                                        "swimmer",
                                        "walker2d",
                                        "walker2d_v5",
                                        "walker2d_v5_uneven_feet"};

const char *own_robot(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s", source_path("assets/robots/%s.xml", name));
    return path;
}

void for_each_robot(robot_test *test)
{
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        test(own[i], own_robot(own[i]));
    }
    for (size_t i = 0; i < sizeof gymnasium / sizeof gymnasium[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "mjcf/%s.xml", gymnasium[i]);
        const char *path = shared_data(name);
        if (path) {
            test(gymnasium[i], path);
        }
    }
}
