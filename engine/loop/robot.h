// Robots in the scene: a compiled model and what its geoms look like; in the world: where they are and how they move.
#pragma once

#include "engine/core/jobs.h"
#include "engine/loop/robot_shape.h"
#include "physics/simulation/world.h"
#include "render/draw.h"

// ---- in the scene

typedef enum orr_robot_part {
    ORR_ROBOT_GEOM,
    ORR_ROBOT_SITE,
    ORR_ROBOT_TENDON,
    ORR_ROBOT_PARTS
} orr_robot_part;

// A geom or a site that is drawn.
typedef struct orr_robot_geom {
    orr_robot_part part;
    int geom; // of the model, or the site
    int group;
    int body;
    orr_transform at; // in the body's frame
    orr_mesh *mesh;
    // an endless plane moves with the camera, by whole repeats of its texture [m]; 0, 0: it does not
    float stride[2];
} orr_robot_geom;

typedef struct orr_robot {
    int users; // the scene and its worlds
    orr_model *model;
    orr_robot_geom
        *geoms; // geom_count: geoms, then sites, of all groups; those that are fully transparent left out
    int geom_count;
    orr_mesh **tendons; // 2 per tendon: its pieces and the balls between them; NULL: not drawn
    int tendon_items;   // meshes that all of them can need
    orr_mesh *sky;      // NULL: none
    orr_mesh *marks[ORR_ROBOT_MARK_COUNT];
    orr_image8 *textures; // of the model, texture_count, with mips; the meshes borrow them
    int texture_count;
    orr_transform *rest;      // nbody: of each body, in the pose the model is given in
    float low[3], high[3];    // of what is drawn then, planes left out
    float to_light[3];        // towards the first light that is not the headlight; unit
    bool headlight;           // there is none
    orr_draw_sky sky_colours; // up: z; for views that cannot show `sky`
} orr_robot;

// Is a group drawn? switched: of orr_view.
bool orr_robot_group_drawn(int group, unsigned char switched);

// Does nothing move this body against the world?
static inline bool orr_robot_body_is_fixed(const orr_model *model, int body)
{
    return model->body_weldid[body] == 0;
}

bool orr_robot_readable(const char *path); // by its ending: .xml .urdf
orr_result orr_robot_load(const char *path, orr_robot **robot, orr_error *error);
void orr_robot_keep(orr_robot *robot);    // one user more
void orr_robot_destroy(orr_robot *robot); // one less; NULL is allowed
size_t orr_robot_bytes(const orr_robot *robot);
int64_t orr_robot_triangles(const orr_robot *robot);
// Its meshes need so many keys: geoms in order, marks, tendons, the sky.
int orr_robot_keys(const orr_robot *robot);

// ---- in the world

typedef struct orr_world_robots orr_world_robots; // of one world, made when they are first asked for

orr_result orr_world_robots_create(int worlds, orr_engine *engine, orr_world_robots **robots,
                                   orr_error *error);
void orr_world_robots_destroy(orr_world_robots *robots); // NULL is allowed

// Pulls at a point of a body as a spring would, drawn as an arrow. Places in the robot's frame.
typedef struct orr_robot_pull {
    int body;        // 0: none
    double point[3]; // in the body's frame
    double to[3];
} orr_robot_pull;

struct orr_layer_data;

// The physics behind a layer of kind ORR_LAYER_ROBOT, for those who want more than engine/orrery.h offers. After changing
// its state call orr_world_robot_moved.
orr_result orr_world_robot_physics(const orr_world *world, const struct orr_layer_data *layer,
                                   orr_physics **physics, orr_error *error);
void orr_world_robot_moved(const orr_world *world, const struct orr_layer_data *layer);
// Where its bodies are in one world (nbody), in the robot's frame. Valid until the next call. A robot whose numbers have
// become infinite stays where it was.
orr_result orr_world_robot_bodies(const orr_world *world, int index, const struct orr_layer_data *layer,
                                  const orr_transform **bodies, orr_error *error);
// Where a drawing machine on CUDA finds them. Zero is an empty one.
typedef struct orr_robot_bodies {
    orr_physics_bodies memory;
    orr_draw_bodies drawn; // parts of it
} orr_robot_bodies;
// The same for that machine, without waiting; *there says false when the robot moves on the CPU.
orr_result orr_world_robot_device_bodies(const orr_world *world, int index,
                                         const struct orr_layer_data *layer, orr_robot_bodies *bodies,
                                         bool *there, orr_error *error);
// Its contacts in one world; none once its numbers have become infinite. Valid until the next call.
orr_result orr_world_robot_contacts(const orr_world *world, int index, const struct orr_layer_data *layer,
                                    const orr_physics_contact **contacts, int *count, orr_error *error);
// What pulls at the robot of world 0 until it is set anew; every step works out the force for the state as it is.
orr_result orr_world_robot_pull(orr_world *world, const struct orr_layer_data *layer,
                                const orr_robot_pull *pull, orr_error *error);
