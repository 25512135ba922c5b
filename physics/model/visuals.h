// The visuals of a URDF: what its links look like, where that is not what they collide with. They are drawn
// (engine/scene/robot/robot_visual.h) and no part of physics: a model has the same elements with and without
// them.
#pragma once

#include "engine/core/memory.h"
#include "physics/model/model.h"

// One <visual> element.
typedef struct orr_visual {
    const char *name;  // its own, or else that of its link
    const char *place; // "file:line: <visual>", for messages
    const char *wrong; // why it cannot be drawn: the message of a mistake in it; NULL: it can
    int32_t body;
    int32_t link;  // the number of its link: all visuals and geoms of one have the same
    int32_t geom;  // of the model, where its file keeps visuals as geoms (discardvisual="false"); else -1
    int32_t group; // of geoms
    int32_t type;  // orr_geom_type: a sphere, capsule, cylinder, box or mesh
    double pos[3], quat[4]; // in the body's frame; of a mesh its file's frame
    double size[3];         // as of geoms; of a mesh the factors of its coordinates
    const char *mesh;       // its file; NULL: of the other types
    const char *texture;    // file of a picture; NULL: none
    bool coloured;          // false: `rgba` is not given
    float rgba[4];          // display colours, straight alpha
} orr_visual;

typedef struct orr_visuals {
    int32_t count;
    orr_visual *list;
    int32_t *geom_link; // ngeom: the link whose collision the geom is; -1: of no link with visuals
    orr_arena memory;   // all of it
} orr_visuals;

void orr_visuals_destroy(orr_visuals *visuals); // NULL is allowed
