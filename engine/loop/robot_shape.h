// The surfaces of a robot's geoms as triangle meshes, in the frame of the geom, made once when a robot is loaded.
#pragma once

#include "physics/model.h"
#include "render/mesh.h"

// How far an endless plane is drawn around the camera [m].
enum { ORR_ENDLESS_PLANE = 400 };

// The surface of one geom with its material; a mesh of one part. `texture` is the geom's (NULL: none), with its mip chain;
// the mesh borrows it. A geom that shows nothing gives a mesh of no triangles.
orr_result orr_robot_shape(const orr_model *model, int geom, orr_image8 *texture, orr_mesh **mesh,
                           orr_error *error);

// Marks drawn beside geoms, along +z, of one colour [display, 0 .. 1].
typedef enum orr_robot_mark {
    ORR_ROBOT_MARK_CONTACT, // a disc of radius 1 and height 1 around 0
    ORR_ROBOT_MARK_SHAFT,   // a cylinder of radius 1 from 0 to 1
    ORR_ROBOT_MARK_HEAD,    // a cone of radius 1 from 0 to 1
    ORR_ROBOT_MARK_COUNT
} orr_robot_mark;
orr_result orr_robot_mark_shape(orr_robot_mark mark, const float colour[3], orr_mesh **mesh,
                                orr_error *error);

// The colour of a geom: its own, or else its material's; display values, straight alpha.
const float *orr_robot_colour(const orr_model *model, int geom);
