// Options of commands that draw a scene: what it looks like, what lights it, and what moves in it.
#pragma once

#include "engine/orrery.h"
#include "samples/orrery/options.h"
#include "samples/orrery/robot_drive.h"

typedef struct look_options {
    float background[3];     // red < 0: not given
    const char *environment; // a picture; NULL: that of the scene file
    bool probes, rays;       // besides what the scene file says
    bool antialias, no_antialias, no_shadows, no_mirrors, fog;
    double occlusion_radius, occlusion_strength; // of orr_view
    double exposure;                             // [EV]
    orr_tone tone;
    robot_controls controls;
    const char *dropped; // a soft cloud or mesh that falls on the first robot; NULL: none
    orr_device_kind physics;
} look_options;

enum { LOOK_OPTION_COUNT = 16 };

look_options look_options_default(void);
// What fills *look.
void look_options_list(look_options *look, option list[LOOK_OPTION_COUNT]);
// Adds to a loaded scene what the options name.
orr_result look_options_apply(const look_options *look, orr_scene *scene, orr_error *error);
orr_view look_options_view(const look_options *look, const orr_camera *camera);
