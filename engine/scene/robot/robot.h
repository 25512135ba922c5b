// Robots in the scene: a compiled model, and its geoms, sites, tendons and sky as meshes and textures. Where
// its bodies are is in worlds (engine/loop/world/world_robots.h).
#pragma once

#include "engine/scene/robot/robot_shape.h"
#include "physics/model/visuals.h"
#include "render/draw.h"

typedef enum orr_robot_part {
    ORR_ROBOT_GEOM,
    ORR_ROBOT_SITE,
    ORR_ROBOT_VISUAL, // of a URDF, that is no geom of the model
    ORR_ROBOT_TENDON,
    ORR_ROBOT_PARTS
} orr_robot_part;

enum { ORR_ROBOT_COARSE = 2 }; // coarser meshes of a round geom

// A geom, a site or a visual that is drawn.
typedef struct orr_robot_geom {
    orr_robot_part part;
    int geom; // of the model, or the site; of a visual ngeom + its number
    int group;
    int body;
    orr_transform at; // in the body's frame
    orr_mesh *mesh;
    // for small pictures, with ORR_ROBOT_COLUMNS / 2 and / 4 columns; NULL: not round
    orr_mesh *coarse[ORR_ROBOT_COARSE];
    float coarse_error[ORR_ROBOT_COARSE]; // how far they are from the surface at most [m]
    float round_radius;                   // radius of its largest circle [m]
    orr_round round;                      // where that is not 0: the surface that these meshes approximate
    // an endless plane moves with the camera, by whole repeats of its texture [m]; 0, 0: it does not
    float stride[2];
    const orr_visual *visual; // that the mesh is of; NULL: of the geom or site
    bool shared;              // the mesh is that of another one before it
} orr_robot_geom;

typedef struct orr_robot {
    int users; // the scene and its worlds
    orr_model *model;
    orr_robot_geom
        *geoms; // geom_count: visuals, geoms, sites, of all groups; those that are fully transparent left out
    int geom_count;
    int visuals_missing;      // that cannot be drawn
    char visual_missing[512]; // why the first cannot
    int visuals_reduced;      // of whose files a part is not drawn
    char visual_reduced[512]; // of the first: "file: what"
    orr_mesh **tendons;       // 2 per tendon: its pieces and the balls between them; NULL: not drawn
    int tendon_items;         // meshes that all of them can need
    orr_mesh *sky;            // NULL: none
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
bool orr_robot_is_floor(const orr_robot *robot); // nothing but planes is drawn of it

// Does nothing move this body against the world?
static inline bool orr_robot_body_is_fixed(const orr_model *model, int body)
{
    return model->body_weldid[body] == 0;
}

bool orr_robot_readable(const char *path); // by its ending: .xml .urdf
// pictures: with textures, sky, and the visuals of a URDF; else links show what collides, and the files of
// visuals are not opened
orr_result orr_robot_load(const char *path, bool pictures, orr_robot **robot, orr_error *error);
// What physics has of another layer, which is drawn by itself; takes the model, on failure too.
orr_result orr_robot_of_model(orr_model *model, orr_robot **robot, orr_error *error);
void orr_robot_keep(orr_robot *robot);    // one user more
void orr_robot_destroy(orr_robot *robot); // one less; NULL is allowed
size_t orr_robot_bytes(const orr_robot *robot);
int64_t orr_robot_triangles(const orr_robot *robot);
// Its meshes need so many keys: geoms in order, marks, tendons, the sky.
int orr_robot_keys(const orr_robot *robot);
