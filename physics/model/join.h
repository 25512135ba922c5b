// Several compiled models in one world: their arrays one after the other, so that all bodies can meet in one
// step. Numbers that do not depend on the place of a model keep their bits; nothing is compiled again.
#pragma once

#include "physics/model/model.h"

typedef struct orr_model_part {
    const orr_model *model;
    const char *prefix;     // before the names of its elements: "arm/"
    double pos[3], quat[4]; // of its world in the joint one [m]; of length 1
} orr_model_part;

// Where a part is in the joint model: the first of its elements and numbers. The bodies and geoms of its own
// world are the joint world's; geoms of the world come before all others.
typedef struct orr_model_place {
    int32_t body, geom, world_geom, world_geoms; // world_geoms: how many of its geoms are the world's
    int32_t qpos, qvel, act, ctrl, actuator, output, equality, mocap, plastic, delayed, sensordata;
    int32_t joint, tendon, M;                                                   // M: of the inertia matrix
    int32_t site, world_site, world_sites, camera, world_camera, world_cameras; // as of geoms
} orr_model_place;

static inline int orr_model_place_body(const orr_model_place *place, int body)
{
    return body == 0 ? 0 : place->body + body - 1;
}

static inline int orr_model_place_geom(const orr_model_place *place, int geom)
{
    return geom < place->world_geoms ? place->world_geom + geom : place->geom + geom - place->world_geoms;
}

// Joins `count` models, 1 or more; places: count. The options (orr_model_option) are those of the first.
// Statistics are those of all. Custom elements, keyframes, lights and textures are
// left out, and where cameras track (cam_pos0, cam_poscom0, cam_mat0) is not moved: they do not act on
// motion. The parts may be destroyed afterwards. ORR_CODE_CAPACITY: more than 65535 bodies.
orr_result orr_model_join(const orr_model_part *parts, int count, orr_model **joint, orr_model_place *places,
                          orr_error *error);
// "timestep, gravity": the options in which a model differs from another, "" if there are none; truncated to
// size.
void orr_model_option_differences(const orr_model_option *a, const orr_model_option *b, char *text,
                                  size_t size);
