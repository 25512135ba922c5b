// orrery sim of a scene file: robots, bodies and soft bodies in one physics, through the public interface.
#pragma once

#include "samples/orrery/options.h"

#include <stdbool.h>

typedef struct sim_scene_options {
    const common_options *common;
    int steps, worlds;
    orr_precision precision;
    const char *control_file, *record_file; // Nullable
    bool autoreset;
} sim_scene_options;

// Returns the exit code.
int sim_scene(const char *path, const sim_scene_options *options);
